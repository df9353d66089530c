"""How long work tells where it is. The library calls; only the command line draws."""

from typing import Protocol


class Progress(Protocol):
    """Called as work goes on: ``progress("condense", 12, 100, loss=0.3)``."""

    def __call__(self, stage: str, done: int, total: int, /, **figures: float) -> None:
        """``done`` of ``total`` steps of ``stage`` are finished; ``figures`` are worth showing."""
        ...


def silent(stage: str, done: int, total: int, /, **figures: float) -> None:
    """Show nothing."""
