"""Memory-mapped matrices that do not pile up in memory."""

import errno
import mmap
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from hypercondense.hypergraph import Dense, Ids

MappedMatrix: TypeAlias = "np.memmap[Any, np.dtype[np.float32]]"

_ZEROS = 1 << 20  # bytes written at a time where space cannot be reserved at once


def new_map(path: Path, shape: tuple[int, int]) -> MappedMatrix:
    """A new float32 ``.npy`` file as a writable memory-mapped matrix.

    Raises:
        OSError: The disk has no room for it.
    """
    matrix: MappedMatrix = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
    # The file is a hole so far. Were the disk full, then writing through the map would kill the process.
    _reserve(path, start=matrix.offset, stop=matrix.offset + matrix.nbytes)
    return matrix


def _reserve(path: Path, *, start: int, stop: int) -> None:
    """Take the space of the bytes from ``start`` to ``stop``, which are zero, on disk."""
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


def open_map(path: Path) -> MappedMatrix:
    """A ``.npy`` file of float32 numbers as a read-only memory-mapped matrix."""
    matrix: MappedMatrix = np.load(path, mmap_mode="r", allow_pickle=False)
    return matrix


def release(matrix: Any) -> None:
    """Let the system take back the pages of a mapped file; nothing happens to a matrix in memory.

    Without this every page that was touched counts as memory of this process until the system is short.
    """
    # Not for mode "c": its changes live in memory only and would be lost.
    if not isinstance(matrix, np.memmap) or matrix.mode not in ("r", "r+", "w+"):
        return
    base: Any = matrix
    while base is not None and not isinstance(base, mmap.mmap):
        base = base.base
    if base is not None and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)


@dataclass(frozen=True, eq=False)
class SelectedRows:
    """Some rows of a matrix, read when asked for: ``rows[i]`` is ``matrix[ids[i]]``."""

    matrix: "Dense | SelectedRows"
    ids: Ids

    @property
    def shape(self) -> tuple[int, int]:
        """Number of selected rows and of columns."""
        return len(self.ids), self.matrix.shape[1]

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, positions: Any) -> Dense:
        rows = np.asarray(self.matrix[self.ids[positions]])
        release(self.matrix)
        return rows
