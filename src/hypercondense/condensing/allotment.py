"""How many condensed nodes there are, and of which class each one is."""

import math
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hypercondense.hypergraph import Ids

RatioOf: TypeAlias = Literal["all", "train"]


def condensed_labels(
    train_labels: Ids,
    *,
    num_nodes: int,
    ratio: float | None = None,
    nodes: int | None = None,
    ratio_of: RatioOf = "all",
) -> Ids:
    """The class of every condensed node, sorted; exactly one of ``ratio`` and ``nodes`` is given.

    Args:
        train_labels: Classes of the training nodes; only these classes get condensed nodes.
        num_nodes: Number of all source nodes.
        ratio: Condensed nodes as a fraction of all source nodes.
        nodes: The number of condensed nodes itself.
        ratio_of: ``"train"`` takes ``ratio`` of the training nodes of each class, rounded up per class,
            which is the other meaning found in published code.

    >>> condensed_labels(np.array([0, 0, 0, 1, 1, 2]), num_nodes=10, nodes=5).tolist()
    [0, 0, 1, 1, 2]
    """
    if ratio is None and nodes is None:
        raise ValueError("how many condensed nodes? give a ratio (--ratio 0.01) or a number (--nodes 20)")
    if ratio is not None and nodes is not None:
        raise ValueError("give either ratio or nodes, and not both")
    classes, counts = np.unique(train_labels, return_counts=True)
    if ratio is not None and not 0 < ratio <= 1:
        raise ValueError(f"ratio must be above 0 and at most 1, got {ratio:g}; 0.01 means 1 % of the nodes")
    if ratio_of == "train":
        if ratio is None:
            raise ValueError("ratio_of is about ratio; with nodes, leave it out")
        return np.repeat(classes, [math.ceil(ratio * count) for count in counts])
    size = round(ratio * num_nodes) if ratio is not None else int(nodes or 0)
    if size < len(classes):
        given = f"ratio {ratio:g} of {num_nodes} nodes gives {size}" if ratio is not None else f"{size}"
        raise ValueError(
            f"{given} condensed nodes, fewer than the {len(classes)} classes with training nodes; "
            f"use at least --ratio {_at_least(len(classes), num_nodes)} or --nodes {len(classes)}"
        )
    if size > num_nodes:
        raise ValueError(f"{size} condensed nodes are more than the {num_nodes} nodes of the source")
    return np.repeat(classes, share_out(counts, size))


def share_out(counts: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Divide ``size`` in proportion to ``counts``, at least 1 each, the rest by largest remainder.

    >>> share_out(np.array([90, 9, 1]), 10).tolist()
    [8, 1, 1]
    """
    quota = size * counts / counts.sum()
    shares: NDArray[np.int64] = np.maximum(1, np.floor(quota)).astype(np.int64)
    while shares.sum() < size:
        shares[np.argmax(quota - shares)] += 1
    while shares.sum() > size:  # the classes lifted to 1 are paid for by those furthest above their quota
        surplus = np.where(shares > 1, shares - quota, -np.inf)
        shares[np.argmax(surplus)] -= 1
    return shares


def _at_least(num_classes: int, num_nodes: int) -> str:
    """The smallest ratio with two significant digits that gives a node to every class."""
    exact = num_classes / num_nodes
    digits = 1 - math.floor(math.log10(exact))
    return f"{min(1.0, math.ceil(exact * 10**digits) / 10**digits):.{max(digits, 1)}g}"
