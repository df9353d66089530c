"""Weights of the two losses over time (Eq. 13 and appendix D)."""

import itertools
import math

import pytest

from hypercondense.condensing.schedules import SCHEDULES, cosine, linear, step


def test_cosine_is_a_quarter_turn() -> None:
    assert cosine(0.0) == (1.0, 0.0)
    assert cosine(0.5) == pytest.approx((math.sqrt(0.5), math.sqrt(0.5)))
    assert cosine(1.0) == pytest.approx((0.0, 1.0))


def test_linear_adds_up_to_one() -> None:
    assert linear(0.25) == (0.75, 0.25)


def test_step_switches_at_half_time() -> None:
    assert step(0.499) == (1.0, 0.0)
    assert step(0.5) == (0.0, 1.0)


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
def test_weights_are_never_negative_and_never_both_zero(schedule) -> None:
    for percent in range(101):
        coarse, fine = schedule(percent / 100)
        assert coarse >= 0 and fine >= 0 and coarse + fine > 0.9


@pytest.mark.parametrize("name", ["cosine", "linear", "step"])
def test_the_way_is_from_coarse_to_fine(name: str) -> None:
    weights = [SCHEDULES[name](percent / 100) for percent in range(101)]
    assert all(later[0] <= earlier[0] + 1e-12 for earlier, later in itertools.pairwise(weights))
    assert all(later[1] >= earlier[1] - 1e-12 for earlier, later in itertools.pairwise(weights))
