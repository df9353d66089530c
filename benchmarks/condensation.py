"""Time of a condensation beside 25 epochs of an HGNN on the whole data, and memory of a large generator.

    python benchmarks/condensation.py [--data-dir DIR] [--datasets cora pubmed] [--repeats 3]

Both are timed in one process, in turn, in one thread, in processor seconds; the ratio of the medians is what
counts. What is printed is a table in Markdown. The whole-data epochs look at the validation nodes once.
Absent data sets are left out.
"""

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from hypercondense.catalogue import condense
from hypercondense.data import load
from hypercondense.errors import DatasetNotFoundError
from hypercondense.hypergraph import split
from hypercondense.nn.training import Configuration, Inputs, train

EPOCHS = 25
RATIOS = {"cora": 0.01, "pubmed": 0.01, "coauthor_dblp": 0.005, "walmart-trips": 0.005}
PAPER_SECONDS = {"cora": 3.6, "pubmed": 11.5, "coauthor_dblp": 13.9, "walmart-trips": 29.2}

LARGE = """
import torch
from hypercondense.condensing.generator import AnchorGenerator
from hypercondense.runtime.memory import peak_bytes
n, d = {nodes}, 100
torch.manual_seed(0)
anchors = AnchorGenerator(torch.arange(n).expand(n, n).contiguous(), num_features=d)
features = torch.randn(n, d, requires_grad=True)
(anchors(features) ** 2).sum().backward()
print(peak_bytes() / 1e9)
"""


def seconds(work: Callable[[], object]) -> float:
    """Time of one call."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def compare(name: str, ratio: float, *, data_dir: Path | None, repeats: int) -> None:
    """Print the medians and their ratio for one data set and both methods."""
    source = load(name, data_dir=data_dir)
    parts = split(source)
    inputs = Inputs.of(source)
    configuration = Configuration(model="hgnn", epochs=EPOCHS)
    methods = ("ahgcdd", "ahgcdd-x")
    times: dict[str, list[float]] = {"hgnn": [], **{method: [] for method in methods}}
    for _ in range(repeats):
        times["hgnn"].append(
            seconds(lambda: train(configuration, inputs, inputs, parts, seed=0, validate_every=EPOCHS))
        )
        for method in methods:
            times[method].append(
                seconds(
                    lambda method=method: condense(source, parts, ratio=ratio, method=method, select=False)
                )
            )
    median = {what: statistics.median(values) for what, values in times.items()}
    for method in methods:
        ratio_of_times = median[method] / median["hgnn"]
        print(
            f"| {name} {ratio:.1%} | `{method}` | {median[method]:.2f} | {median['hgnn']:.2f} | "
            f"**{ratio_of_times:.2f}** | {PAPER_SECONDS[name]} |",
            flush=True,
        )


def main() -> None:
    """Run every comparison that can be run here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--datasets", nargs="+", default=["cora", "pubmed"], choices=list(RATIOS))
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    condense(load("synthetic"), nodes=10, method="ahgcdd")  # first calls load libraries
    print(f"| | method | s | {EPOCHS} epochs on everything, s | ratio | the paper, on a GPU, s |")
    print("|---|---|---|---|---|---|")
    for name in arguments.datasets:
        try:
            compare(name, RATIOS[name], data_dir=arguments.data_dir, repeats=arguments.repeats)
        except DatasetNotFoundError:
            print(f"| {name} is not here | | | | | |")
    print()
    for nodes in (1000, 2000):
        done = subprocess.run(
            [sys.executable, "-c", LARGE.format(nodes=nodes)], check=True, capture_output=True, text=True
        )
        print(f"- generator, {nodes} condensed nodes, all pairs: {float(done.stdout):.2f} GB at most")


if __name__ == "__main__":
    main()
