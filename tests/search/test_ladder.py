"""The ladder by itself: made-up answers decide which rungs are taken, and nothing is condensed."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercondense.condensing.baselines.coresets import Herding
from hypercondense.condensing.maps import Map
from hypercondense.condensing.predict import Predict
from hypercondense.condensing.recipe import Recipe
from hypercondense.search import ladder, rungs
from hypercondense.search.policy import Facts, Trial, Try
from makers.searches import ANSWERS, answers, climbed

FEW = Facts(num_nodes=9, num_validation=ladder.FEW_NODES - 1, num_training=100)
SOME = replace(FEW, num_validation=ladder.FEW_NODES)
ALMOST_MANY = replace(FEW, num_validation=ladder.TELLING_NODES - 1)
MANY = replace(FEW, num_validation=ladder.TELLING_NODES)
LARGE_BUDGET = replace(SOME, elaborates=True)
AGREE, DISAGREE = (0.41, 0.5), (0.39, 0.5)  # by less and by more than a tenth

HEAT, RAW, POWER, CLUSTERS = (
    *(f"means of 100 rows, {name}" for name in ("heat kernel", "raw", "P^2")),
    "k-means",
)
ASKED = "ask networks about the best start"
REAL, CLOSED = "real nodes", "closed form, smoothed classes"
LONG = "through a training"
BRIEF, TAUGHT = f"{LONG}, briefly", f"{LONG}, taught"

#: A rung, what is known, what the judge and the networks find, and whether the rung is taken then.
CASES: list[tuple[str, Facts, dict[str, float], tuple[float, float], bool]] = [
    ("first starts", FEW, {}, AGREE, True),
    ("another map", SOME, {HEAT: 0.9}, AGREE, False),
    ("another map", SOME, {HEAT: 0.55}, AGREE, True),  # not clearly better than raw rows
    ("another map", SOME, {RAW: 0.55}, AGREE, True),
    ("another map", SOME, {RAW: 0.9}, AGREE, False),
    ("another map", ALMOST_MANY, {HEAT: 0.9}, AGREE, False),
    ("another map", MANY, {HEAT: 0.9}, AGREE, True),
    ("another map", LARGE_BUDGET, {HEAT: 0.9}, AGREE, True),
    ("another start", SOME, {HEAT: 0.9}, AGREE, True),
    (ASKED, SOME, {}, AGREE, True),
    (ASKED, SOME, {RAW: 0.9}, AGREE, False),
    (REAL, FEW, {}, DISAGREE, True),
    (REAL, FEW, {}, AGREE, False),
    (REAL, FEW, {RAW: 0.9}, AGREE, True),
    (REAL, SOME, {RAW: 0.9}, AGREE, False),
    (REAL, SOME, {}, DISAGREE, False),
    (REAL, replace(FEW, num_nodes=100), {}, DISAGREE, True),
    (REAL, replace(FEW, num_nodes=101), {}, DISAGREE, False),  # there are no more than 100
    ("taught", FEW, {}, AGREE, True),
    ("taught", FEW, {RAW: 0.9}, AGREE, True),
    ("taught", FEW, {}, DISAGREE, False),
    ("taught", SOME, {}, AGREE, False),
    ("brief training first", MANY, {}, AGREE, True),
    ("brief training first", ALMOST_MANY, {}, AGREE, False),
    ("long training first", MANY, {}, AGREE, True),
    ("long training first", ALMOST_MANY, {}, AGREE, False),
    *(("closed form", facts, {}, AGREE, True) for facts in (FEW, SOME, MANY)),
    ("closed form", MANY, {LONG: 0.9}, DISAGREE, True),  # even if one way was found to be good
    ("brief training", SOME, {}, AGREE, True),
    ("brief training", SOME, {CLOSED: 0.9}, AGREE, False),
    ("brief training", SOME, {CLOSED: 0.55}, AGREE, True),
    ("brief training", FEW, {TAUGHT: 0.55}, AGREE, False),
    ("brief training", FEW, {}, AGREE, True),
    ("brief training", MANY, {}, AGREE, False),
    ("long training", SOME, {}, AGREE, True),
    ("long training", SOME, {BRIEF: 0.9}, AGREE, True),
    ("long training", SOME, {CLOSED: 0.9}, AGREE, False),
    ("long training", FEW, {}, AGREE, False),
    ("long training", MANY, {}, AGREE, False),
    ("elaborations", LARGE_BUDGET, {CLOSED: 0.9}, AGREE, True),
    ("elaborations", MANY, {}, AGREE, False),
]

EVERYONE = [HEAT, RAW, POWER, CLUSTERS, REAL, CLOSED, LONG, BRIEF, TAUGHT]
any_facts = st.builds(
    replace,
    st.sampled_from([FEW, SOME, ALMOST_MANY, MANY]),
    num_nodes=st.sampled_from([9, 100, 101, 400]),
    elaborates=st.booleans(),
)
any_shares = st.dictionaries(
    st.sampled_from([*EVERYONE, *(f"{label}, in bundles" for label in (CLOSED, LONG, BRIEF))]),
    st.sampled_from([0.3, 0.5, 0.55, 0.7, 0.9]),
)
any_accuracies = st.sampled_from([AGREE, DISAGREE])


def labels_of(trials: list[Trial]) -> list[str]:
    return [trial.label for trial in trials]


def recipes_of(trials: list[Trial]) -> dict[str, Any]:
    return {trial.label: trial.recipe for trial in trials}


def front_of(facts: Facts, trials: list[Trial]) -> str:
    return ladder.standing(facts, trials).best_front.label


@pytest.mark.parametrize(("rung", "facts", "shares", "accuracies", "taken"), CASES)
def test_a_rung_is_taken_where_its_condition_holds(
    rung: str, facts: Facts, shares: dict[str, float], accuracies: tuple[float, float], taken: bool
) -> None:
    standing = ladder.standing(facts, climbed(facts, shares, accuracies))
    asked = bool(standing.best_start.accuracies)
    assert (asked if rung == ASKED else rung in standing.on_rung) == taken


def test_every_rung_and_every_condition_is_walked_through() -> None:
    table = dict(ladder.as_table())
    assert list(table) == [rung.name for rung in ladder.RUNGS]  # none has the name of another
    walked = {(rung, taken) for rung, _, _, _, taken in CASES}
    taken = {(name, True) for name in table}
    left_out = {(name, False) for name, when in table.items() if when != "always"}
    assert walked == taken | left_out


@pytest.mark.parametrize(
    ("facts", "shares", "labels"),
    [
        (SOME, {}, [HEAT, RAW, POWER, CLUSTERS, CLOSED, BRIEF, LONG]),
        (SOME, {HEAT: 0.7, CLOSED: 0.9}, [HEAT, RAW, CLUSTERS, CLOSED]),
        (FEW, {}, [HEAT, RAW, POWER, CLUSTERS, TAUGHT, CLOSED, BRIEF]),
        (FEW, {RAW: 0.9}, [HEAT, RAW, CLUSTERS, REAL, TAUGHT, CLOSED, BRIEF]),
        (MANY, {CLOSED: 0.9}, [HEAT, RAW, POWER, CLUSTERS, BRIEF, LONG, CLOSED]),
    ],
)
def test_rungs_are_taken_in_the_order_of_the_table(
    facts: Facts, shares: dict[str, float], labels: list[str]
) -> None:
    assert labels_of(climbed(facts, shares)) == labels


@pytest.mark.parametrize(
    ("facts", "shares", "front"),
    [
        # Starts: only what is clearly better goes to the front.
        (SOME, {RAW: 0.55, POWER: 0.55, CLUSTERS: 0.55, CLOSED: 0.55}, HEAT),
        (SOME, {POWER: 0.9, CLUSTERS: 0.92}, POWER),
        # Teachers need no proof against the start.
        (FEW, {TAUGHT: 0.55, CLOSED: 0.57}, TAUGHT),
        (FEW, {TAUGHT: 0.55, CLOSED: 0.95}, CLOSED),
        (FEW, {TAUGHT: 0.30, CLOSED: 0.95}, CLOSED),
        (FEW, {TAUGHT: 0.30}, HEAT),
        # A brief training needs none either, a long one does.
        (SOME, {BRIEF: 0.53, LONG: 0.55}, BRIEF),
        (SOME, {BRIEF: 0.53, LONG: 0.95}, LONG),
        (SOME, {BRIEF: 0.90, LONG: 0.95}, LONG),  # clearly better than the start, a little than the brief one
        (SOME, {BRIEF: 0.98, LONG: 0.95}, BRIEF),
        (SOME, {BRIEF: 0.30, LONG: 0.55}, HEAT),
        (MANY, {BRIEF: 0.53, LONG: 0.55}, BRIEF),
        (MANY, {BRIEF: 0.53, LONG: 0.90, CLOSED: 0.95}, LONG),  # not clearly better than the long one
        (MANY, {CLOSED: 0.90}, CLOSED),
        # What the judge says of real nodes does not matter: networks are asked about them.
        (FEW, {RAW: 0.70, REAL: 0.99}, RAW),
        (LARGE_BUDGET, {CLOSED: 0.70, "dual-level loss": 0.95}, "dual-level loss"),
    ],
)
def test_what_is_in_front_gives_way_only_to_what_its_rung_accepts(
    facts: Facts, shares: dict[str, float], front: str
) -> None:
    assert front_of(facts, climbed(facts, shares)) == front


def test_further_starts_are_those_of_the_map_in_front() -> None:
    for best, rows_map in ((HEAT, Map()), (RAW, Map(kernel="none")), (POWER, Map(kernel="power"))):
        trials = climbed(MANY, {best: 0.9})
        assert recipes_of(trials)[CLUSTERS].map == rows_map


def test_the_start_in_front_is_what_is_optimized_and_the_second_best_is_elaborated() -> None:
    trials = climbed(LARGE_BUDGET, {HEAT: 0.9, POWER: 0.6, CLUSTERS: 0.7, CLOSED: 0.98})
    recipes = recipes_of(trials)
    second = f"{CLOSED}, from the second-best start"
    assert recipes[CLOSED] == rungs.closed_form(recipes[HEAT], 9)
    assert recipes[second] == rungs.closed_form(recipes[CLUSTERS], 9)
    standing = ladder.standing(LARGE_BUDGET, trials)
    assert standing.best_start.label == HEAT and standing.second_start == recipes[CLUSTERS]
    assert [trial.label for trial in standing.starts] == [HEAT, RAW, POWER, CLUSTERS]


@pytest.mark.parametrize("facts", [FEW, SOME, MANY])
@pytest.mark.parametrize("accuracies", [AGREE, DISAGREE])
def test_rows_are_bundled_where_networks_disagree_about_the_start(
    facts: Facts, accuracies: tuple[float, float]
) -> None:
    trials = climbed(facts, accuracies=accuracies)
    optimized = [trial.recipe for trial in trials if isinstance(trial.recipe, Recipe) and trial.recipe.goal]
    assert len(optimized) >= 2
    for recipe in optimized:
        assert (recipe.bundles is not None) == (accuracies == DISAGREE)
    for trial in trials:
        assert ("in bundles" in trial.label) == (getattr(trial.recipe, "bundles", None) is not None)


def test_raw_rows_are_never_bundled() -> None:
    """Where structure misleads, networks must disagree."""
    for facts in (FEW, SOME, MANY):
        assert not any("bundles" in label for label in labels_of(climbed(facts, {RAW: 0.9}, (0.1, 0.9))))


def test_elaborations_are_plain_even_where_rows_are_bundled() -> None:
    elaborated = ladder.standing(LARGE_BUDGET, climbed(LARGE_BUDGET, {}, DISAGREE)).on_rung["elaborations"]
    assert all(isinstance(trial.recipe, Recipe) and trial.recipe.bundles is None for trial in elaborated)


def test_teachers_look_at_structure_where_the_start_does() -> None:
    for best, network in ((HEAT, "hgnn"), (RAW, "mlp")):
        goal = recipes_of(climbed(FEW, {best: 0.9}))[TAUGHT].goal
        assert isinstance(goal, Predict) and goal.teachers is not None
        assert goal.teachers.network == network


@settings(max_examples=40, deadline=None)
@given(any_facts, any_shares, any_accuracies)
def test_whatever_is_found_the_search_ends_and_nothing_is_tried_twice(
    facts: Facts, shares: dict[str, float], accuracies: tuple[float, float]
) -> None:
    trials = climbed(facts, shares, accuracies)
    assert len({trial.key for trial in trials}) == len(set(labels_of(trials))) == len(trials)
    assert len(trials) <= ladder.most_trials(facts)
    assert facts.elaborates or len(trials) <= ladder.BASIC_TRIALS
    assert all(isinstance(trial.recipe, Recipe | Herding) for trial in trials)
    standing = ladder.standing(facts, trials)
    assert standing.best_start in standing.starts and standing.best_front in trials


@settings(max_examples=15, deadline=None)
@given(any_facts, any_shares, any_accuracies)
def test_any_part_of_the_trials_leads_to_the_next_one(
    facts: Facts, shares: dict[str, float], accuracies: tuple[float, float]
) -> None:
    """A policy has no memory: whoever has the first trials goes on to the same others."""
    trials = climbed(facts, shares, accuracies)
    for number, trial in enumerate(trials):
        proposal = ladder.next_proposal(facts, trials[:number])
        assert isinstance(proposal, Try)
        assert (proposal.label, proposal.recipe) == (trial.label, trial.recipe)
        if number:
            assert ladder.standing(facts, trials[:number]).best_front in trials[:number]
    assert ladder.next_proposal(facts, trials) is None


@pytest.mark.parametrize("facts", [FEW, SOME, MANY])
def test_no_search_is_longer_than_it_says_and_some_are_as_long(facts: Facts) -> None:
    assert len(climbed(facts)) == ladder.most_trials(facts) == ladder.BASIC_TRIALS
    large = replace(facts, elaborates=True)
    longest = max(len(climbed(large, shares)) for shares in ({}, {HEAT: 0.9}, {RAW: 0.9}))
    assert longest <= ladder.most_trials(large)


@pytest.mark.parametrize(
    ("changed", "total", "expected"),
    [(0, 100, False), (5, 100, False), (7, 100, True), (7, 10_000, True), (6, 10_000, False), (1, 1, True)],
)
def test_clearly_better_is_two_and_a_half_standard_errors(changed: int, total: int, expected: bool) -> None:
    """``k`` more right and none less is ``k / sqrt(k (1 - k / n))`` standard errors."""
    right = torch.ones(total, dtype=torch.bool)
    other = torch.arange(total) >= changed
    assert ladder.is_clearly_better(right, other) is expected
    assert not ladder.is_clearly_better(other, right)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_two_trials_are_never_both_clearly_better(pairs: list[tuple[bool, bool]]) -> None:
    first, second = torch.tensor(pairs).T
    assert not (ladder.is_clearly_better(first, second) and ladder.is_clearly_better(second, first))
    assert not ladder.is_clearly_better(first, first)


def test_of_equals_the_earlier_trial_is_the_best() -> None:
    trials = climbed(SOME)
    assert ladder.best(trials) is trials[0]
    better = replace(trials[2], right=answers(0.6))
    assert ladder.best([trials[0], better, trials[1]]) is better
    assert better.score == 0.6 and len(better.right) == ANSWERS
