"""Processor time of looks at validation nodes, beside the dense product that each of them cannot do without.

    python benchmarks/looks.py [--data-dir DIR] [--data walmart-trips] [--repeats 5]

HGNN, untrained, in one thread; the least of the repeats, after a first that prepares things. Without the data
set a random hypergraph of its size is used. What is printed is a table in Markdown.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import torch

from hypercondense.data import load
from hypercondense.errors import DatasetNotFoundError
from hypercondense.hypergraph import split
from hypercondense.nn import build
from hypercondense.nn.epochs import Epochs
from hypercondense.nn.looks import Looks
from hypercondense.nn.training import Inputs
from hypercondense.runtime.rng import seeded
from models import like_walmart

EPOCHS, EVERY, HIDDEN = 200, 5, 128


def least(work: Callable[[], object], repeats: int) -> float:
    """Processor seconds of a piece of work."""
    work()
    taken = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return min(taken)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--data", default="walmart-trips")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    torch.set_num_threads(1)
    try:
        source = load(given.data, data_dir=given.data_dir)
    except DatasetNotFoundError:
        source = like_walmart(88_860)
    inputs, parts = Inputs.of(source), split(source)
    with seeded(0):
        model = build("hgnn", num_features=source.num_features, num_classes=source.num_classes).eval()
    look = Looks(inputs, parts, every=EVERY, epochs=EPOCHS, metric="accuracy")
    rows, weight = (
        torch.randn(source.num_nodes, source.num_features),
        torch.randn(source.num_features, HIDDEN),
    )
    with torch.no_grad():
        limit = least(lambda: rows @ weight, given.repeats)
        everywhere = least(lambda: model(inputs.features, inputs.structure), given.repeats)
        at_all, at_sample = (least(lambda at=at: at(model), given.repeats) for at in (look.at_all, look))
    few = Epochs(model, look).expected_looks
    before = look.number * everywhere
    after = few * at_sample + look.finalists * at_all
    print("| a look at | s | beside the dense product of all rows |\n|---|---|---|")
    for what, seconds in (
        (f"all {source.num_nodes:,} nodes", everywhere),
        (f"{len(look.all_ids):,} validation nodes", at_all),
        (f"a sample of {len(look.ids):,} of them", at_sample),
    ):
        print(f"| {what} | {seconds:.3f} | {seconds / limit:.1f} |")
    print(
        f"\nA training of {EPOCHS} epochs spends {after:.2f} s on about {few} looks at the sample and "
        f"{look.finalists} at all validation nodes: **{before / after:.1f} times less** than the "
        f"{before:.1f} s of {look.number} looks at all nodes."
    )


if __name__ == "__main__":
    main()
