"""Rows of the source to be predicted from condensed rows: what ``ridge`` and ``unrolled`` share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from hypercondense.condensing.base import Task
from hypercondense.diffusion import diffuse, diffuse_dense
from hypercondense.hypergraph import Dense, Hypergraph

_DENSE_ENTRIES = 10**7  # of an incidence: larger ones stay sparse


class Map(NamedTuple):
    """How rows are diffused: coefficients of powers of P, and whether P is that of random walks."""

    coefficients: Sequence[float]
    walks: bool = False


@dataclass(frozen=True, eq=False)
class Problem:
    """Training rows with their classes, validation rows with theirs, and the classes of condensed nodes.

    Args:
        maps: Of the source; every node has a row under each. Condensed features go through the first.
        start_rows: Training rows under the first map, (m, d): what condensed features begin as.
        train: Rows to be predicted, (m, d) for each map.
        labels: Their classes, (m,), or shares of all classes, (m, C); they are the same under all maps.
        validation: Validation rows for each map.
        validation_labels: Their classes.
        targets: One-hot classes of the condensed nodes, (n, C).
    """

    maps: tuple[Map, ...]
    start_rows: Dense
    train: tuple[Tensor, ...]
    labels: Tensor
    validation: tuple[Tensor, ...]
    validation_labels: Tensor
    targets: Tensor

    @classmethod
    def of(cls, task: Task, maps: Sequence[Map]) -> "Problem":
        """Diffuse the source by every map."""
        parts = [task.diffused_parts(coefficients, walks=walks) for coefficients, walks in maps]
        train, validation = (
            tuple(torch.from_numpy(part).to(task.device) for part in rows)
            for rows in zip(*parts, strict=True)
        )
        labels, validation_labels, condensed_labels = (
            torch.as_tensor(ids.copy(), device=task.device)
            for ids in (task.train_labels, task.source.labels[task.split.validation_ids], task.labels)
        )
        return cls(
            maps=tuple(maps),
            start_rows=parts[0][0],
            train=train,
            labels=labels,
            validation=validation,
            validation_labels=validation_labels,
            targets=F.one_hot(condensed_labels, task.source.num_classes).to(train[0]),
        )

    def batch(self, size: int, chance: torch.Generator) -> tuple[Tensor, Tensor]:
        """Different rows drawn by chance, all where there are no more, and their shares of classes."""
        number = len(self.labels)
        positions = torch.randperm(len(self.train) * number, generator=chance)[:size].sort().values
        positions = positions.to(self.labels.device)
        rows = self.train[0].new_empty(len(positions), self.train[0].shape[1])
        bounds = torch.searchsorted(positions, number * torch.arange(len(self.train) + 1).to(positions))
        for i, (part, (begin, end)) in enumerate(zip(self.train, pairwise(bounds.tolist()), strict=True)):
            torch.index_select(part, 0, positions[begin:end] - i * number, out=rows[begin:end])
        classes = self.labels.index_select(0, positions % number)
        if classes.ndim == 1:
            classes = F.one_hot(classes, self.targets.shape[1])
        return rows, classes.to(self.targets)

    def accuracy(self, predict: Callable[[Tensor], Tensor]) -> float:
        """Share of the validation rows under all maps for which class scores (rows, C) tell the class."""
        right = [predict(rows).argmax(1) == self.validation_labels for rows in self.validation]
        return float(torch.cat(right).double().mean())

    def view(self, features: Tensor, structure: Tensor) -> Tensor:
        """Condensed features (n, d) through the first map of their own structure (n, hyperedges)."""
        return _view(features, structure, self.maps[0].coefficients)

    def view_of(self, candidate: Hypergraph) -> Tensor:
        """The same of a candidate for the result, whose singleton hyperedges are its self-loops."""
        return view_of(candidate, self.maps[0].coefficients, like=self.targets)

    def targets_of(self, candidate: Hypergraph) -> Tensor:
        """What a model is fitted to: the soft labels of a candidate where it has them, else its classes."""
        return targets_of(candidate, plain=self.targets)


def view_of(candidate: Hypergraph, coefficients: Sequence[float], *, like: Tensor) -> Tensor:
    """Features of a candidate (n, d), diffused through its own structure, where and as ``like`` is."""
    incidence = candidate.incidence.matrix(candidate.num_nodes, candidate.num_hyperedges)
    shared = np.flatnonzero(np.diff(incidence.tocsc().indptr) > 1)
    if len(shared) * candidate.num_nodes > _DENSE_ENTRIES:
        return torch.from_numpy(diffuse(candidate, coefficients)).to(like)
    features = torch.tensor(candidate.dense_features()).to(like)
    return _view(features, torch.tensor(incidence[:, shared].toarray()).to(features), coefficients)


def targets_of(candidate: Hypergraph, *, plain: Tensor) -> Tensor:
    """Soft labels of a candidate where it has them, else ``plain`` one-hot classes."""
    return plain if candidate.soft_labels is None else torch.tensor(candidate.soft_labels).to(plain)


def _view(features: Tensor, structure: Tensor, coefficients: Sequence[float]) -> Tensor:
    if structure.shape[1] == 0:  # every power of the identity is the identity
        return sum(coefficients) * features
    return diffuse_dense(features, structure, coefficients, self_loops=True)
