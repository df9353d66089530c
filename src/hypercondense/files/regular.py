"""Reading files that are files: a pipe would be waited for, and a device may never end."""

import os
import stat
from pathlib import Path
from typing import BinaryIO

from hypercondense.errors import FormatError

BASE = 400 * 10**6  # bytes that a file of any size may be unpacked to
GROWTH = 10  # and so many times its own size more
# Bytes that are made of a sign of JSON: a table, a list, an entry with what it gets into, half a text.
JSON_COSTS = {b"{": 200, b"[": 80, b",": 80, b'"': 25}

_KINDS = {
    stat.S_ISDIR: "a folder",
    stat.S_ISFIFO: "a pipe",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
    stat.S_ISSOCK: "a socket",
}


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading bytes.

    Raises:
        FormatError: It is something else.
        OSError: It is missing, or may not be read.
    """
    _check(path, path.stat().st_mode)  # opening some devices already does something
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags), "rb")
    try:
        _check(path, os.fstat(file.fileno()).st_mode)  # nobody put a pipe in its place meanwhile
    except BaseException:
        file.close()
        raise
    return file


def read_regular(path: Path) -> bytes:
    """The content of a regular file."""
    with open_regular(path) as file:
        return file.read()


def _check(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = next((name for is_kind, name in _KINDS.items() if is_kind(mode)), "something else")
        raise FormatError(f"{path} must be a file, but it is {kind}")
