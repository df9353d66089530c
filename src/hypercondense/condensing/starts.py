"""The first features of the condensed nodes: means of groups of source rows (Eq. 6)."""

import warnings
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from hypercondense.diffusion import SelectedRows
from hypercondense.hypergraph import Dense, Ids

Rows: TypeAlias = Dense | SelectedRows  # the rows of a class are read only by who needs them

_KMEANS_ROUNDS = 20

#: Chooses, for each condensed node, the positions of the rows it is the mean of. Called with the rows of one
#: class, the number of condensed nodes, the number of rows to aggregate, and a random generator.
Start: TypeAlias = Callable[[Rows, int, int, np.random.Generator], list[Ids]]


def uniform(rows: Rows, size: int, samples: int, rng: np.random.Generator) -> list[Ids]:
    """``samples`` rows each, drawn uniformly without replacement within a group (Eq. 6).

    Paper: a class with fewer rows than ``samples`` is not mentioned; then a group is the whole class.
    """
    samples = min(samples, len(rows))
    return [np.sort(rng.choice(len(rows), samples, replace=False)) for _ in range(size)]


def single(rows: Rows, size: int, samples: int, rng: np.random.Generator) -> list[Ids]:
    """One row each, all different as long as there are enough; ``samples`` is not used."""
    order = np.concatenate([rng.permutation(len(rows)) for _ in range(-(-size // len(rows)))])
    return [order[position : position + 1] for position in range(size)]


def kmeans(rows: Rows, size: int, samples: int, rng: np.random.Generator) -> list[Ids]:
    """The rows of one cluster each, by scikit-learn's k-means; ``samples`` is not used.

    It begins at rows drawn by chance and takes at most 20 rounds: ten times faster than a careful begin
    (k-means++) and all rounds, and as good a start (docs/beyond.md).
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    points = rows[:]
    distinct = len(np.unique(points, axis=0)) if len(points) <= 10 * size else len(points)
    clusters = min(size, distinct)
    seed = int(rng.integers(2**31))
    method = KMeans(clusters, init="random", n_init=1, max_iter=_KMEANS_ROUNDS, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # stopped early on purpose
        assigned = method.fit_predict(points)
    groups = [np.flatnonzero(assigned == cluster) for cluster in range(clusters)]
    groups = [group for group in groups if len(group)]
    # Fewer distinct rows than condensed nodes: the largest clusters are used again.
    largest = sorted(groups, key=len, reverse=True)
    return groups + [largest[extra % len(largest)] for extra in range(size - len(groups))]


STARTS: dict[str, Start] = {"uniform": uniform, "single": single, "kmeans": kmeans}


def initialize(
    rows: Rows,
    row_labels: Ids,
    condensed_labels: Ids,
    *,
    start: Start = uniform,
    samples: int = 20,
    rng: np.random.Generator,
) -> tuple[Dense, list[Ids]]:
    """First features, and for each condensed node the positions of the rows it is the mean of.

    Args:
        rows: Diffused features of the training nodes, shape (training nodes, features).
        row_labels: Their classes.
        condensed_labels: Classes of the condensed nodes, sorted.
        start: How rows are chosen within a class.
        samples: Rows per condensed node, ``s`` in Eq. 6.
        rng: Where chance comes from.

    >>> rows = np.array([[0.0], [2.0], [5.0]], np.float32)
    >>> features, groups = initialize(
    ...     rows, np.array([0, 0, 1]), np.array([0, 1]), samples=2, rng=np.random.default_rng(0)
    ... )
    >>> features.tolist()
    [[1.0], [5.0]]
    """
    if samples < 1:
        raise ValueError(f"samples must be at least 1, got {samples}")
    groups: list[Ids] = []
    for label, size in zip(*np.unique(condensed_labels, return_counts=True), strict=True):
        positions = np.flatnonzero(row_labels == label)
        chosen = start(SelectedRows(rows, positions), int(size), samples, rng)
        groups += [positions[group] for group in chosen]
    means = [rows[group].mean(axis=0, dtype=np.float64) for group in groups]
    return np.stack(means).astype(np.float32), groups
