"""Processes that do not outlive the one that started them."""

import os
import signal
import threading
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
