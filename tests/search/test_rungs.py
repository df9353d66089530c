"""What the ladder tries: sizes and lengths of its recipes."""

import pytest

from hypercondense.condensing.maps import Map
from hypercondense.condensing.predict import Predict, Smoothed
from hypercondense.search import rungs
from makers.searches import tries

STARTS = tries(*rungs.first_starts(), *rungs.another_map(), *rungs.further_starts(rungs.MEANS))


def goal_of(recipe: object) -> Predict:
    goal = recipe.goal  # type: ignore[attr-defined]
    assert isinstance(goal, Predict)
    return goal


def test_starts_are_judged_as_they_are() -> None:
    assert len(STARTS) == 4
    assert all(start.goal is None and start.structure is None for start in STARTS.values())


@pytest.mark.parametrize(
    ("nodes", "times", "step"), [(99, 1, 0.1), (100, 1, 0.15), (300, 1, 0.15), (301, 2, 0.15)]
)
def test_many_nodes_are_optimized_for_longer_and_few_by_smaller_steps(
    nodes: int, times: int, step: float
) -> None:
    closed = goal_of(rungs.closed_form(rungs.MEANS, nodes))
    assert closed.closed_form is not None and closed.labels == Smoothed()
    assert (closed.closed_form.epochs, closed.closed_form.step) == (times * rungs.CLOSED_FORM_EPOCHS, step)
    for way in (rungs.long_training, rungs.taught):
        training = goal_of(way(rungs.MEANS, nodes)).training
        assert training is not None and training.epochs == times * rungs.LONG_EPOCHS
    brief = goal_of(rungs.brief_training(rungs.MEANS, nodes)).training
    assert brief is not None and brief.epochs == rungs.BRIEF_EPOCHS


def test_half_diffused_rows_are_predicted_too_unless_rows_are_raw() -> None:
    for start in STARTS.values():
        also = goal_of(rungs.closed_form(start, 9)).also
        assert also == ((Map(time=1.0),) if start.map.kernel != "none" else ())


def test_bundles_see_walks_and_are_trained_twice_as_long() -> None:
    for way in (rungs.closed_form, rungs.brief_training, rungs.long_training):
        plain = way(rungs.MEANS, 9)
        bundled = rungs.in_bundles(plain)
        before, after = goal_of(plain), goal_of(bundled)
        assert bundled.bundles is not None and after.also == (*before.also, Map(walks=True))
        assert (before.training is None) == (after.training is None)
        if before.training is not None and after.training is not None:
            assert after.training.epochs == 2 * before.training.epochs
        assert after.closed_form == before.closed_form


def test_elaborations_of_a_second_start_need_one() -> None:
    alone = tries(*rungs.elaborations(rungs.MEANS, None, 9))
    both = tries(*rungs.elaborations(rungs.MEANS, STARTS["k-means"], 9))
    assert {label for label in both if label not in alone} == {
        "closed form, smoothed classes, from the second-best start",
        "through a training, briefly, from the second-best start",
    }
