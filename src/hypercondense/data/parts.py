"""Tables in many files and in any order: which files there are, and how a database reads them."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hypercondense.errors import ConfigError, FormatError, one_line
from hypercondense.files.regular import open_regular
from hypercondense.runtime.memory import format_size

ENDINGS = (".parquet", ".csv")
INCIDENCES, NODES = "incidences", "nodes"
_NUMBERED = re.compile(r"(.*?)(\d+)(-of-\d+)?")
_SMALLEST = 200 * 10**6  # bytes that the database needs to do anything
_BASE, _GROWTH = 400 * 10**6, 100  # bytes that tables may be unpacked to, and so many times their files
_COLUMN_BYTES, _VALUE_BYTES, _ROW_BYTES = 32_768, 8, 32  # what the database and Python take for each
_LONGEST_HEADER = 10 * 2**20
_NAMING = ("node", "hyperedge", "label")


@dataclass(frozen=True)
class Parts:
    """The files of a source: memberships and nodes, each in one file or more, in the order of their names."""

    incidences: tuple[Path, ...]
    nodes: tuple[Path, ...]
    features: Path | None  # a matrix of numpy, where the table of nodes has no features

    @classmethod
    def of(cls, folder: Path) -> "Parts":
        """What is in a folder.

        Raises:
            FormatError: A table or a part of one is missing.
        """
        features = folder / "features.npy"
        return cls(
            _files(folder, INCIDENCES), _files(folder, NODES), features if features.is_file() else None
        )


@dataclass(frozen=True)
class Allowance:
    """What tables may be unpacked to: a few bytes of Parquet can stand for a billion rows."""

    parts: Parts
    folder: Path
    num_bytes: int
    from_files: int

    @classmethod
    def of(cls, folder: Path, parts: Parts, memory: int | None) -> "Allowance":
        """So many times the files, or ``memory`` where that is more."""
        size = sum(file.stat().st_size for file in (*parts.incidences, *parts.nodes))
        return cls(parts, folder, max(_BASE + _GROWTH * size, memory or 0), size)

    def check_files(self, connection: Any) -> None:
        """Refuse tables of more rows and columns, as their files declare them.

        Raises:
            FormatError: The text tells the size, what is allowed, and what allows more.
        """
        needed = sum(
            (_declared_by_parquet if file.suffix.lower() == ".parquet" else _declared_by_csv)(
                connection, file
            )
            for file in (*self.parts.incidences, *self.parts.nodes)
        )
        self._check(needed)

    def check_texts(self, connection: Any, tables: Mapping[str, Mapping[str, str]]) -> None:
        """Refuse names that are longer altogether: one long text in a file may be named by every row."""
        needed = 0
        for table, columns in tables.items():
            texts = [name for name in _NAMING if columns.get(name) == "VARCHAR"]
            told = ", ".join(f"sum(strlen({name}))" for name in texts)
            if texts:
                row = connection.execute(f"SELECT {told} FROM {table}").fetchall()[0]
                needed += sum(int(one or 0) for one in row)
        self._check(needed)

    def _check(self, needed: int) -> None:
        if needed > self.num_bytes:
            raise FormatError(
                f"the tables of {self.folder} declare {format_size(needed)} and are files of "
                f"{format_size(self.from_files)}, which may hold {format_size(self.num_bytes)}; check them, "
                "or allow more with --memory (memory=... in Python)"
            )


def _declared_by_parquet(connection: Any, file: Path) -> int:
    columns, values, rows = (
        int(connection.execute(query, [_quoted(file)]).fetchall()[0][0] or 0)
        for query in (
            "SELECT count(*) FROM parquet_schema(?)",
            "SELECT sum(num_values) FROM parquet_metadata(?)",
            "SELECT sum(num_rows) FROM parquet_file_metadata(?)",
        )
    )
    return columns * _COLUMN_BYTES + values * _VALUE_BYTES + rows * _ROW_BYTES


def _declared_by_csv(_connection: Any, file: Path) -> int:
    """What columns take; rows cannot be declared without being there."""
    with open_regular(file) as opened:
        return opened.readline(_LONGEST_HEADER).count(b",") * _COLUMN_BYTES


def are_parts(path: Path) -> bool:
    """Whether a folder holds tables ``incidences*`` and ``nodes*`` of Parquet or CSV."""
    return path.is_dir() and any(_named(path, INCIDENCES)) and any(_named(path, NODES))


def _named(folder: Path, table: str) -> list[Path]:
    return sorted(
        file for file in folder.glob(f"{table}*") if file.suffix.lower() in ENDINGS and file.is_file()
    )


def _files(folder: Path, table: str) -> tuple[Path, ...]:
    files = _named(folder, table)
    if not files:
        raise FormatError(f"{folder} has no {table}*.parquet and no {table}*.csv; both tables are needed")
    if len({file.suffix.lower() for file in files}) > 1:
        raise FormatError(f"{folder} has {table} as .parquet and as .csv; keep one of them")
    _check_numbers(files)
    return tuple(files)


def _check_numbers(files: list[Path]) -> None:
    """Refuse a list of numbered files with a gap: a part was lost."""
    found = [_NUMBERED.fullmatch(file.stem) for file in files]
    matches = [one for one in found if one is not None]
    if len(matches) < len(files) or len({(one[1], one[3], len(one[2])) for one in matches}) > 1:
        return
    numbers = {int(one[2]) for one in matches}
    first, last = min(numbers), max(numbers)
    if matches[0][3]:  # 00003-of-00008, counted from 0 or from 1
        first = min(first, 1)
        last = first + int(matches[0][3].removeprefix("-of-")) - 1
    if lost := sorted(set(range(first, last + 1)) - numbers):
        raise FormatError(
            f"part {lost[0]} is missing beside {files[0]}: there are {len(files)} parts, "
            f"{last - first + 1} by their numbers"
        )


@contextmanager
def database(memory: int, scratch: Path, *, threads: int) -> Iterator[Any]:
    """A database that takes so many bytes of memory and keeps what is more in a folder.

    Raises:
        ConfigError: DuckDB is not installed, or memory is too little for it.
        FormatError: A file is damaged, or the disk is full.
    """
    try:
        import duckdb
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            f"tables that stay on disk need {error.name}; install it with pip install 'hypercondense[large]'"
        ) from error
    if memory < _SMALLEST:
        raise ConfigError(
            f"sorting tables needs at least {format_size(_SMALLEST)} beside the program itself, and "
            f"{format_size(max(0, memory))} are left; allow more with --memory"
        )
    own = {
        "memory_limit": f"{memory // 10**6}MB",
        "temp_directory": str(scratch),
        "threads": threads,
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    try:
        with duckdb.connect(config=own) as connection:
            yield connection
    except duckdb.OutOfMemoryException as error:
        raise ConfigError(
            f"sorting the tables needs more than {format_size(memory)} ({one_line(error, longest=120)}); "
            "allow more with --memory, or make room on the disk"
        ) from error
    except duckdb.IOException as error:
        if "No space left" not in str(error):
            raise FormatError(f"the tables cannot be read: {one_line(error, longest=240)}") from error
        raise ConfigError(
            f"the disk is full while the tables are sorted ({one_line(error, longest=120)}); make room "
            "beside the folder that is written, or allow more memory with --memory"
        ) from error
    except duckdb.Error as error:
        raise FormatError(f"the tables cannot be read: {one_line(error, longest=240)}") from error


def view(connection: Any, name: str, files: tuple[Path, ...]) -> dict[str, str]:
    """Make a view of a table; its columns and their types.

    Raises:
        FormatError: A part has other columns than the first.
    """
    # Without saying so, the name of a folder such as label=5 would become a column.
    reads = (
        partial(connection.read_csv, header=True, hive_partitioning=False)
        if files[0].suffix.lower() == ".csv"
        else partial(connection.read_parquet, hive_partitioning=False)
    )
    first: dict[str, str] = {}
    for file in files:
        table = reads(_quoted(file))
        found = {column: str(kind) for column, kind in zip(table.columns, table.types, strict=True)}
        first = first or found
        if list(found) != list(first) or (file.suffix == ".parquet" and found != first):
            raise FormatError(
                f"{file} has the columns {_told(found)}, {files[0].name} has {_told(first)}; all parts of a "
                "table must have the same, of the same types and in the same order"
            )
    reads([_quoted(file) for file in files]).create_view(name)
    return first


def _quoted(file: Path) -> str:
    """A path in which no letter stands for others."""
    return re.sub(r"([*?\[])", r"[\1]", str(file))


def _told(columns: dict[str, str]) -> str:
    shown = [f"{name} {kind}" for name, kind in list(columns.items())[:6]]
    return ", ".join(shown) + (" .." if len(columns) > 6 else "")
