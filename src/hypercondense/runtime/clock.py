"""What work costs: the seconds of its stages."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

TOTAL = "total"  # everything that a result needs; the guard, which only looks at it, is a stage beside it


_began: ContextVar[float | None] = ContextVar("_began", default=None)


@contextmanager
def command() -> Iterator[None]:
    """A command begins: its budgets of time count from here, whatever it does first."""
    token = _began.set(time.perf_counter())
    try:
        yield
    finally:
        _began.reset(token)


def began_at() -> float:
    """When this command began, by ``time.perf_counter``; outside of commands now."""
    began = _began.get()
    return time.perf_counter() if began is None else began


class Clock:
    """The one owner of the seconds of a condensation, by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of a block to a stage.

        >>> clock = Clock()
        >>> with clock.stage("diffuse"): pass
        >>> list(clock.seconds)
        ['diffuse']
        """
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin
