"""Tables: ``incidence.csv`` (node, hyperedge, perhaps weight), ``features.csv`` and ``labels.csv``, or .tsv.

Nodes and hyperedges may be called anything. The nodes are the rows of the feature table, in that order. Where
nodes have shares of several classes there is a fourth, ``soft_labels.csv``, with a column for each class.
"""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from hypercondense.condensation import Condensation
from hypercondense.data.formats.csv_table import CsvTable
from hypercondense.data.formats.files import default_name, file_names
from hypercondense.data.formats.made import hypergraph_in
from hypercondense.data.formats.reader import Reader, Reading
from hypercondense.data.formats.text import encode_labels
from hypercondense.errors import FormatError
from hypercondense.files.storage import replaced_folder
from hypercondense.hypergraph import Dense, Hypergraph, Ids
from hypercondense.hypergraph.names import unless_numbers
from hypercondense.interchange.facts import SPARSE
from hypercondense.interchange.problems import tell_lost

_ENDINGS = (".csv", ".tsv")
_INCIDENCE, _FEATURES, _LABELS = _PARTS = ("incidence", "features", "labels")
_SOFT_LABELS = "soft_labels"


def write_tables(given: Hypergraph | Condensation, path: Path, *, overwrite: bool = False) -> None:
    """Write the folder ``path``: whole or not at all. An existing one stays unless ``overwrite``.

    Everything is called by its name where it has one, else by its number. A split, notes, and that features
    are sparse have no place there, which a warning tells.

    Raises:
        FileExistsError: As :func:`hypercondense.files.storage.check_target` tells.
        FormatError: Something would not come back, such as a class whose name is empty.
    """
    hypergraph = hypergraph_in(given)
    files = [f"{part}.csv" for part in (*_PARTS, _SOFT_LABELS)]
    with replaced_folder(path, overwrite=overwrite, ours=files) as folder:
        for part, rows in _tables_of(hypergraph):
            with (folder / f"{part}.csv").open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(rows)
        if not _comes_back(hypergraph, folder):
            raise FormatError(
                "tables cannot hold this hypergraph: it has no hyperedges, or names of classes or features "
                "that are empty, there twice, called node, or begin or end with blanks, or names of nodes "
                "with a NUL character or a line break of Windows; npz can"
            )
    lost = {"the split": hypergraph.parts is not None, "the notes": bool(hypergraph.notes)}
    lost[SPARSE] = hypergraph.is_sparse
    tell_lost("a folder of tables", [what for what, there in lost.items() if there])


def _tables_of(hypergraph: Hypergraph) -> Iterable[tuple[str, Iterable[Sequence[object]]]]:
    """The rows of every table, with its header."""
    nodes = hypergraph.node_names or range(hypergraph.num_nodes)
    hyperedges = hypergraph.hyperedge_names or range(hypergraph.num_hyperedges)
    incidence = hypergraph.incidence
    names = _class_names(hypergraph)
    weights = [] if incidence.weights is None else [map(_digits, incidence.weights.tolist())]
    members = (nodes[node] for node in incidence.node_ids.tolist())
    owners = (hyperedges[hyperedge] for hyperedge in incidence.hyperedge_ids.tolist())
    memberships = zip(members, owners, *weights, strict=True)
    yield _INCIDENCE, [("node", "hyperedge", "weight")[: 2 + len(weights)], *memberships]
    rows = (hypergraph.dense_features(slice(node, node + 1))[0] for node in range(len(nodes)))
    yield _FEATURES, _with_nodes(nodes, _feature_names(hypergraph), rows)
    yield (
        _LABELS,
        [("node", "label"), *zip(nodes, (names[label] for label in hypergraph.labels), strict=True)],
    )
    if hypergraph.soft_labels is not None:
        yield _SOFT_LABELS, _with_nodes(nodes, names[:-1], hypergraph.soft_labels)


def _with_nodes(
    nodes: Sequence[object], columns: Sequence[str], rows: Iterable[Dense]
) -> Iterable[Sequence[object]]:
    yield ("node", *columns)
    yield from ((node, *map(_digits, row.tolist())) for node, row in zip(nodes, rows, strict=True))


def _class_names(hypergraph: Hypergraph) -> list[str]:
    """What labels are called; the last, label -1, is unknown and empty."""
    names = hypergraph.label_names or [str(label) for label in range(hypergraph.num_classes)]
    return [*names, ""]


def _feature_names(hypergraph: Hypergraph) -> list[str]:
    return list(hypergraph.feature_names or (f"x{column}" for column in range(hypergraph.num_features)))


def _own_names(hypergraph: Hypergraph) -> list[object]:
    names = (hypergraph.node_names, hypergraph.hyperedge_names)
    return [None if given is None else unless_numbers(given) for given in names]


def _digits(number: float) -> str:
    """A float32 with as many digits as it takes to tell it from all others."""
    return f"{number:.9g}"


def _comes_back(hypergraph: Hypergraph, folder: Path) -> bool:
    """Whether reading gives what was written, to the bit; classes may be numbered in another way."""
    names = _class_names(hypergraph)
    try:
        again = _read(folder, None, Reading())
    except (FormatError, ValueError):
        return False
    new_names = _class_names(again)
    numbers = [
        (hypergraph.dense_features(), again.dense_features()),
        (
            hypergraph.soft_labels,
            again.soft_labels,
        ),  # their columns are in order, unlike classes without them
        *zip(hypergraph.incidence, again.incidence, strict=True),
    ]
    return (
        len(set(names)) == len(names)
        and all(np.array_equal(ours, theirs) for ours, theirs in numbers)  # type: ignore[arg-type]
        and _feature_names(hypergraph) == _feature_names(again)
        and _own_names(hypergraph) == _own_names(again)
        and [names[label] for label in hypergraph.labels] == [new_names[label] for label in again.labels]
    )


def _recognises(path: Path) -> bool:
    if path.is_dir():
        return any(f"{part}{ending}" in file_names(path) for part in _PARTS for ending in _ENDINGS)
    return path.suffix.lower() in _ENDINGS and (
        path.stem.endswith(_INCIDENCE) or _starts_with_columns(path, ("node", "hyperedge"))
    )


def _starts_with_columns(path: Path, columns: Sequence[str]) -> bool:
    with path.open("rb") as file:
        first = file.readline(1000).decode("utf-8-sig", errors="replace").lower()
    given = [column.strip(' "\r\n') for column in first.replace("\t", ",").split(",")]
    return all(column in given for column in columns)


def _read(path: Path, name: str | None, _reading: Reading) -> Hypergraph:
    incidence_file = _part(path, "", _INCIDENCE) if path.is_dir() else path
    folder, prefix = incidence_file.parent, incidence_file.stem.removesuffix(_INCIDENCE)
    prefix = "" if prefix == incidence_file.stem else prefix
    features, feature_names, nodes = _features(_part(folder, prefix, _FEATURES))
    labels, label_names = _labels(_part(folder, prefix, _LABELS), nodes)
    soft_labels = None
    if soft_file := _found(folder, prefix, _SOFT_LABELS):
        soft_labels, labels, label_names = _soft_labels(soft_file, nodes, labels, label_names)
    node_ids, hyperedge_ids, weights, hyperedges = _incidence(incidence_file, nodes)
    return Hypergraph(
        features=features,
        labels=labels,
        incidence=(node_ids, hyperedge_ids, weights),
        num_hyperedges=len(hyperedges),
        soft_labels=soft_labels,
        label_names=label_names,
        feature_names=feature_names,
        node_names=unless_numbers(list(nodes)),
        hyperedge_names=unless_numbers(hyperedges),
        name=name or default_name(path),
    )


def _part(folder: Path, prefix: str, part: str) -> Path:
    if found := _found(folder, prefix, part):
        return found
    raise FormatError(f"{folder / f'{prefix}{part}.csv'} (or {prefix}{part}.tsv) is missing")


def _found(folder: Path, prefix: str, part: str) -> Path | None:
    files = [folder / f"{prefix}{part}{ending}" for ending in _ENDINGS]
    present = [file for file in files if file.exists()]
    if len(present) > 1:
        raise FormatError(f"{present[0]} and {present[1].name} are both there; remove one")
    return present[0] if present else None


def _features(path: Path) -> tuple[Dense, list[str], dict[str, int]]:
    """Features, their names, and the row of each node."""
    features, names, given_nodes = _numbers(path, of="features")
    nodes: dict[str, int] = {}
    for row, node in enumerate(given_nodes):
        if not node:
            raise FormatError(f"{path}, row {row + 1}: the node has no name; give it one, or remove the row")
        if nodes.setdefault(node, row) != row:
            raise FormatError(f"{path}, row {row + 1}: node {node[:40]!r} is there twice")
    return features, names, nodes


def _numbers(path: Path, *, of: str) -> tuple[Dense, list[str], list[str]]:
    """The numbers beside the column of nodes, the names of their columns, and that column."""
    table = CsvTable(path)
    own = table.column_position("node")
    positions = [position for position in range(len(table.header)) if position != own]
    if not positions:
        raise FormatError(f"{path} has no column of {of} beside 'node'")
    return table.numbers(positions), [table.header[position] for position in positions], table.column("node")


def _soft_labels(
    path: Path, nodes: dict[str, int], labels: Ids, label_names: Sequence[str]
) -> tuple[Dense, Ids, tuple[str, ...]]:
    """Shares of classes in the order of the nodes; its columns are the classes, also those without a node."""
    shares, names, given_nodes = _numbers(path, of="classes")
    if sorted(given_nodes) != sorted(nodes):
        raise FormatError(f"{path} must have every node of the feature table once, and no others")
    classes = {name: position for position, name in enumerate(names)}
    for name in label_names:
        if name not in classes:
            raise FormatError(f"{path} has no column {name[:40]!r}, which is the label of a node")
    position_of = np.array([*(classes[name] for name in label_names), -1])
    rows = np.argsort([nodes[node] for node in given_nodes])
    return shares[rows], position_of[labels], tuple(names)


def _labels(path: Path, nodes: dict[str, int]) -> tuple[Ids, tuple[str, ...]]:
    """Classes of all nodes; a node that is not in the table has an unknown label."""
    table = CsvTable(path)
    raw: list[str | None] = [None] * len(nodes)
    for row, (node, label) in enumerate(
        zip(table.column("node"), table.column("label"), strict=True), start=1
    ):
        if node not in nodes:
            raise FormatError(f"{path}, row {row}: node {node[:40]!r} is not in the feature table")
        if raw[nodes[node]] is not None:
            raise FormatError(f"{path}, row {row}: node {node[:40]!r} is there twice")
        raw[nodes[node]] = label.strip()
    return encode_labels([label or "" for label in raw])


def _incidence(path: Path, nodes: dict[str, int]) -> tuple[Ids, Ids, Dense | None, list[str]]:
    """Node and hyperedge ids of memberships, their weights, and what hyperedges are called."""
    table = CsvTable(path)
    given_nodes, given_hyperedges = table.column("node"), table.column("hyperedge")
    unknown = set(given_nodes) - nodes.keys()
    if unknown:
        row = next(row for row, node in enumerate(given_nodes) if node in unknown)
        raise FormatError(
            f"{path}, row {row + 1}: node {given_nodes[row][:40]!r} is not in the feature table"
        )
    if "" in given_hyperedges:
        row = given_hyperedges.index("") + 1
        raise FormatError(f"{path}, row {row}: the hyperedge has no name; give it one, or remove the row")
    hyperedges = {hyperedge: position for position, hyperedge in enumerate(dict.fromkeys(given_hyperedges))}
    node_ids = np.fromiter(map(nodes.__getitem__, given_nodes), np.int64, len(given_nodes))
    hyperedge_ids = np.fromiter(map(hyperedges.__getitem__, given_hyperedges), np.int64, len(given_nodes))
    _check_duplicates(path, table, node_ids * len(hyperedges) + hyperedge_ids)
    weights = None
    if "weight" in (column.lower() for column in table.header):
        weights = table.numbers([table.column_position("weight")])[:, 0]
    return node_ids, hyperedge_ids, weights, list(hyperedges)


def _check_duplicates(path: Path, table: CsvTable, memberships: Ids) -> None:
    _, first = np.unique(memberships, return_index=True)
    if len(first) == len(memberships):
        return
    row = int(np.setdiff1d(np.arange(len(memberships)), first)[0])
    node, hyperedge = table.column("node")[row][:40], table.column("hyperedge")[row][:40]
    raise FormatError(f"{path}, row {row + 1}: node {node!r} is in hyperedge {hyperedge!r} twice")


TABLES = Reader(
    name="tables",
    looks_for="incidence.csv, features.csv, labels.csv (or .tsv)",
    recognises=_recognises,
    read=_read,
)
