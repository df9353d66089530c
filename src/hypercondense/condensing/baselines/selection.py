"""Choosing training nodes at random, by herding or by farthest points; every step is linear in the rows."""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hypercondense.hypergraph import Ids

#: Chooses positions of rows: called with the rows of one class (dense or sparse) and how many to choose.
Choose: TypeAlias = Callable[[Any, int], Ids]
_Vector: TypeAlias = NDArray[np.float64]


def check_enough(train_labels: Ids, labels: Ids) -> None:
    """Raise ``ValueError`` if a class has fewer training nodes than are to be chosen of it.

    Where the shares of the classes follow their training nodes, this happens only if more nodes are asked for
    than there are training nodes, and any number up to that is possible.
    """
    for label, size in zip(*np.unique(labels, return_counts=True), strict=True):
        available = int((train_labels == label).sum())
        if available < size:
            raise ValueError(
                f"{len(labels)} condensed nodes need {size} training nodes of class {label}, but there are "
                f"{available}; a method that chooses nodes can give at most {len(train_labels)} nodes, with "
                "allocate='proportional'"
            )


def random_positions(train_labels: Ids, labels: Ids, rng: np.random.Generator) -> Ids:
    """Positions of training nodes drawn uniformly without replacement, one for each of the sorted ``labels``.

    >>> random_positions(np.array([1, 0, 1]), np.array([0, 1, 1]), np.random.default_rng(0)).tolist()
    [1, 0, 2]
    """
    chosen = [
        np.sort(rng.choice(positions, size, replace=False))
        for positions, size in _classes(train_labels, labels)
    ]
    return np.concatenate(chosen)


def positions_by_class(rows: Any, train_labels: Ids, labels: Ids, choose: Choose) -> Ids:
    """Positions of the rows chosen class by class, one for each of the sorted ``labels``."""
    chosen = [positions[choose(rows[positions], size)] for positions, size in _classes(train_labels, labels)]
    return np.concatenate(chosen)


def herding(rows: Any, size: int) -> Ids:
    """The row that brings the mean of the chosen ones closest to the mean of all, ``size`` times.

    No row is chosen twice; of equals the first is. With S the sum of the t rows chosen so far and m the mean,
    ``|S + x - (t + 1) m|^2`` is smallest where ``|x|^2 + 2 x (S - (t + 1) m)`` is.

    >>> herding(np.array([[0.0], [4.0], [5.0], [7.0]]), 2).tolist()
    [1, 2]
    """
    rows = rows.astype(np.float64)
    mean, squares = _mean(rows), _squares(rows)
    total = np.zeros_like(mean)
    free = np.ones(rows.shape[0], bool)
    chosen = np.empty(size, np.int64)
    for step in range(size):
        distances = squares + 2 * (rows @ (total - (step + 1) * mean))
        chosen[step] = np.argmin(np.where(free, distances, np.inf))
        free[chosen[step]] = False
        total += _row(rows, chosen[step])
    return chosen


def k_center(rows: Any, size: int) -> Ids:
    """The row closest to the mean, then always the one farthest from all that are chosen.

    No row is chosen twice; of equals the first is.

    >>> k_center(np.array([[0.0], [4.0], [5.0], [7.0]]), 3).tolist()
    [1, 0, 3]
    """
    rows = rows.astype(np.float64)
    squares = _squares(rows)
    chosen = np.empty(size, np.int64)
    chosen[0] = np.argmin(_squared_distances(rows, squares, _mean(rows)))
    nearest = np.full(rows.shape[0], np.inf)
    for step in range(1, size):
        previous = chosen[step - 1]
        nearest = np.minimum(nearest, _squared_distances(rows, squares, _row(rows, previous)))
        nearest[previous] = -np.inf
        chosen[step] = np.argmax(nearest)
    return chosen


def _classes(train_labels: Ids, labels: Ids) -> Iterator[tuple[Ids, int]]:
    """For each class the positions of its training nodes, and how many of them are to be chosen."""
    check_enough(train_labels, labels)
    for label, size in zip(*np.unique(labels, return_counts=True), strict=True):
        yield np.flatnonzero(train_labels == label), int(size)


def _mean(rows: Any) -> _Vector:
    return np.asarray(rows.mean(axis=0)).reshape(-1)


def _squares(rows: Any) -> _Vector:
    """The squared length of every row."""
    if sp.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).reshape(-1)
    squares: _Vector = np.einsum("nd,nd->n", rows, rows)
    return squares


def _row(rows: Any, position: int) -> _Vector:
    row = rows[[position]]
    return np.asarray(row.toarray() if sp.issparse(row) else row).reshape(-1)


def _squared_distances(rows: Any, squares: _Vector, point: _Vector) -> _Vector:
    # Rounding may leave a little below 0, and equal rows must be equally far.
    distances: _Vector = np.maximum(squares + point @ point - 2 * (rows @ point), 0.0)
    return distances
