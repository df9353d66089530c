"""Parquet: a folder of ``incidences.parquet`` and ``nodes.parquet``, each perhaps in parts, read and written.

Columns are those of Arrow tables (:func:`hypercondense.interchange.to_arrow`); what is in no column is told
in the metadata of the schema of nodes, under ``hypercondense``, with the provenance of condensed ones.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hypercondense.condensation import Condensation
from hypercondense.data.formats.files import containing_folder, default_name
from hypercondense.data.formats.made import facts_with, hypergraph_in
from hypercondense.data.formats.parquet_pages import columns_of, pages_of
from hypercondense.data.formats.reader import Reader, Reading
from hypercondense.data.parts import INCIDENCES, NODES, Parts, are_parts
from hypercondense.errors import ConfigError, ConversionError, FormatError, one_line
from hypercondense.files.regular import open_regular
from hypercondense.files.storage import replaced_folder
from hypercondense.hypergraph import Hypergraph
from hypercondense.interchange.columns import Choices
from hypercondense.interchange.facts import KEY
from hypercondense.interchange.ids import ids_of
from hypercondense.interchange.problems import Problems, need
from hypercondense.interchange.table_columns import PLACES, VALUES, Roles, from_columns
from hypercondense.interchange.tables import facts_in, to_arrow

_ENDING = ".parquet"
MEMBERS = "members"
FILES = tuple(f"{table}{_ENDING}" for table in (INCIDENCES, NODES, MEMBERS))
_LISTS = ("features", PLACES, VALUES)
_LONGEST_TEXT = 10**8  # bytes of the directory of a file
# Bytes made of one entry: of a feature; of anything else, which becomes a value of Python; of one in a list
# of its own; and of a column in a group of rows.
_NUMBER_BYTES, _VALUE_BYTES, _LISTED_BYTES, _COLUMN_BYTES = 40, 110, 250, 4000


def write_parquet(given: Hypergraph | Condensation, path: Path, *, overwrite: bool = False) -> None:
    """Write the folder ``path``: whole or not at all. An existing one stays unless ``overwrite``.

    Raises:
        FileExistsError: As :func:`hypercondense.files.storage.check_target` tells.
        ConfigError: pyarrow is not installed.
    """
    _library()
    with replaced_folder(path, overwrite=overwrite, ours=FILES) as folder:
        write_tables_to(folder, given)


def write_tables_to(folder: Path, given: Hypergraph | Condensation) -> list[Path]:
    """Write the tables into a folder; the files."""
    arrow, parquet = _library()
    incidences, nodes = to_arrow(hypergraph_in(given))
    told = {KEY: json.dumps(facts_with(given).content())}
    tables = {INCIDENCES: incidences, NODES: nodes.replace_schema_metadata(told)}
    if isinstance(given, Condensation):
        tables[MEMBERS] = _members(arrow, given)
    files = []
    for name, table in tables.items():
        files.append(folder / f"{name}{_ENDING}")
        parquet.write_table(table, files[-1], compression="zstd")
    return files


def _members(arrow: Any, result: Condensation) -> Any:
    """A row for each source node that a condensed node started from: their numbers in the source."""
    ids = ids_of(result.hypergraph.node_names, result.hypergraph.num_nodes)
    counts = [len(own) for own in result.members]
    flat = np.concatenate([*result.members, np.empty(0, np.int64)])
    return arrow.table(
        {"node": [ids[node] for node in np.repeat(np.arange(len(ids)), counts)], "source": flat}
    )


def _library() -> tuple[Any, Any]:
    try:
        return need("pyarrow", "arrow"), need("pyarrow.parquet", "arrow")
    except ImportError as error:
        raise ConfigError(str(error)) from error


def _recognises(path: Path) -> bool:
    folder = containing_folder(path)
    if path.is_file() and not (path.suffix.lower() == _ENDING and path.name.startswith((INCIDENCES, NODES))):
        return False
    return any(any(folder.glob(f"{table}*{_ENDING}")) for table in (INCIDENCES, NODES))


def tells_facts(path: Path) -> bool:
    """Whether a folder of Parquet was written by this program, and its metadata say what no column does."""
    if not (_recognises(path) and are_parts(containing_folder(path))):
        return False
    _, parquet = _library()
    first = Parts.of(containing_folder(path)).nodes[0]
    if first.suffix.lower() != _ENDING:
        return False
    open_regular(first).close()
    try:
        return KEY.encode() in (parquet.read_schema(first).metadata or {})
    except (ValueError, OSError, NotImplementedError):
        return False


def _read(path: Path, name: str | None, reading: Reading) -> Hypergraph:
    folder = containing_folder(path)
    parts = Parts.of(folder)
    if other := [file for file in (parts.incidences[0], parts.nodes[0]) if file.suffix.lower() != _ENDING]:
        raise FormatError(f"{other[0]} must be of Parquet as the other table is, or use convert --mapped")
    if parts.features is not None:
        raise FormatError(f"{parts.features} beside tables is read by convert --mapped only; use that first")
    problems = Problems(str(folder))
    needed = sum(_needed(file, problems) for file in (*parts.incidences, *parts.nodes))
    if problems.found:
        raise FormatError(_told(problems))
    size = sum(file.stat().st_size for file in (*parts.incidences, *parts.nodes))
    reading.check(folder, needed, file_size=size)
    incidences, _ = _columns(parts.incidences)
    nodes, metadata = _columns(parts.nodes)
    try:
        facts = facts_in(metadata, problems)
        called = name or (default_name(folder) if facts is None else None)
        return from_columns(
            problems, incidences, nodes, roles=Roles(), choices=Choices(), facts=facts, name=called
        )
    except ConversionError as error:
        raise FormatError(error) from error


def _told(problems: Problems) -> str:
    try:
        problems.raise_any()
    except ConversionError as error:
        return str(error)
    return problems.what


def _opened(path: Path, **options: Any) -> Any:
    """A Parquet file; nothing is read by threads, and only what its directory says is."""
    _, parquet = _library()
    limits = {"thrift_string_size_limit": _LONGEST_TEXT, "thrift_container_size_limit": 10**6}
    try:
        return parquet.ParquetFile(path, pre_buffer=False, memory_map=False, **limits, **options)
    except (ValueError, OSError, NotImplementedError, KeyError, IndexError) as error:
        told = one_line(error, longest=120)
        raise FormatError(f"{path} is no whole Parquet file ({told}); write it again") from error


def _needed(path: Path, problems: Problems) -> int:
    """Bytes that reading a file takes; columns of types that are not read are told."""
    arrow, _ = _library()
    needed = 0
    with open_regular(path) as file, _opened(path) as opened:
        for field in opened.schema_arrow:
            if not _is_read(arrow.types, field):
                problems.add(
                    f"column {field.name[:40]!r} of {_table_of(path)} is {str(field.type)[:40]}; make "
                    "numbers or texts of it, or leave it out"
                )
        if problems.found:
            return 0
        for column in columns_of(path, file):
            pages = pages_of(path, file, column)
            each = _NUMBER_BYTES if column.is_float else _VALUE_BYTES
            if opened.schema.column(column.place).path.startswith((f"{PLACES}.", f"{VALUES}.")):
                each = _LISTED_BYTES
            needed += _COLUMN_BYTES + 2 * pages.bytes + each * max(pages.values, column.values)
        if opened.metadata.num_rows > max(0, needed):
            raise FormatError(
                f"{path} says it has {opened.metadata.num_rows:,} rows, which its pages have not"
            )
    return needed


def _table_of(path: Path) -> str:
    return INCIDENCES if path.name.startswith(INCIDENCES) else NODES


def _is_read(types: Any, field: Any) -> bool:
    kind = field.type
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        inner = kind.value_type
        return field.name in _LISTS and (types.is_integer(inner) or types.is_floating(inner))
    plain = (types.is_integer, types.is_floating, types.is_boolean, types.is_string, types.is_large_string)
    return types.is_null(kind) or any(test(kind) for test in plain)


def _columns(files: Sequence[Path]) -> tuple[dict[Any, Any], dict[bytes, bytes]]:
    """Columns of all parts of a table as arrays or lists, and the metadata of the first."""
    arrow, _ = _library()
    tables = [_table(arrow, file) for file in files]
    for file, table in zip(files, tables, strict=True):
        if table.column_names != tables[0].column_names:
            raise FormatError(
                f"{file} has other columns than {files[0].name}; all parts of a table must have the same"
            )
    columns: dict[Any, Any] = {}
    for place, name in enumerate(tables[0].column_names):
        chunks = [chunk for table in tables for chunk in table.column(place).chunks]
        made = _column(arrow, name, chunks)
        if twice := made.keys() & columns.keys():
            raise FormatError(f"{files[0]} has two columns {min(twice)[:40]!r}; rename one")
        columns.update(made)
    return columns, dict(tables[0].schema.metadata or {})


def _table(arrow: Any, file: Path) -> Any:
    with _opened(file) as opened:
        texts = [
            field.name
            for field in opened.schema_arrow
            if arrow.types.is_string(field.type) or arrow.types.is_large_string(field.type)
        ]
    try:
        with _opened(file, read_dictionary=texts) as opened:
            table = opened.read(use_threads=False)
            table.validate(full=True)
            return table
    except (arrow.ArrowException, OSError) as error:
        told = one_line(error, longest=120)
        raise FormatError(f"{file} is no whole Parquet file ({told}); write it again") from error


def _column(arrow: Any, name: str, chunks: Sequence[Any]) -> dict[str, Any]:
    """A column by its name; one of lists of features is a column for each place in them."""
    types = arrow.types
    if name == "features" and chunks and not _is_flat(types, chunks[0].type):
        return _feature_lists(need("pyarrow.compute", "arrow"), chunks)
    if chunks and all(_is_number(types, chunk) for chunk in chunks):
        return {name: np.concatenate([chunk.to_numpy(zero_copy_only=False) for chunk in chunks])}
    values: list[Any] = []
    for chunk in chunks:
        values += _shared(chunk) if types.is_dictionary(chunk.type) else chunk.to_pylist()
    return {name: values}


def _is_flat(types: Any, kind: Any) -> bool:
    return not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _is_number(types: Any, chunk: Any) -> bool:
    return not chunk.null_count and (types.is_integer(chunk.type) or types.is_floating(chunk.type))


def _shared(chunk: Any) -> list[Any]:
    """Values of a dictionary, each made once however often it is there."""
    values = [*chunk.dictionary.to_pylist(), None]
    places = chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return [values[place] for place in places.tolist()]


def _feature_lists(compute: Any, chunks: Sequence[Any]) -> dict[str, Any]:
    rows = sum(map(len, chunks))
    found = (compute.list_value_length(chunk).drop_null().to_numpy(zero_copy_only=False) for chunk in chunks)
    lengths = {int(length) for own in found for length in np.unique(own)}
    flat = np.concatenate([chunk.flatten().to_numpy(zero_copy_only=False) for chunk in chunks])
    width = lengths.pop() if len(lengths) == 1 else 0
    if width * rows != len(flat):
        raise FormatError("the lists in column 'features' must be there for every node and of one length")
    return {f"x{place}": column for place, column in enumerate(flat.reshape(rows, width).T)}


PARQUET = Reader(
    name="Parquet",
    looks_for=f"{INCIDENCES}*{_ENDING}, {NODES}*{_ENDING}",
    recognises=_recognises,
    read=_read,
)
