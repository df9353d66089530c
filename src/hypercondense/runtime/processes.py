"""Processes that do not outlive the one that started them."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import parent_process


def serve_parent() -> None:
    """Begin the life of a worker: Ctrl-C is for its parent, and it ends when that has ended in any way."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None, "only worker processes serve a parent"
    parent.join()
    os._exit(1)  # in the middle of whatever we do: nobody wants it any more


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Ctrl-C waits until the block ends; processes started in it never see one, from their first moment.

    A terminal sends Ctrl-C to the workers too, and each would show where it was; and a worker whose parent is
    interrupted half-way through starting it would complain about what it did not get.
    """
    with _blocked(), _handled_after():
        yield


@contextmanager
def _blocked() -> Iterator[None]:
    """This thread takes no Ctrl-C, and neither do the processes it starts."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _handled_after() -> Iterator[None]:
    """Python's own reaction to Ctrl-C waits: another thread may take the signal that this one blocks."""
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield
        return
    came = list[int]()
    signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if came:
        usual(came[0], None)
