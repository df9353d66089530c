"""A native folder from tables of any size: a database sorts and joins them, and rows stream into maps."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hypercondense.data.edge_lists import write_tables
from hypercondense.data.formats.opened import id_type, mapped_folder
from hypercondense.data.graphbolt import METADATA, read_graphbolt
from hypercondense.data.lsc import is_lsc, read_lsc
from hypercondense.data.parts import INCIDENCES, NODES, Allowance, Parts, database, view
from hypercondense.errors import FormatError, one_line
from hypercondense.files.drafts import workplace
from hypercondense.files.maps import release
from hypercondense.hypergraph.arrays import UNKNOWN
from hypercondense.runtime.memory import available_bytes, resident_bytes

_BATCH = 100_000  # rows that are in Python at once
_SPARE = 150 * 10**6  # bytes for them and for the pages of maps
_DEFAULT = 4 * 10**9
_OURS = ("node", "label", "split")
_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
_REAL = {"FLOAT", "DOUBLE", "BOOLEAN", *_WHOLE}


def gather(
    folder: Path,
    out: Path,
    *,
    memory: int | None = None,
    overwrite: bool = False,
    threads: int = 2,
    name: str | None = None,
    split: NDArray[np.int8] | None = None,
) -> None:
    """Write tables in many files as a native folder that stays on disk.

    ``incidences*`` has the columns ``node``, ``hyperedge`` and perhaps ``weight``; ``nodes*`` has ``node``,
    ``label`` and the features: a column each, or one column ``features`` of lists; without any they are the
    rows of ``features.npy``, in the order of the nodes. Nodes that are called 0 to n-1 have these numbers,
    others are numbered in the order of their rows and keep their names; so do hyperedges, in the order of
    their names.

    Args:
        folder: Where the tables are, as Parquet or CSV.
        out: The folder to write.
        memory: Bytes that this process may take; what is more is sorted on disk, beside ``out``. Tables may
            also be unpacked to so many, where the size of their files does not allow it.
        overwrite: Whether ``out`` may be replaced.
        threads: Of the database.
        name: What to call it; the default is the name of the folder.
        split: The part of every node, as ``Hypergraph.parts`` has it.

    Raises:
        FormatError: The tables are no hypergraph; the text names what is wrong and where.
        ConfigError: The memory is too little, or DuckDB is missing.
    """
    parts = Parts.of(folder)
    budget = min(memory or _DEFAULT, available_bytes() or _DEFAULT) - resident_bytes() - _SPARE
    with (
        workplace(out) as scratch,
        database(budget, scratch, threads=threads) as connection,
    ):
        tables = _Tables(connection, parts, Allowance.of(folder, parts, memory))
        own = {} if split is None else {"parts": (np.int8, split.shape)}
        with mapped_folder(out, {**tables.shapes, **own}, overwrite=overwrite) as (arrays, manifest):
            tables.fill(arrays)
            if split is not None:
                arrays["parts"][:] = split
            manifest |= {"name": name or folder.resolve().name, "facts": tables.facts}


@dataclass
class _Key:
    """How the things of one kind are numbered: by their own numbers, or by a table ``KIND_ids``."""

    kind: str
    size: int
    numbered: bool
    text_bytes: int = 0

    @property
    def id(self) -> str:
        return f"incidences.{self.kind}" if self.numbered else f"{self.kind}_ids.id"

    @property
    def join(self) -> str:
        return (
            "" if self.numbered else f" JOIN {self.kind}_ids ON {self.kind}_ids.name = incidences.{self.kind}"
        )


class _Tables:
    def __init__(self, connection: Any, parts: Parts, allowance: Allowance) -> None:
        self.connection, self.parts = connection, parts
        allowance.check_files(connection)
        self.columns = view(connection, NODES, parts.nodes)
        memberships = view(connection, INCIDENCES, parts.incidences)
        _need(parts.nodes[0], self.columns, ("node", "label"))
        _need(parts.incidences[0], memberships, ("node", "hyperedge"))
        self.weighted = "weight" in memberships
        if self.weighted:
            _need_numbers(INCIDENCES, "weight", memberships["weight"])
        allowance.check_texts(connection, {NODES: self.columns, INCIDENCES: memberships})
        self._check_nulls(INCIDENCES, ["node", "hyperedge", *(["weight"] if self.weighted else [])])
        self._check_nulls(NODES, ["node"])
        self.node = self._key("node", NODES, "SELECT node AS name, row_number() OVER () - 1 AS id FROM nodes")
        self.hyperedge = self._key(
            "hyperedge",
            INCIDENCES,
            "SELECT hyperedge AS name, row_number() OVER (ORDER BY hyperedge) - 1 AS id "
            "FROM (SELECT DISTINCT hyperedge FROM incidences)",
        )
        self._check_known_nodes()
        self.num_incidences = self._one("SELECT count(*) FROM incidences")
        self.feature_columns, self.num_features = self._features()
        self.label_names = self._label_names()

    @property
    def facts(self) -> dict[str, Any]:
        named = self.feature_columns not in ([], ["features"])
        return {
            "num_nodes": self.node.size,
            "num_hyperedges": self.hyperedge.size,
            "num_features": self.num_features,
            "label_names": self.label_names,
            "feature_names": self.feature_columns if named else None,
        }

    @property
    def shapes(self) -> dict[str, tuple[Any, tuple[int, ...]]]:
        size = (self.num_incidences,)
        shapes: dict[str, tuple[Any, tuple[int, ...]]] = {
            "features": (np.float32, (self.node.size, self.num_features)),
            "labels": (np.int64, (self.node.size,)),
            "incidence.node_ids": (id_type(self.node.size), size),
            "incidence.hyperedge_ids": (id_type(self.hyperedge.size), size),
        }
        if self.weighted:
            shapes["incidence.weights"] = (np.float32, size)
        for key in (self.node, self.hyperedge):
            if not key.numbered:
                shapes[f"{key.kind}_names.text"] = (np.uint8, (key.text_bytes,))
                shapes[f"{key.kind}_names.row_starts"] = (np.int64, (key.size + 1,))
        return shapes

    def fill(self, arrays: dict[str, NDArray[Any]]) -> None:
        self._fill_nodes(arrays["features"], arrays["labels"])
        self._fill_memberships(arrays)
        for key in (self.node, self.hyperedge):
            if not key.numbered:
                self._fill_names(key, arrays)

    def _one(self, query: str) -> Any:
        return self.connection.execute(query).fetchall()[0][0]

    def _batches(self, query: str) -> Iterator[Any]:
        yield from self.connection.sql(query).to_arrow_reader(_BATCH)

    def _check_nulls(self, table: str, columns: list[str]) -> None:
        told = ", ".join(f"count(*) - count({column})" for column in columns)
        row = self.connection.execute(f"SELECT {told} FROM {table}").fetchall()[0]
        for column, missing in zip(columns, row, strict=True):
            if missing:
                raise FormatError(
                    f"{missing} rows of {table} have no {column}; every one needs it, so complete them or "
                    "leave them out"
                )

    def _key(self, kind: str, table: str, numbering: str) -> _Key:
        kind_type = self._one(f"SELECT typeof({kind}) FROM {table} LIMIT 1") if self._some(table) else "?"
        if kind_type == "?":
            raise FormatError(f"{table} has no rows")
        low, high, size, rows = self.connection.execute(
            f"SELECT min({kind}), max({kind}), count(DISTINCT {kind}), count(*) FROM {table}"
        ).fetchall()[0]
        if table == NODES and size != rows:
            twice = self._one(f"SELECT {kind} FROM {table} GROUP BY {kind} HAVING count(*) > 1 LIMIT 1")
            raise FormatError(f"node {str(twice)[:40]!r} has more than one row in nodes; keep one of them")
        if kind_type in _WHOLE and low == 0 and high == size - 1:
            return _Key(kind, size, numbered=True)
        self.connection.execute(f"CREATE TABLE {kind}_ids AS {numbering}").fetchall()
        length = self._one(f"SELECT sum(strlen(name::VARCHAR)) FROM {kind}_ids")
        return _Key(kind, size, numbered=False, text_bytes=int(length))

    def _some(self, table: str) -> bool:
        return bool(self._one(f"SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT 1)"))

    def _check_known_nodes(self) -> None:
        strange = self.connection.execute(
            "SELECT node FROM incidences ANTI JOIN nodes USING (node) LIMIT 1"
            if not self.node.numbered
            else f"SELECT node FROM incidences WHERE node < 0 OR node >= {self.node.size} LIMIT 1"
        ).fetchall()
        if strange:
            raise FormatError(
                f"node {str(strange[0][0])[:40]!r} is in incidences but has no row in nodes; add it, or "
                "leave its incidences out"
            )

    def _features(self) -> tuple[list[str], int]:
        columns = [column for column in self.columns if column not in _OURS]
        if not columns:
            if self.parts.features is None:
                raise FormatError("nodes has no columns of features, and there is no features.npy beside it")
            shape = _matrix(self.parts.features).shape
            if len(shape) != 2 or shape[0] != self.node.size:
                raise FormatError(
                    f"features.npy must have a row per node, {self.node.size}, got shape {shape}"
                )
            return [], int(shape[1])
        if columns == ["features"] and self.columns["features"].endswith("]"):
            _need_numbers(NODES, "features", self.columns["features"].rpartition("[")[0])
            low, high = self.connection.execute(
                "SELECT min(len(features)), max(len(features)) FROM nodes"
            ).fetchall()[0]
            if low != high:
                raise FormatError(f"the lists of features must be of one length, they have {low} to {high}")
            return columns, int(high)
        for column in columns:
            _need_numbers(NODES, column, self.columns[column])
        return columns, len(columns)

    def _label_names(self) -> list[str] | None:
        if self.columns["label"] in _WHOLE:
            return None
        found = self.connection.execute(
            "SELECT DISTINCT label::VARCHAR FROM nodes WHERE label IS NOT NULL AND label::VARCHAR <> '' "
            "ORDER BY 1"
        ).fetchall()
        return [row[0] for row in found]

    def _fill_nodes(self, features: NDArray[Any], labels: NDArray[Any]) -> None:
        quoted = [f'"{column.replace(chr(34), 2 * chr(34))}"' for column in self.feature_columns]
        number = "node" if self.node.numbered else "row_number() OVER () - 1"
        label = f"coalesce(label::BIGINT, {UNKNOWN})" if self.label_names is None else "label::VARCHAR"
        places = {name: place for place, name in enumerate(self.label_names or ())}
        selected = ", ".join((f"{number} AS id", f"{label} AS label", *quoted))
        for batch in self._batches(f"SELECT {selected} FROM nodes"):
            ids = batch.column(0).to_numpy(zero_copy_only=False).astype(np.int64)
            labels[ids] = (
                batch.column(1).to_numpy(zero_copy_only=False)
                if self.label_names is None
                else [places.get(one, UNKNOWN) for one in batch.column(1).to_pylist()]
            )
            if self.feature_columns:
                features[ids] = self._rows(batch)
            release(features)
            release(labels)
        if self.parts.features is not None and not self.feature_columns:
            _copy(_matrix(self.parts.features), features)

    def _rows(self, batch: Any) -> NDArray[np.float32]:
        columns = batch.columns[2:]
        for name, column in zip(self.feature_columns, columns, strict=True):
            whole = column.flatten() if self.feature_columns == ["features"] else column
            if column.null_count or whole.null_count:
                raise FormatError(f"{name[:40]!r} of nodes has rows without a number; complete them")
        with np.errstate(over="ignore"):  # infinite numbers are refused by the check that follows
            if self.feature_columns == ["features"] and self.columns["features"].endswith("]"):
                flat: NDArray[Any] = columns[0].flatten().to_numpy(zero_copy_only=False)
                return flat.astype(np.float32).reshape(len(batch), self.num_features)
            return np.stack(
                [column.to_numpy(zero_copy_only=False).astype(np.float32) for column in columns], axis=1
            )

    def _fill_memberships(self, arrays: dict[str, NDArray[Any]]) -> None:
        weight = ", weight::FLOAT" if self.weighted else ""
        query = (
            f"SELECT {self.hyperedge.id} AS h, {self.node.id} AS n{weight} FROM incidences"
            f"{self.hyperedge.join}{self.node.join} ORDER BY 1, 2"
        )
        kinds = ("incidence.hyperedge_ids", "incidence.node_ids", "incidence.weights")
        place, last = 0, (-1, -1)
        for batch in self._batches(query):
            columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
            hyperedges, nodes = (np.append(before, part) for before, part in zip(last, columns, strict=False))
            same = np.flatnonzero((np.diff(hyperedges) == 0) & (np.diff(nodes) == 0))
            if len(same):
                self._tell_twice(int(nodes[same[0]]), int(hyperedges[same[0]]))
            for key, column in zip(kinds, columns, strict=False):
                arrays[key][place : place + len(batch)] = column
                release(arrays[key])
            place, last = place + len(batch), (int(hyperedges[-1]), int(nodes[-1]))

    def _tell_twice(self, node: int, hyperedge: int) -> None:
        raise FormatError(
            f"node number {node} is in hyperedge number {hyperedge} more than once, perhaps in different "
            "parts; leave repeated incidences out, or add up their weights"
        )

    def _fill_names(self, key: _Key, arrays: dict[str, NDArray[Any]]) -> None:
        text, starts = arrays[f"{key.kind}_names.text"], arrays[f"{key.kind}_names.row_starts"]
        starts[0] = place = end = 0
        for batch in self._batches(f"SELECT name::VARCHAR FROM {key.kind}_ids ORDER BY id"):
            encoded = [name.encode() for name in batch.column(0).to_pylist()]
            block = b"".join(encoded)
            text[end : end + len(block)] = np.frombuffer(block, np.uint8)
            ends = end + np.cumsum([len(name) for name in encoded])
            starts[place + 1 : place + 1 + len(encoded)] = ends
            place, end = place + len(encoded), end + len(block)
            release(text)
            release(starts)


def _need(file: Path, columns: dict[str, str], needed: tuple[str, ...]) -> None:
    for column in needed:
        if column not in columns:
            raise FormatError(f"{file} must have a column {column!r}, it has {', '.join(list(columns)[:6])}")


def _need_numbers(table: str, column: str, kind: str) -> None:
    if kind not in _REAL:
        raise FormatError(
            f"column {column[:40]!r} of {table} must be numbers, it is {kind[:40]}; encode it or leave it out"
        )


def _matrix(path: Path) -> NDArray[Any]:
    """A file of numpy, mapped."""
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # a broken header makes numpy raise a dozen types
        raise FormatError(f"{path} is no whole file of numpy ({one_line(error, longest=120)})") from error
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "fiub":
        raise FormatError(f"{path} must be one matrix of real numbers, as numpy.save writes it")
    return found


def _copy(given: NDArray[Any], into: NDArray[Any]) -> None:
    for start in range(0, len(given), _BATCH):
        with np.errstate(over="ignore"):
            into[start : start + _BATCH] = given[start : start + _BATCH]
        release(given)
        release(into)


def gather_graph(folder: Path, out: Path, *, memory: int | None = None, overwrite: bool = False) -> None:
    """Write a graph in GraphBolt's or OGB-LSC's layout as a native folder that stays on disk.

    Raises:
        FormatError: The folder is no such graph; the text names what is wrong and where.
        ConfigError: The memory is too little, or a library is missing.
    """
    graph = read_graphbolt(folder) if (folder / METADATA).is_file() else read_lsc(folder)
    with workplace(out) as scratch:
        tables = scratch / "tables"
        write_tables(graph, tables)
        gather(tables, out, memory=memory, overwrite=overwrite, name=graph.name, split=graph.parts)


def is_graph(folder: Path) -> bool:
    """Whether a folder is a graph in GraphBolt's or OGB-LSC's layout."""
    return (folder / METADATA).is_file() or is_lsc(folder)
