"""What a search tries, as methods with all their options: each can be run again by itself."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hypercondense.initialize import STARTS
from hypercondense.methods import AHGCDD, AHGCDDX, Condenser, Unrolled
from hypercondense.methods.ahgcdd import PROPAGATIONS

#: The full length of an optimization: epochs of the closed form, epochs through a training.
CLOSED_FORM_EPOCHS, UNROLLED_EPOCHS = 100, 60
_SHORT = 0.3  # the part of it that decides which optimization is worth its full length


def first_starts() -> Iterator[tuple[str, Unrolled]]:
    """Means of 100 rows, diffused in different ways: which map suits this hypergraph?"""
    means = Unrolled(epochs=0, unrolled_epochs=0, self_select=False, hidden=64)
    yield "means of 100 rows, P^2", means
    yield "means of 100 rows, heat kernel", replace(means, propagation=PROPAGATIONS["heat-kernel"])
    yield "means of 100 rows, raw", replace(means, propagation=PROPAGATIONS["none"])


def further_starts(best: Unrolled) -> Iterator[tuple[str, Unrolled]]:
    """Other ways to aggregate rows under the best map."""
    yield "k-means", replace(best, start=STARTS["kmeans"])
    yield "means of 20 rows", replace(best, samples_per_node=20)


def optimizations(start: Unrolled, *, length: float = 1.0) -> Iterator[tuple[str, Unrolled]]:
    """From a start through a training, with and without the closed form before it."""
    through = replace(start, self_select=True, unrolled_epochs=max(1, round(length * UNROLLED_EPOCHS)))
    closed = max(1, round(length * CLOSED_FORM_EPOCHS))
    yield "closed form, then through a training", replace(through, epochs=closed)
    yield "through a training", through


def short_optimizations(start: Unrolled) -> Iterator[tuple[str, Unrolled]]:
    """The same, cut short: cheap enough to try all."""
    for label, candidate in optimizations(start, length=_SHORT):
        yield f"{label}, short", candidate


def full_length(candidate: Unrolled, *, times: float = 1.0) -> Unrolled:
    """A short candidate at (``times``) its full length."""
    closed = round(times * CLOSED_FORM_EPOCHS) if candidate.epochs else 0
    return replace(candidate, epochs=closed, unrolled_epochs=round(times * UNROLLED_EPOCHS))


def elaborations(best: Unrolled, second_start: Unrolled | None) -> Iterator[tuple[str, Condenser]]:
    """What is worth trying around the best optimization when the budget is not used up."""
    yield "with structure", replace(best, structure=True)
    shared: dict[str, Any] = {"time": best.time, "propagation": best.propagation, "start": best.start}
    shared["samples_per_node"] = best.samples_per_node
    yield "dual-level loss", AHGCDDX(**shared)
    yield "dual-level loss with structure", AHGCDD(**shared)
    if second_start is not None:
        yield (
            "from the second-best start",
            replace(second_start, self_select=True, epochs=best.epochs, unrolled_epochs=best.unrolled_epochs),
        )
    yield "with half-diffused rows", replace(best, also="half")
    yield "with half-diffused and raw rows", replace(best, also="both")
    yield "three times as long", full_length(best, times=3)
    yield "three times as long, with structure", replace(full_length(best, times=3), structure=True)
    yield "a wider network", replace(full_length(best, times=3), hidden=256)
