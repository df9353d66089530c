"""Options as text and JSON."""

import json
from typing import Any

import pytest

from hypercondense.catalogue import METHODS, make_method
from hypercondense.condensing.ahgcdd import AHGCDD
from hypercondense.condensing.options import configure, settings_of
from hypercondense.condensing.schedules import cosine, linear
from hypercondense.errors import ConfigError


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_settings_are_json_and_make_the_same_method_again(method) -> None:
    settings = json.loads(json.dumps(settings_of(method())))
    assert configure(method, settings) == method()


def test_text_becomes_numbers_functions_and_none() -> None:
    made = configure(
        AHGCDD,
        {"time": "3", "epochs": "7", "schedule": "linear", "candidates": "none", "relative-step": "no"},
    )
    assert (made.time, made.epochs, made.schedule, made.candidates) == (3.0, 7, linear, None)
    assert made.relative_step is False


def test_a_function_of_the_callers_own_is_kept_and_named_in_the_settings() -> None:
    def mine(progress: float) -> tuple[float, float]:
        return 1.0, progress

    assert AHGCDD(schedule=cosine).schedule is cosine
    assert settings_of(AHGCDD(schedule=mine))["schedule"].endswith("mine")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tiem": "2"}, r"unknown option 'tiem'; the options are .*time"),
        ({"epochs": "2.5"}, "option epochs must be a whole number, got '2.5'"),
        ({"epochs": "nan"}, "option epochs must be a whole number, got 'nan'"),
        ({"epochs": "inf"}, "option epochs must be a whole number, got 'inf'"),
        ({"time": "soon"}, "option time must be a finite number, got 'soon'"),
        ({"time": "inf"}, "option time must be a finite number, got 'inf'"),
        ({"feature_step": float("nan")}, "option feature_step must be a finite number, got nan"),
        ({"schedule": "quick"}, "option schedule must be one of cosine, .*got 'quick'"),
        ({"threshold": "none"}, "option threshold must be one of anchor, shared, fixed"),
        ({"relative_step": "maybe"}, "option relative_step must be true or false"),
        ({"epochs": "-1"}, "epochs must be at least 0, got -1"),
        ({"temperature": "0"}, "temperature must be above 0, got 0"),
        ({"temperature": "nan"}, "option temperature must be a finite number, got 'nan'"),
        ({"time": "-2"}, "time must be a positive number, got -2"),
        ({"candidates": "1"}, "candidates must be at least 2, got 1"),
        ({"feature_turns": "0", "structure_turns": "0"}, "must not both be 0"),
        ({"threshold_start": "1"}, "threshold_start"),
    ],
)
def test_wrong_options_are_named_with_what_would_be_right(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        configure(AHGCDD, settings)


def test_an_unknown_method_lists_those_there_are() -> None:
    with pytest.raises(ConfigError, match="unknown method 'magic'; the methods are auto, "):
        make_method("magic")
    with pytest.raises(ConfigError, match=r"unknown method 'whole'.*evaluate --whole"):
        make_method("whole")
