"""Weights of the coarse and the fine loss as condensing goes from 0 to 1 (Eq. 13 and its ablations)."""

import math
from collections.abc import Callable
from typing import TypeAlias

Schedule: TypeAlias = Callable[[float], tuple[float, float]]


def cosine(progress: float) -> tuple[float, float]:
    """``cos`` and ``sin`` of a quarter turn: from coarse to fine, smoothly (Eq. 13).

    >>> cosine(0.0)
    (1.0, 0.0)
    """
    angle = progress * math.pi / 2
    return math.cos(angle), math.sin(angle)


def linear(progress: float) -> tuple[float, float]:
    """From coarse to fine in a straight line (appendix D)."""
    return 1.0 - progress, progress


def step(progress: float) -> tuple[float, float]:
    """Only coarse in the first half, only fine in the second (appendix D)."""
    return (1.0, 0.0) if progress < 0.5 else (0.0, 1.0)


def static(progress: float) -> tuple[float, float]:
    """Both all the time. Paper: the weights are not given; Adam makes any equal pair the same."""
    return 1.0, 1.0


def coarse_only(progress: float) -> tuple[float, float]:
    """Without the fine loss (Table 4)."""
    return 1.0, 0.0


def fine_only(progress: float) -> tuple[float, float]:
    """Without the coarse loss (Table 4)."""
    return 0.0, 1.0


SCHEDULES: dict[str, Schedule] = {
    "cosine": cosine,
    "linear": linear,
    "step": step,
    "static": static,
    "coarse-only": coarse_only,
    "fine-only": fine_only,
}
