"""Condensed hypergraphs from their parts: what is taken over from the source, and the induced structure."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hypercondense.files.maps import chunks, release
from hypercondense.hypergraph import Dense, Hypergraph, Ids, Incidence


def condensed_like(
    source: Hypergraph,
    *,
    features: Any,
    labels: Ids,
    incidence: Incidence,
    num_hyperedges: int,
    soft_labels: Dense | None = None,
    node_names: Sequence[str] | None = None,
    hyperedge_names: Sequence[str] | None = None,
) -> Hypergraph:
    """A condensed hypergraph with the names of classes and features and the notes of its source.

    If there are no hyperedges, every node is its own hyperedge: the identity.
    """
    nodes = np.arange(len(labels))
    return Hypergraph(
        features=features,
        labels=labels,
        soft_labels=soft_labels,
        incidence=incidence if num_hyperedges else (nodes, nodes),
        num_hyperedges=num_hyperedges or len(nodes),
        label_names=source.label_names or [str(label) for label in range(source.num_classes)],
        feature_names=source.feature_names,
        node_names=node_names,
        hyperedge_names=hyperedge_names if num_hyperedges else None,
        name=f"{source.name}-condensed",
        notes=source.notes,
    )


def induced(source: Hypergraph, node_ids: Ids) -> Hypergraph:
    """The chosen nodes with their own features and the hyperedges that at least two of them share.

    A hyperedge keeps its name, its chosen members and their weights. One that is left with a single member is
    dropped: message passing gives every node a self-loop anyway.

    >>> source = Hypergraph(
    ...     features=np.eye(4),
    ...     labels=[0, 0, 1, 1],
    ...     incidence=([0, 1, 2, 2, 3], [0, 0, 0, 1, 1]),
    ...     num_hyperedges=2,
    ... )
    >>> small = induced(source, np.array([2, 0]))
    >>> small.incidence.node_ids.tolist(), small.num_hyperedges
    ([0, 1], 1)
    """
    position = np.full(source.num_nodes, -1)
    position[node_ids] = np.arange(len(node_ids))
    places, hyperedge_ids, weights = _memberships(source.incidence, position)
    _, own, sizes = np.unique(hyperedge_ids, return_inverse=True, return_counts=True)
    kept = sizes[own.reshape(-1)] > 1
    hyperedges, renumbered = np.unique(hyperedge_ids[kept], return_inverse=True)
    return condensed_like(
        source,
        features=source.features[node_ids],
        labels=source.labels[node_ids],
        soft_labels=None if source.soft_labels is None else source.soft_labels[node_ids],
        incidence=Incidence(places[kept], renumbered.reshape(-1), None if weights is None else weights[kept]),
        num_hyperedges=len(hyperedges),
        node_names=_chosen(source.node_names, node_ids),
        hyperedge_names=_chosen(source.hyperedge_names, hyperedges),
    )


def _memberships(incidence: Incidence, position: Ids) -> Incidence:
    """The memberships of nodes that have a position, by it; read a piece at a time."""
    found: list[list[Any]] = [[], [], []]
    for some in chunks(incidence.num_incidences):
        places = position[incidence.node_ids[some]]
        kept = places >= 0
        own = (None if array is None else np.asarray(array[some])[kept] for array in incidence[1:])
        for parts, part in zip(found, (places[kept], *own), strict=True):
            parts.append(part)
        for array in incidence:
            release(array)
    nothing = np.empty(0, np.int64)
    places, hyperedge_ids = (np.concatenate([nothing, *parts]).astype(np.int64) for parts in found[:2])
    weights = None if incidence.weights is None else np.concatenate([nothing.astype(np.float32), *found[2]])
    return Incidence(places, hyperedge_ids, weights)


def _chosen(names: Sequence[str] | None, ids: Ids) -> list[str] | None:
    return None if names is None else [names[place] for place in ids.tolist()]
