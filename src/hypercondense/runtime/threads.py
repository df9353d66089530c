"""How many threads torch uses, for a while, and how many cores are free."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch


def free_cores() -> int:
    """Cores this process may use that nobody is busy on now, at least 1.

    The load of the last minute counts those that run or wait for a core; half a core counts as free.
    """
    try:
        allowed = len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux tells
        allowed = os.cpu_count() or 1
    try:
        load = os.getloadavg()[0]
    except (OSError, AttributeError):
        load = 0.0
    return max(1, allowed - round(load))


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
