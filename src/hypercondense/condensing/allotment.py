"""How many condensed nodes there are, and of which class each one is."""

import math
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hypercondense.diffusion import SelectedRows, class_sums
from hypercondense.hypergraph import Dense, Ids
from hypercondense.hypergraph.given import whole_number

LARGE_SHARE = 0.3  # of the nodes: above it somebody probably meant percent
RatioOf: TypeAlias = Literal["all", "train"]
Counts: TypeAlias = NDArray[np.int64]
#: Shares a number of nodes out between classes with so many training nodes each.
Sharing: TypeAlias = Callable[[Counts, int], Counts]

_ENTRIES = 2**18  # of rows, converted to float64 at a time


def share_out(counts: NDArray[np.int64] | NDArray[np.float64], size: int) -> Counts:
    """Divide ``size`` in proportion to ``counts``, at least 1 each, the rest by largest remainder.

    >>> share_out(np.array([90, 9, 1]), 10).tolist()
    [8, 1, 1]
    """
    quota = size * counts / counts.sum()
    shares: Counts = np.maximum(1, np.floor(quota)).astype(np.int64)
    while shares.sum() < size:
        shares[np.argmax(quota - shares)] += 1
    while shares.sum() > size:  # the classes lifted to 1 are paid for by those furthest above their quota
        surplus = np.where(shares > 1, shares - quota, -np.inf)
        shares[np.argmax(surplus)] -= 1
    return shares


def equal_shares(counts: Counts, size: int) -> Counts:
    """The same number for every class; what is left goes to the largest classes, one each.

    >>> equal_shares(np.array([5, 90, 9]), 10).tolist()
    [3, 4, 3]
    """
    shares = np.full(len(counts), size // len(counts))
    shares[np.argsort(-counts, kind="stable")[: size % len(counts)]] += 1
    return shares


def by_spread(spreads: NDArray[np.float64], *, classes_count_alike: bool) -> Sharing:
    """Neyman's allocation: nodes in proportion to training nodes times the spread of their rows.

    A class whose nodes are all alike is told by one node; one whose nodes differ needs several. Where classes
    count alike, however large they are, in proportion to the spread alone.

    >>> by_spread(np.array([1.0, 3.0]), classes_count_alike=False)(np.array([30, 10]), 8).tolist()
    [4, 4]
    >>> by_spread(np.array([1.0, 3.0]), classes_count_alike=True)(np.array([30, 10]), 8).tolist()
    [2, 6]
    """
    return lambda counts, size: share_out(spreads if classes_count_alike else counts * spreads, size)


def class_spreads(
    rows: "Dense | SelectedRows", labels: Ids, *, entries: int = _ENTRIES
) -> NDArray[np.float64]:
    """Root mean squared distance of the rows of each class from their mean, for classes that have rows.

    So many ``entries`` of rows are float64 at a time.

    >>> class_spreads(np.array([[0.0], [2.0], [5.0]], np.float32), np.array([0, 0, 3])).tolist()
    [1.0, 0.0]
    """
    classes, places, counts = np.unique(labels, return_inverse=True, return_counts=True)
    means = class_sums(rows, places, len(classes)) / counts[:, None]
    squares = np.zeros(len(classes))
    step = max(1, entries // max(1, rows.shape[1]))
    for start in range(0, len(labels), step):
        own = places[start : start + step]
        apart = rows[start : start + step].astype(np.float64) - means[own]
        np.add.at(squares, own, np.einsum("nd,nd->n", apart, apart))
    return np.asarray(np.sqrt(squares / counts))


def condensed_labels(
    train_labels: Ids,
    *,
    num_nodes: int,
    ratio: float | None = None,
    nodes: int | None = None,
    ratio_of: RatioOf = "all",
    sharing: Sharing = share_out,
) -> Ids:
    """The class of every condensed node, sorted; exactly one of ``ratio`` and ``nodes`` is given.

    Args:
        train_labels: Classes of the training nodes; only these classes get condensed nodes.
        num_nodes: Number of all source nodes.
        ratio: Condensed nodes as a fraction of all source nodes.
        nodes: The number of condensed nodes itself.
        ratio_of: ``"train"`` takes ``ratio`` of the training nodes of each class, rounded up per class,
            which is the other meaning found in published code.
        sharing: How the nodes are shared out between classes: by default in proportion to training nodes.

    >>> condensed_labels(np.array([0, 0, 0, 1, 1, 2]), num_nodes=10, nodes=5).tolist()
    [0, 0, 1, 1, 2]
    """
    if ratio is None and nodes is None:
        raise ValueError(
            "how many condensed nodes? give a ratio, as 0.01, or a number of nodes, as 20, or what is to be "
            "kept (retain), as 0.99"
        )
    if ratio is not None and nodes is not None:
        raise ValueError("give either ratio or nodes, and not both")
    classes, counts = np.unique(train_labels, return_counts=True)
    if isinstance(ratio, bool | str):
        raise ValueError(f"ratio must be a number, as 0.01 for 1 % of the nodes, got {ratio!r:.40}")
    if ratio is not None and not 0 < ratio <= 1:
        raise ValueError(f"ratio must be above 0 and at most 1, got {ratio}; 0.01 means 1 % of the nodes")
    if ratio_of == "train":
        if ratio is None:
            raise ValueError("ratio_of is about ratio; with nodes, leave it out")
        own = np.array([math.ceil(ratio * count) for count in counts])
        return np.repeat(classes, own if sharing is share_out else sharing(counts, int(own.sum())))
    size = round(ratio * num_nodes) if ratio is not None else whole_number("nodes", nodes)
    given = f"ratio {ratio:g} of {num_nodes} nodes gives {size}" if ratio is not None else f"{size}"
    if size < len(classes):
        raise ValueError(
            f"{given} condensed nodes, fewer than the {len(classes)} classes with training nodes; "
            f"use at least ratio {_at_least(len(classes), num_nodes)} or {len(classes)} nodes"
        )
    if size > len(train_labels):
        raise ValueError(
            f"{given} condensed nodes, more than the {len(train_labels)} training nodes they are to stand "
            f"for; {_likely(ratio, num_nodes, most=len(train_labels))}"
        )
    return np.repeat(classes, sharing(counts, size))


def _likely(ratio: float | None, num_nodes: int, *, most: int) -> str:
    """What somebody may have meant who asked for too many nodes."""
    if ratio is None:
        return f"give at most {most} nodes, usually 0.1 to 1 % of all, here {max(1, round(0.01 * num_nodes))}"
    return f"was {ratio:g} % meant? that is ratio {ratio / 100:g}"


def unusual(ratio: float | None, size: int, num_nodes: int) -> Iterator[str]:
    """A warning about a size that condenses little, before the long work.

    >>> next(unusual(0.5, 50, 100))
    'ratio 0.5 keeps 50 of 100 nodes, which condenses little and takes long; 0.005 would be 0.5 %'
    """
    if size <= LARGE_SHARE * num_nodes:
        return
    if ratio is None:
        yield f"{size} of {num_nodes} nodes condense little and take long; 0.1 to 1 % of them are usual"
    else:
        kept = f"ratio {ratio:g} keeps {size} of {num_nodes} nodes, which condenses little and takes long"
        yield f"{kept}; {ratio / 100:g} would be {ratio:g} %"


def _at_least(num_classes: int, num_nodes: int) -> str:
    """The smallest ratio with two significant digits that gives a node to every class."""
    exact = num_classes / num_nodes
    digits = 1 - math.floor(math.log10(exact))
    return f"{min(1.0, math.ceil(exact * 10**digits) / 10**digits):.{max(digits, 1)}g}"
