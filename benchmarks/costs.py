"""Nominal costs of a search beside processor time on this machine: `search/costs.py` is fitted to them.

    python benchmarks/costs.py [--data-dir DIR] [--datasets cora,pubmed] [--epochs 20]

For each data set milliseconds as measured and, in brackets, as counted: of an epoch of a training of HGNN on
everything (its looks are a part of it), of one on condensed nodes without looks, and of an epoch of `learnt`
and of the closed form, with batches of 512 and of 2,048 rows. All are processor time of one thread. Absent
data sets are left out.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from msgspec import structs

from hypercondense.condensing.allotment import condensed_labels
from hypercondense.condensing.closed_form import ClosedForm
from hypercondense.condensing.job import Job
from hypercondense.condensing.material import Material
from hypercondense.condensing.predict import Predict
from hypercondense.condensing.presets import PRESETS
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.starts import Means
from hypercondense.condensing.unrolled import Unrolled
from hypercondense.data import load
from hypercondense.errors import DatasetNotFoundError
from hypercondense.hypergraph import split
from hypercondense.nn.training import Configuration, Inputs, train
from hypercondense.runtime.threads import one_thread
from hypercondense.search import costs
from hypercondense.search.costs import Sizes

RATIOS = {
    "zoo": 0.15,
    "house-committees": 0.02,
    "digits": 0.02,
    "cora": 0.01,
    "mushroom": 0.01,
    "20newsW100": 0.005,
    "twitch": 0.005,
    "pubmed": 0.01,
    "coauthor_dblp": 0.005,
    "walmart-trips": 0.005,
    "wordnet": 0.005,
}
BATCHES = (512, 2048)
_WHOLE_EPOCHS = 200


def through(epochs: int, batch: int) -> Recipe:
    """`learnt` from one start and without looks."""
    return _learnt(batch, training=Unrolled(epochs=epochs, hidden=64))


def closed(epochs: int, batch: int) -> Recipe:
    """The same by the closed form."""
    return _learnt(batch, training=None, closed_form=ClosedForm(epochs=epochs))


def _learnt(batch: int, **parts: object) -> Recipe:
    learnt = PRESETS["learnt"][1]
    assert isinstance(learnt.goal, Predict)
    goal = structs.replace(learnt.goal, batch=batch, **parts)
    return structs.replace(learnt, start=Means(samples=100), goal=goal, looks=0)


def slope(work: Callable[[int], object], epochs: int) -> float:
    """Milliseconds of an epoch, without what is paid once."""
    short, long = (_taken(work, times * epochs) for times in (1, 3))
    return 1000 * (long - short) / (2 * epochs)


def _taken(work: Callable[[int], object], epochs: int) -> float:
    begin = time.process_time()
    work(epochs)
    return time.process_time() - begin


def pairs(name: str, *, data_dir: Path | None, epochs: int) -> Iterator[tuple[float, float]]:
    """Milliseconds, measured and counted."""
    source = load(name, data_dir=data_dir)
    parts = split(source, seed=0)
    unseen = replace(parts, validation_ids=parts.validation_ids[:0])
    material = Material(source, parts)
    labels = condensed_labels(material.train_labels, num_nodes=source.num_nodes, ratio=RATIOS[name])
    sizes, job = Sizes.of(source, parts, len(labels)), Job(material=material, labels=labels, select=False)
    whole, condensed = material.inputs, Inputs.of(closed(1, 512).run(job).hypergraph)

    def training(graph: Inputs, looked_at: bool, count: int) -> None:
        how = Configuration(model="hgnn", epochs=count)
        train(how, graph, whole, parts if looked_at else unseen, seed=0)

    seconds = _taken(lambda count: training(whole, True, count), _WHOLE_EPOCHS)
    yield 1000 * seconds / _WHOLE_EPOCHS, 1000 * costs.whole_training(sizes) / _WHOLE_EPOCHS
    yield (
        slope(lambda count: training(condensed, False, count), 2 * epochs),
        1000 * costs.judging(sizes, trainings=1, epochs=1, looks=0),
    )
    for batch in BATCHES:
        for recipe in (through, closed):
            yield (
                slope(lambda count, recipe=recipe, batch=batch: recipe(count, batch).run(job), epochs),  # type: ignore[misc]
                slope_counted(recipe, batch, sizes),
            )


def slope_counted(recipe: Callable[[int, int], Recipe], batch: int, sizes: Sizes) -> float:
    """The same by what it is expected to cost."""
    few, many = (costs.condensing(recipe(count, batch), sizes) for count in (100, 1100))
    return many - few  # of a thousand epochs, so milliseconds of one


def main() -> None:
    """Measure every data set that is here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--datasets", default=",".join(RATIOS))
    parser.add_argument("--epochs", type=int, default=20)
    given = parser.parse_args()
    heads = ("whole", "condensed", *(f"{what} {batch}" for batch in BATCHES for what in ("learnt", "closed")))
    print("| data | " + " | ".join(heads) + " | counted / measured |")
    print("|---" * (len(heads) + 2) + "|")
    with one_thread():
        for name in given.datasets.split(","):
            try:
                found = list(pairs(name, data_dir=given.data_dir, epochs=given.epochs))
            except DatasetNotFoundError as error:
                print(f"| {name} is not here: {error} |")
                continue
            cells = " | ".join(f"{real:.1f} ({counted:.1f})" for real, counted in found)
            ratios = np.array([counted / real for real, counted in found])
            print(f"| {name} | {cells} | {ratios.min():.2f} to {ratios.max():.2f} |", flush=True)


if __name__ == "__main__":
    main()
