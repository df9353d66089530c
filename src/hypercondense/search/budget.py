"""How much a search may do: a number of trials, or a time."""

import math
import re
import time
from dataclasses import dataclass, field

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass
class Budget:
    """What is left of a budget. The first trial is always allowed: there must be something to return.

    Args:
        trials: How many trials may be begun.
        seconds: For how long trials may be begun.
        used: Trials begun so far.
        elapsed: Seconds used before this process began, where a search is continued.
    """

    trials: float = math.inf
    seconds: float = math.inf
    used: int = 0
    elapsed: float = 0.0
    _begin: float = field(default_factory=time.perf_counter, repr=False)

    @classmethod
    def parse(cls, text: str) -> "Budget":
        """Read ``12`` (trials), ``60s``, ``1.5m`` or ``1h``.

        >>> Budget.parse("2m").seconds
        120.0
        """
        number = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smh]?)\s*", text)
        if number is None or float(number[1]) == 0 or (not number[2] and "." in number[1]):
            raise ValueError(
                f"budget must be a number of trials, as 8, or a time, as 60s, 2m or 1h; got {text!r}"
            )
        if number[2]:
            return cls(seconds=float(number[1]) * _UNITS[number[2]])
        return cls(trials=int(number[1]))

    @property
    def spent_seconds(self) -> float:
        """Time since the search began."""
        return self.elapsed + time.perf_counter() - self._begin

    def is_left(self) -> bool:
        """Whether another trial may begin."""
        return self.used == 0 or (self.used < self.trials and self.spent_seconds < self.seconds)
