"""Graphs with nodes of several types, whose edges are arrays in files, as tables of a hypergraph.

Nodes of the type that has labels are nodes. Every node of another type that is joined to them is a hyperedge
of all it is joined to (an author of papers); within one type, each node is one of all that it points to (what
a paper cites). Edges between other types are left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hypercondense.data.formats.files import one_line_errors
from hypercondense.errors import ConfigError, FormatError, one_line
from hypercondense.files.maps import release
from hypercondense.files.regular import open_regular
from hypercondense.hypergraph.arrays import UNKNOWN

_ROWS = 1_000_000  # that are in memory at once
_BLOCK = 2**24  # bytes of text that are
_MOST = 2**62  # hyperedges that can be numbered
_PLAIN: dict[str, Any] = {
    "compression": "none",
    "use_dictionary": False,
}  # read once, and of a size that tells
NO_PART = -1


@dataclass(frozen=True)
class Relation:
    """Edges of one kind: an array (2, edges) or (edges, 2), sources first, and who the members are.

    ``hyperedges`` is the number of nodes of the other type. With ``is_csv`` the file is one of lines
    ``source,target`` without a header.
    """

    file: Path
    members_first: bool
    hyperedges: int
    is_csv: bool = False


@dataclass(frozen=True)
class Graph:
    """What becomes a hypergraph.

    ``labels`` and ``parts``, those of the split, have an entry for every node.
    """

    name: str
    num_nodes: int
    features: Path
    relations: tuple[Relation, ...]
    labels: NDArray[np.int64]
    parts: NDArray[np.int8] | None


def open_array(path: Path, kinds: str, what: str) -> NDArray[Any]:
    """An array of numpy that stays in its file, of numbers of some kinds (``i`` and ``u`` whole, ``f`` real).

    Raises:
        FormatError: It is something else.
    """
    with one_line_errors(path):
        open_regular(path).close()
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
        told = array.dtype if isinstance(array, np.ndarray) else "an archive"
        raise FormatError(f"{path} must be {what}, it holds {told}")
    return array


def write_tables(graph: Graph, folder: Path) -> None:
    """Write a graph as tables that :func:`~hypercondense.data.gathering.gather` reads, a few rows at a time.

    Raises:
        FormatError: An edge leads to a node that is not there.
        ConfigError: Arrow is missing.
    """
    try:
        import pyarrow as arrow
        from pyarrow.parquet import ParquetWriter
    except ImportError as error:
        raise ConfigError(
            f"tables that stay on disk need {error.name}; install it with pip install 'hypercondense[large]'"
        ) from error
    folder.mkdir()
    (folder / "features.npy").symlink_to(graph.features.resolve())
    whole = arrow.int64()
    schema = arrow.schema([("node", whole), ("hyperedge", whole)])
    with ParquetWriter(folder / "incidences-0.parquet", schema, **_PLAIN) as file:
        for members, hyperedges in _memberships(graph):
            file.write_table(arrow.table([members, hyperedges], schema=schema))
    schema = arrow.schema([("node", whole), ("label", whole)])
    with ParquetWriter(folder / "nodes-0.parquet", schema, **_PLAIN) as file:
        for rows in _slices(graph.num_nodes):
            labels = graph.labels[rows]
            column = arrow.array(labels, mask=labels == UNKNOWN)
            file.write_table(arrow.table([np.arange(rows.start, rows.stop), column], schema=schema))


def _memberships(graph: Graph) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Members and hyperedges; those of different relations are different hyperedges."""
    before = 0
    for relation in graph.relations:
        if before + relation.hyperedges > _MOST:
            raise FormatError(f"{relation.file} is of {relation.hyperedges} hyperedges, which are too many")
        for first, second in (in_lines if relation.is_csv else _in_array)(relation.file):
            members, hyperedges = (first, second) if relation.members_first else (second, first)
            for ids, size, what in (
                (members, graph.num_nodes, "nodes"),
                (hyperedges, relation.hyperedges, "nodes of the other type"),
            ):
                if len(ids) and (ids.min() < 0 or ids.max() >= size):
                    bad = int(ids[(ids < 0) | (ids >= size)][0])
                    raise FormatError(f"{relation.file} has an edge to {bad}, and there are {size} {what}")
            yield members, hyperedges + before
        before += relation.hyperedges


def _in_array(file: Path) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Sources and targets, some at a time, from a file of numpy."""
    edges = open_array(file, "iu", "whole numbers, two for each edge")
    if edges.ndim != 2 or 2 not in edges.shape:
        raise FormatError(f"{file} must have two rows or two columns, got shape {edges.shape}")
    by_row = edges.shape[0] == 2
    for some in _slices(edges.shape[1] if by_row else edges.shape[0]):
        first, second = edges[:, some] if by_row else edges[some].T
        yield np.asarray(first, np.int64), np.asarray(second, np.int64)
        release(edges)


def in_lines(file: Path, *, block: int = _BLOCK) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Sources and targets, some bytes of text at a time."""
    import pyarrow as arrow
    from pyarrow import csv

    whole = arrow.int64()
    with one_line_errors(file):
        opened = open_regular(file)
    try:
        with (
            opened,
            csv.open_csv(
                opened,
                read_options=csv.ReadOptions(
                    use_threads=False, block_size=block, column_names=["source", "target"]
                ),
                convert_options=csv.ConvertOptions(column_types={"source": whole, "target": whole}),
            ) as lines,
        ):
            for batch in lines:
                if any(column.null_count for column in batch.columns):
                    raise FormatError(f"{file} has an edge with an end only; complete it or leave it out")
                first, second = (column.to_numpy() for column in batch.columns)
                yield first, second
    except arrow.ArrowException as error:
        reason = one_line(error, longest=160)
        raise FormatError(f"{file} must have lines of two whole numbers, as 0,7 ({reason})") from error


def _slices(size: int) -> Iterator[slice]:
    for start in range(0, size, _ROWS):
        yield slice(start, min(start + _ROWS, size))


def numbered(
    sets: Sequence[tuple[NDArray[Any], NDArray[Any] | None]], num_nodes: int, where: str
) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Labels and parts of all nodes, from ids and labels of training, validation and test nodes.

    Raises:
        FormatError: An id is not that of a node, or a node is in two parts.
    """
    labels = np.full(num_nodes, UNKNOWN, np.int64)
    parts = np.full(num_nodes, NO_PART, np.int8)
    for part, (ids, classes) in enumerate(sets):
        flat = np.asarray(ids, np.int64).reshape(-1)
        if len(flat) and (flat.min() < 0 or flat.max() >= num_nodes):
            raise FormatError(f"{where} names a node that is not among its {num_nodes}")
        if (parts[flat] != NO_PART).any() or len(np.unique(flat)) != len(flat):
            raise FormatError(f"{where} names a node twice in its sets for training, validation and test")
        if classes is None:
            continue
        if classes.reshape(-1).shape != flat.shape:
            raise FormatError(f"{where} has {len(flat)} nodes and {classes.size} labels in one set")
        labels[flat] = whole_classes(classes, where)
        parts[flat] = np.where(labels[flat] == UNKNOWN, NO_PART, part)
    return labels, parts


def whole_classes(classes: NDArray[Any], where: str) -> NDArray[np.int64]:
    """Classes as whole numbers; those that are no number, or below 0, are not known."""
    flat = np.asarray(classes).reshape(-1)
    known = np.isfinite(flat) & (flat >= 0) if flat.dtype.kind == "f" else flat >= 0
    found = np.where(known, flat, 0).astype(np.int64)
    if (found[known] != flat[known]).any():
        raise FormatError(f"{where} has labels that are no whole numbers; number the classes from 0")
    return np.where(known, found, UNKNOWN)
