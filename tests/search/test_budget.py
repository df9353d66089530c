"""Budgets: trials or times, and what is left of them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercondense.catalogue import make_method
from hypercondense.condensing.recipe import Recipe
from hypercondense.errors import ConfigError
from hypercondense.search.auto import Auto
from hypercondense.search.budget import Budget, Deadline, OutOfTimeError, Pace
from hypercondense.search.engine import in_time
from hypercondense.search.grid import PaperGrid
from makers.searches import trial_of


@pytest.mark.parametrize(
    ("text", "trials", "seconds"),
    [
        ("8", 8, math.inf),
        (" 12 ", 12, math.inf),
        ("60s", math.inf, 60),
        ("0.5s", math.inf, 0.5),
        ("1.5m", math.inf, 90),
        ("2 m", math.inf, 120),
        ("1h", math.inf, 3600),
    ],
)
def test_budgets_are_trials_or_times(text: str, trials: float, seconds: float) -> None:
    assert Budget.parse(text) == Budget(trials=trials, seconds=seconds)


@pytest.mark.parametrize(
    "text",
    ["", "0", "0s", "0.0m", "-3", "2.5", "s", "60 sec", "1d", "1e3", "nan", "inf", "1m30s", "8 trials"],
)
def test_other_texts_are_refused_with_what_would_be_right(text: str) -> None:
    with pytest.raises(ValueError, match=r"budget must be a number of trials, as 8, or a time, as 60s"):
        Budget.parse(text)
    for search in (lambda: Auto(budget=text), lambda: PaperGrid(base=Recipe(), budget=text)):
        with pytest.raises(ValueError, match="budget must be"):
            search()
    for name in ("auto", "ahgcdd-paper"):
        with pytest.raises(ConfigError, match="budget must be"):
            make_method(name, budget=text)


@given(st.integers(1, 10**9 - 1))
def test_any_number_of_trials_is_read_back(number: int) -> None:
    assert Budget.parse(str(number)) == Budget(trials=number)


@given(st.floats(0.01, 1e6).map(lambda number: round(number, 2)), st.sampled_from("smh"))
def test_any_time_is_read_back(number: float, unit: str) -> None:
    assert Budget.parse(f"{number:.2f}{unit}").seconds == pytest.approx(
        number * {"s": 1, "m": 60, "h": 3600}[unit]
    )


@given(st.text(max_size=8))
def test_any_text_is_a_positive_budget_or_a_value_error(text: str) -> None:
    try:
        budget = Budget.parse(text)
    except ValueError:
        return
    assert budget.trials > 0 and budget.seconds > 0
    assert (budget.trials == math.inf) != (budget.seconds == math.inf)


def test_trials_are_left_until_they_are_used_and_the_first_always_is() -> None:
    minute = trial_of(Recipe(), seconds=60.0)
    assert Budget(trials=2).is_left([minute]) and not Budget(trials=2).is_left([minute, minute])
    assert Budget(seconds=61).is_left([minute]) and not Budget(seconds=61).is_left([minute, minute])
    assert not Budget(seconds=60).is_left([minute])
    assert Budget(seconds=1e-9).is_left([]) and Budget(trials=1).is_left([])
    assert Budget().is_left([minute] * 1000)  # nothing was limited


def test_trials_end_early_enough_for_what_comes_after_them() -> None:
    time = 100.0
    deadline = Deadline(Budget(seconds=60), reserved=20, used=4, now=lambda: time)
    time = 100 + 0.9 * 60 - 20 - 4 - 1
    assert not deadline.is_over
    deadline.watch("condense", 1, 2)
    time += 2
    assert deadline.is_over
    with pytest.raises(OutOfTimeError):
        deadline.watch("condense", 2, 2)


@pytest.mark.parametrize(
    ("step", "instead", "given_up_at"),
    [(0.9, 5.0, None), (3.0, 5.0, 20), (0.9, 95.0, 10)],
    ids=["fast enough", "too slow", "too late already"],
)
def test_a_trial_that_is_too_slow_is_given_up_early(
    step: float, instead: float, given_up_at: int | None
) -> None:
    """A hundred steps in a minute, of which ten go by before the first report."""
    time = 10.0
    pace = Pace(Deadline(Budget(seconds=120), reserved=8, began=0.0, now=lambda: time), instead)
    for done in range(10, 101, 5):
        pace.watch("select", done, 100)  # another stage tells nothing
        try:
            pace.watch("condense", done, 100)
        except OutOfTimeError:
            assert done == given_up_at
            return
        time += 5 * step
    assert given_up_at is None


def test_a_search_in_time_is_as_far_as_its_time_is() -> None:
    time = 10.0
    told: list[int] = []
    deadline = Deadline(Budget(seconds=100), reserved=10, began=0.0, now=lambda: time)

    def note(stage: str, done: int, total: int, /, **figures: float) -> None:
        told.append(done)

    tell = in_time(note, deadline)
    for later, done in ((0.0, 0), (35.0, 100), (0.0, 600), (35.0, 700), (10.0, 800)):
        time += later
        tell("search", done, 1000)
    assert told == [0, 500, 600, 1000, 1000]


def test_a_number_of_trials_has_no_deadline() -> None:
    assert not Deadline(Budget(trials=2), reserved=1e9).is_over
    assert Budget.parse("5s").is_time and not Budget.parse("5").is_time
