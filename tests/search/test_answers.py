"""Answers about validation nodes: scores, paired differences and their standard errors."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercondense.search.answers import Answers, Difference


def answers(*rows: list[int]) -> Answers:
    return Answers(torch.tensor(rows).double())


def test_the_score_is_the_mean_over_trainings() -> None:
    told = answers([1, 1, 0, 0], [1, 1, 1, 0])
    assert told.scores == (0.5, 0.75) and told.score == 0.625


def test_nodes_that_both_get_wrong_tell_nothing() -> None:
    difference = Difference.between(answers([1, 1, 0, 0]), answers([1, 0, 0, 0]))
    assert difference.mean == 0.25
    # (1 - 1/4)^2 + 3 (1/4)^2 = 3/4, each with a weight of 1/16
    assert difference.error == pytest.approx(math.sqrt(0.75) / 4)


def test_trainings_that_disagree_make_it_less_sure() -> None:
    one, other = answers([1, 1, 0, 0], [0, 0, 0, 0]), answers([0, 0, 0, 0], [1, 1, 0, 0])
    difference = Difference.between(one, other)
    assert difference.mean == 0
    assert difference.error == pytest.approx(0.5)  # by training 0.5 and -0.5: variance 0.5, over 2


def test_a_network_that_is_worse_with_both_is_no_doubt() -> None:
    """Networks differ; only where they differ about which candidate is better, there is doubt."""
    one, other = answers([1, 1, 1, 1], [1, 0, 0, 0]), answers([1, 1, 1, 1], [1, 0, 0, 0])
    assert Difference.between(one, other) == Difference(0.0, 0.0)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=2, max_size=2))
def test_a_difference_turns_round_with_its_sides(rows: list[list[bool]]) -> None:
    one, other = (Answers(torch.tensor([row]).double()) for row in rows)
    there, back = Difference.between(one, other), Difference.between(other, one)
    assert there.mean == -back.mean == pytest.approx(one.score - other.score)
    assert there.error == pytest.approx(back.error)
