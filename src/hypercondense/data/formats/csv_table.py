"""Comma- or tab-separated tables with a header, as columns of text."""

import csv
import io
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from hypercondense.data.formats.files import read_text
from hypercondense.errors import FormatError
from hypercondense.hypergraph import Dense, Ids


class CsvTable:
    """A table in memory: ``header``, and ``cells`` row by row, each row as long as the header."""

    def __init__(self, path: Path) -> None:
        self.path = path
        delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        text = read_text(path).replace("\r\n", "\n")
        self._plain = text.isascii() and "_" not in text  # nothing that only Python takes for a number
        # One list of texts, not a list per row: a million small lists cost seconds.
        simple = not any(special in text for special in ('"', "\r", "\n\n")) and text[0] != "\n"
        header, self.cells = (_split if simple else _parse)(path, text, delimiter)
        self.header = [column.strip() for column in header]
        self.num_rows = len(self.cells) // len(header)
        if not self.num_rows:
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
        return self.texts(self.column_position(name))

    def texts(self, position: int) -> list[str]:
        """The texts of the column at a position; negative ones count from the end."""
        return self.cells[position % len(self.header) :: len(self.header)]

    def numbers(self, positions: Sequence[int]) -> Dense:
        """Some columns as float32, shape (rows, positions)."""
        result = np.empty((self.num_rows, len(positions)), np.float32)
        for column, position in enumerate(positions):
            with np.errstate(over="ignore"):
                result[:, column] = self._parsed(position, float, np.float64)
        return result

    def whole_numbers(self, name: str) -> Ids:
        """One column as int64."""
        ids: Ids = self._parsed(self.column_position(name), int, np.int64)
        return ids

    def _parsed(self, position: int, parse: Callable[[str], float], kind: type) -> Any:
        texts = self.texts(position)
        parse = parse if self._plain else partial(_plainly, parse)
        try:
            return np.fromiter(map(parse, texts), kind, len(texts))
        except (ValueError, OverflowError) as error:
            row = next(row for row, text in enumerate(texts) if not _parses(text, parse, kind))
            expected = "a number" if kind is np.float64 else "a whole number"
            raise FormatError(
                f"{self.path}, row {row + 1}, column {self.header[position]!r}: "
                f"expected {expected}, got {texts[row][:40]!r}"
            ) from error


def _plainly(parse: Callable[[str], float], text: str) -> float:
    """A number in ASCII digits; Python also reads ``1_0`` and digits of other scripts."""
    if not text.isascii() or "_" in text:
        raise ValueError(text)
    return parse(text)


def _parses(text: str, parse: Callable[[str], float], kind: type) -> bool:
    try:
        kind(parse(text))
    except (ValueError, OverflowError):
        return False
    return True


def _split(path: Path, text: str, delimiter: str) -> tuple[list[str], list[str]]:
    """Header and cells of a text without quotes and empty lines."""
    header, _, body = text.partition("\n")
    columns = header.split(delimiter)
    body = body.removesuffix("\n")
    codes = np.frombuffer(body.encode(), np.uint8)
    lengths = np.diff(np.cumsum(codes == ord(delimiter))[codes == ord("\n")], prepend=0)
    last = np.count_nonzero(codes == ord(delimiter)) - lengths.sum()
    _check_lengths(path, np.append(lengths, last) + 1 if body else lengths, len(columns))
    return columns, body.replace(delimiter, "\n").split("\n") if body else []


def _parse(path: Path, text: str, delimiter: str) -> tuple[list[str], list[str]]:
    """Header and cells of any text."""
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header, *rows = (row for row in lines if row)
    except csv.Error as error:
        raise FormatError(f"{path}, line {lines.line_num}: {error}") from error
    _check_lengths(path, np.fromiter(map(len, rows), np.int64, len(rows)), len(header))
    return header, list(chain.from_iterable(rows))


def _check_lengths(path: Path, lengths: Ids, expected: int) -> None:
    bad = np.flatnonzero(lengths != expected)
    if len(bad):
        raise FormatError(
            f"{path}, row {bad[0] + 1}: {lengths[bad[0]]} fields, but the header has {expected}"
        )
