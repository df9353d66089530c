"""The better of two starts: judged after the closed form where there is one, and never what broke."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from hypercondense.condensing.candidate import Candidate
from hypercondense.condensing.predict import Prediction
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.run import condense_by
from hypercondense.condensing.starts import Better, KMeans, Means
from hypercondense.hypergraph import Hypergraph, Split
from makers.jobs import job_of, quick

STARTS = Better(first=KMeans(), second=Means(samples=5))
CLOSED = quick("ridge", start="k-means")
TRAINED = quick("learnt")


def first_rows(source: Hypergraph, parts: Split, recipe: Recipe) -> list[np.ndarray]:
    """Features of both starts before anything is done to them."""
    job = job_of(source, parts)
    rows = job.material.training_rows(recipe.map)
    firsts = (
        job.material.first_features(rows, recipe.map, start, job.labels, seed=0)[0] for start in STARTS.both
    )
    return [first.numpy() for first in firsts]


def judged(
    patch: pytest.MonkeyPatch, source: Hypergraph, parts: Split, recipe: Recipe, scores: list[float]
) -> tuple[list[np.ndarray], object]:
    """What was judged first, and the start that was chosen by made-up scores."""
    seen: list[np.ndarray] = []
    left = iter(scores)

    def score(self: Prediction, candidate: Candidate) -> float:
        seen.append(candidate.features.detach().numpy().copy())
        return next(left)

    patch.setattr(Prediction, "score", score)
    job = job_of(source, parts, judge=lambda graph: 0.0)
    chosen = recipe._chosen_start(job, job.material.training_rows(recipe.map), job.labels)
    return seen, chosen


@pytest.mark.parametrize(("scores", "number"), [([0.4, 0.6], 1), ([0.6, 0.4], 0), ([0.5, 0.5], 0)])
def test_the_start_with_the_higher_score_is_taken_and_of_equals_the_first(
    scores: list[float], number: int, source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = _with_both(CLOSED)
    _, chosen = judged(monkeypatch, source, parts, recipe, scores)
    assert chosen == STARTS.both[number]


def test_starts_are_judged_after_the_closed_form_where_there_is_one(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    for recipe, moved in ((_with_both(CLOSED), True), (_with_both(TRAINED), False)):
        firsts = first_rows(source, parts, recipe)
        seen, _ = judged(monkeypatch, source, parts, recipe, [0.4, 0.6])
        assert [not np.array_equal(*pair) for pair in zip(seen, firsts, strict=True)] == [moved, moved]


def test_a_start_that_the_closed_form_breaks_is_not_taken(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    breaks = iter([True, False])
    whole = Candidate.is_finite.fget
    monkeypatch.setattr(Candidate, "is_finite", property(lambda one: not next(breaks) and whole(one)))
    seen, chosen = judged(monkeypatch, source, parts, _with_both(TRAINED), [0.1])
    assert chosen == STARTS.both[1] and len(seen) == 1


def _with_both(recipe: Recipe) -> Recipe:
    return replace(recipe, start=STARTS)


def test_a_resumed_run_finds_its_start_again(
    source: Hypergraph, parts: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = _with_both(TRAINED)
    how: dict[str, Any] = {"nodes": 9, "checkpoint": tmp_path}
    whole = condense_by(recipe, source, parts, **how)
    for path in tmp_path.glob("checkpoint*"):
        path.unlink()  # as if it had been interrupted before the first state

    def again(*_: Any, **__: Any) -> None:
        raise AssertionError("the start was looked for again")

    monkeypatch.setattr(Recipe, "_chosen_start", again)
    resumed = condense_by(recipe, source, parts, **how, resume=True)
    assert resumed.hypergraph == whole.hypergraph
    assert all(map(np.array_equal, resumed.members, whole.members))
