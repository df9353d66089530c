"""Looks at the validation nodes of a source while a network is trained.

On a large source a look costs as much as many epochs on a condensed hypergraph. What looks have to tell is
which epochs are best. Two epochs of one training that are among its best agree about most nodes, and where
they disagree about a share of them the difference of their scores on a sample of n has a standard error of
at most sqrt(share / n): 0.5 points for a twentieth and the sample taken here. So while it trains a network is
tried on the sample only, and at the end the best few epochs are tried on all validation nodes, which choose
(:mod:`hypercondense.nn.epochs`).
The sample is stratified: from every class its share, evenly by position, and without chance.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from hypercondense.hypergraph import Ids, Split
from hypercondense.names import Metric
from hypercondense.nn.base import HypergraphNetwork
from hypercondense.nn.inputs import Inputs, told_classes
from hypercondense.nn.scoring import score_of

VALIDATE_EVERY = 5  # epochs


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """When a sample of the validation nodes is looked at, and what it decides.

    Attributes:
        nodes: Of a sample; see above.
        worth: Of less than so many samples all nodes are looked at.
        due: Epochs that are due, for every one that is tried on all nodes.
        first: Looks while a network is trained, at least; others wait until it is known where they matter.
        kept: Bytes of weights that may wait.
    """

    nodes: int = 2_000
    worth: int = 4
    due: int = 16
    first: int = 5
    kept: int = 256 * 2**20


SAMPLING = Sampling()


class Looks:
    """Looks at validation nodes, every few epochs of a training.

    Args:
        source: The hypergraph of the validation nodes.
        split: Where they are named.
        every: Epochs between two looks.
        epochs: Length of the training.
        metric: What is scored.
        sampling: When that is done for a sample.
    """

    def __init__(
        self,
        source: Inputs,
        split: Split,
        *,
        every: int,
        epochs: int,
        metric: Metric,
        sampling: Sampling = SAMPLING,
    ) -> None:
        self.source, self.every, self.epochs, self.metric = source, every, epochs, metric
        self.sampling = sampling
        self.number = math.ceil(epochs / every)
        ids = split.validation_ids
        self.all_ids = torch.as_tensor(ids.copy(), device=source.labels.device)
        self.sampled = self.number > 1 and len(ids) >= sampling.worth * sampling.nodes
        if self.sampled:
            labels = source.labels[self.all_ids].cpu().numpy()
            positions = torch.as_tensor(stratified(labels, sampling.nodes), device=source.labels.device)
            self.ids = self.all_ids[positions]
        else:
            self.ids = self.all_ids

    @property
    def finalists(self) -> int:
        """How many epochs are tried on all validation nodes, where looks are at a sample."""
        return math.ceil(self.number / self.sampling.due) if self.sampled else 1

    def apart(self, model: HypergraphNetwork) -> int:
        """Of so many epochs that are due one is looked at while this network is trained, a power of 2.

        It is 1, which is all of them, without a sample, and where their weights take too much memory.
        """
        weights = sum(value.nbytes for value in model.state_dict().values())
        how = self.sampling
        if not self.sampled or self.number < how.first or self.number * weights > how.kept:
            return 1
        return 1 << (self.number // how.first).bit_length() - 1

    def are_due(self, epoch: int) -> bool:
        """Whether the weights after this epoch may be the ones that are kept."""
        return len(self.ids) > 0 and (epoch % self.every == 0 or epoch == self.epochs)

    def __call__(self, model: HypergraphNetwork) -> tuple[float, float]:
        """Score and cross-entropy, on the sample if there is one."""
        return self._at(model, self.ids, model.reach if self.sampled else None)

    def at_all(self, model: HypergraphNetwork) -> tuple[float, float]:
        """Score and cross-entropy on all validation nodes."""
        return self._at(model, self.all_ids, None)

    @torch.no_grad()
    def _at(self, model: HypergraphNetwork, ids: Tensor, reach: int | None) -> tuple[float, float]:
        model.eval()
        scores, labels = self.source.seen_by(ids, reach)(model), self.source.labels[ids]
        loss = float(functional.cross_entropy(scores, labels))
        return score_of(told_classes(scores), labels, self.metric), loss


def stratified(labels: Ids, size: int) -> Ids:
    """Positions of ``size`` labels, of every class its share, increasing; each class evenly by position.

    >>> stratified(np.array([0, 1, 0, 0, 1, 0]), 3).tolist()
    [2, 4, 5]
    """
    by_class = np.argsort(labels, kind="stable")
    taken = (2 * np.arange(size) + 1) * len(labels) // (2 * size)  # the middle of each of as many pieces
    return np.sort(by_class[taken])
