"""Cornell text: ``hyperedges-X.txt``, ``node-labels-X.txt`` and perhaps ``label-names-X.txt``; ids from 1."""

from pathlib import Path

import numpy as np

from hypercondense.data.formats.files import default_name, file_names, read_text, the_only
from hypercondense.data.formats.membership import empty_note, renumbered, without_duplicates
from hypercondense.data.formats.reader import Reader, Reading
from hypercondense.data.formats.text import read_number_lines
from hypercondense.data.label_features import label_features, label_features_note
from hypercondense.errors import FormatError
from hypercondense.hypergraph import UNKNOWN, Dense, Hypergraph, Ids

_HYPEREDGES = "hyperedges-"
_LABELS = "node-labels-"
_LABEL_NAMES = "label-names-"
_FEATURES = "node-features-"


def _recognises(path: Path) -> bool:
    names = [path.name] if path.is_file() else file_names(path)
    return any(name.startswith((_HYPEREDGES, _LABELS)) and name.endswith(".txt") for name in names)


def _read(path: Path, name: str | None, reading: Reading) -> Hypergraph:
    folder, ending = _folder_and_ending(path)
    label_names = _label_names(folder / (_LABEL_NAMES + ending))
    labels, notes = _labels(folder / (_LABELS + ending), label_names)
    node_ids, hyperedge_ids, num_lines = read_number_lines(folder / (_HYPEREDGES + ending))
    _check_node_ids(folder / (_HYPEREDGES + ending), node_ids, hyperedge_ids, len(labels))
    hyperedge_ids, num_hyperedges = renumbered(hyperedge_ids)
    node_ids, hyperedge_ids, repeated = without_duplicates(node_ids - 1, hyperedge_ids)
    features, feature_notes = _features(folder / (_FEATURES + ending), labels, reading)
    return Hypergraph(
        features=features,
        labels=labels,
        incidence=(node_ids, hyperedge_ids),
        num_hyperedges=num_hyperedges,
        label_names=label_names,
        name=name or default_name(path),
        notes=[*feature_notes, *notes, *repeated, *empty_note(num_lines, num_hyperedges)],
    )


def _folder_and_ending(path: Path) -> tuple[Path, str]:
    """The folder and what the names of its files end in, ``X.txt``."""
    if path.is_dir():
        path = the_only(path, f"{_HYPEREDGES}*.txt")
    for beginning in (_HYPEREDGES, _LABELS):
        if path.name.startswith(beginning):
            return path.parent, path.name.removeprefix(beginning)
    raise FormatError(f"{path} must be called {_HYPEREDGES}X.txt")


def _label_names(path: Path) -> list[str] | None:
    return [line.strip() for line in read_text(path).rstrip("\r\n").split("\n")] if path.exists() else None


def _labels(path: Path, label_names: list[str] | None) -> tuple[Ids, list[str]]:
    """The first label of every node, from 0; a blank line is an unknown label."""
    numbers, lines, num_nodes = read_number_lines(path)
    if len(numbers) == 0:
        raise FormatError(f"{path} holds no labels; write a number from 1 for every node, one a line")
    first = np.concatenate([[True], lines[1:] != lines[:-1]])
    labels = np.full(num_nodes, UNKNOWN, np.int64)
    labels[lines[first]] = numbers[first] - 1
    largest = num_nodes if label_names is None else len(label_names)
    bad = np.flatnonzero((numbers < 1) | (numbers > largest))
    if len(bad):
        place = bad[0]
        raise FormatError(
            f"{path}, line {lines[place] + 1}: labels must be 1 to {largest}, got {numbers[place]}"
        )
    several = len(np.unique(lines[~first]))
    return labels, [f"{several} nodes have several labels; the first is used"] if several else []


def _check_node_ids(path: Path, node_ids: Ids, lines: Ids, num_nodes: int) -> None:
    bad = np.flatnonzero((node_ids < 1) | (node_ids > num_nodes))
    if len(bad):
        raise FormatError(
            f"{path}, line {lines[bad[0]] + 1}: node ids must be 1 to {num_nodes} "
            f"(one label line per node), got {node_ids[bad[0]]}"
        )


def _features(path: Path, labels: Ids, reading: Reading) -> tuple[Dense, list[str]]:
    """Stored features (a line of numbers per node) if there are any, else made from the labels."""
    if path.exists():
        lines = read_text(path).replace(",", " ").splitlines()
        if not any(map(str.strip, lines)):
            raise FormatError(f"{path} holds no numbers")
        return np.loadtxt(lines, dtype=np.float32, comments=None, ndmin=2), []
    what = f"{path.parent}: {reading.width} features made from the label of each of {len(labels)} nodes"
    reading.check(what, 5 * len(labels) * reading.width, file_size=2 * len(labels))
    note = label_features_note(width=reading.width, noise=reading.noise, seed=reading.seed)
    features = label_features(labels, width=reading.width, noise=reading.noise, seed=reading.seed)
    return features, [note]


CORNELL = Reader(
    name="Cornell text",
    looks_for="hyperedges-X.txt, node-labels-X.txt",
    recognises=_recognises,
    read=_read,
)
