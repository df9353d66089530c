"""Arrays that stay in their file: safetensors that are mapped, written a piece at a time, and let go of."""

import errno
import json
import math
import mmap
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hypercondense.errors import FormatError
from hypercondense.files.regular import open_regular

CHUNK = 1 << 20  # entries of a list that are looked at together
_ZEROS = 1 << 20  # bytes written at a time where space cannot be reserved at once
_LONGEST_HEADER = 10 * 2**20
_TYPES = {"F32": np.float32, "I8": np.int8, "I32": np.int32, "I64": np.int64, "U8": np.uint8}
_NAMES = {np.dtype(kind): name for name, kind in _TYPES.items()}


def chunks(length: int, size: int = CHUNK) -> Iterator[slice]:
    """Consecutive pieces of a list.

    >>> [(one.start, one.stop) for one in chunks(5, 2)]
    [(0, 2), (2, 4), (4, 5)]
    """
    return (slice(start, min(start + size, length)) for start in range(0, length, size))


def release(array: Any) -> None:
    """Let the system take back the pages of a mapped file; nothing happens to an array in memory.

    Without this every page that was touched counts as memory of this process until the system is short.
    """
    # Not for mode "c": its changes live in memory only and would be lost.
    if isinstance(array, np.memmap) and array.mode not in ("r", "r+", "w+"):
        return
    base: Any = array
    while base is not None and not isinstance(base, mmap.mmap):
        base = getattr(base, "base", None)
    if base is not None and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)


def is_mapped(array: Any) -> bool:
    """Whether an array, or what it is a view of, is in a file."""
    while array is not None:
        if isinstance(array, np.memmap):
            return True
        array = getattr(array, "base", None)
    return False


def reserve(path: Path, *, start: int, stop: int) -> None:
    """Take the space of the bytes from ``start`` to ``stop``, which are zero, on disk.

    Were the disk full, then writing through a map would kill the process.

    Raises:
        OSError: The disk has no room for it.
    """
    allocate = getattr(os, "posix_fallocate", None)
    with path.open("r+b") as file:
        try:
            if allocate is not None:
                allocate(file.fileno(), 0, stop)
                return
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # what some file systems cannot do
                raise
        file.seek(start)
        for position in range(start, stop, _ZEROS):
            file.write(bytes(min(_ZEROS, stop - position)))


def new_tensors(path: Path, shapes: Mapping[str, tuple[Any, tuple[int, ...]]]) -> dict[str, NDArray[Any]]:
    """A new safetensors file of arrays of these types and shapes, mapped to be filled.

    Raises:
        OSError: The disk has no room for it.
    """
    header: dict[str, Any] = {}
    end = 0
    # The largest numbers first: every array then begins where its type wants it.
    for key in sorted(shapes, key=lambda key: (-np.dtype(shapes[key][0]).itemsize, key)):
        kind, shape = shapes[key]
        begin, end = end, end + np.dtype(kind).itemsize * math.prod(shape)
        header[key] = {"dtype": _NAMES[np.dtype(kind)], "shape": list(shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
    reserve(path, start=8 + len(text), stop=8 + len(text) + end)
    return _mapped(path, header, 8 + len(text), "r+")


def open_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a safetensors file as read-only maps; its header is checked, its content is not.

    Raises:
        FormatError: It is not such a file, or not a whole one.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(_LONGEST_HEADER, size - 8):
            raise FormatError(f"{path} is not a whole safetensors file (its header); make it again")
        try:
            header = json.loads(file.read(length))
            header.pop("__metadata__", None)
            _check_header(header, size - 8 - length)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise FormatError(
                f"{path} is not a whole safetensors file ({type(error).__name__}); make it again"
            ) from error
    return _mapped(path, header, 8 + length, "r")


def _check_header(header: dict[str, Any], size: int) -> None:
    """Every array is of a known type, inside of the file, and of the size of its shape."""
    ends = 0
    for told in sorted(header.values(), key=lambda told: told["data_offsets"]):
        kind, shape, (begin, end) = np.dtype(_TYPES[told["dtype"]]), told["shape"], told["data_offsets"]
        numbers = (begin, end, *shape)
        if any(type(number) is not int or number < 0 for number in numbers):
            raise ValueError("sizes must be whole numbers")
        if begin != ends or end - begin != kind.itemsize * math.prod(shape):
            raise ValueError("the arrays do not follow each other")
        ends = end
    if ends != size:
        raise ValueError("bytes are missing")


def _mapped(path: Path, header: Mapping[str, Any], start: int, mode: Any) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    for key, told in header.items():
        kind, shape = _TYPES[told["dtype"]], tuple(told["shape"])
        if math.prod(shape) == 0:  # nothing can be mapped of nothing
            arrays[key] = np.empty(shape, kind)
        else:
            arrays[key] = np.memmap(path, kind, mode, start + told["data_offsets"][0], shape)
    return arrays
