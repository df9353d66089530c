"""How much a search may do: a number of trials, or a time."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


class Timed(Protocol):
    """Something that took a while."""

    @property
    def seconds(self) -> float:
        """How long."""


@dataclass(frozen=True)
class Budget:
    """What a search may use. The first trial is always allowed: there must be something to return.

    Args:
        trials: How many trials may be begun.
        seconds: For how long trials may be begun.
    """

    trials: float = math.inf
    seconds: float = math.inf

    @classmethod
    def parse(cls, text: str) -> "Budget":
        """Read ``12`` (trials), ``60s``, ``1.5m`` or ``1h``.

        >>> Budget.parse("2m").seconds
        120.0
        """
        number = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]+)?)\s*([smh]?)\s*", text)
        if number is None or float(number[1]) == 0 or (not number[2] and "." in number[1]):
            raise ValueError(
                f"budget must be a number of trials, as 8, or a time, as 60s, 2m or 1h; got {text!r}"
            )
        if number[2]:
            return cls(seconds=float(number[1]) * _UNITS[number[2]])
        return cls(trials=int(number[1]))

    def is_left(self, done: Sequence[Timed]) -> bool:
        """Whether another trial may begin after these."""
        return not done or (len(done) < self.trials and sum(trial.seconds for trial in done) < self.seconds)
