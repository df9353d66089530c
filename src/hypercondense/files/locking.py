"""One process at a time."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


class BusyError(OSError):
    """Another process holds the lock."""


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock file ``path`` during the block; raise :class:`BusyError` if another process does.

    The lock belongs to the open file and goes with the process, so none is ever left over from a crash.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if not _locked(file):
            raise BusyError(f"another process holds {path}")
        yield


if sys.platform == "win32":

    def _locked(file: IO[bytes]) -> bool:
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:

    def _locked(file: IO[bytes]) -> bool:
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
