"""Incidence matrices of scipy or numpy: a row per node, a column per hyperedge."""

from collections.abc import Iterable, Mapping, Sized
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from hypercondense.hypergraph import Hypergraph
from hypercondense.interchange.assemble import Arrived
from hypercondense.interchange.columns import labels_of, parts_of
from hypercondense.interchange.facts import NAMES, SPARSE, lost_without_facts
from hypercondense.interchange.problems import Problems, expect, shown, tell_lost
from hypercondense.interchange.tensors import check_values


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
    check_values({"incidence": incidence, "features": features, "labels": labels}, problems)
    problems.raise_any()
    expect("features", features, Sized, "a matrix with a row per node")
    for what, one in (("labels", labels), ("split", () if split is None else split)):
        wanted = "a list or an array with an entry for each node"
        expect(what, one, Iterable, wanted)
        if isinstance(one, (str, bytes, Mapping)):
            raise TypeError(f"{what} must be {wanted}, got a {type(one).__name__}")
    matrix = problems.add_raised(lambda: _matrix(incidence))
    rows = _rows(features)
    given, split = _listed(labels), None if split is None else _listed(split)
    names = {
        "node": _names("node_names", node_names, problems),
        "hyperedge": _names("hyperedge_names", hyperedge_names, problems),
    }
    if matrix is not None:
        entries = {"rows of features": rows, "labels": len(given)}
        entries |= {} if names["node"] is None else {"names of nodes": len(names["node"])}
        entries |= {} if split is None else {"entries of the split": len(split)}
        for what, number in entries.items():
            if number != matrix.shape[0]:
                turned = "; is it hyperedges x nodes? give its transpose" if number == matrix.shape[1] else ""
                problems.add(f"there are {number} {what}, but it has {matrix.shape[0]} rows{turned}")
        if names["hyperedge"] is not None and len(names["hyperedge"]) != matrix.shape[1]:
            told = f"there are {len(names['hyperedge'])} names of hyperedges"
            problems.add(f"{told}, but it has {matrix.shape[1]} columns")
    problems.raise_any()
    assert matrix is not None
    numbers, label_names = labels_of(given, len(given), None, problems)
    return Arrived(
        problems=problems,
        nodes=range(rows) if names["node"] is None else names["node"],
        hyperedges=range(matrix.shape[1]) if names["hyperedge"] is None else names["hyperedge"],
        node_ids=matrix.coords[0],
        hyperedge_ids=matrix.coords[1],
        weights=matrix.data,
        features=features,
        labels=numbers,
        label_names=label_names,
        parts=parts_of(split, numbers, problems),
        name=name,
    ).hypergraph()


def _matrix(incidence: Any) -> Any:
    """As coordinates, each once and none of 0; what was given is not changed."""
    if getattr(incidence, "is_sparse", False) or "sparse" in str(getattr(incidence, "layout", "")):
        made = incidence.detach().cpu().to_sparse_coo().coalesce()  # a tensor of torch
        matrix = sp.coo_array((made.values().numpy(), tuple(made.indices().numpy())), shape=tuple(made.shape))
    elif sp.issparse(incidence):
        matrix = sp.coo_array(incidence)
    else:
        dense = np.asarray(incidence.detach().cpu() if hasattr(incidence, "detach") else incidence)
        if dense.ndim != 2 or dense.dtype.kind not in "fiub":
            raise ValueError(
                f"it must be numbers, nodes x hyperedges; got {dense.dtype} of shape {dense.shape}"
            )
        matrix = sp.coo_array(dense)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise ValueError(
            f"it must be numbers, nodes x hyperedges; got {matrix.dtype} of shape {matrix.shape}"
        )
    matrix = sp.coo_array(matrix, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _rows(features: Any) -> int:
    shape = getattr(features, "shape", None)
    return len(features) if shape is None else int(shape[0]) if len(shape) else 0


def _listed(given: Any) -> list[Any]:
    return list(given.tolist() if hasattr(given, "tolist") else given)


def _names(what: str, given: Any, problems: Problems) -> list[Any] | None:
    if given is None:
        return None
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping):
        return _listed(given)
    problems.add(f"{what} must be a list with a name for each, got {shown(given)}")
    return None


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
