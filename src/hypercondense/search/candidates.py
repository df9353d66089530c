"""What a search tries, as methods with all their options: each can be run again by itself."""

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from typing import Any, Protocol

from hypercondense.condensing import AHGCDD, AHGCDDX, Bundled, Condenser, Herding, Ridge, Unrolled
from hypercondense.condensing.ahgcdd import PROPAGATIONS
from hypercondense.condensing.starts import STARTS
from hypercondense.condensing.taught import Taught

#: Epochs of the closed form, of a brief and of a long optimization through a training.
CLOSED_FORM_EPOCHS, BRIEF_EPOCHS, LONG_EPOCHS = 100, 30, 200
_HIDDEN = 64
_FEW_NODES, _MANY_NODES = 100, 300

_MEANS = Ridge(epochs=0, self_select=False, start=STARTS["uniform"])

Proposal = tuple[str, Condenser]


class Ways(Protocol):
    """Ways to optimize a start."""

    def __call__(self, start: Ridge, *, num_nodes: int) -> Iterator[tuple[str, Ridge]]:
        """Propose them."""


def first_starts() -> Iterator[tuple[str, Ridge]]:
    """Means of 100 rows, diffused or not: does structure help?"""
    yield "means of 100 rows, heat kernel", _MEANS
    yield "means of 100 rows, raw", replace(_MEANS, propagation=PROPAGATIONS["none"])


def another_map() -> Iterator[tuple[str, Ridge]]:
    """The same, diffused in another way."""
    yield "means of 100 rows, P^2", replace(_MEANS, propagation=PROPAGATIONS["power"])


def further_starts(best: Ridge) -> Iterator[tuple[str, Ridge]]:
    """Another way to aggregate rows under the best map."""
    yield "k-means", replace(best, start=STARTS["kmeans"])


def closed_form(start: Ridge, *, num_nodes: int) -> Iterator[tuple[str, Ridge]]:
    """Features by the closed form, classes smoothed: a linear model is too sure of itself.

    Half-diffused rows are to be predicted too: networks see something in between. Few condensed nodes want
    small steps, many want more of them.
    """
    smoothed = replace(start, self_select=True, soft_labels=True, label_step=0.0)
    if trusts_structure(start):
        smoothed = replace(smoothed, also="half")
    step = 0.1 if num_nodes < _FEW_NODES else 0.15
    optimized = replace(smoothed, epochs=_times(num_nodes) * CLOSED_FORM_EPOCHS, feature_step=step)
    yield "closed form, smoothed classes", optimized


def brief_training(start: Ridge, *, num_nodes: int) -> Iterator[tuple[str, Unrolled]]:
    """A little through a training: too short to overfit, however many nodes there are."""
    yield "through a training, briefly", through_training(start, epochs=BRIEF_EPOCHS)


def long_training(start: Ridge, *, num_nodes: int) -> Iterator[tuple[str, Unrolled]]:
    """Far through a training."""
    yield "through a training", through_training(start, epochs=_times(num_nodes) * LONG_EPOCHS)


def taught(start: Ridge, *, num_nodes: int) -> Iterator[tuple[str, Taught]]:
    """Far through a training, towards what networks that know everything make of all nodes."""
    trained = through_training(start, epochs=_times(num_nodes) * LONG_EPOCHS)
    options = {option.name: getattr(trained, option.name) for option in fields(trained)}
    yield (
        "through a training, taught",
        Taught(**options, teacher="hgnn" if trusts_structure(start) else "mlp"),
    )


def real_nodes(*, num_nodes: int, available: int) -> Iterator[Proposal]:
    """Training nodes, if so many are available, with the hyperedges they share: what networks meet later."""
    if num_nodes <= available:
        yield "real nodes", Herding()


def elaborations(start: Ridge, second_start: Ridge | None, *, num_nodes: int) -> Iterator[Proposal]:
    """What else is worth trying when the budget is not used up."""
    closed = next(candidate for _, candidate in closed_form(start, num_nodes=num_nodes))
    trained = next(candidate for _, candidate in long_training(start, num_nodes=num_nodes))
    yield "closed form, then through a training", through_training(closed, epochs=2 * BRIEF_EPOCHS)
    options: dict[str, Any] = {"time": start.time, "propagation": start.propagation, "start": start.start}
    options["samples_per_node"] = start.samples_per_node
    yield "dual-level loss with structure", AHGCDD(**options)
    yield "dual-level loss", AHGCDDX(**options)
    yield "closed form, smoothed classes, with structure", replace(closed, structure=True)
    yield "through a training, with structure", replace(trained, structure=True)
    if second_start is not None:
        again = [
            *closed_form(second_start, num_nodes=num_nodes),
            *brief_training(second_start, num_nodes=num_nodes),
        ]
        yield from ((f"{label}, from the second-best start", candidate) for label, candidate in again)
    yield "closed form with raw rows too", replace(closed, also="both")
    yield "through a training with half-diffused and raw rows", replace(trained, also="both")
    yield "closed form, three times as long", replace(closed, epochs=3 * closed.epochs)
    yield "through the training of a wider network", replace(trained, hidden=4 * _HIDDEN)


def _times(num_nodes: int) -> int:
    return 2 if num_nodes > _MANY_NODES else 1


def through_training(candidate: Ridge, *, epochs: int) -> Unrolled:
    """A candidate optimized further, through the training of a small network."""
    options = {option.name: getattr(candidate, option.name) for option in fields(candidate)}
    return Unrolled(**options, unrolled_epochs=epochs, hidden=_HIDDEN)


def in_bundles(proposals: Iterable[tuple[str, Ridge]]) -> Iterator[tuple[str, Bundled]]:
    """The same with noisy nodes, for networks that look at single nodes first or take means of neighbours."""
    for label, candidate in proposals:
        options = {option.name: getattr(candidate, option.name) for option in fields(candidate)}
        options = {"unrolled_epochs": 0, "hidden": _HIDDEN} | options | {"walks": True}
        options["unrolled_epochs"] *= 2  # for twice the rows
        yield f"{label}, in bundles", Bundled(**options)


def trusts_structure(candidate: Condenser) -> bool:
    """Whether its rows are diffused at all."""
    return getattr(candidate, "propagation", None) is not PROPAGATIONS["none"]
