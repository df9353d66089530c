"""Made-up trials for searches, and a portfolio whose recipes take a few epochs."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from msgspec import structs

from hypercondense.condensing import material
from hypercondense.condensing.dual_level import DualLevel
from hypercondense.condensing.predict import Predict
from hypercondense.condensing.recipe import Recipe
from hypercondense.nn.short_trainings import ShortTrainings
from hypercondense.search import auto
from hypercondense.search.answers import Answers
from hypercondense.search.costs import Sizes
from hypercondense.search.policy import Trial
from hypercondense.search.portfolio import PORTFOLIO, Entry

ANSWERS = 40  # of made-up networks
SIZES = Sizes(
    nodes=300,
    incidences=1000,
    entries=3000,
    features=10,
    classes=3,
    training=150,
    validation=ANSWERS,
    condensed=9,
)


def answers(share: float, number: int = ANSWERS, trainings: int = 2) -> Answers:
    """Right answers of some trainings about the first ``share`` of some nodes."""
    right = torch.arange(number) < round(share * number)
    return Answers(right.double().expand(trainings, -1))


def trial_of(recipe: Recipe, share: float = 0.5, **changes: Any) -> Trial:
    """A trial with made-up answers."""
    made_up = {"label": "made up", "recipe": recipe, "answers": answers(share), "seconds": 1.0}
    return Trial(**{**made_up, **changes})


def brief_trainings(patch: pytest.MonkeyPatch, *, epochs: int = 4) -> None:
    """Let methods and searches train networks once and for a few epochs."""

    def brief(*what: Any, **how: Any) -> ShortTrainings:
        return ShortTrainings(*what, **{**how, "epochs": epochs, "looks": 1, "repeats": 1})

    for module in (material, auto):
        patch.setattr(module, "ShortTrainings", brief)


def brief_trials(patch: pytest.MonkeyPatch) -> None:
    """Let what ``auto`` tries take a few epochs."""
    patch.setattr(auto, "PORTFOLIO", tuple(map(_brief, PORTFOLIO)))


def _brief(entry: Entry) -> Entry:
    """The same entry; how long it is optimized stays different from that of others."""
    goal = entry.recipe.goal
    if isinstance(goal, Predict):
        parts = {"closed_form": goal.closed_form, "training": goal.training}
        fewer = {
            name: part and structs.replace(part, epochs=2 + part.epochs // 100)
            for name, part in parts.items()
        }
        teachers = goal.teachers and structs.replace(goal.teachers, number=1)
        goal = structs.replace(goal, teachers=teachers, **fewer)
    elif isinstance(goal, DualLevel):
        goal = structs.replace(goal, epochs=2)
    return replace(entry, recipe=structs.replace(entry.recipe, goal=goal))
