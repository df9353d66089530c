"""The record of a search: settings that make every recipe again, and words."""

import json

import pytest

from hypercondense.catalogue import make_method
from hypercondense.condensing.presets import PRESETS
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.settings import as_text
from hypercondense.search import grid
from hypercondense.search.portfolio import PORTFOLIO
from hypercondense.search.record import named, record
from makers.searches import trial_of

POINTS = [grid.points(PRESETS[name][1]) for name in ("ahgcdd-paper", "ahgcdd-x-paper")]
TRIED = [entry.recipe for entry in PORTFOLIO] + [
    point for points in POINTS for point in (points[0], points[-1])
]


@pytest.mark.parametrize("recipe", TRIED, ids=range(len(TRIED)))
def test_the_settings_of_everything_that_is_tried_make_it_again(recipe: Recipe) -> None:
    """In Python, after they went through JSON, and as texts on the command line."""
    written = json.loads(json.dumps(named(recipe)))
    assert make_method(written["method"], written["settings"]) == recipe
    texts = {name: as_text(value) for name, value in written["settings"].items()}
    assert make_method(written["method"], texts) == recipe


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_named_without_settings(name: str) -> None:
    assert named(PRESETS[name][1]) == {"method": name, "settings": {}}


def test_a_choice_is_explained_beside_the_next_best() -> None:
    labels, shares = ("first", "second", "third"), (0.5, 0.75, 0.6)
    trials = [
        trial_of(entry.recipe, share, label=label)
        for entry, label, share in zip(PORTFOLIO, labels, shares, strict=False)
    ]
    made = record(trials[1], trials)
    assert made["why"] == (
        "second: networks trained on it have 75.0% on validation nodes, 60.0% for the next"
    )
    assert {key: made[key] for key in ("method", "settings")} == named(trials[1].recipe)
    assert [trial["label"] for trial in made["trials"]] == ["first", "second", "third"]
    assert [trial["score"] for trial in made["trials"]] == pytest.approx([0.5, 0.75, 0.6])
    assert [trial["scores"][1] for trial in made["trials"]] == pytest.approx([0.5, 0.75, 0.6])
    assert record(trials[0], trials[:1])["why"].endswith("50.0% on validation nodes")
