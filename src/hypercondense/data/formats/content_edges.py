"""LE / AllSet text: ``X.content`` (id, features, label) and ``X.edges`` (node id, hyperedge id)."""

from pathlib import Path

import numpy as np

from hypercondense.data.formats.files import default_name, file_names, read_text, the_only
from hypercondense.data.formats.membership import renumbered, without_duplicates
from hypercondense.data.formats.reader import Reader, Reading
from hypercondense.data.formats.text import encode_labels, read_number_lines
from hypercondense.errors import FormatError
from hypercondense.hypergraph import Hypergraph, Ids
from hypercondense.hypergraph.names import unless_numbers

_ENDINGS = (".content", ".edges")


def _recognises(path: Path) -> bool:
    names = [path.name] if path.is_file() else file_names(path)
    return any(name.endswith(_ENDINGS) for name in names)


def _read(path: Path, name: str | None, _reading: Reading) -> Hypergraph:
    content = the_only(path, "*.content") if path.is_dir() else path.with_suffix(".content")
    edges = the_only(path, "*.edges") if path.is_dir() else path.with_suffix(".edges")
    given_node_ids, given_hyperedge_ids = _pairs(edges)
    # Rows for hyperedges stand at the end of the content file; their numbers mean nothing.
    rows = _node_rows(content, int(given_hyperedge_ids.min()))
    columns = _num_columns(content, list(rows.values()))
    node_ids = _positions(edges, given_node_ids, rows)
    hyperedge_ids, num_hyperedges = renumbered(given_hyperedge_ids)
    node_ids, hyperedge_ids, notes = without_duplicates(node_ids, hyperedge_ids)
    labels, label_names = encode_labels([line.rsplit(None, 1)[1] for line in rows.values()])
    return Hypergraph(
        features=np.loadtxt(
            list(rows.values()), dtype=np.float32, comments=None, usecols=range(1, columns - 1), ndmin=2
        ),
        labels=labels,
        incidence=(node_ids, hyperedge_ids),
        num_hyperedges=num_hyperedges,
        label_names=label_names,
        node_names=unless_numbers([str(node) for node in rows]),
        name=name or default_name(path),
        notes=notes,
    )


def _pairs(path: Path) -> tuple[Ids, Ids]:
    numbers, lines, _ = read_number_lines(path)
    counts = np.bincount(lines)
    bad = np.flatnonzero((counts != 2) & (counts != 0))
    if len(bad):
        raise FormatError(
            f"{path}, line {bad[0] + 1}: expected a node id and a hyperedge id, got {counts[bad[0]]} numbers"
        )
    return numbers[0::2], numbers[1::2]


def _node_rows(path: Path, first_hyperedge_id: int) -> dict[int, str]:
    """Lines of nodes by node id, in the order of the file."""
    rows: dict[int, str] = {}
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        given = line.split(None, 1)[0]
        if not (given.isascii() and given.isdecimal()) or len(given) > 18:
            raise FormatError(
                f"{path}, line {number}: expected a whole number as node id, got {given[:40]!r}"
            )
        node = int(given)
        if node in rows:
            raise FormatError(f"{path}, line {number}: node {node} is there twice")
        if node < first_hyperedge_id:
            rows[node] = line
    if not rows:
        raise FormatError(f"{path} has no node with an id below {first_hyperedge_id}, the first hyperedge")
    return rows


def _positions(path: Path, given: Ids, rows: dict[int, str]) -> Ids:
    """Row of each given node id."""
    known = np.fromiter(rows, np.int64, len(rows))
    order = np.argsort(known)
    places = np.searchsorted(known[order], given).clip(max=len(known) - 1)
    bad = np.flatnonzero(known[order][places] != given)
    if len(bad):
        raise FormatError(f"{path}: node {given[bad[0]]} has no row in the .content file")
    return np.asarray(order[places], np.int64)


def _num_columns(path: Path, rows: list[str]) -> int:
    """Id, features and label together: the same number in every row."""
    columns = len(rows[0].split())
    for row in rows:
        if len(row.split()) != columns or columns < 3:
            start = " ".join(row.split()[:3])[:60]
            raise FormatError(
                f"{path}: expected id, features and label in every row, as many as in the first "
                f"({columns}, at least 3); got {len(row.split())} in the row {start!r} ..."
            )
    return columns


CONTENT_EDGES = Reader(
    name="LE/AllSet text", looks_for="X.content, X.edges", recognises=_recognises, read=_read
)
