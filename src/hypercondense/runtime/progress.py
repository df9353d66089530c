"""How long work tells where it is. The library calls; only the command line draws."""

from collections.abc import Collection, Mapping
from typing import Protocol

_THOUSANDTHS = 1000  # of the whole, in which a part of it is told


class Progress(Protocol):
    """Called as work goes on: ``progress("condense", 12, 100, loss=0.3)``.

    One that also has a method ``expect`` is told there what stages will take, see :func:`expect`.
    """

    def __call__(self, stage: str, done: int, total: int, /, **figures: float) -> None:
        """``done`` of ``total`` steps of ``stage`` are finished; ``figures`` are worth showing."""
        ...


def silent(stage: str, done: int, total: int, /, **figures: float) -> None:
    """Show nothing."""


def tells_time(progress: Progress) -> bool:
    """Whether somebody wants to know how long work will take, so that it is worth finding out."""
    return hasattr(progress, "expect")


def expect(progress: Progress, seconds: Mapping[str, float]) -> None:
    """Tell what stages will take, in their order, to one who shows the time left; only ratios matter."""
    if tells_time(progress):
        progress.expect(seconds)  # type: ignore[attr-defined]


def part_of(
    progress: Progress, stage: str, begin: float, end: float, *, counting: Collection[str] | None = None
) -> Progress:
    """Progress of work that is the part of a stage from ``begin`` to ``end``, of 0 to 1.

    Args:
        progress: Who is told.
        stage: The stage.
        begin: How much of it is done before.
        end: How much of it is done afterwards.
        counting: The stages of the work itself that tell how far it is; ``None`` for all.

    >>> part_of(lambda *told: print(told), "search", 0.5, 1.0)("condense", 1, 2)
    ('search', 750, 1000)
    """

    def tell(inner: str, done: int, total: int, /, **figures: float) -> None:
        if counting is None or inner in counting:
            share = min(1.0, done / total) if total > 0 else 0.0
            progress(stage, round(_THOUSANDTHS * (begin + (end - begin) * share)), _THOUSANDTHS, **figures)

    return tell
