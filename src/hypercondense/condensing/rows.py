"""Diffused rows of the training nodes as losses see them."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from hypercondense.condensing.starts import Matrix
from hypercondense.diffusion import SelectedRows, class_sums
from hypercondense.hypergraph import Dense, Ids

_BLOCK = 512  # rows prepared at a time, so that they stay in cache


@dataclass(frozen=True)
class SeenRows:
    """Rows with their classes, centred and scaled as asked for, handed out a few at a time.

    Args:
        values: Diffused features, (training nodes, features).
        labels: Their classes.
        device: Where they are handed out.
        unit_vectors: Whether they are scaled to length 1.
        centered: Whether what all classes have in common is taken off.
    """

    values: Matrix
    labels: Ids
    device: str
    unit_vectors: bool = True
    centered: bool = False

    def __getitem__(self, positions: Ids) -> Tensor:
        if isinstance(self.values, SelectedRows):  # there is a memory budget: nothing is kept
            return self._seen(self.values[positions]).to(self.device)
        return torch.from_numpy(self._all_seen.take(positions, axis=0)).to(self.device)

    @cached_property
    def centre(self) -> Tensor:
        """What classes have in common: the mean of their means, or 0 if that is left in, (features,)."""
        counts, sums = self._class_sums
        means = sums[counts > 0] / counts[counts > 0, None]
        return torch.from_numpy(means.mean(0) * self.centered).float().to(self.device)

    def without_centre(self, features: Tensor) -> Tensor:
        """The features as the coarse loss sees them."""
        return features - self.centre.to(features.device) if self.centered else features

    def directed(self, features: Tensor) -> Tensor:
        """The features, scaled to length 1 if the fine loss compares directions."""
        return F.normalize(features, dim=-1) if self.unit_vectors else features

    def prototypes(self, num_classes: int) -> Tensor:
        """Class sums, added up in float64 and then rounded once, shape (classes, features) (Eq. 11)."""
        counts, sums = self._class_sums
        prototypes = np.zeros((num_classes, sums.shape[1]), np.float32)
        prototypes[: len(sums)] = sums - np.outer(counts, self.centre.cpu())
        return torch.from_numpy(prototypes).to(self.device)

    def _seen(self, values: Dense) -> Tensor:
        return self.directed(self.without_centre(torch.from_numpy(values)))

    @cached_property
    def _all_seen(self) -> Dense:
        """All rows, prepared once: each is drawn several times, and then only copied."""
        if not (self.centered or self.unit_vectors):
            return np.asarray(self.values)
        seen = np.empty_like(self.values)
        for start in range(0, len(seen), _BLOCK):
            seen[start : start + _BLOCK] = self._seen(self.values[start : start + _BLOCK])
        return seen

    @cached_property
    def _class_sums(self) -> tuple[Ids, NDArray[np.float64]]:
        """Number and sum of the rows of each class up to the largest."""
        counts = np.bincount(self.labels)
        return counts, class_sums(self.values, self.labels, len(counts))


def spread(features: Tensor) -> float:
    """Standard deviation of all entries; 1 for constant features, which have no scale of their own."""
    deviation = float(features.detach().std(correction=0))
    return deviation if 0 < deviation < math.inf else 1.0
