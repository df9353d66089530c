"""Places to work in, beside what is being written, that a killed process does not leave behind for ever."""

import ctypes
import glob
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from hypercondense.files.locking import BusyError, exclusive

_RANDOM_LETTERS = 8  # of a name by tempfile
_LOCK = "hypercondense.lock"  # in a workplace, which it tells from other folders; held while somebody works
_OLD = "old"  # in a workplace: what is being replaced, for the moment in which neither is in place
_CURRENT_FOLDER, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux


@contextmanager
def workplace(path: Path) -> Iterator[Path]:
    """An empty folder beside ``path``, hidden and removed afterwards.

    It is locked as long as this process lives, and whoever writes the same ``path`` later removes those that
    nobody holds any more: what a killed process left.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_drafts(path)
    with ExitStack() as held:
        place = _new_place(path, held)
        try:
            yield place
        finally:
            _put_back(place, path)
            _clear(place)


def _new_place(path: Path, held: ExitStack) -> Path:
    while True:
        place = Path(tempfile.mkdtemp(prefix=_prefix(path), dir=path.parent))
        with suppress(BusyError):  # somebody took it for one that was left, before it was locked
            held.enter_context(exclusive(place / _LOCK))
            return place


def remove_drafts(path: Path) -> None:
    """Remove what killed writers of ``path`` left beside it; where somebody is at work nothing happens."""
    for place in path.parent.glob(f"{glob.escape(_prefix(path))}{'[a-z0-9_]' * _RANDOM_LETTERS}"):
        if place.is_symlink():  # none of ours, and what it leads to is not either
            continue
        with suppress(OSError):
            if (place / _LOCK).is_file():
                with exclusive(place / _LOCK):
                    _put_back(place, path)
                    _clear(place)
            else:
                place.rmdir()  # if it is empty: its maker was killed at once, or will make it again


def _clear(place: Path) -> None:
    """Remove a workplace, its lock at the end: half of it can still be told to be one."""
    for entry in place.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name != _LOCK:
            entry.unlink(missing_ok=True)
    shutil.rmtree(place, ignore_errors=True)


def _prefix(path: Path) -> str:
    return f".{path.name}."


def _put_back(place: Path, path: Path) -> None:
    """What was to be replaced, if the replacement never came."""
    if (place / _OLD).exists() and not os.path.lexists(path):
        (place / _OLD).rename(path)


def exchange(draft: Path, path: Path) -> None:
    """Put ``draft``, which is in a workplace of ``path``, where ``path`` is; the old one goes there.

    On Linux this is one step of the system. Elsewhere there are two, and whoever finds a process to have been
    killed between them puts the old one back.
    """
    if _exchanged(draft, path):
        return
    old = draft.with_name(_OLD)
    path.rename(old)
    try:
        draft.rename(path)
    except BaseException:
        old.rename(path)
        raise


def _exchanged(one: Path, other: Path) -> bool:
    """Whether the system let two names change places."""
    if not sys.platform.startswith("linux"):
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    names = os.fsencode(one), os.fsencode(other)
    return bool(rename(_CURRENT_FOLDER, names[0], _CURRENT_FOLDER, names[1], _EXCHANGE) == 0)
