"""What candidates are worth, on validation nodes: a cheap look at all of them."""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from hypercondense.condensing.base import Task
from hypercondense.condensing.problem import targets_of, view_of
from hypercondense.diffusion import identity, vanilla
from hypercondense.hypergraph import Hypergraph
from hypercondense.nn import Receivers
from hypercondense.nn.base import InputLinear
from hypercondense.nn.hgnn import HGNN
from hypercondense.nn.learner import Learner, averaged_learner
from hypercondense.nn.steps import Training
from hypercondense.nn.training import Inputs, told_classes
from hypercondense.runtime.rng import generator

_STREAM = 8
_TRAINING = Training(hidden=64)
_STEPS = 200
_STANDARD_ERRORS = 2.5


@dataclass(frozen=True)
class Judge:
    """Which validation nodes a small network gets right that was trained on a candidate.

    Args:
        source: What is being condensed, where candidates of diffused rows are tried: by two convolutions.
        receivers: Its validation nodes.
        raw: Their features: candidates of raw rows are tried on these, by a network without a structure.
        labels: Their classes.
        targets: One-hot classes of the condensed nodes.
    """

    source: Inputs
    receivers: Receivers
    raw: Tensor
    labels: Tensor
    targets: Tensor

    @classmethod
    def of(cls, task: Task) -> "Judge":
        """Prepare the rows once."""
        source = Inputs.of(task.source, device=task.device)
        node_ids = torch.as_tensor(task.split.validation_ids.copy())
        targets = F.one_hot(torch.as_tensor(task.labels.copy()), task.source.num_classes)
        return cls(
            source=source,
            receivers=Receivers(source.structure, node_ids),
            raw=torch.from_numpy(task.diffused_parts(identity())[1]).to(task.device),
            labels=source.labels[node_ids.to(task.device)],
            targets=targets.to(task.device, torch.float32),
        )

    def __call__(self, candidate: Hypergraph, *, trusts_structure: bool) -> Tensor:
        """Whether each validation node is told right. Equal candidates get the same answer."""
        coefficients = vanilla(2) if trusts_structure else identity()
        rows = view_of(candidate, coefficients, like=self.targets)
        targets = targets_of(candidate, plain=self.targets)
        learner = averaged_learner(rows, targets, how=_TRAINING, chance=generator(0, _STREAM), steps=_STEPS)
        scores = self._convolved(learner) if trusts_structure else learner(self.raw)
        return (told_classes(scores) == self.labels).cpu()

    @torch.no_grad()
    def _convolved(self, learner: Learner) -> Tensor:
        """Class scores of the validation nodes by an HGNN with the weights of a learner."""
        network = HGNN(
            num_features=self.source.num_features,
            num_classes=self.source.num_classes,
            hidden=_TRAINING.hidden,
        )
        network = network.to(self.source.labels.device).eval()
        for layer, weight in zip(network.layers, learner.weights, strict=True):
            assert isinstance(layer, InputLinear)
            layer.weight.copy_(weight[:, :-1])
            layer.bias.copy_(weight[:, -1])
        scores: Tensor = network(self.source.features, self.source.structure, self.receivers)
        return scores


def is_clearly_better(right: Tensor, other: Tensor) -> bool:
    """Whether more nodes are right than in another trial, by 2.5 standard errors of the difference.

    With few validation nodes small differences are chance, and the best of many trials is the luckiest.

    >>> is_clearly_better(torch.tensor([True] * 9 + [False]), torch.tensor([True] * 8 + [False] * 2))
    False
    """
    difference = right.double() - other.double()
    error = float(difference.std(correction=0)) / math.sqrt(len(difference))
    return float(difference.mean()) > _STANDARD_ERRORS * error
