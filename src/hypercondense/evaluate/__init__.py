"""Judging a condensed hypergraph; sees only hypergraphs, never the method that made one."""

from hypercondense.evaluate.protocol import (
    Score,
    Spread,
    across_condensations,
    across_models,
    evaluate,
    missing_classes,
)
from hypercondense.evaluate.tasks import TASKS, Outcome
from hypercondense.evaluate.training import Inputs, Recipe, Trained, train

__all__ = [
    "TASKS",
    "Inputs",
    "Outcome",
    "Recipe",
    "Score",
    "Spread",
    "Trained",
    "across_condensations",
    "across_models",
    "evaluate",
    "missing_classes",
    "train",
]
