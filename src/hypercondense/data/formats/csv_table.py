"""Comma- or tab-separated tables with a header, as columns of text."""

import csv
import io
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from hypercondense.data.formats.files import read_text
from hypercondense.errors import FormatError
from hypercondense.hypergraph import Dense


class CsvTable:
    """A table in memory: ``header``, and ``rows`` that are all as long as the header."""

    def __init__(self, path: Path) -> None:
        self.path = path
        delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        lines = csv.reader(io.StringIO(read_text(path), newline=""), delimiter=delimiter, strict=True)
        try:
            self.header = [column.strip() for column in next(lines)]
            self.rows = [row for row in lines if row]
        except (csv.Error, StopIteration) as error:
            raise FormatError(f"{path}, line {lines.line_num}: {error}") from error
        lengths = np.fromiter(map(len, self.rows), np.int64, len(self.rows))
        bad = np.flatnonzero(lengths != len(self.header))
        if len(bad):
            raise FormatError(
                f"{path}, row {bad[0] + 1}: {lengths[bad[0]]} fields, but the header has {len(self.header)}"
            )
        if not self.rows:
            raise FormatError(f"{path} has a header but no rows")

    def column_position(self, name: str) -> int:
        """Where the column called ``name`` is."""
        lowered = [column.lower() for column in self.header]
        if lowered.count(name) != 1:
            came = ", ".join(self.header)[:200]
            raise FormatError(f"{self.path} must have one column {name!r}, its header is {came}")
        return lowered.index(name)

    def column(self, name: str) -> list[str]:
        """The texts of one column."""
        position = self.column_position(name)
        return [row[position] for row in self.rows]

    def numbers(self, positions: Sequence[int]) -> Dense:
        """Some columns as float32, shape (rows, positions)."""
        if list(positions) == list(range(positions[0], positions[-1] + 1)):
            cells = chain.from_iterable(row[positions[0] : positions[-1] + 1] for row in self.rows)
        else:
            cells = chain.from_iterable([row[position] for position in positions] for row in self.rows)
        shape = (len(self.rows), len(positions))
        try:
            with np.errstate(over="ignore"):
                return (
                    np.fromiter(map(float, cells), np.float64, shape[0] * shape[1])
                    .reshape(shape)
                    .astype(np.float32)
                )
        except ValueError as error:
            raise self._first_bad(positions, float) from error

    def whole_numbers(self, name: str) -> "np.ndarray[tuple[int, ...], np.dtype[np.int64]]":
        """One column as int64."""
        position = self.column_position(name)
        try:
            return np.fromiter((int(row[position]) for row in self.rows), np.int64, len(self.rows))
        except (ValueError, OverflowError) as error:
            raise self._first_bad([position], _int64) from error

    def _first_bad(self, positions: Sequence[int], parse: Callable[[str], float]) -> FormatError:
        for number, row in enumerate(self.rows, start=1):
            for position in positions:
                try:
                    parse(row[position])
                except (ValueError, OverflowError):
                    kind = "a number" if parse is float else "a whole number"
                    where = f"row {number}, column {self.header[position]!r}"
                    return FormatError(f"{self.path}, {where}: expected {kind}, got {row[position][:40]!r}")
        raise AssertionError("called only after a cell could not be parsed")


def _int64(text: str) -> int:
    return int(np.int64(int(text)))
