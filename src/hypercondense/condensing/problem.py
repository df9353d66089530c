"""Rows of the source to be predicted from condensed rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from hypercondense.condensing.maps import Map, seen_through
from hypercondense.condensing.material import Material
from hypercondense.diffusion import Kernel, SelectedRows, diffuse
from hypercondense.hypergraph import Hypergraph, Ids
from hypercondense.names import Metric
from hypercondense.nn.scoring import score_of
from hypercondense.nn.training import told_classes

_DENSE_ENTRIES = 10**7  # of an incidence: larger ones stay sparse


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with their classes, validation rows with theirs, and the classes of condensed nodes.

    Args:
        rows: Rows to be predicted, (m, d) for each map; perhaps in a file.
        labels: Their classes, (m,), or shares of all classes, (m, C); they are the same under all maps.
        validation: Validation rows for each map.
        validation_labels: Their classes.
        targets: One-hot classes of the condensed nodes, (n, C).
        metric: What predictions of validation rows are scored by.
    """

    rows: tuple[Tensor | SelectedRows, ...]
    labels: Tensor
    validation: tuple[Tensor | SelectedRows, ...]
    validation_labels: Tensor
    targets: Tensor
    metric: Metric = "accuracy"

    @classmethod
    def of(
        cls,
        material: Material,
        maps: Sequence[Map],
        labels: Ids,
        *,
        opinions: Tensor | None = None,
        judges: bool = True,
    ) -> "Problem":
        """Diffuse the source by every map.

        Args:
            material: The source.
            maps: How; every node has a row under each.
            labels: Classes of the condensed nodes.
            opinions: Shares of classes of all nodes of the source. With them the rows of all nodes are to be
                predicted, else those of training nodes.
            judges: Whether validation labels may be read.
        """
        device = material.device
        parts = [(material.parts(one)[0], material.judging_rows(one)) for one in maps]
        rows, validation = (
            tuple(
                part if isinstance(part, SelectedRows) else torch.from_numpy(part).to(device) for part in some
            )
            for some in zip(*parts, strict=True)
        )
        own, validation_labels, condensed = (
            torch.as_tensor(ids.copy(), device=device)
            for ids in (
                material.train_labels,
                material.source.labels[material.judging_ids if judges else []],
                labels,
            )
        )
        targets = F.one_hot(condensed, material.source.num_classes).float()
        if opinions is not None:  # copies, for files are read-only
            rows = tuple(torch.tensor(material.diffused(one)).to(targets) for one in maps)
            own = opinions.to(targets)
        return cls(rows, own, validation, validation_labels, targets, material.metric)

    def batch(self, size: int, chance: torch.Generator) -> tuple[Tensor, Tensor]:
        """Different rows drawn by chance, all where there are no more, and their shares of classes."""
        number = len(self.labels)
        positions = torch.randperm(len(self.rows) * number, generator=chance)[:size].sort().values
        positions = positions.to(self.labels.device)
        rows = self.targets.new_empty(len(positions), self.rows[0].shape[1])
        bounds = torch.searchsorted(positions, number * torch.arange(len(self.rows) + 1).to(positions))
        for i, (part, (begin, end)) in enumerate(zip(self.rows, pairwise(bounds.tolist()), strict=True)):
            own = positions[begin:end] - i * number
            if isinstance(part, SelectedRows):
                rows[begin:end] = torch.from_numpy(part[own.cpu().numpy()])
            else:
                torch.index_select(part, 0, own, out=rows[begin:end])
        classes = self.labels.index_select(0, positions % number)
        if classes.ndim == 1:
            classes = F.one_hot(classes, self.targets.shape[1])
        return rows, classes.to(self.targets)

    def score(self, predict: Callable[[Tensor], Tensor]) -> float:
        """What class scores (rows, C) are worth that are predicted for the validation rows under all maps."""
        told = torch.cat(
            [
                told_classes(predict(torch.from_numpy(rows[:]).to(self.targets)))
                if isinstance(rows, SelectedRows)
                else told_classes(predict(rows))
                for rows in self.validation
            ]
        )
        return score_of(told, self.validation_labels.repeat(len(self.validation)), self.metric)


def rows_of(candidate: Hypergraph, kernel: Kernel, *, like: Tensor) -> Tensor:
    """Features of a condensed hypergraph (n, d), diffused through its own structure, where ``like`` is.

    Its singleton hyperedges are its self-loops.
    """
    incidence = candidate.incidence.matrix(candidate.num_nodes, candidate.num_hyperedges)
    shared = np.flatnonzero(np.diff(incidence.tocsc().indptr) > 1)
    if len(shared) * candidate.num_nodes > _DENSE_ENTRIES:
        return torch.from_numpy(diffuse(candidate, kernel)).to(like)
    features = torch.tensor(candidate.dense_features()).to(like)
    return seen_through(features, torch.tensor(incidence[:, shared].toarray()).to(features), kernel)


def targets_of(candidate: Hypergraph, *, num_classes: int, like: Tensor) -> Tensor:
    """Soft labels of a condensed hypergraph where it has them, else its one-hot classes, (n, C)."""
    if candidate.soft_labels is not None:
        return torch.tensor(candidate.soft_labels).to(like)
    return F.one_hot(torch.as_tensor(candidate.labels.copy()), num_classes).to(like)
