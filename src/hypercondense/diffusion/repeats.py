"""Hyperedges that are there many times, as one with their weights added up.

``H De^-1 H^T`` and the degrees of nodes are the same either way: n equal columns h of H give
``n h h^T / sum(h)``, and one column ``n h`` gives ``(n h) (n h)^T / (n sum(h))``. A sum of a million equal
numbers in float32 would also be wrong in its third digit.
"""

import numpy as np
from numpy.typing import NDArray

from hypercondense.hypergraph import Ids

_WORTH = 0.5  # share of memberships that must be repeats: of data sets seen so far 5 % are at most
_MANY = 10_000  # memberships from which on sums are long enough to matter

Weights = NDArray[np.float64]


def without_repeats(node_ids: Ids, hyperedge_ids: Ids, weights: Weights) -> tuple[Ids, Ids, Weights]:
    """The same P by fewer memberships, where many, and at least half, repeat others; else what was given.

    Hyperedges are numbered from 0 without gaps and sorted, and so are the nodes within each.

    >>> number = 5000
    >>> one = without_repeats(np.tile([0, 1], number), np.repeat(np.arange(number), 2), np.ones(2 * number))
    >>> [part.tolist() for part in one]
    [[0, 1], [0, 0], [5000.0, 5000.0]]
    """
    if len(node_ids) < _MANY:
        return node_ids, hyperedge_ids, weights
    starts = np.flatnonzero(np.diff(hyperedge_ids, prepend=-1))
    sizes = np.diff(starts, append=len(node_ids))
    like = likely_repeats(sizes, sums_of(chances(int(node_ids.max()) + 1), node_ids, weights, starts))
    if like is None:
        return node_ids, hyperedge_ids, weights
    same = np.arange(len(node_ids)) + np.repeat(starts[like] - starts, sizes)  # its membership, for every one
    if not ((node_ids == node_ids[same]).all() and (weights == weights[same]).all()):
        return node_ids, hyperedge_ids, weights
    is_first = like == np.arange(len(like))
    kept = np.repeat(is_first, sizes)
    return (
        node_ids[kept],
        (np.cumsum(is_first) - 1)[hyperedge_ids[kept]],
        weights[kept] * np.bincount(like)[hyperedge_ids[kept]],
    )


def likely_repeats(sizes: Ids, sums: NDArray[np.uint64]) -> Ids | None:
    """For every hyperedge the first with its sum and size; ``None`` where too few repeat others."""
    total = sizes.sum()
    if total < _MANY:
        return None
    order = np.argsort(sums, kind="stable")
    is_new = np.diff(sums[order], prepend=~sums[order[:1]]) != 0
    first = order[is_new]
    if sizes[first].sum() > (1 - _WORTH) * total:
        return None
    like = np.empty_like(order)
    like[order] = first[np.cumsum(is_new) - 1]
    return like if (sizes == sizes[like]).all() else None


def chances(num_nodes: int) -> NDArray[np.uint64]:
    """A random number for every node."""
    return np.random.default_rng(0).integers(0, 2**63, num_nodes, dtype=np.uint64)


def sums_of(of_node: NDArray[np.uint64], node_ids: Ids, weights: Weights, starts: Ids) -> NDArray[np.uint64]:
    """A number for every hyperedge, equal for equal ones, and for others hardly ever.

    ``starts`` are where those of a hyperedge begin. Where they lie in two lists, the numbers add up.
    """
    of_weight = weights.view(np.uint64) * np.uint64(2) + np.uint64(1)
    return np.add.reduceat(of_node[node_ids] * of_weight, starts)
