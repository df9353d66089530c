"""A sparse factor of P by its rows: whole in memory, or in a file of which shards are read in turn.

A row of a product is one sum over the entries of one row, in their order. Shards are ranges of rows, so that
neither their number nor the order in which threads finish them is in a bit of the result.
"""

import shutil
import warnings
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hypercondense.diffusion.compressed import Compressed

SHARD_ENTRIES = 1 << 20  # entries that are read together
PIECE_BYTES = 4 * 2**20  # of rows of a product that are made together
LISTS = 24  # bytes for each row of a product while it is made: where its entries begin, three times
SHARD_BYTES = 24 * SHARD_ENTRIES + PIECE_BYTES  # with its indices, at most a row for every entry


class Factor(ABC):
    """A sparse matrix that multiplies dense ones, by rows."""

    shape: tuple[int, int]

    @abstractmethod
    def times(self, x: Tensor) -> Tensor:
        """``matrix @ x`` in new memory."""


class Held(Factor):
    """A factor in memory, of a ``scipy.sparse.csr_array`` whose memory it shares."""

    def __init__(self, matrix: Any) -> None:
        self.matrix, self.shape = matrix, matrix.shape
        self._rows = rows_of(matrix.indptr, matrix.indices, matrix.data)

    def __reduce__(self) -> Any:
        return Held, (self.matrix,)  # whoever gets it shares its memory again

    def times(self, x: Tensor) -> Tensor:
        """All rows at once."""
        return self._rows.times(x)


class Scratch:
    """A folder for files that are needed meanwhile: it goes when nobody has it any more.

    Args:
        within: Where to make it; the default is the folder of the system for temporary files.
    """

    def __init__(self, within: Path | None = None) -> None:
        if within is not None:
            within.mkdir(parents=True, exist_ok=True)
        self.path = Path(mkdtemp(prefix="hypercondense-factors-", dir=within))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@dataclass(frozen=True, eq=False)
class Filed(Factor):
    """A factor in three files of a folder: ``NAME.starts``, ``NAME.columns`` and ``NAME.values``.

    Args:
        folder: Where they are.
        name: What they are called.
        shape: Rows and columns.
        index_type: Of the columns; starts have 64 bits.
        threads: Shards that are worked on at once.
        together: Entries of a shard.
    """

    folder: Scratch
    name: str
    shape: tuple[int, int]
    index_type: Any = np.int32
    threads: int = 1
    together: int = SHARD_ENTRIES

    def file(self, part: str) -> Path:
        """Where a part is."""
        return self.folder.path / f"{self.name}.{part}"

    def times(self, x: Tensor) -> Tensor:
        """Shard by shard; rows are disjoint, so threads do not meet."""
        product = torch.from_numpy(np.empty((self.shape[0], x.shape[1]), np.float32))
        bytes_together = PIECE_BYTES * self.together // SHARD_ENTRIES
        step = max(1, bytes_together // (4 * x.shape[1] + LISTS))

        def put(rows: slice) -> None:
            shard, whole = rows_of(*self.shard(rows)), product[rows]
            for begin in range(0, len(whole), step):
                piece = slice(begin, min(begin + step, len(whole)))
                whole[piece] = shard.part(piece).times(x)

        with workers(self.threads) as share:
            for _ in share(put, self.shards):
                pass
        return product

    def shard(self, rows: slice) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float32]]:
        """Starts, columns and values of consecutive rows, in memory."""
        starts = self._part("starts", np.int64, rows.start, rows.stop + 1)
        first, last = int(starts[0]), int(starts[-1])
        columns = self._part("columns", self.index_type, first, last)
        values = self._part("values", np.float32, first, last)
        return (starts - first).astype(self.index_type), columns, values

    def rows(
        self, ids: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
        """Lengths, columns and values of some rows, which need not be many, one row after the other."""
        starts = np.memmap(self.file("starts"), np.int64, "r")
        begins, lengths = starts[ids], starts[ids + 1] - starts[ids]
        before = np.cumsum(lengths) - lengths
        places = np.repeat(begins - before, lengths) + np.arange(lengths.sum())
        if len(places) == 0:
            return lengths, np.empty(0, np.int64), np.empty(0, np.float32)
        columns = np.memmap(self.file("columns"), self.index_type, "r")[places]
        return lengths, columns.astype(np.int64), np.memmap(self.file("values"), np.float32, "r")[places]

    @cached_property
    def shards(self) -> list[slice]:
        """Ranges of rows of about ``together`` entries, at least one row and at most as many each."""
        num_rows, made, begin = self.shape[0], [], 0
        starts = np.memmap(self.file("starts"), np.int64, "r")
        while begin < num_rows:
            fitting = int(np.searchsorted(starts, starts[begin] + self.together, side="right")) - 1
            end = min(max(begin + 1, fitting), begin + self.together, num_rows)
            made.append(slice(begin, end))
            begin = end
        return made

    def _part(self, part: str, kind: Any, begin: int, end: int) -> NDArray[Any]:
        size = np.dtype(kind).itemsize
        return np.fromfile(self.file(part), kind, end - begin, offset=begin * size)


def rows_of(starts: Any, columns: Any, values: Any) -> Compressed:
    """Rows of a matrix over the memory of its parts."""
    with warnings.catch_warnings():
        # What came from another process is read-only, and so is what is multiplied with here.
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return Compressed(*(torch.from_numpy(part) for part in (starts, columns, values)))


@contextmanager
def workers(count: int) -> Iterator[Callable[[Callable[[slice], None], Iterable[slice]], Iterable[None]]]:
    """A ``map`` of threads that each use one torch thread, whose number is the same afterwards.

    One is the thread that asks: in another, memory for every product would be new, and slow to touch.
    """
    before = torch.get_num_threads()
    try:
        if count == 1:
            torch.set_num_threads(1)
            yield map
        else:
            with ThreadPoolExecutor(count, initializer=torch.set_num_threads, initargs=(1,)) as pool:
                yield pool.map
    finally:
        # A thread that sets its own number also sets it for the threads still to come.
        torch.set_num_threads(before)
