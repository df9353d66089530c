"""Time and memory of an HGNN epoch beside the same model on PyG's HypergraphConv.

    python benchmarks/models.py [--nodes 88860] [--epochs 5] [--threads N]

The hypergraph has the size of walmart-trips. Each model runs in a process of its own, in turn, so that their
peaks of memory do not mix; time is the fastest epoch, in processor seconds. PyG
normalizes rows, which costs the same as P does.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from hypercondense.hypergraph import Hypergraph
from hypercondense.nn import Structure, build
from hypercondense.runtime.memory import format_size, peak_bytes, reset_peak

NUM_HYPEREDGES_PER_NODE, MEMBERS, NUM_FEATURES, NUM_CLASSES, HIDDEN = 0.787, 6.59, 100, 11, 128


def like_walmart(num_nodes: int) -> Hypergraph:
    """Random hyperedges with the sizes of walmart-trips (mean 6.6) and dense features."""
    rng = np.random.default_rng(0)
    sizes = 2 + rng.geometric(1 / (MEMBERS - 1), round(NUM_HYPEREDGES_PER_NODE * num_nodes)) - 1
    hyperedge_ids = np.repeat(np.arange(len(sizes)), sizes)
    pairs = np.unique(np.stack([hyperedge_ids, rng.integers(0, num_nodes, len(hyperedge_ids))]), axis=1)
    labels = rng.integers(0, NUM_CLASSES, num_nodes)
    features = rng.normal(0, 0.6, (num_nodes, NUM_FEATURES)).astype(np.float32)
    features[np.arange(num_nodes), labels] += 1
    return Hypergraph(
        features=features, labels=labels, incidence=(pairs[1], pairs[0]), num_hyperedges=len(sizes)
    )


class PygHypergraphNetwork(nn.Module):
    """Two layers of HypergraphConv with the sizes and dropout of our HGNN."""

    def __init__(self) -> None:
        from torch_geometric.nn import HypergraphConv

        super().__init__()
        self.first, self.second = HypergraphConv(NUM_FEATURES, HIDDEN), HypergraphConv(HIDDEN, NUM_CLASSES)

    def forward(self, x: torch.Tensor, index: torch.Tensor, num_hyperedges: int) -> torch.Tensor:
        """Class scores."""
        x = torch.relu(self.first(x, index, num_edges=num_hyperedges))
        scores: torch.Tensor = self.second(
            functional.dropout(x, 0.5, self.training), index, num_edges=num_hyperedges
        )
        return scores


def ours(hypergraph: Hypergraph) -> tuple[nn.Module, Callable[[], torch.Tensor]]:
    """Our HGNN and its forward pass."""
    model = build("hgnn", num_features=NUM_FEATURES, num_classes=NUM_CLASSES, hidden=HIDDEN)
    features, structure = torch.from_numpy(hypergraph.features.copy()), Structure.of(hypergraph)
    return model, lambda: model(features, structure)


def pyg(hypergraph: Hypergraph) -> tuple[nn.Module, Callable[[], torch.Tensor]]:
    """PyG's layers and their forward pass."""
    model = PygHypergraphNetwork()
    incidence, num_hyperedges = hypergraph.with_self_loops
    index = torch.from_numpy(np.stack([incidence.node_ids, incidence.hyperedge_ids]))
    features = torch.from_numpy(hypergraph.features.copy())
    return model, lambda: model(features, index, num_hyperedges)


def measure(name: str, *, num_nodes: int, epochs: int, threads: int) -> dict[str, float]:
    """Seconds of the fastest epoch, and the peak of memory above what was there before."""
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    hypergraph = like_walmart(num_nodes)
    labels = torch.from_numpy(hypergraph.labels.copy())
    before = peak_bytes()
    reset_peak()
    model, scores = {"ours": ours, "pyg": pyg}[name](hypergraph)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    times = []
    for _ in range(epochs + 1):  # the first one also builds what is kept
        start = time.process_time()
        optimizer.zero_grad()
        functional.cross_entropy(scores(), labels).backward()
        optimizer.step()
        times.append(time.process_time() - start)
    return {"seconds": min(times[1:]), "first": times[0], "peak": peak_bytes(), "before": before}


def main() -> None:
    """Measure both, each in its own process, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--nodes", type=int, default=88_860)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--only", choices=["ours", "pyg"])
    options = parser.parse_args()
    if options.only:
        settings = {"num_nodes": options.nodes, "epochs": options.epochs, "threads": options.threads}
        print(json.dumps(measure(options.only, **settings)))
        return
    found = {}
    print("| | s an epoch | the first, s | peak memory |\n|---|---|---|---|")
    for name in ("ours", "pyg"):
        command = [sys.executable, __file__, "--only", name, "--nodes", str(options.nodes)]
        command += ["--epochs", str(options.epochs), "--threads", str(options.threads)]
        found[name] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        seconds, first, peak = (found[name][key] for key in ("seconds", "first", "peak"))
        print(f"| {name} | {seconds:.3f} | {first:.2f} | {format_size(peak)} |")
    faster = found["pyg"]["seconds"] / found["ours"]["seconds"]
    share = found["ours"]["peak"] / found["pyg"]["peak"]
    print(f"\nAn epoch is **{faster:.1f} x** as fast as PyG's, with {share:.2f} of its peak memory.")


if __name__ == "__main__":
    main()
