"""Judging a condensed hypergraph; sees only hypergraphs, never the method that made one."""

from hypercondense.evaluation.protocol import evaluate, missing_classes
from hypercondense.evaluation.score import Score, Spread, across_condensations, across_models
from hypercondense.evaluation.tasks import TASKS, Outcome

__all__ = [
    "TASKS",
    "Outcome",
    "Score",
    "Spread",
    "across_condensations",
    "across_models",
    "evaluate",
    "missing_classes",
]
