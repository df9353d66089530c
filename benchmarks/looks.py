"""Processor time of a look at the validation nodes: all nodes beside those asked for.

    python benchmarks/looks.py [--data-dir DIR] [--datasets coauthor_dblp,walmart-trips] [--repeats 3]

Every network in each of its forms, untrained, in one thread; the least of the repeats. Absent data sets are
left out.
"""

import argparse
import time
from pathlib import Path

import torch

from hypercondense.data import load
from hypercondense.errors import DatasetNotFoundError
from hypercondense.hypergraph import split
from hypercondense.nn import MODELS, HypergraphNetwork, Receivers, build
from hypercondense.nn.training import Inputs
from hypercondense.runtime.rng import seeded
from hypercondense.runtime.threads import one_thread


def measure(name: str, *, data_dir: Path | None, repeats: int) -> None:
    """Print both times and their ratio for every network."""
    source = load(name, data_dir=data_dir)
    inputs = Inputs.of(source)
    validation_ids = torch.as_tensor(split(source).validation_ids.copy())
    receivers = Receivers(inputs.structure, validation_ids)
    sizes = {"num_features": source.num_features, "num_classes": source.num_classes}
    for model, kind in MODELS.items():
        for form in kind.forms:
            with seeded(0):
                network = build(model, **sizes, **form).eval()
            everything, asked = (
                min(_seconds(network, inputs, asked) for _ in range(repeats + 1))  # the first one prepares
                for asked in (None, receivers)
            )
            label = " ".join([model, *(f"{option}={value}" for option, value in form.items())])
            print(
                f"{name}, {label}: all {source.num_nodes} nodes {everything:.2f} s, {len(validation_ids)} "
                f"validation nodes {asked:.2f} s, {everything / asked:.1f} times less"
            )


@torch.no_grad()
def _seconds(network: HypergraphNetwork, inputs: Inputs, receivers: Receivers | None) -> float:
    begin = time.process_time()
    network(inputs.features, inputs.structure, receivers)
    return time.process_time() - begin


def main() -> None:
    """Measure every data set that is there."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--datasets", default="coauthor_dblp,walmart-trips")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    for name in given.datasets.split(","):
        try:
            with one_thread():
                measure(name, data_dir=given.data_dir, repeats=given.repeats)
        except DatasetNotFoundError as error:
            print(error)


if __name__ == "__main__":
    main()
