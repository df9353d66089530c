"""Through a training: condensed rows such that a network trained on them predicts the rows of the source.

A small network is trained on the condensed rows for a few steps, its error on source rows is measured, and
the gradient flows back through those steps of training to the rows it was trained on. Unlike a closed form,
this knows of the nonlinearity, the cross-entropy and the dropout of the networks that will be trained later.
"""

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from hypercondense.condensing.problem import Problem
from hypercondense.nn.learner import Learner, averaged_learner
from hypercondense.nn.steps import Training
from hypercondense.runtime.rng import Stream, generator
from hypercondense.typed import Count, Positive, Value

_KINDS = ("weights", "means", "squares")


class Unrolled(Value):
    """Epochs that differentiate through the training of a small network.

    Args:
        epochs: Steps of Adam on the features.
        step: Its first step, times the standard deviation of the features at the start; it falls to 0 along
            half a cosine.
        window: Training steps the gradient flows through.
        horizon: Training steps after which a network begins again, untrained.
        networks: How many networks take turns, of different ages.
        hidden: Their width.
    """

    epochs: Count = 60
    step: Positive = 0.02
    window: Count = 10
    horizon: Count = 100
    networks: Count = 4
    hidden: Count = 128

    @property
    def training(self) -> Training:
        """How the networks are trained."""
        return Training(hidden=self.hidden)

    def score(self, problem: Problem, condensed: Tensor, targets: Tensor) -> float:
        """Score on the validation rows of a network trained on a candidate, always in the same way."""
        chance = generator(0, Stream.LEARNERS)
        return problem.score(averaged_learner(condensed, targets, how=self.training, chance=chance))


class Learners:
    """The networks that take turns."""

    def __init__(self, part: Unrolled) -> None:
        self.part = part
        self.kept: dict[int, Learner] = {}

    def loss(
        self,
        problem: Problem,
        condensed: Tensor,
        targets: Tensor,
        *,
        epoch: int,
        batch: int,
        chance: torch.Generator,
    ) -> Tensor:
        """Cross-entropy on a batch of source rows after ``window`` more steps of training."""
        turn, how = epoch % self.part.networks, self.part.training
        learner = self._learner(turn, condensed.detach(), targets.detach(), chance)
        learner = learner.trained(condensed, targets, self.part.window, how=how, chance=chance)
        self.kept[turn] = learner.detached()
        rows, classes = problem.batch(batch, chance)
        return F.cross_entropy(learner(rows), classes)

    def pack(self) -> dict[str, Tensor]:
        """Named tensors for a checkpoint."""
        tensors: dict[str, Tensor] = {}
        for turn, learner in self.kept.items():
            for kind in _KINDS:
                for layer, tensor in enumerate(getattr(learner, kind)):
                    tensors[f"{turn}.{kind}.{layer}"] = tensor
            tensors[f"{turn}.age"] = torch.tensor(learner.age)
        return tensors

    def unpack(self, tensors: Mapping[str, Tensor], *, device: str) -> None:
        """Put back what :meth:`pack` took."""
        for turn in {int(name.split(".")[0]) for name in tensors}:
            weights, means, squares = (
                (tensors[f"{turn}.{kind}.0"].to(device), tensors[f"{turn}.{kind}.1"].to(device))
                for kind in _KINDS
            )
            self.kept[turn] = Learner(weights, means, squares, int(tensors[f"{turn}.age"]))

    def _learner(self, turn: int, condensed: Tensor, targets: Tensor, chance: torch.Generator) -> Learner:
        """The network whose turn it is; untrained ones get a head start, so that their ages differ."""
        kept = self.kept.get(turn)
        if kept is not None and kept.age < self.part.horizon:
            return kept
        fresh = Learner.untrained(
            num_features=condensed.shape[1],
            num_classes=targets.shape[1],
            hidden=self.part.hidden,
            chance=chance,
            device=str(condensed.device),
        )
        head_start = 0 if kept is not None else turn * self.part.horizon // self.part.networks
        return fresh.trained(condensed, targets, head_start, how=self.part.training, chance=chance)
