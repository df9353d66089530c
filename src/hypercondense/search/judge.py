"""What candidates are worth, on validation nodes: a cheap look at all of them."""

from dataclasses import dataclass

import torch
from torch import Tensor

from hypercondense.condensing.job import Job
from hypercondense.condensing.maps import Map
from hypercondense.condensing.problem import rows_of, targets_of
from hypercondense.diffusion import identity, vanilla
from hypercondense.hypergraph import Hypergraph
from hypercondense.nn import Receivers
from hypercondense.nn.base import InputLinear
from hypercondense.nn.hgnn import HGNN
from hypercondense.nn.learner import Learner, averaged_learner
from hypercondense.nn.steps import Training
from hypercondense.nn.training import Inputs, told_classes
from hypercondense.runtime.rng import Stream, generator

_TRAINING = Training(hidden=64)
_STEPS = 200


@dataclass(frozen=True)
class Judge:
    """Which validation nodes a small network gets right that was trained on a candidate.

    Args:
        source: What is being condensed, where candidates of diffused rows are tried: by two convolutions.
        receivers: Its validation nodes.
        raw: Their features: candidates of raw rows are tried on these, by a network without a structure.
        labels: Their classes.
    """

    source: Inputs
    receivers: Receivers
    raw: Tensor
    labels: Tensor

    @classmethod
    def of(cls, job: Job) -> "Judge":
        """Prepare the rows once."""
        source = job.material.inputs
        node_ids = torch.as_tensor(job.material.split.validation_ids.copy())
        raw = torch.from_numpy(job.material.parts(Map(kernel="none"))[1]).to(source.labels.device)
        return cls(
            source=source,
            receivers=Receivers(source.structure, node_ids),
            raw=raw,
            labels=source.labels[node_ids.to(source.labels.device)],
        )

    def __call__(self, candidate: Hypergraph, *, trusts_structure: bool) -> Tensor:
        """Whether each validation node is told right. Equal candidates get the same answer."""
        coefficients = vanilla(2) if trusts_structure else identity()
        rows = rows_of(candidate, coefficients, like=self.raw)
        targets = targets_of(candidate, num_classes=self.source.num_classes, like=self.raw)
        chance = generator(0, Stream.SEARCH_JUDGE)
        learner = averaged_learner(rows, targets, how=_TRAINING, chance=chance, steps=_STEPS)
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
