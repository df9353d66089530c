"""Time and memory of the diffusion, as ratios measured in one run.

``PYTHONPATH=src python benchmarks/diffusion.py`` (about three minutes) prints lines of Markdown. Seconds are
those of processors, so that a busy machine changes them little; each is the least of several.
"""

import argparse
import contextlib
import ctypes
import gc
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch

from hypercondense.diffusion import diffuse, heat_kernel, heat_kernel_series, identity
from hypercondense.diffusion.mapped import release
from hypercondense.errors import DatasetNotFoundError
from hypercondense.hypergraph import Dense, Hypergraph
from hypercondense.runtime import memory

WEIGHTS = heat_kernel(2.0)
SERIES = heat_kernel_series(2.0)
BUDGET = 100_000_000


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--largest", type=int, default=10**7, help="incidences of the largest hypergraph")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--speed", action="store_true", help="only the table of speeds on dblp")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    sparse = dblp(options.data_dir)
    dense = with_features(sparse, sparse.dense_features())
    print(
        f"{dense.num_nodes:,} x {dense.num_features:,} features, {dense.num_incidences:,} incidences, "
        f"time 2: {WEIGHTS.degree} products (the paper's sum: {len(SERIES) - 1}).\n"
    )
    diffuse(local_hypergraph(1000), WEIGHTS)  # what libraries load on first use is not ours to measure
    if not options.speed:
        print_memory(sparse, dense)
    print_speed(sparse, dense, options.repetitions)
    for make in () if options.speed else (local_hypergraph, uniform_hypergraph):
        print_growth(make, options.largest, options.repetitions)


def print_memory(sparse: Hypergraph, dense: Hypergraph) -> None:
    """Peak of resident memory against input and output, and against a budget."""
    output = dense.features.nbytes
    stored = sum(part.nbytes for part in (sparse.features.data, sparse.features.indices))
    for kind, source, given in (("dense", dense, output), ("sparse", sparse, stored)):
        extra = peak_above_now(lambda source=source: diffuse(source, WEIGHTS))
        print(f"- peak memory, {kind} input: {(given + extra) / (given + output):.3f} x (input + output)")
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "in.npy", dense.features)
        mapped = with_features(sparse, np.load(Path(folder) / "in.npy", mmap_mode="r"))
        release(mapped.features)  # read when it was checked
        for kind, source in (("mapped", mapped), ("sparse", sparse)):
            extra = peak_above_now(
                lambda source=source: diffuse(source, WEIGHTS, memory=BUDGET, out=Path(folder) / "out.npy")
            )
            print(
                f"- peak memory, {kind} input, budget {BUDGET / 1e6:.0f} MB: "
                f"{extra / BUDGET:.3f} x the budget"
            )


def print_speed(sparse: Hypergraph, dense: Hypergraph, repetitions: int) -> None:
    """Seconds of the plain way and of ours, and how far that is from moving the data once."""
    naive = naive_diffusion(dense)
    ours = diffuse(dense, SERIES)
    difference = max(np.abs(other() - ours).max() for other in (naive, scipy_diffusion(dense)))
    del ours
    target = np.empty_like(dense.features)
    with tempfile.TemporaryDirectory() as folder:
        seconds = alternating_least(
            {
                "torch CSR x dense matrix, step by step": naive,
                "scipy CSR x dense matrix, step by step": scipy_diffusion(dense),
                "diffuse, dense input, the paper's sum": lambda: diffuse(dense, SERIES),
                "diffuse, dense input": lambda: diffuse(dense, WEIGHTS),
                "diffuse, sparse input": lambda: diffuse(sparse, WEIGHTS),
                "diffuse, sparse input, budget, to a file": lambda: diffuse(
                    sparse, WEIGHTS, memory=BUDGET, out=Path(folder) / "out.npy"
                ),
                "blocks read and written, K = 0": lambda: diffuse(dense, identity()),
                "matrix copied once": lambda: np.copyto(target, dense.features),
            },
            repetitions,
        )
    reference, copy = seconds["torch CSR x dense matrix, step by step"], seconds["matrix copied once"]
    print("| | s | x as fast as torch CSR | copies of the matrix |\n|---|---|---|---|")
    for name, value in seconds.items():
        print(f"| {name} | {value:.3f} | {reference / value:.1f} | {value / copy:.1f} |")
    print(f"\nLargest difference between torch, scipy and ours by the same sum: {difference:.1e}.")


def print_growth(make: Callable[[int], Hypergraph], largest: int, repetitions: int) -> None:
    """Seconds against incidences, and the slope of their logarithms."""
    sizes = [size for size in (10**4, 10**5, 10**6, 10**7) if size <= largest]
    sources = {size: make(size) for size in sizes}
    seconds = alternating_least(
        {size: lambda source=source: diffuse(source, WEIGHTS) for size, source in sources.items()},
        repetitions,
    )
    for size, value in seconds.items():
        print(f"- {make.__name__}: {size:,} incidences {value:.4f} s, {value / size * 1e9:.0f} ns each")
    slope = np.polyfit(np.log(sizes), np.log(list(seconds.values())), 1)[0]
    print(f"- {make.__name__}: slope of log time against log incidences {slope:.3f}")


def alternating_least(ways: dict, repetitions: int) -> dict:
    """Least processor seconds of each way; they take turns, so that a busy machine slows all of them."""
    seconds: dict = {name: [] for name in ways}
    for _ in range(repetitions):
        for name, way in ways.items():
            start = time.process_time()
            way()
            seconds[name].append(time.process_time() - start)
    return {name: min(values) for name, values in seconds.items()}


def peak_above_now(work: Callable[[], object]) -> int:
    """Bytes by which resident memory grew at most while ``work`` ran."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # memory kept from earlier work would hide the growth
    memory.reset_peak()
    before = memory.peak_bytes()
    work()
    return memory.peak_bytes() - before


def naive_diffusion(source: Hypergraph) -> Callable[[], Dense]:
    """Self-loops as ordinary hyperedges, degrees as diagonal scalings, all columns at once."""
    incidence, num_hyperedges = source.with_self_loops
    matrix = incidence.matrix(source.num_nodes, num_hyperedges)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gather, scatter = torch_csr(matrix.T.tocsr()), torch_csr(matrix)
    node = torch.from_numpy(matrix.sum(1) ** -0.5).float()[:, None]
    hyperedge = torch.from_numpy(1 / matrix.sum(0)).float()[:, None]
    features = torch.from_numpy(source.features.copy())

    def run() -> Dense:
        power, total = features, SERIES[0] * features
        for weight in SERIES[1:]:
            power = node * (scatter @ (hyperedge * (gather @ (node * power))))
            total = total + weight * power
        return total.numpy()

    return run


def scipy_diffusion(source: Hypergraph) -> Callable[[], Dense]:
    """The same by scipy."""
    incidence, num_hyperedges = source.with_self_loops
    matrix = incidence.matrix(source.num_nodes, num_hyperedges).astype(np.float32)
    node, hyperedge = matrix.sum(1) ** -0.5, 1 / matrix.sum(0)
    scatter = sp.csr_array(sp.diags_array(node) @ matrix @ sp.diags_array(hyperedge**0.5)).astype(np.float32)
    gather = scatter.T.tocsr()

    def run() -> Dense:
        power = source.features
        total = np.float32(SERIES[0]) * power
        for weight in SERIES[1:]:
            power = scatter @ (gather @ power)
            total += np.float32(weight) * power
        return total

    return run


def torch_csr(matrix: sp.csr_array) -> torch.Tensor:
    """The same matrix for torch."""
    parts = map(torch.from_numpy, (matrix.indptr, matrix.indices, matrix.data))
    return torch.sparse_csr_tensor(*parts, matrix.shape)


def dblp(data_dir: Path | None) -> Hypergraph:
    """The real data if they are here, else random data of the same size."""
    try:
        from hypercondense.data import load

        return load("dblp", data_dir=data_dir)
    except (ImportError, DatasetNotFoundError):
        print("Random data of the size of dblp, which is not here.\n")
    rng = np.random.default_rng(0)
    num_nodes, num_hyperedges = 41_302, 22_363
    sizes = np.minimum(1 + rng.geometric(1 / 3.45, num_hyperedges), 200)
    owners = np.repeat(np.arange(num_hyperedges), sizes)
    hyperedge_ids, node_ids = np.unique([owners, rng.integers(0, num_nodes, len(owners))], axis=1)
    features = sp.random_array((num_nodes, 1425), density=0.027, format="csr", dtype=np.float32, rng=rng)
    return hypergraph(features, node_ids, hyperedge_ids)


def local_hypergraph(num_incidences: int) -> Hypergraph:
    """Hyperedges of 5 nodes whose ids are near each other, as when ids follow time or communities."""
    rng = np.random.default_rng(0)
    num_hyperedges = num_incidences // 5
    offsets = np.cumsum(rng.integers(1, 200, (num_hyperedges, 5)), axis=1)
    first = np.sort(rng.integers(0, num_hyperedges, num_hyperedges))
    return five_each((first[:, None] + offsets) % num_hyperedges, rng)


def uniform_hypergraph(num_incidences: int) -> Hypergraph:
    """Hyperedges of 5 nodes drawn from all: no order has its neighbours near, the worst case for caches."""
    rng = np.random.default_rng(0)
    num_hyperedges = num_incidences // 5
    return five_each(rng.integers(0, num_hyperedges, (num_hyperedges, 5)), rng)


def five_each(members: np.ndarray, rng: np.random.Generator) -> Hypergraph:
    """As many nodes as hyperedges, 16 features; a node drawn twice for a hyperedge counts once."""
    num_nodes = len(members)
    members = np.sort(members, axis=1)
    fresh = np.diff(members, axis=1, prepend=-1) != 0
    features = rng.standard_normal((num_nodes, 16), dtype=np.float32)
    return hypergraph(features, members[fresh], np.repeat(np.arange(num_nodes), fresh.sum(1)))


def hypergraph(features: object, node_ids: np.ndarray, hyperedge_ids: np.ndarray) -> Hypergraph:
    """A hypergraph with one class, since labels do not matter here."""
    return Hypergraph(
        features=features,
        labels=np.zeros(features.shape[0], np.int64),
        incidence=(node_ids, hyperedge_ids),
        num_hyperedges=int(hyperedge_ids[-1]) + 1,
    )


def with_features(source: Hypergraph, features: Dense) -> Hypergraph:
    """The same structure with features stored another way."""
    return hypergraph(features, source.incidence.node_ids, source.incidence.hyperedge_ids)


if __name__ == "__main__":
    main()
