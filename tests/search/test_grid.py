"""The paper's grid: its points, the order in which they are drawn, and what is kept."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hypercondense import condense
from hypercondense.catalogue import make_method
from hypercondense.condensation import Condensation
from hypercondense.condensing.presets import PRESETS
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.settings import changed
from hypercondense.errors import ConfigError
from hypercondense.hypergraph import Hypergraph, Split, split_from_ids
from hypercondense.nn.short_trainings import ShortTrainings
from hypercondense.nn.training import Inputs
from hypercondense.search import grid
from hypercondense.search.grid import PaperGrid, points, policy_of
from hypercondense.search.policy import Facts, Try
from hypercondense.typed import digest_of
from makers.searches import SIZES, trial_of

PAPER, PAPER_X = PRESETS["ahgcdd-paper"][1], PRESETS["ahgcdd-x-paper"][1]
FACTS = Facts(sizes=SIZES)


def coordinates(point: Any) -> tuple[Any, ...]:
    structure = () if point.structure is None else (point.structure.step,)
    return (
        point.map.time,
        point.goal.negatives,
        point.start.samples,
        point.goal.epochs,
        point.goal.step,
        *structure,
    )


@pytest.mark.parametrize(("base", "number"), [(PAPER, 2700), (PAPER_X, 900)])
def test_the_points_are_those_of_appendix_b2(base: Recipe, number: int) -> None:
    axes = [[1, 2, 3, 4, 5], [1, 5, 10, 20, 50], [5, 10, 20], [50, 100, 150, 200], [0.01, 0.001, 0.0001]]
    axes += [[0.01, 0.001, 0.0001]] * (base.structure is not None)
    every = points(base)
    found = {coordinates(point) for point in every}
    assert len(every) == len(found) == number == np.prod([len(axis) for axis in axes])
    for place, axis in enumerate(axes):
        assert sorted({point[place] for point in found}) == sorted(axis)


@pytest.mark.parametrize("base", [PAPER, PAPER_X])
def test_whatever_is_not_searched_is_that_of_the_preset(base: Recipe) -> None:
    searched = {"map.time": 2, "negatives": 10, "start.samples": 20, "goal.epochs": 100, "goal.step": 0.01}
    searched |= {} if base.structure is None else {"structure.step": 0.01}
    assert all(changed(point, searched) == base for point in points(base)[::101])
    if base.structure is not None:  # intervals and the MLP of the appendix
        found = base.structure
        assert (found.feature_turns, found.structure_turns, found.layers, found.hidden) == (5, 15, 3, 256)


def drawn(seed: int, number: int, base: Recipe = PAPER_X) -> list[Recipe]:
    policy, trials = policy_of(base), []
    for _ in range(number):
        proposal = policy(replace(FACTS, seed=seed), trials)
        assert isinstance(proposal, Try)
        trials.append(trial_of(proposal.recipe, label=proposal.label))
    return [trial.recipe for trial in trials]


def test_draws_follow_from_the_seed_and_no_point_is_drawn_twice() -> None:
    first, again, other = drawn(3, 40), drawn(3, 40), drawn(4, 40)
    assert first == again != other
    assert len({digest_of(point) for point in first}) == 40
    every = {digest_of(point) for point in points(PAPER_X)}
    assert all(digest_of(point) in every for point in first)


def test_the_grid_ends_with_its_last_point(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TIMES", "SAMPLES", "EPOCHS", "STEPS"):
        monkeypatch.setattr(grid, name, (2,))
    recipes = drawn(0, 5)
    assert sorted(recipe.goal.negatives for recipe in recipes) == [1, 5, 10, 20, 50]  # type: ignore[union-attr]
    trials = [trial_of(recipe) for recipe in recipes]
    assert policy_of(PAPER_X)(FACTS, trials) is None


@pytest.fixture(scope="module")
def found(source: Hypergraph, parts: Split) -> Iterator[Condensation]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grid, "EPOCHS", (2, 3))
        yield condense(source, parts, nodes=9, method="ahgcdd-paper", budget=3, seed=1)


def test_the_best_on_validation_nodes_is_kept(found: Condensation) -> None:
    assert found.choice is not None
    tried = found.choice["trials"]
    assert len(tried) == len(found.history) == 3
    best = max(tried, key=lambda trial: trial["score"])
    assert found.choice["settings"] == best["settings"]
    assert found.final_validation == best["score"]
    assert found.start_validation is None
    assert [row["score"] for row in found.history] == [trial["score"] for trial in tried]
    assert all(trial["method"] == "ahgcdd-paper" for trial in tried)


def test_what_is_kept_is_made_again_and_scores_what_is_said(
    found: Condensation, source: Hypergraph, parts: Split
) -> None:
    choice = json.loads(json.dumps(found.choice))
    again = condense(
        source, parts, nodes=9, method=choice["method"], settings=choice["settings"], seed=1, select=False
    )
    assert again.hypergraph.digest == found.hypergraph.digest
    assert ShortTrainings(Inputs.of(source), parts)(found.hypergraph) == pytest.approx(found.final_validation)


def test_without_validation_nodes_there_is_nothing_to_search_by(source: Hypergraph, parts: Split) -> None:
    blind = split_from_ids(source, train_ids=parts.train_ids, validation_ids=[], test_ids=parts.test_ids)
    for given, select in ((blind, True), (parts, False)):
        with pytest.raises(ValueError, match="there are none or they may not choose"):
            condense(source, given, nodes=9, method="ahgcdd-x-paper", budget=1, select=select)


def test_only_the_papers_own_methods_have_a_grid() -> None:
    assert isinstance(make_method("ahgcdd-paper", budget="3"), PaperGrid)
    searched: Any = make_method("ahgcdd-x-paper", {"map.kernel": "vanilla"}, budget="3")
    assert {point.map.kernel for point in points(searched.base)} == {"vanilla"}
    raw = points(changed(searched.base, {"map.kernel": "none"}))
    assert 5 * len(raw) == len(points(searched.base))  # there are no times
    with pytest.raises(ConfigError, match=r"a budget is for methods that search .*; ridge does not"):
        make_method("ridge", budget="3")
    with pytest.raises(ConfigError, match="one of dual-level recipes; leave the budget out"):
        make_method("ahgcdd-paper", {"goal": "predict"}, budget="3")
    with pytest.raises(ConfigError, match="a budget is for methods that search; a recipe does not"):
        condense(None, method=PAPER, budget=3)  # type: ignore[arg-type]
