"""Incidence matrices of scipy or numpy: a row per node, a column per hyperedge."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from hypercondense.hypergraph import Hypergraph
from hypercondense.interchange.assemble import Arrived
from hypercondense.interchange.columns import labels_of, parts_of
from hypercondense.interchange.facts import NAMES, SPARSE, lost_without_facts
from hypercondense.interchange.problems import Problems, tell_lost


class Matrices(NamedTuple):
    """What :func:`from_scipy` takes, in its order."""

    incidence: Any
    features: Any
    labels: Any


def from_scipy(
    incidence: Any,
    features: Any,
    labels: Any,
    *,
    split: Any = None,
    node_names: Iterable[Any] | None = None,
    hyperedge_names: Iterable[Any] | None = None,
    name: str | None = None,
) -> Hypergraph:
    """A hypergraph from an incidence matrix, features and labels.

    Args:
        incidence: Nodes x hyperedges, sparse or dense; what is not 0 is the weight of a membership.
        features: A row per node, dense or sparse.
        labels: A class per node: whole numbers or texts, -1, None or NaN where it is unknown.
        split: Perhaps ``"train"``, ``"validation"`` or ``"test"`` for each node.
        node_names: What nodes are called.
        hyperedge_names: What hyperedges are called.
        name: What to call it.

    >>> from_scipy(np.array([[1, 0], [1, 1], [0, 1]]), np.eye(3), ["a", "b", None])
    Hypergraph('unnamed', 3 nodes, 2 hyperedges, 4 incidences, 3 features, 2 classes)
    """
    problems = Problems("an incidence matrix")
    matrix = sp.coo_array(incidence if sp.issparse(incidence) else np.asarray(incidence))
    if matrix.ndim != 2:
        problems.add(f"it must be nodes x hyperedges, got shape {matrix.shape}")
    rows = features.shape[0] if hasattr(features, "shape") else len(features)
    given = list(labels.tolist() if hasattr(labels, "tolist") else labels)
    for what, number in (("features have", rows), ("there are", len(given))):
        if number != matrix.shape[0]:
            of = "rows" if what.startswith("f") else "labels"
            turned = "; is it hyperedges x nodes? give its transpose" if number == matrix.shape[-1] else ""
            problems.add(f"{what} {number} {of}, but it has {matrix.shape[0]} rows{turned}")
    problems.raise_any()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    numbers, names = labels_of(given, len(given), None, problems)
    return Arrived(
        problems=problems,
        nodes=range(rows) if node_names is None else list(node_names),
        hyperedges=range(matrix.shape[1]) if hyperedge_names is None else list(hyperedge_names),
        node_ids=matrix.coords[0],
        hyperedge_ids=matrix.coords[1],
        weights=matrix.data,
        features=features,
        labels=numbers,
        label_names=names,
        parts=parts_of(split, numbers, problems),
        name=name,
    ).hypergraph()


def to_scipy(hypergraph: Hypergraph) -> Matrices:
    """The incidence matrix, the features and the labels (-1 where unknown); the rest is lost, and told."""
    lost = {
        "names of nodes": hypergraph.node_names,
        "names of hyperedges": hypergraph.hyperedge_names,
        "names of classes": hypergraph.label_names,
        "names of features": hypergraph.feature_names,
        "soft labels": hypergraph.soft_labels,
        "the split": hypergraph.parts,
    }
    held = (SPARSE, NAMES)  # told above, or held
    tell_lost(
        "a triple of matrices",
        [
            *(what for what, there in lost.items() if there is not None),
            *(what for what in lost_without_facts(hypergraph) if what not in held),
        ],
    )
    matrix = hypergraph.incidence.matrix(hypergraph.num_nodes, hypergraph.num_hyperedges)
    return Matrices(matrix, hypergraph.features, hypergraph.labels)
