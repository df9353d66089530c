"""How many threads torch uses, for a while, and how many cores are free."""

import os
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

_STATISTICS = Path("/proc/stat")  # of Linux: what every core did since the start
_MOMENT = 0.2  # seconds: 20 ticks of the clock


def free_cores(told_by: Path = _STATISTICS) -> int:
    """Cores this process may use that nobody is busy on now, at least 1.

    Linux tells how long each core was idle; this waits for a moment and looks twice, so that its own work of
    before does not count. Elsewhere the load of the last minute counts those that run or wait for a core.
    """
    allowed = _allowed()
    before = _idle(allowed, told_by)
    if before is None:
        return max(1, len(allowed) - round(_load()))
    begin = time.monotonic()
    time.sleep(_MOMENT)
    after, seconds = _idle(allowed, told_by) or before, time.monotonic() - begin
    ticks = seconds * os.sysconf("SC_CLK_TCK")
    idle = sum(min(1.0, (after[core] - before[core]) / ticks) for core in before.keys() & after.keys())
    return max(1, min(len(allowed), round(idle)))


def _allowed() -> set[int]:
    try:
        return os.sched_getaffinity(0)
    except AttributeError:  # only Linux tells
        return set(range(os.cpu_count() or 1))


def _load() -> float:
    try:
        return os.getloadavg()[0]
    except (OSError, AttributeError):
        return 0.0


def _idle(cores: Collection[int], told_by: Path) -> dict[int, int] | None:
    """Ticks of the clock that each core was idle or waiting for a disk, or ``None`` where nobody tells."""
    try:
        lines = [line.split() for line in told_by.read_text("ascii").splitlines()]
        return {
            core: int(line[4]) + int(line[5])
            for line in lines
            if line[0].startswith("cpu") and line[0] != "cpu" and (core := int(line[0][3:])) in cores
        } or None
    except (OSError, ValueError, IndexError):
        return None


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Run a block with so many torch threads, and set the number back."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def one_thread() -> Iterator[None]:
    """Run a block with one torch thread, and set the number back.

    Sums are then added in one order whatever the number of cores. Small matrices are also faster: threads
    that wait for each other on a busy machine made a condensation of 27 nodes twenty times slower.
    """
    with threads(1):
        yield
