"""The time left of a whole command, by a clock that is set by hand."""

import random

import pytest

from hypercondense.runtime.estimate import TimeLeft


class Clock:
    time = 0.0

    def __call__(self) -> float:
        return self.time


def walk(expected: dict[str, float], real: dict[str, float], steps: int = 20) -> list[tuple[float, float]]:
    """Share of the run, and the estimate beside the truth, after every step and in the middle of it."""
    clock = Clock()
    left = TimeLeft(expected, now=clock)
    total, seen = sum(real.values()), []
    for stage, seconds in real.items():
        for step in range(1, steps + 1):
            for _ in range(2):
                clock.time += seconds / steps / 2
                estimate = left.seconds()
                if estimate is not None and clock.time < 0.95 * total:
                    seen.append((clock.time / total, estimate / (total - clock.time)))
            left.told(stage, step, steps)
    return seen


@pytest.mark.parametrize("seed", range(20))
def test_the_time_left_is_within_a_factor_of_two_from_a_fifth_of_the_run_on(seed: int) -> None:
    """Stages take up to 1.4 times more or less than expected, on a machine three times slower or faster."""
    chance = random.Random(seed)
    expected = {f"stage {number}": chance.uniform(1, 100) for number in range(chance.randint(2, 10))}
    machine = chance.choice([0.3, 1, 3])
    real = {name: machine * seconds * 1.4 ** chance.uniform(-1, 1) for name, seconds in expected.items()}
    for share, ratio in walk(expected, real):
        if share >= 0.2:
            assert 0.5 <= ratio <= 2


def test_what_is_skipped_is_not_waited_for() -> None:
    clock = Clock()
    left = TimeLeft({"diffuse": 100, "train": 10}, now=clock)
    clock.time = 5.0
    left.told("train", 1, 2)
    assert left.seconds() == pytest.approx(5)


def test_a_step_that_takes_long_makes_the_rest_longer_instead_of_standing_still() -> None:
    clock = Clock()
    left = TimeLeft(now=clock)
    for step in range(1, 6):
        clock.time += 1
        left.told("work", step, 10)
    assert left.seconds() == pytest.approx(5)
    clock.time += 1
    assert left.seconds() == pytest.approx(4)
    clock.time += 10
    assert left.seconds() == pytest.approx(14)  # it was 5 for 5; now 15 are gone, and it may go on like that


def test_a_part_of_a_stage_that_was_not_expected_ends_no_other() -> None:
    clock = Clock()
    left = TimeLeft({"search": 70, "confirm": 30}, now=clock)
    clock.time = 10
    left.told("teach", 3, 3)
    assert left.seconds() is None
    clock.time = 20
    left.told("search", 1, 2)
    assert left.seconds() == pytest.approx(20 + 30 * 20 / 35)


def test_preparing_says_nothing_about_the_steps_that_follow() -> None:
    """A library is imported for a minute; a thousand quick steps then are not hours."""
    clock = Clock()
    left = TimeLeft(now=clock)
    clock.time = 60
    left.told("search", 1, 1000)
    assert left.seconds() is None
    clock.time = 61
    left.told("search", 101, 1000)
    assert left.seconds() == pytest.approx(899 / 100)


def test_nothing_is_said_before_anything_is_done() -> None:
    left = TimeLeft({"a": 1}, now=Clock())
    assert left.seconds() is None
    left.told("a", 0, 5)
    assert left.seconds() is None
