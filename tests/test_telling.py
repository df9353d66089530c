"""What a result is, in a line: its structure, why, and how to get another."""

import dataclasses
from typing import Any

import pytest

from hypercondense.search.portfolio import PORTFOLIO
from hypercondense.search.record import named
from hypercondense.telling import _TRIED_BY, _WITH_HYPEREDGES, structure_line
from makers.format_examples import condensation, tiny

ALONE = tiny(incidence=([0, 1, 2, 3], [0, 1, 2, 3]), num_hyperedges=4)
CHOSEN: dict[str, Any] = {"method": "unrolled", "settings": {"looks": 0}}


def choice(*trials: tuple[str, float], **settings: Any) -> dict[str, Any]:
    own = {"method": "unrolled", "settings": {"looks": 0, **settings}}
    others = [{"label": "another", "method": name, "settings": {}, "score": score} for name, score in trials]
    return {**own, "trials": [{"label": "chosen", **own, "score": 0.9}, *others]}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            choice(("ahgcdd", 0.901), ("learnt", 0.95)),
            "hyperedges would add 0.1 points on validation nodes; the method ahgcdd",
        ),
        (choice(("ahgcdd", 0.85)), "hyperedges would cost 5.0 points"),
        (choice(("means", 0.5)), "hyperedges were not tried: a budget of 4 trials says"),
        (None, "not tried: the method auto with a budget of 4 trials says what they would add"),
        (choice(**{"map.kernel": "none"}), "rows are raw, for diffusing them did not help"),
    ],
)
def test_self_loops_say_why_they_are_all_there_is(made: Any, expected: str) -> None:
    line = structure_line(ALONE, {"map": {"kernel": "power"}}, made)
    assert line.startswith("self-loops only") and expected in line and "ahgcdd" in line


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"map": {}, "structure": {"step": 0.1}}, "hyperedges were learnt, but none came to join two nodes"),
        ({"embedding": {"kind": "raw"}}, "the condensed nodes share none; hyperedges were not tried"),
    ],
)
def test_self_loops_of_other_methods_are_not_called_diffused(settings: Any, expected: str) -> None:
    assert structure_line(ALONE, settings, None).startswith(f"self-loops only: {expected}")


def test_a_budget_of_as_many_trials_as_are_told_tries_hyperedges() -> None:
    tried = [named(entry.recipe)["method"] for entry in PORTFOLIO[:_TRIED_BY]]
    assert tried[-1] == _WITH_HYPEREDGES


def test_hyperedges_are_counted() -> None:
    assert structure_line(tiny(), {}, None) == "2 hyperedges that join 2.5 nodes in the mean"


def test_a_result_prints_in_a_line_and_tells_more_in_its_summary() -> None:
    result = dataclasses.replace(condensation(ALONE), warnings=("it is small",), final_validation=0.5)
    assert repr(result) == (
        "Condensation('source', 4 of 9 nodes by random, 50.0% on validation nodes, 1 warnings)"
    )
    lines = result.summary().splitlines()
    assert lines[0] == "condensed nodes      4 of 9 (44.44%)"
    assert any(line.startswith("warning 1") and line.endswith("it is small") for line in lines)
