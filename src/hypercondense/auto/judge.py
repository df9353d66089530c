"""What candidates are worth, on validation nodes: a cheap look at all of them."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from hypercondense.diffusion import identity, vanilla
from hypercondense.evaluation import Inputs
from hypercondense.hypergraph import Hypergraph
from hypercondense.methods.base import Task
from hypercondense.methods.learner import Learner, Training, averaged_learner
from hypercondense.methods.problem import Map, Problem
from hypercondense.models import Receivers
from hypercondense.models.base import InputLinear
from hypercondense.models.hgnn import HGNN
from hypercondense.rng import generator

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
        diffused: Its rows as two convolutions see them.
        raw: Its rows as a network sees them that does not trust the structure: for candidates of raw rows.
    """

    source: Inputs
    receivers: Receivers
    diffused: Problem
    raw: Problem

    @classmethod
    def of(cls, task: Task) -> "Judge":
        """Prepare the rows once."""
        source = Inputs.of(task.source, device=task.device)
        return cls(
            source=source,
            receivers=Receivers(source.structure, torch.as_tensor(task.split.validation_ids.copy())),
            diffused=Problem.of(task, [Map(vanilla(2))]),
            raw=Problem.of(task, [Map(identity())]),
        )

    def __call__(self, candidate: Hypergraph, *, trusts_structure: bool) -> Tensor:
        """Whether each validation node is told right. Equal candidates get the same answer."""
        problem = self.diffused if trusts_structure else self.raw
        rows, targets = problem.view_of(candidate), problem.targets_of(candidate)
        learner = averaged_learner(rows, targets, how=_TRAINING, chance=generator(0, _STREAM), steps=_STEPS)
        scores = self._convolved(learner) if trusts_structure else learner(problem.validation)
        return (scores.argmax(1) == problem.validation_labels).cpu()

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
