"""Rows of the source to be predicted from condensed rows: what ``ridge`` and ``unrolled`` share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from hypercondense.diffusion import diffuse_dense
from hypercondense.hypergraph import Dense, Hypergraph
from hypercondense.methods.base import Task


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
        train: Rows to be predicted under all maps, (maps * m, d).
        labels: Their classes, (maps * m,), or shares of all classes, (maps * m, C).
        validation: Validation rows under all maps.
        validation_labels: Their classes.
        targets: One-hot classes of the condensed nodes, (n, C).
    """

    maps: tuple[Map, ...]
    start_rows: Dense
    train: Tensor
    labels: Tensor
    validation: Tensor
    validation_labels: Tensor
    targets: Tensor

    @classmethod
    def of(cls, task: Task, maps: Sequence[Map]) -> "Problem":
        """Diffuse the source by every map."""
        parts = [task.diffused_parts(coefficients, walks=walks) for coefficients, walks in maps]
        train, validation = (
            torch.from_numpy(_stacked(rows)).to(task.device) for rows in zip(*parts, strict=True)
        )
        labels, validation_labels, condensed_labels = (
            torch.as_tensor(ids.copy(), device=task.device)
            for ids in (task.train_labels, task.source.labels[task.split.validation_ids], task.labels)
        )
        return cls(
            maps=tuple(maps),
            start_rows=parts[0][0],
            train=train,
            labels=labels.repeat(len(maps)),
            validation=validation,
            validation_labels=validation_labels.repeat(len(maps)),
            targets=F.one_hot(condensed_labels, task.source.num_classes).to(train),
        )

    def batch(self, size: int, chance: torch.Generator) -> tuple[Tensor, Tensor]:
        """Different rows drawn by chance, all where there are no more, and their shares of classes."""
        positions = torch.randperm(len(self.train), generator=chance)[:size].sort().values
        positions = positions.to(self.train.device)
        classes = self.labels.index_select(0, positions)
        if classes.ndim == 1:
            classes = F.one_hot(classes, self.targets.shape[1])
        return self.train.index_select(0, positions), classes.to(self.train)

    def view(self, features: Tensor, structure: Tensor) -> Tensor:
        """Condensed features (n, d) through the first map of their own structure (n, hyperedges)."""
        if structure.shape[1] == 0:  # every power of the identity is the identity
            return sum(self.maps[0].coefficients) * features
        return diffuse_dense(features, structure, self.maps[0].coefficients, self_loops=True)

    def view_of(self, candidate: Hypergraph) -> Tensor:
        """The same of a candidate for the result, whose singleton hyperedges are its self-loops."""
        features = torch.tensor(candidate.dense_features()).to(self.train)
        incidence = candidate.incidence.matrix(candidate.num_nodes, candidate.num_hyperedges)
        shared = np.flatnonzero(np.diff(incidence.tocsc().indptr) > 1)
        return self.view(features, torch.tensor(incidence[:, shared].toarray()).to(features))

    def targets_of(self, candidate: Hypergraph) -> Tensor:
        """What a model is fitted to: the soft labels of a candidate where it has them, else its classes."""
        if candidate.soft_labels is None:
            return self.targets
        return torch.tensor(candidate.soft_labels).to(self.train)


def _stacked(rows: Sequence[Dense]) -> Dense:
    return np.asarray(rows[0]) if len(rows) == 1 else np.concatenate(rows)
