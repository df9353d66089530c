"""Time of a search and a training on its result, beside one training on the whole data.

    python benchmarks/lossless.py [--data-dir DIR] [--datasets pubmed,cora] [--budget 5] [--repeats 3]

All are timed in one process, in processor seconds. The training is that of an HGNN with its default 200
epochs; only their ratio counts. With repeats all three take turns, and medians are
compared. A small search before all of them loads what is loaded on first use. Absent data sets are left out.
"""

import argparse
import time
from pathlib import Path
from statistics import median

from hypercondense.catalogue import condense
from hypercondense.data import load
from hypercondense.errors import DatasetNotFoundError
from hypercondense.hypergraph import split
from hypercondense.nn.training import Configuration, Inputs, train
from hypercondense.runtime.threads import one_thread

RATIOS = {"cora": 0.01, "pubmed": 0.01, "coauthor_dblp": 0.005, "walmart-trips": 0.005, "wordnet": 0.005}


def measure(name: str, *, data_dir: Path | None, budget: str | None, repeats: int) -> None:
    """Print the times and their ratio for one data set."""
    source = load(name, data_dir=data_dir)
    parts, inputs = split(source), Inputs.of(source)
    times: dict[str, list[float]] = {"search": [], "train": [], "whole": []}
    for _ in range(repeats):
        begin = time.process_time()
        result = condense(source, parts, ratio=RATIOS[name], budget=budget)
        times["search"].append(time.process_time() - begin)
        for what, graph in (("train", Inputs.of(result.hypergraph)), ("whole", inputs)):
            begin = time.process_time()
            with one_thread():
                train(Configuration(model="hgnn"), graph, inputs, parts, seed=0)
            times[what].append(time.process_time() - begin)
    seconds = {what: median(found) for what, found in times.items()}
    ratio = (seconds["search"] + seconds["train"]) / seconds["whole"]
    how = "" if budget is None else f", a budget of {budget}"
    print(
        f"| {name} {RATIOS[name]:.1%}{how} | {seconds['search']:.1f} | {seconds['train']:.1f} "
        f"| {seconds['whole']:.1f} | **{ratio:.2f}** |",
        flush=True,
    )


def warm_up() -> None:
    """Search once on small data: imports and first calls are not what is measured."""
    condense(load("digits"), nodes=20)


def main() -> None:
    """Measure every data set that is here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--datasets", default="pubmed,coauthor_dblp,walmart-trips")
    parser.add_argument("--budget", help="of the search; without it `auto` decides what pays")
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    warm_up()
    print("| | search, s | a training on its result, s | a training on everything, s | ratio |")
    print("|---|---|---|---|---|")
    for name in options.datasets.split(","):
        try:
            measure(name, data_dir=options.data_dir, budget=options.budget, repeats=options.repeats)
        except DatasetNotFoundError as error:
            print(f"| {name} is not here: {error} | | | | |")


if __name__ == "__main__":
    main()
