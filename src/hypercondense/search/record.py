"""What a search chose, why, and among what: settings that make the same bits again."""

from collections.abc import Sequence
from typing import Any

from hypercondense.condensing.predict import Predict
from hypercondense.condensing.presets import PRESETS
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.settings import differences
from hypercondense.search.policy import Trial


def named(recipe: Recipe) -> dict[str, Any]:
    """The method and settings that make a recipe: the preset that is nearest to it, and what differs."""
    alike = [name for name, (_, preset) in PRESETS.items() if _phases(preset) == _phases(recipe)]
    nearest = min(alike, key=lambda name: len(differences(recipe, PRESETS[name][1])))
    return {"method": nearest, "settings": differences(recipe, PRESETS[nearest][1])}


def _phases(recipe: Recipe) -> tuple[bool, ...] | str:
    """What a recipe is optimized by: nothing, the dual-level losses, a closed form, a training, or both."""
    goal = recipe.goal
    if recipe.bundles is not None:
        return "bundles, whatever they are optimized by"
    if not isinstance(goal, Predict):
        return (goal is None,)
    return goal.closed_form is not None, goal.training is not None


def record(best: Trial, trials: Sequence[Trial]) -> dict[str, Any]:
    """The choice, in words and as settings, and all trials."""
    others = [trial for trial in trials if trial is not best]
    among = f", {max(others, key=lambda trial: trial.score).score:.1%} for the next" if others else ""
    return {
        **named(best.recipe),
        "why": f"{best.label}: networks trained on it have {best.score:.1%} on validation nodes{among}",
        "trials": [_facts(trial) for trial in trials],
    }


def _facts(trial: Trial) -> dict[str, Any]:
    return {
        "label": trial.label,
        **named(trial.recipe),
        "score": trial.score,
        "scores": list(trial.answers.scores),
        "seconds": trial.seconds,
    }
