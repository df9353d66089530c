"""How long a whole command still takes: of all its stages, not of the one that runs."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_TELLING = 0.25  # of a stage: the less of it is done, the less its own speed says
_FIRST_STEP = 0.05  # of a stage: what passes before a first report of less is mostly preparing


@dataclass
class _Stage:
    """A part of the work: what it was expected to take, how much is done, and what that took."""

    expected: float
    share: float = 0.0
    seconds: float = 0.0
    reports: int = 0
    prepared: float = 0.0  # seconds until the first report, where it tells of little work
    ahead: float = 0.0  # the share that was done then

    @property
    def work(self) -> float:
        """What was expected of the part that tells how fast it is."""
        return self.expected * (self.share - self.ahead)

    @property
    def working(self) -> float:
        """Seconds that this part took."""
        return self.seconds - self.prepared

    @property
    def tells_speed(self) -> bool:
        """Whether anything was done after preparing."""
        return self.work > 0 and self.working > 0


class TimeLeft:
    """Seconds left of work in stages, from what they were expected to take and what they did take.

    Args:
        expected: Seconds of each stage, in their order; only their ratios matter. The time of a stage that
            was not expected, where others were, belongs to the stage it is a part of. Without any, stages
            count as much as each other.
        now: The clock.

    A stage that is partly done goes on at its own speed, one that has hardly begun at the mean speed so far.
    What passes before the first of many small steps is preparing, and says nothing about the others.
    When a stage begins, those expected before it are over: what was skipped is not waited for.
    """

    def __init__(
        self, expected: Mapping[str, float] | None = None, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.now = now
        self.last = now()
        self.expect(expected or {})

    def expect(self, seconds: Mapping[str, float]) -> None:
        """What stages will take from now on, in their order; those of before are forgotten."""
        self.stages = {name: _Stage(max(one, 1e-9)) for name, one in seconds.items()}
        self.current: _Stage | None = None
        self.planned = bool(self.stages)

    def told(self, stage: str, done: int, total: int) -> None:
        """``done`` of ``total`` steps of a stage are finished."""
        if stage not in self.stages:
            if self.planned:
                return
            self.stages[stage] = _Stage(1.0)
        for name, before in self.stages.items():
            if name == stage:
                break
            before.share = 1.0
        now, one = self.now(), self.stages[stage]
        share = min(1.0, done / total) if total > 0 else 0.0
        one.share = max(one.share, share)
        one.seconds += now - self.last
        one.reports += 1
        if one.reports == 1 and one.share < _FIRST_STEP:
            one.prepared, one.ahead = one.seconds, one.share
        self.last, self.current = now, one

    def seconds(self) -> float | None:
        """Seconds left from now, or ``None`` as long as nothing is done."""
        waited = self.now() - self.last
        usual = self.current.seconds / self.current.reports if self.current else 0.0
        late = max(0.0, waited - usual)  # longer than a step usually takes: it may take long
        left = self._left(late)
        return None if left is None else max(0.0, left - min(waited, usual))

    def _left(self, late: float) -> float | None:
        begun = [one for one in self.stages.values() if one.tells_speed]
        if not begun:
            return None
        mean_speed = (sum(one.working for one in begun) + late) / sum(one.work for one in begun)
        left = 0.0
        for one in self.stages.values():
            speed = mean_speed
            if one.tells_speed:
                extra = late if one is self.current else 0.0
                trust = min(1.0, one.share / _TELLING)
                own = (one.working + extra) / one.work
                speed = trust * own + (1 - trust) * mean_speed
            left += one.expected * (1 - one.share) * speed
        return left


def in_words(seconds: float) -> str:
    """A time for people.

    >>> in_words(8), in_words(75), in_words(515), in_words(9000)
    ('8 s', '75 s', '9 min', '2.5 h')
    """
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
