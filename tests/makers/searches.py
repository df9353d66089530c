"""Made-up trials for searches, and short trainings that are shorter still."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from hypercondense.condensing import material
from hypercondense.nn.short_trainings import ShortTrainings
from hypercondense.search import auto, ladder, rungs
from hypercondense.search.policy import Ask, Facts, Trial, Tried, Try

ANSWERS = 40  # of made-up judges


def answers(share: float, number: int = ANSWERS) -> Tensor:
    """Right answers about the first ``share`` of some nodes."""
    return torch.arange(number) < round(share * number)


def trial_of(recipe: Tried, share: float = 0.5, **changes: Any) -> Trial:
    """A trial with made-up answers."""
    return Trial(**{"label": "made up", "recipe": recipe, "right": answers(share), "seconds": 1.0, **changes})


def climbed(
    facts: Facts, shares: dict[str, float] | None = None, accuracies: tuple[float, ...] = (0.5, 0.5)
) -> list[Trial]:
    """All trials of the ladder, where a judge finds these shares by label (0.5 for others).

    Networks that are asked have ``accuracies``. Nothing is condensed.
    """
    trials: list[Trial] = []
    while (proposal := ladder.next_proposal(facts, trials)) is not None:
        if isinstance(proposal, Ask):
            asked = replace(proposal.trial, accuracies=accuracies)
            trials[trials.index(proposal.trial)] = asked
        else:
            share = (shares or {}).get(proposal.label, 0.5)
            trials.append(trial_of(proposal.recipe, share, label=proposal.label))
    return trials


def brief_trainings(patch: pytest.MonkeyPatch, *, epochs: int = 4) -> None:
    """Let methods and searches train networks once and for a few epochs."""

    def brief(*what: Any, **how: Any) -> ShortTrainings:
        return ShortTrainings(*what, **{**how, "epochs": epochs, "looks": 1, "repeats": 1})

    for module in (material, auto):
        patch.setattr(module, "ShortTrainings", brief)


def brief_trials(patch: pytest.MonkeyPatch) -> None:
    """Let what the ladder tries take a few epochs."""
    for name, epochs in (("CLOSED_FORM_EPOCHS", 4), ("BRIEF_EPOCHS", 3), ("LONG_EPOCHS", 5)):
        patch.setattr(rungs, name, epochs)


def tries(*proposals: Try) -> dict[str, Tried]:
    """Recipes by label."""
    return {proposal.label: proposal.recipe for proposal in proposals}
