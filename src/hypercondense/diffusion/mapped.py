"""Memory-mapped matrices that do not pile up in memory."""

import mmap
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from hypercondense.hypergraph import Dense, Ids

Map: TypeAlias = "np.memmap[Any, np.dtype[np.float32]]"


def new_map(path: Path, shape: tuple[int, int]) -> Map:
    """A new float32 ``.npy`` file as a writable memory-mapped matrix."""
    return np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)


def open_map(path: Path) -> Map:
    """A ``.npy`` file of float32 numbers as a read-only memory-mapped matrix."""
    matrix: Map = np.load(path, mmap_mode="r", allow_pickle=False)
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
