"""Judging a condensed hypergraph; sees only hypergraphs, never the method that made one."""

from hypercondense.evaluation.protocol import (
    Score,
    Spread,
    across_condensations,
    across_models,
    evaluate,
    missing_classes,
)
from hypercondense.evaluation.tasks import TASKS, Outcome
from hypercondense.evaluation.training import Inputs, Recipe, Trained, train

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
