"""Processor time of an older version of the package and of this one, side by side, in one run.

    python benchmarks/since.py --before OLD/src [--sources dblp walmart mag-pm yelp] [--works diffusion ..]

``OLD`` is a tree of 0.1.0 (``git archive 1c378e9``) or of any later version. Sources are made once, and read
by both versions from the same files; each measurement is a process of one thread, the versions take turns,
and the least of the repeats counts. What is printed are lines of a table in Markdown, and with ``--out`` all
that was measured is kept there, line by line, and not measured again.

mag-pm and yelp are synthetic, with the numbers of nodes, hyperedges, incidences and features of the data sets
of these names. ``--columns`` cuts features, for diffusion costs the same for every column.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

REGISTERED = {"dblp": "coauthor_dblp", "walmart": "walmart-trips"}
MADE = {
    "mag-pm": {
        "num_nodes": 153_009,
        "num_hyperedges": 192_180,
        "num_incidences": 1_138_160,
        "num_features": 256,
        "num_classes": 10,
        "noise": 1.5,
    },
    "yelp": {
        "num_nodes": 50_758,
        "num_hyperedges": 679_302,
        "num_incidences": 4_574_352,
        "num_features": 1_862,
        "num_classes": 9,
        "noise": 4.0,
    },
}
WORKS = ("diffusion", "condensation", "search", "training", "whole")
RATIOS = {"dblp": 0.005, "walmart": 0.005, "mag-pm": 0.0025, "yelp": 0.0025}


def make(name: str, file: Path, *, data_dir: Path | None, columns: int | None) -> None:
    """Write a source, and a condensed hypergraph to train on: means of diffused rows of training nodes."""
    from hypercondense.catalogue import condense
    from hypercondense.data import load, synthetic
    from hypercondense.hypergraph import split

    source = load(REGISTERED[name], data_dir=data_dir) if name in REGISTERED else synthetic(**MADE[name])
    features = np.asarray(source.dense_features(), np.float32)[:, :columns]
    np.savez(
        file,
        features=features,
        labels=source.labels,
        node_ids=source.incidence.node_ids,
        hyperedge_ids=source.incidence.hyperedge_ids,
        num_hyperedges=source.num_hyperedges,
    )
    source = read(file)
    result = condense(source, split(source), ratio=RATIOS[name], method="means", select=False)
    small = result.hypergraph
    np.savez(
        small_file(file),
        features=small.dense_features(),
        labels=small.labels,
        node_ids=small.incidence.node_ids,
        hyperedge_ids=small.incidence.hyperedge_ids,
        num_hyperedges=small.num_hyperedges,
    )


def small_file(file: Path) -> Path:
    """Where the condensed hypergraph of a source is."""
    return file.with_suffix(".small.npz")


def read(file: Path) -> Any:
    """The hypergraph in a file, by whatever version this process has."""
    from hypercondense.hypergraph import Hypergraph

    with np.load(file) as found:
        return Hypergraph(
            features=found["features"],
            labels=found["labels"],
            incidence=(found["node_ids"], found["hyperedge_ids"]),
            num_hyperedges=int(found["num_hyperedges"]),
        )


def diffusion(source: Any, file: Path, repeats: int) -> dict[str, Any]:
    """The heat kernel of time 2 in one thread, and the copy of a matrix: the limit."""
    from hypercondense.diffusion import diffuse, heat_kernel

    target = np.empty_like(source.features)
    times = [processor(lambda: diffuse(source, heat_kernel(2.0), threads=1)) for _ in range(repeats)]
    copies = [processor(lambda: np.copyto(target, source.features)) for _ in range(5)]
    return {"seconds": min(times), "copy": min(copies)}


def condensation(source: Any, file: Path, repeats: int) -> dict[str, Any]:
    """``ahgcdd`` as the command line does it, with choosing on validation nodes and without a cache."""
    import hypercondense as hc
    from hypercondense.catalogue import condense

    parts = hc.split(source)
    how: dict[str, Any] = {"select": True}
    if hc.__version__ == "0.1.0":
        from hypercondense.evaluation.selection import validation_scorer

        how = {"select": validation_scorer(source, parts)}
    name = file.stem
    results = []

    def work() -> None:
        results.append(condense(source, parts, ratio=RATIOS[name], method="ahgcdd", **how))

    seconds = min(processor(work) for _ in range(repeats))
    stages = {stage: round(value, 2) for stage, value in results[-1].seconds.items()}
    return {"seconds": seconds, "stages": stages}


def search(source: Any, file: Path, repeats: int) -> dict[str, Any]:
    """``auto`` as the command line does it, without a cache."""
    import hypercondense as hc
    from hypercondense.catalogue import condense

    parts = hc.split(source)
    ratio = RATIOS[file.stem]
    times = [processor(lambda: condense(source, parts, ratio=ratio, method="auto")) for _ in range(repeats)]
    return {"seconds": min(times)}


def whole(source: Any, file: Path, repeats: int) -> dict[str, Any]:
    """HGNN, 200 epochs, on everything, once."""
    return training(source, file, 1, on_everything=True)


def training(source: Any, file: Path, repeats: int, *, on_everything: bool = False) -> dict[str, Any]:
    """HGNN, 200 epochs, on the condensed hypergraph: seconds of each, and accuracy on test nodes."""
    import torch

    import hypercondense as hc

    if hc.__version__ == "0.1.0":
        from hypercondense.evaluation.training import Inputs, Recipe, train
    else:
        from hypercondense.nn.training import Configuration as Recipe
        from hypercondense.nn.training import Inputs, train

    parts, inputs = hc.split(source), Inputs.of(source)
    graph = inputs if on_everything else Inputs.of(read(small_file(file)))
    test_ids = torch.as_tensor(parts.test_ids.copy())
    times, scores, epochs = [], [], []
    for seed in range(repeats):
        found = []

        def work(seed: int = seed, found: list[Any] = found) -> None:
            found.append(train(Recipe(model="hgnn"), graph, inputs, parts, seed=seed))

        times.append(round(processor(work), 2))
        with torch.no_grad():
            told = found[0].model(inputs.features, inputs.structure).argmax(1)
        right = (told[test_ids] == inputs.labels[test_ids]).double().mean()
        scores.append(round(100 * float(right), 3))
        epochs.append(found[0].epoch)
    return {"seconds": float(np.median(times)), "first": times[0], "accuracy": scores, "epochs": epochs}


def processor(work: Any) -> float:
    """Processor seconds of a call."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def child(version: Path, work: str, file: Path, repeats: int) -> dict[str, Any]:
    """Measure one version in a process of its own."""
    command = [sys.executable, __file__, "--only", work, "--file", str(file), "--repeats", str(repeats)]
    limits = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment = {**os.environ, **limits, "PYTHONPATH": str(version)}
    done = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def line(name: str, work: str, found: dict[str, dict[str, Any]]) -> str:
    """A row of the table."""
    before, now = (found[version]["seconds"] for version in ("before", "now"))
    beside = ""
    if work == "diffusion":
        copy = min(found[version]["copy"] for version in found)
        beside = f"{before / copy:.0f} and {now / copy:.0f} copies of the matrix"
    if work == "training":
        means = [np.mean(found[version]["accuracy"]) for version in ("before", "now")]
        beside = (
            f"{means[1] - means[0]:+.3f} points on average of {len(found['now']['accuracy'])} trainings "
            f"({means[0]:.2f} before)"
        )
    if work == "whole":
        beside = f"{found['before']['accuracy'][0]:.2f} and {found['now']['accuracy'][0]:.2f} %"
    if work == "condensation":
        shares = [found[version]["stages"].get("select", 0) for version in ("before", "now")]
        beside = f"choosing {shares[0]:.1f} and {shares[1]:.1f} s by the clock"
    return f"| {name} | {work} | {before:.2f} | {now:.2f} | **{before / now:.1f}** | {beside} |"


def main() -> None:
    """Measure what is not measured yet and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, help="folder `src` of the older version")
    parser.add_argument("--sources", nargs="+", default=[*REGISTERED, *MADE], choices=[*REGISTERED, *MADE])
    parser.add_argument("--works", nargs="+", default=list(WORKS), choices=WORKS)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--columns", type=int, help="features to keep; all by default")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--folder", type=Path, help="where sources are kept; a temporary one by default")
    parser.add_argument("--out", type=Path, help="file of what was measured")
    parser.add_argument("--only", choices=WORKS, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.only:
        source = read(asked.file)
        print(json.dumps(globals()[asked.only](source, asked.file, asked.repeats)))
        return
    if asked.before is None:
        parser.error("--before is needed: the folder `src` of the older version")
    with tempfile.TemporaryDirectory() as temporary:
        table(asked, asked.folder or Path(temporary))


def table(asked: argparse.Namespace, folder: Path) -> None:
    """Print the rows, one by one."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = [json.loads(row) for row in asked.out.open()] if asked.out and asked.out.exists() else []
    print("| source | work | 0.1.0, s | now, s | x as fast | beside it |\n|---|---|---|---|---|---|")
    versions = {"before": asked.before, "now": Path(__file__).parents[1] / "src"}
    for name in asked.sources:
        file = folder / f"{name}.npz"
        if not small_file(file).exists():
            make(name, file, data_dir=asked.data_dir, columns=asked.columns)
        done: dict[str, dict[str, dict[str, Any]]] = {}
        for work in asked.works:
            place = {"source": name, "work": work, "repeats": asked.repeats, "columns": asked.columns}
            found = next((row["found"] for row in kept if row["place"] == place), None)
            if found is None:
                found = {key: child(path, work, file, asked.repeats) for key, path in versions.items()}
                if asked.out:
                    with asked.out.open("a") as rows:
                        rows.write(json.dumps({"place": place, "found": found}) + "\n")
            print(line(name, work, found), flush=True)
            done[work] = found
        if {"search", "training", "whole"} <= done.keys():
            print(share(name, done), flush=True)


def share(name: str, done: dict[str, dict[str, dict[str, Any]]]) -> str:
    """What condensing and a training cost of a training on everything."""
    shares = []
    for version in ("before", "now"):
        own, training, whole = (done[work][version]["seconds"] for work in ("search", "training", "whole"))
        shares.append((own + training) / whole)
    before, now = shares
    return f"| {name} | (search + training) / whole | {before:.2f} | {now:.2f} | **{before / now:.1f}** | |"


if __name__ == "__main__":
    main()
