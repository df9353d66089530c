"""The record of a search: settings that make every recipe again, and words."""

import json
from dataclasses import replace

import pytest

from hypercondense.catalogue import make_method
from hypercondense.condensing.baselines.coresets import Herding
from hypercondense.condensing.presets import PRESETS
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.settings import as_text
from hypercondense.search import grid, ladder, rungs
from hypercondense.search.policy import Facts, Tried
from hypercondense.search.record import named, record
from makers.searches import climbed, trial_of


def everything_tried() -> list[Tried]:
    """All that the ladder may try for few and for many nodes, from any start, and corners of the grid."""
    found: dict[str, Tried] = {}
    for num_nodes in (9, 400):
        for num_validation in (100, ladder.FEW_NODES, ladder.TELLING_NODES):
            facts = Facts(
                num_nodes=num_nodes, num_validation=num_validation, num_training=1000, elaborates=True
            )
            for start in ("means of 100 rows, raw", "means of 100 rows, P^2", "k-means"):
                for accuracies in ((0.5, 0.5), (0.1, 0.5)):
                    for trial in climbed(facts, {start: 0.9}, accuracies):
                        found[trial.key] = trial.recipe
    for name in ("ahgcdd-paper", "ahgcdd-x-paper"):
        points = grid.points(PRESETS[name][1])
        found |= {str(point): point for point in (points[0], points[-1])}
    return list(found.values())


def test_the_settings_of_everything_that_is_tried_make_it_again() -> None:
    """In Python, after they went through JSON, and as texts on the command line."""
    tried = everything_tried()
    assert len(tried) > 40 and Herding() in tried
    for recipe in tried:
        written = json.loads(json.dumps(named(recipe)))
        assert make_method(written["method"], written["settings"]) == recipe
        texts = {name: as_text(value) for name, value in written["settings"].items()}
        assert make_method(written["method"], texts) == recipe


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_named_without_settings(name: str) -> None:
    assert named(PRESETS[name][1]) == {"method": name, "settings": {}}


def test_real_nodes_are_herding() -> None:
    assert named(Herding()) == {"method": "herding", "settings": {}}


def test_a_choice_is_explained_beside_the_best_start() -> None:
    start = trial_of(rungs.MEANS, 0.5, label="a start", accuracies=(0.4, 0.6))
    best = trial_of(rungs.closed_form(rungs.MEANS, 9), 0.75, label="closed form", accuracies=(0.7, 0.8))
    made = record(best, [start, best], start=start)
    assert made["why"] == "closed form (from a start): 75.0% on validation nodes, the best start 50.0%"
    assert {key: made[key] for key in ("method", "settings")} == named(best.recipe)
    assert [(trial["label"], trial["score"], trial["confirmed"]) for trial in made["trials"]] == [
        ("a start", 0.5, 0.5),
        ("closed form", 0.75, 0.75),
    ]
    assert record(start, [start], start=start)["why"].startswith("a start: 50.0% on validation nodes")
    real = trial_of(Herding(), label="real nodes", accuracies=(0.7,))
    assert record(real, [start, real], start=start)["why"].startswith("real nodes: 70.0% on")


def test_without_a_start_a_choice_is_the_best_of_all() -> None:
    trials = [replace(trial_of(Recipe()), label=f"point {i}", accuracies=(0.1 * i,)) for i in range(3)]
    assert record(trials[2], trials)["why"] == "point 2: 20.0% on validation nodes, the best of 3"
    assert record(trials[2], [*trials, trial_of(Recipe())])["trials"][3]["confirmed"] is None
