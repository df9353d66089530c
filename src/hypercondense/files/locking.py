"""One process at a time."""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


class BusyError(OSError):
    """Another process holds the lock."""


@contextmanager
def exclusive(path: Path, *, remove: bool = False) -> Iterator[None]:
    """Hold the lock file ``path`` during the block; raise :class:`BusyError` if another process does.

    The lock belongs to the open file and goes with the process, so none is ever left over from a crash.

    Args:
        path: The lock file; its folder is made if it is missing.
        remove: Whether to leave no file behind. It is removed while the lock is held, and whoever then holds
            a file that is gone, or another one than the name leads to, tries again: two never get in.
    """
    with _locked_file(path):
        try:
            yield
        finally:
            if remove:
                with suppress(OSError):  # Windows removes no open file
                    path.unlink()


@contextmanager
def _locked_file(path: Path) -> Iterator[None]:
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("a+b")
        except (FileNotFoundError, FileExistsError):
            if _is_taken(path.parent):
                raise
            continue  # somebody removed the folder just now
        with file:
            if not _locked(file):
                raise BusyError(f"another process holds {path}")
            if _is_there(file, path):
                yield
                return


def _is_taken(folder: Path) -> bool:
    """Whether a file or a loose link is in the place of a folder; looked at once, for folders come and go."""
    try:
        found = folder.lstat().st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISDIR(found) and not folder.is_dir()


def _is_there(file: IO[bytes], path: Path) -> bool:
    """Whether an open file is still the one that its name leads to."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


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
