"""Tables: ``incidence.csv`` (node, hyperedge, perhaps weight), ``features.csv`` and ``labels.csv``, or .tsv.

Nodes and hyperedges may be called anything. The nodes are the rows of the feature table, in that order.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hypercondense.data.formats.csv_table import CsvTable
from hypercondense.data.formats.files import default_name, file_names
from hypercondense.data.formats.reader import FeatureRecipe, Reader
from hypercondense.data.formats.text import encode_labels
from hypercondense.errors import FormatError
from hypercondense.hypergraph import Dense, Hypergraph, Ids

_ENDINGS = (".csv", ".tsv")
_INCIDENCE, _FEATURES, _LABELS = _PARTS = ("incidence", "features", "labels")


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


def _read(path: Path, name: str | None, _recipe: FeatureRecipe) -> Hypergraph:
    incidence_file = _part(path, "", _INCIDENCE) if path.is_dir() else path
    folder, prefix = incidence_file.parent, incidence_file.stem.removesuffix(_INCIDENCE)
    prefix = "" if prefix == incidence_file.stem else prefix
    features, feature_names, nodes = _features(_part(folder, prefix, _FEATURES))
    labels, label_names = _labels(_part(folder, prefix, _LABELS), nodes)
    node_ids, hyperedge_ids, weights, num_hyperedges = _incidence(incidence_file, nodes)
    return Hypergraph(
        features=features,
        labels=labels,
        incidence=(node_ids, hyperedge_ids, weights),
        num_hyperedges=num_hyperedges,
        label_names=label_names,
        feature_names=feature_names,
        name=name or default_name(path),
    )


def _part(folder: Path, prefix: str, part: str) -> Path:
    found = [folder / f"{prefix}{part}{ending}" for ending in _ENDINGS]
    present = [file for file in found if file.exists()]
    if not present:
        raise FormatError(f"{found[0]} (or {found[1].name}) is missing")
    if len(present) > 1:
        raise FormatError(f"{present[0]} and {present[1].name} are both there; remove one")
    return present[0]


def _features(path: Path) -> tuple[Dense, list[str], dict[str, int]]:
    """Features, their names, and the row of each node."""
    table = CsvTable(path)
    own = table.column_position("node")
    positions = [position for position in range(len(table.header)) if position != own]
    if not positions:
        raise FormatError(f"{path} has no column of features beside 'node'")
    nodes: dict[str, int] = {}
    for row, node in enumerate(table.column("node")):
        if nodes.setdefault(node, row) != row:
            raise FormatError(f"{path}, row {row + 1}: node {node[:40]!r} is there twice")
    return table.numbers(positions), [table.header[position] for position in positions], nodes


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


def _incidence(path: Path, nodes: dict[str, int]) -> tuple[Ids, Ids, Dense | None, int]:
    table = CsvTable(path)
    given_nodes, given_hyperedges = table.column("node"), table.column("hyperedge")
    unknown = set(given_nodes) - nodes.keys()
    if unknown:
        row = next(row for row, node in enumerate(given_nodes) if node in unknown)
        raise FormatError(
            f"{path}, row {row + 1}: node {given_nodes[row][:40]!r} is not in the feature table"
        )
    hyperedges = {hyperedge: position for position, hyperedge in enumerate(dict.fromkeys(given_hyperedges))}
    node_ids = np.fromiter(map(nodes.__getitem__, given_nodes), np.int64, len(given_nodes))
    hyperedge_ids = np.fromiter(map(hyperedges.__getitem__, given_hyperedges), np.int64, len(given_nodes))
    _check_duplicates(path, table, node_ids * len(hyperedges) + hyperedge_ids)
    weights = None
    if "weight" in (column.lower() for column in table.header):
        weights = table.numbers([table.column_position("weight")])[:, 0]
    return node_ids, hyperedge_ids, weights, len(hyperedges)


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
