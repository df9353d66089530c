"""Reading the files of a format: whole, bounded by memory, and with errors of one line."""

import csv
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError

from hypercondense.errors import FormatError, one_line
from hypercondense.files.regular import open_regular
from hypercondense.runtime.memory import available_bytes, format_size

MEMORY_SHARE = 0.5  # of the available memory; a file that would unpack to more is refused
_FALLBACK_MEMORY = 8 * 10**9  # where the system does not tell

_TEXT_GROWTH = 60  # bytes of memory for a byte of text, while numbers and names are made of it
_LONGEST = 240  # letters of what another library says about a file

# What broken files make the standard library and numpy raise.
_BROKEN = (
    OSError,
    ValueError,
    TypeError,
    ArithmeticError,
    LookupError,
    MemoryError,
    RecursionError,
    NotImplementedError,
    EOFError,
    SyntaxError,
    TokenError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
    csv.Error,
)


@contextmanager
def one_line_errors(path: Path) -> Iterator[None]:
    """Turn whatever a broken file raises in the block into one :class:`FormatError` that names ``path``."""
    try:
        yield
    except FormatError:
        raise
    except OSError as error:
        raise FormatError(f"cannot read {error.filename or path}: {error.strerror or error}") from error
    except MemoryError as error:
        raise FormatError(f"{path} does not fit into memory") from error
    except _BROKEN as error:
        raise FormatError(f"{path}: {one_line(error, longest=_LONGEST)}") from error


def check_memory(what: object, num_bytes: int, *, allowed: int | None = None) -> None:
    """Refuse, before anything is allocated, what needs more than is allowed or than the machine can spare."""
    limit = int(MEMORY_SHARE * (available_bytes() or _FALLBACK_MEMORY))
    advice = "use a machine with more memory"
    if allowed is not None and allowed < limit:
        limit, advice = allowed, "if it is right, allow more with --memory (memory=... in Python)"
    if num_bytes > limit:
        raise FormatError(
            f"{what} would need {format_size(num_bytes)} of memory, more than the {format_size(limit)} "
            f"allowed here; check the file, or {advice}"
        )


def read_bytes(path: Path) -> bytes:
    """The content of a regular file; anything else (a folder, a device) is refused."""
    try:
        with open_regular(path) as file:
            check_memory(path, os.fstat(file.fileno()).st_size)
            return file.read()
    except FileNotFoundError as error:
        raise FormatError(f"{path} is missing") from error


def read_text(path: Path) -> str:
    """The content of a UTF-8 file; an empty file, another encoding and what will not fit are refused."""
    content = read_bytes(path)
    check_memory(path, _TEXT_GROWTH * len(content))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{path} must be UTF-8 text: byte {error.start} is {content[error.start]:#04x}; "
            "save the file as UTF-8"
        ) from error
    if "\0" in text:
        raise FormatError(f"{path} must be UTF-8 text: it has a zero byte; save the file as UTF-8")
    if not text.strip():
        raise FormatError(f"{path} is empty")
    return text


def file_names(path: Path) -> list[str]:
    """Sorted names in a folder; none for anything that is not a folder."""
    return sorted(entry.name for entry in path.iterdir()) if path.is_dir() else []


def containing_folder(path: Path) -> Path:
    """``path`` itself if it is a folder, else the folder it is in."""
    return path if path.is_dir() else path.parent


def the_only(folder: Path, pattern: str) -> Path:
    """The one file of a folder that matches; none or several are an error."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        came = "none" if not found else ", ".join(file.name for file in found)
        raise FormatError(f"{folder} must hold one {pattern}, it holds {came}")
    return found[0]


def default_name(path: Path) -> str:
    """What to call a hypergraph that has no name: its folder, or its file without the ending."""
    return path.resolve().name if path.is_dir() else path.stem
