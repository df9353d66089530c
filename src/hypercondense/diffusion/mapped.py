"""Memory-mapped matrices that do not pile up in memory."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from hypercondense.files.maps import release, reserve
from hypercondense.hypergraph import Dense, Ids

MappedMatrix: TypeAlias = "np.memmap[Any, np.dtype[np.float32]]"


def new_map(path: Path, shape: tuple[int, int]) -> MappedMatrix:
    """A new float32 ``.npy`` file as a writable memory-mapped matrix.

    Raises:
        OSError: The disk has no room for it.
    """
    matrix: MappedMatrix = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
    # The file is a hole so far.
    reserve(path, start=matrix.offset, stop=matrix.offset + matrix.nbytes)
    return matrix


def open_map(path: Path) -> MappedMatrix:
    """A ``.npy`` file of float32 numbers as a read-only memory-mapped matrix."""
    matrix: MappedMatrix = np.load(path, mmap_mode="r", allow_pickle=False)
    return matrix


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

    def __reduce__(self) -> Any:
        """Another process gets the rows alone, and not the file."""
        return np.asarray, (self[:],)

    def __getitem__(self, positions: Any) -> Dense:
        rows = np.asarray(self.matrix[self.ids[positions]])
        release(self.matrix)
        return rows
