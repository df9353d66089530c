"""How much a search may do: a number of trials, or a time."""

import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

_SHARE = 0.9  # of a time: the rest is for starting, reading and writing
_TELLING = 0.1  # of a trial: what tells how fast it is
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
        seconds: How long everything may take, what comes before and after the trials included.
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

    @property
    def is_time(self) -> bool:
        """Whether it is a time, not a number of trials."""
        return self.seconds < math.inf

    def is_left(self, done: Sequence[Timed]) -> bool:
        """Whether another trial may begin after these."""
        return not done or (len(done) < self.trials and sum(trial.seconds for trial in done) < self.seconds)


class OutOfTimeError(Exception):
    """A trial was given up because the time is over."""


class Deadline:
    """When trials must be over, so that what comes after them fits into a budget of time.

    Args:
        budget: All the time there is; a number of trials has no deadline.
        reserved: Seconds that are needed after the trials.
        used: Seconds that were used before an interruption.
        began: When the time began to count; now by default.
        now: The clock.
    """

    def __init__(
        self,
        budget: Budget,
        *,
        reserved: float = 0.0,
        used: float = 0.0,
        began: float | None = None,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.now, self.reserved = now, reserved
        self.end = (now() if began is None else began) + _SHARE * budget.seconds - used

    @property
    def is_over(self) -> bool:
        """Whether no trial may begin or go on."""
        return self.now() >= self.end - self.reserved

    def watch(self, stage: str, done: int, total: int, /, **figures: float) -> None:
        """Progress of a trial, which is given up when the time is over."""
        if self.is_over:
            raise OutOfTimeError


class Pace:
    """How fast a trial is, which is given up as soon as that tells that it would end too late.

    Args:
        deadline: When it must be over.
        instead: Seconds of what would be done instead: what ends earlier than that is not given up.
    """

    def __init__(self, deadline: Deadline, instead: float) -> None:
        self.deadline, self.instead = deadline, instead
        self.first: tuple[float, float] | None = None

    def watch(self, stage: str, done: int, total: int, /, **figures: float) -> None:
        """Progress of the trial."""
        if stage != "condense" or total <= 0:
            return
        now, share = self.deadline.now(), done / total
        if self.first is None:
            self.first = now, share
            if (
                now + self.instead > self.deadline.end - self.deadline.reserved
            ):  # what came before took it all
                raise OutOfTimeError
        began, before = self.first
        if share - before < _TELLING:
            return
        left = (now - began) / (share - before) * (1 - share)
        if left > self.instead and now + left > self.deadline.end - self.deadline.reserved:
            raise OutOfTimeError
