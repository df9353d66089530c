"""What `info` shows: counts, distributions and homophily of a hypergraph."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hypercondense.frozen import Frozen
from hypercondense.hypergraph.arrays import UNKNOWN
from hypercondense.hypergraph.hypergraph import Hypergraph
from hypercondense.hypergraph.streamed import num_entries
from hypercondense.runtime.arguments import must_be


@dataclass(frozen=True)
class Distribution:
    """Five numbers of a list of counts; all 0 for an empty list."""

    smallest: int
    mean: float
    median: float
    ninetieth: float
    largest: int


@dataclass(frozen=True)
class Statistics(Frozen):
    """Facts about a hypergraph.

    ``homophily`` is ``None`` where no hyperedge has two labelled members. ``own_class_share`` is the mean
    share of the own class in the soft labels of labelled nodes, ``None`` without soft labels.
    """

    num_nodes: int
    num_hyperedges: int
    num_incidences: int
    num_incidences_with_self_loops: int
    num_features: int
    feature_density: float
    num_classes: int
    num_labelled_nodes: int
    num_isolated_nodes: int
    class_counts: Mapping[str, int]
    node_degree: Distribution
    hyperedge_size: Distribution
    homophily: float | None
    own_class_share: float | None


def statistics(hypergraph: Hypergraph) -> Statistics:
    """Compute the facts; reads the incidence a few times and the features once.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> statistics(source).num_nodes
    60
    """
    must_be("hypergraph", hypergraph, Hypergraph, like="statistics(source)")
    node_ids, hyperedge_ids, _ = hypergraph.incidence
    degree = np.bincount(node_ids, minlength=hypergraph.num_nodes)
    size = np.bincount(hyperedge_ids, minlength=hypergraph.num_hyperedges)
    known = hypergraph.labels[hypergraph.labels != UNKNOWN]
    counts = np.bincount(known, minlength=hypergraph.num_classes)
    names = hypergraph.label_names or [str(label) for label in range(hypergraph.num_classes)]
    features = hypergraph.features
    stored = num_entries(features)
    return Statistics(
        num_nodes=hypergraph.num_nodes,
        num_hyperedges=hypergraph.num_hyperedges,
        num_incidences=hypergraph.num_incidences,
        num_incidences_with_self_loops=hypergraph.with_self_loops[0].num_incidences,
        num_features=hypergraph.num_features,
        feature_density=stored / (features.shape[0] * features.shape[1]),
        num_classes=hypergraph.num_classes,
        num_labelled_nodes=len(known),
        num_isolated_nodes=int((degree == 0).sum()),
        class_counts=_named_counts(names, counts),
        node_degree=_distribution(degree),
        hyperedge_size=_distribution(size),
        homophily=homophily(hypergraph),
        own_class_share=own_class_share(hypergraph),
    )


def homophily(hypergraph: Hypergraph) -> float | None:
    """Mean over hyperedges of the share of pairs of distinct labelled members with the same label.

    Hyperedges with fewer than two labelled members say nothing and are left out.

    >>> hypergraph = Hypergraph(
    ...     features=[[0.0]] * 4, labels=[0, 0, 1, -1], num_hyperedges=2,
    ...     incidence=([0, 1, 0, 1, 2], [0, 0, 1, 1, 1]),
    ... )
    >>> round(homophily(hypergraph), 3)  # all pairs agree in the first hyperedge, 1 of 3 in the second
    0.667
    """
    node_ids, hyperedge_ids, _ = hypergraph.incidence
    labels = hypergraph.labels[node_ids]
    known = labels != UNKNOWN
    # Members of a hyperedge per label, counted without a hyperedges x classes table.
    cells, members = np.unique(
        hyperedge_ids[known] * hypergraph.num_classes + labels[known], return_counts=True
    )
    owner = cells // hypergraph.num_classes
    agreeing = np.bincount(owner, members * (members - 1), minlength=hypergraph.num_hyperedges)
    size = np.bincount(owner, members, minlength=hypergraph.num_hyperedges)
    several = size > 1
    if not several.any():
        return None
    return float(np.mean(agreeing[several] / (size[several] * (size[several] - 1))))


def own_class_share(hypergraph: Hypergraph) -> float | None:
    """Mean over labelled nodes of the share their soft labels give to their own class."""
    if hypergraph.soft_labels is None:
        return None
    known = np.flatnonzero(hypergraph.labels != UNKNOWN)
    return float(hypergraph.soft_labels[known, hypergraph.labels[known]].mean(dtype=np.float64))


def _named_counts(names: object, counts: NDArray[np.int64]) -> dict[str, int]:
    """Counts by class name; a name that is taken gets its class number behind it."""
    named: dict[str, int] = {}
    for label, (name, count) in enumerate(zip(names, counts, strict=True)):  # type: ignore[call-overload]
        while name in named:
            name = f"{name} ({label})"  # noqa: PLW2901
        named[name] = int(count)
    return named


def _distribution(counts: NDArray[np.int64]) -> Distribution:
    if len(counts) == 0:
        return Distribution(0, 0.0, 0.0, 0.0, 0)
    return Distribution(
        smallest=int(counts.min()),
        mean=float(counts.mean()),
        median=float(np.median(counts)),
        ninetieth=float(np.quantile(counts, 0.9)),
        largest=int(counts.max()),
    )
