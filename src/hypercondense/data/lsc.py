"""OGB-LSC's layout of MAG240M: ``processed/TYPE___RELATION___TYPE/edge_index.npy`` and arrays of papers."""

from pathlib import Path

import numpy as np

from hypercondense.data.edge_lists import Graph, Relation, open_array, whole_classes
from hypercondense.errors import FormatError

_PAPER = "paper"
_ROWS = 1_000_000


def is_lsc(folder: Path) -> bool:
    """Whether a folder, or ``processed`` in it, has features and labels of papers."""
    return (_processed(folder) / _PAPER / "node_feat.npy").is_file()


def read_lsc(folder: Path) -> Graph:
    """Papers as nodes; authors are hyperedges of what they wrote, papers of what they cite.

    The split of the challenge is in a pickle, which is not read.

    Raises:
        FormatError: Something is missing or of another kind.
    """
    processed = _processed(folder)
    features = processed / _PAPER / "node_feat.npy"
    shape = open_array(features, "f", "numbers, a row for each paper").shape
    labels_file = processed / _PAPER / "node_label.npy"
    labels = whole_classes(open_array(labels_file, "iuf", "classes"), str(labels_file))
    if len(shape) != 2 or len(labels) != shape[0] or not shape[1]:
        raise FormatError(f"{features} has shape {shape}, and {labels_file} has {len(labels)} labels")
    relations = tuple(
        relation
        for one in sorted(processed.glob("*___*___*/edge_index.npy"))
        if (relation := _relation(one, shape[0]))
    )
    if not relations:
        raise FormatError(
            f"{processed} has no edges of papers, such as author___writes___paper/edge_index.npy"
        )
    return Graph(folder.resolve().name, shape[0], features, relations, labels, None)


def _processed(folder: Path) -> Path:
    return folder / "processed" if (folder / "processed").is_dir() else folder


def _relation(file: Path, num_papers: int) -> Relation | None:
    first, _, last = file.parent.name.split("___")
    if _PAPER not in (first, last):
        return None
    members_first = first == _PAPER and last != _PAPER
    if first == last:
        return Relation(file, False, num_papers)
    edges = open_array(file, "iu", "whole numbers, two for each edge")
    if edges.ndim != 2 or edges.shape[0] != 2:
        raise FormatError(f"{file} must have two rows, got shape {edges.shape}")
    others = edges[1 if members_first else 0]
    largest = max((int(np.max(others[at : at + _ROWS])) for at in range(0, len(others), _ROWS)), default=-1)
    return Relation(file, members_first, largest + 1)
