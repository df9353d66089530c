"""The embedded generator: a contextual block-model hypergraph of any size."""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypercondense.data.block_model import block_model
from hypercondense.hypergraph import Hypergraph, Ids
from hypercondense.hypergraph.given import whole_number
from hypercondense.runtime.arguments import told_arguments
from hypercondense.runtime.memory import available_bytes, format_size
from hypercondense.runtime.rng import numpy_generator

# Length of a class mean, in standard deviations of noise 1: hard to tell apart by features alone.
_SEPARATION = 2.0


@told_arguments
def synthetic(
    *,
    num_nodes: int = 2000,
    num_hyperedges: int = 1500,
    mean_size: float = 5.0,
    size_spread: float = 0.5,
    num_incidences: int | None = None,
    homophily: float = 0.8,
    num_features: int = 64,
    feature_density: float = 1.0,
    noise: float = 1.0,
    num_classes: int = 5,
    class_balance: float = 1.0,
    isolated: float = 0.1,
    seed: int = 0,
    name: str = "synthetic",
) -> Hypergraph:
    """Make a hypergraph whose hyperedges and features both tell something about the classes.

    Each hyperedge has a home class. A member belongs to it with a probability ``p``, and else to another
    class in proportion to their sizes; ``p`` is chosen so that two members agree with probability
    ``homophily``.

    Args:
        num_nodes: Number of nodes.
        num_hyperedges: Number of hyperedges; each has at least two members and none twice.
        mean_size: Mean size of a hyperedge. A size is 2 plus a Poisson count whose mean is Gamma distributed.
        size_spread: Standard deviation of those means over their mean; 0 is plain Poisson, more gives a
            longer tail. No hyperedge is larger than the smallest class has nodes that are not isolated.
        num_incidences: Exact number of memberships; overrules ``mean_size``.
        homophily: Expected share of pairs in a hyperedge that have the same class.
        num_features: Number of columns.
        feature_density: 1 for dense rows, a class mean plus Gaussian noise; below 1 for sparse 0/1 rows like
            bags of words, of which about this share is 1.
        noise: Standard deviation of the Gaussian noise; for sparse rows, words drawn from all words for each
            word drawn from those of the class.
        num_classes: Number of classes.
        class_balance: Size of the smallest class over that of the largest.
        isolated: Share of nodes in no hyperedge; exact, every other node is in one.
        seed: Equal seeds give equal bits.
        name: What to call it.

    >>> synthetic(num_nodes=60, num_hyperedges=40, num_features=8, num_incidences=180)
    Hypergraph('synthetic', 60 nodes, 40 hyperedges, 180 incidences, 8 features, 5 classes)
    """
    _check_shares(
        homophily=homophily, isolated=isolated, class_balance=class_balance, feature_density=feature_density
    )
    _check_counts(
        num_nodes=num_nodes, num_hyperedges=num_hyperedges, num_features=num_features, num_classes=num_classes
    )
    _check_amounts(noise=noise, size_spread=size_spread)
    members = num_hyperedges * mean_size if num_incidences is None else num_incidences
    _check_room(num_nodes * num_features * feature_density, num_nodes + num_hyperedges + members)
    rng = numpy_generator(seed)
    labels = rng.permutation(_labels(num_nodes, num_classes, class_balance))
    incidence = block_model(
        rng,
        labels,
        num_hyperedges=num_hyperedges,
        mean_size=mean_size,
        size_spread=size_spread,
        num_incidences=num_incidences,
        homophily=homophily,
        isolated=isolated,
    )
    make = _dense_features if feature_density == 1 else partial(_sparse_features, density=feature_density)
    features = make(rng, labels, num_features=num_features, noise=noise)
    return Hypergraph(
        features=features, labels=labels, incidence=incidence, num_hyperedges=num_hyperedges, name=name
    )


def _check_shares(**shares: float) -> None:
    for option, share in shares.items():
        lowest_allowed = option in ("homophily", "isolated")
        if not 0 <= share <= 1 or (share == 0 and not lowest_allowed):
            raise ValueError(f"{option} must be a share between 0 and 1, got {share}")


def _check_counts(**counts: int) -> None:
    for option, count in counts.items():
        if whole_number(option, count) < 1:
            raise ValueError(f"{option} must be at least 1, got {count}")
    if counts["num_nodes"] < counts["num_classes"]:
        raise ValueError(
            f"{counts['num_nodes']} nodes cannot have {counts['num_classes']} classes; use fewer classes"
        )


def _check_amounts(**amounts: float) -> None:
    for option, amount in amounts.items():
        if not 0 <= amount < np.inf:
            raise ValueError(f"{option} must be a number of at least 0, got {amount}")


def _check_room(num_values: float, num_others: float) -> None:
    """Refuse what the machine has no room for before any of it is made."""
    needed, room = 8 * num_values + 64 * num_others, available_bytes()
    if room is not None and needed > room:
        raise ValueError(
            f"a hypergraph of this size needs about {format_size(needed)} of memory, and {format_size(room)} "
            "are free; ask for fewer nodes, features or members"
        )


def _labels(num_nodes: int, num_classes: int, balance: float) -> Ids:
    """Sorted labels; class sizes fall evenly on a log scale, and every class has a node."""
    weights = balance ** np.linspace(0, 1, num_classes)
    ends = np.rint(np.cumsum(weights) / weights.sum() * (num_nodes - num_classes)).astype(np.int64)
    return np.repeat(np.arange(num_classes), np.diff(ends, prepend=0) + 1)


def _dense_features(rng: np.random.Generator, labels: Ids, *, num_features: int, noise: float) -> Any:
    """A mean for each class in a random direction, plus Gaussian noise."""
    means = rng.standard_normal((int(labels.max()) + 1, num_features))
    means *= _SEPARATION / np.linalg.norm(means, axis=1, keepdims=True)
    features = rng.standard_normal((len(labels), num_features), dtype=np.float32)
    features *= np.float32(noise)
    features += means.astype(np.float32)[labels]
    return features


def _sparse_features(
    rng: np.random.Generator, labels: Ids, *, num_features: int, density: float, noise: float
) -> Any:
    """Rows of ones. Every column is a topic word of one class, and may also come up by chance in any row."""
    num_classes = int(labels.max()) + 1
    topic_words = rng.permutation(num_features)  # the words of class c: every num_classes-th, from c on
    words_per_node = np.maximum(rng.poisson(density * num_features, len(labels)), 1)
    rows = np.repeat(np.arange(len(labels)), words_per_node)
    topics = labels[rows] % num_features
    words_of_topic = (num_features - 1 - topics) // num_classes + 1
    own = topics + num_classes * rng.integers(0, words_of_topic)
    chance = rng.integers(0, num_features, len(rows))
    positions = np.where(rng.random(len(rows)) < 1 / (1 + noise), own, chance)
    cells = np.unique(rows * num_features + topic_words[positions])
    row_starts = np.searchsorted(cells, np.arange(len(labels) + 1) * num_features)
    ones = np.ones(len(cells), np.float32)
    return sp.csr_array((ones, cells % num_features, row_starts), shape=(len(labels), num_features))
