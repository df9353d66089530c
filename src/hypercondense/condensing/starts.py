"""The first features of the condensed nodes: means of groups of source rows (Algorithm 1, line 5; Eq. 6)."""

import warnings
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from hypercondense.diffusion import SelectedRows
from hypercondense.hypergraph import Dense, Ids
from hypercondense.typed import Count, Value

Matrix: TypeAlias = Dense | SelectedRows  # the rows of a class are read only by who needs them

_KMEANS_ROUNDS = 20
_GROUPED = 100_000  # rows of a class: clusters of more are those of a sample


class Means(Value, tag_field="kind", tag="means"):
    """Means of rows drawn uniformly without replacement within a group (Eq. 6).

    Paper: a class with fewer rows than ``samples`` is not mentioned; then a group is the whole class.

    Args:
        samples: Rows aggregated per condensed node, ``s``.
    """

    samples: Count = 20

    def groups(self, rows: Matrix, size: int, rng: np.random.Generator) -> list[Ids]:
        """Positions of the rows of one class that each of ``size`` condensed nodes is the mean of."""
        samples = min(self.samples, len(rows))
        return [np.sort(rng.choice(len(rows), samples, replace=False)) for _ in range(size)]


class Single(Value, tag_field="kind", tag="single"):
    """One row each, all different as long as there are enough."""

    def groups(self, rows: Matrix, size: int, rng: np.random.Generator) -> list[Ids]:
        """As for :class:`Means`."""
        order = np.concatenate([rng.permutation(len(rows)) for _ in range(-(-size // len(rows)))])
        return [order[position : position + 1] for position in range(size)]


class KMeans(Value, tag_field="kind", tag="k-means"):
    """The means of clusters, by scikit-learn's k-means.

    It begins at rows drawn by chance and takes at most 20 rounds: ten times faster than a careful begin
    (k-means++) and all rounds, and as good a start (docs/beyond.md). Of a class with more than 100,000 rows
    as many are drawn, and only these are grouped.
    """

    def groups(self, rows: Matrix, size: int, rng: np.random.Generator) -> list[Ids]:
        """As for :class:`Means`."""
        return clusters(rows, size, rng)


def clusters(rows: Matrix, size: int, rng: np.random.Generator, *, most: int = _GROUPED) -> list[Ids]:
    """Members of ``size`` clusters of rows; of more than ``most`` rows as many are drawn and grouped."""
    from sklearn.cluster import KMeans as Clusters
    from sklearn.exceptions import ConvergenceWarning

    if len(rows) > most:
        drawn = np.sort(rng.choice(len(rows), most, replace=False))
        return [drawn[group] for group in clusters(SelectedRows(rows, drawn), size, rng, most=most)]
    points = rows[:]
    distinct = len(np.unique(points, axis=0)) if len(points) <= 10 * size else len(points)
    number = min(size, distinct)
    seed = int(rng.integers(2**31))
    method = Clusters(number, init="random", n_init=1, max_iter=_KMEANS_ROUNDS, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # stopped early on purpose
        assigned = method.fit_predict(points)
    groups = [np.flatnonzero(assigned == cluster) for cluster in range(number)]
    groups = [group for group in groups if len(group)]
    # Fewer distinct rows than condensed nodes: the largest clusters are used again.
    largest = sorted(groups, key=len, reverse=True)
    return groups + [largest[extra % len(largest)] for extra in range(size - len(groups))]


class Better(Value, tag_field="kind", tag="better"):
    """Whichever of two starts a model of the goal predicts validation rows better from.

    Clusters keep what differs within a class; where features are mostly noise they keep the noise, and means
    of many rows do not. Where the goal has a closed form, which is quick, both starts are optimized by it
    before they are judged: one may gain more from it than the other. Where validation nodes may not choose,
    or the goal does not predict, it is the first.

    Args:
        first: One start.
        second: The other.
    """

    first: Means | Single | KMeans = KMeans()
    second: Means | Single | KMeans = Means(samples=100)

    @property
    def both(self) -> "tuple[Drawn, Drawn]":
        """The two."""
        return self.first, self.second


Drawn: TypeAlias = Means | Single | KMeans
Start: TypeAlias = Drawn | Better


def first_rows(
    rows: Matrix, row_labels: Ids, condensed_labels: Ids, *, start: Drawn, rng: np.random.Generator
) -> tuple[Dense, list[Ids]]:
    """First features, and for each condensed node the positions of the rows it is the mean of.

    Args:
        rows: Diffused features of the training nodes, shape (training nodes, features).
        row_labels: Their classes.
        condensed_labels: Classes of the condensed nodes, sorted.
        start: How rows are grouped within a class.
        rng: Where chance comes from.

    >>> rows = np.array([[0.0], [2.0], [5.0]], np.float32)
    >>> features, groups = first_rows(
    ...     rows, np.array([0, 0, 1]), np.array([0, 1]), start=Means(samples=2), rng=np.random.default_rng(0)
    ... )
    >>> features.tolist()
    [[1.0], [5.0]]
    """
    groups: list[Ids] = []
    for label, size in zip(*np.unique(condensed_labels, return_counts=True), strict=True):
        positions = np.flatnonzero(row_labels == label)
        chosen = start.groups(SelectedRows(rows, positions), int(size), rng)
        groups += [positions[group] for group in chosen]
    means = [rows[group].mean(axis=0, dtype=np.float64) for group in groups]
    return np.stack(means).astype(np.float32), groups


def start_to_keep(features: Tensor, members: Sequence[Ids]) -> dict[str, Tensor]:
    """First features and their members as tensors, for a checkpoint."""
    sizes = torch.tensor([len(one) for one in members])
    return {"features": features, "sizes": sizes, "members": torch.from_numpy(np.concatenate(members))}


def kept_start(
    kept: Mapping[str, Tensor], *, like: tuple[int, int], device: str
) -> tuple[Tensor, tuple[Ids, ...]]:
    """The inverse of :func:`start_to_keep`, for features of a known shape."""
    ends = np.cumsum(kept["sizes"].numpy())[:-1]
    members = tuple(np.split(kept["members"].numpy(), ends))
    if len(members) != like[0]:
        raise ValueError(f"{len(members)} starts are not {like[0]}")
    return kept["features"].reshape(like).clone().to(device), members
