"""Unrolled: condensed rows such that a network trained on them predicts the real training rows.

A small network is trained on the condensed rows for a few steps, its error on source rows is measured, and
the gradient flows back through those steps of training to the rows it was trained on. Unlike a closed form,
this knows of the nonlinearity, the cross-entropy and the dropout of the networks that will be trained later.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from hypercondense.condensing.ahgcdd import PROPAGATIONS, Propagation
from hypercondense.condensing.options import check_options, choice
from hypercondense.condensing.problem import Problem
from hypercondense.condensing.refinement import State
from hypercondense.condensing.ridge import Ridge, falling, learnt_targets
from hypercondense.condensing.starts import STARTS, Start
from hypercondense.hypergraph import Hypergraph
from hypercondense.nn.learner import Learner, averaged_learner
from hypercondense.nn.steps import Training
from hypercondense.runtime.rng import generator

_JUDGE_STREAM = 7


@dataclass(frozen=True, kw_only=True)
class Unrolled(Ridge):
    """Features optimized through the training of a network, after some epochs of the closed form.

    Args:
        epochs: Epochs of the closed form (:class:`Ridge`) at the beginning.
        unrolled_epochs: Epochs after them, each of which differentiates through ``window`` training steps.
        unrolled_step: Adam's first step in these, times the deviation of the first features.
        window: Training steps the gradient flows through.
        horizon: Training steps after which a network begins again, untrained.
        networks: How many networks take turns, of different ages.
        hidden: Their width.
    """

    name: ClassVar[str] = "unrolled"
    one_thread_up_to: ClassVar[int] = 1024  # thousands of small steps, in which threads wait for each other

    propagation: Propagation = choice("power", PROPAGATIONS)
    start: Start = choice("uniform", STARTS)
    unrolled_epochs: int = 60
    unrolled_step: float = 0.02
    window: int = 10
    horizon: int = 100
    networks: int = 4
    hidden: int = 128

    def __post_init__(self) -> None:
        super().__post_init__()
        check_options(self, at_least={"unrolled_epochs": 0, "window": 1, "horizon": 1, "networks": 1})
        check_options(self, at_least={"hidden": 1}, above={"unrolled_step": 0})

    @property
    def total_epochs(self) -> int:
        """Those of the closed form, then those of the networks."""
        return self.epochs + self.unrolled_epochs

    def relative_step(self, epoch: int) -> float:
        """Adam's step falls in either part."""
        if epoch < self.epochs:
            return super().relative_step(epoch)
        return self.unrolled_step * falling((epoch - self.epochs) / self.unrolled_epochs)

    def loss(self, problem: Problem, state: State, condensed: Tensor) -> Tensor:
        """Cross-entropy on a batch of training rows after ``window`` more steps of training."""
        if state.epoch < self.epochs:
            return super().loss(problem, state, condensed)
        turn = state.epoch % self.networks
        targets = learnt_targets(problem, state)
        learner = self._learner(state, condensed.detach(), targets.detach(), turn)
        learner = learner.trained(condensed, targets, self.window, how=self.training, chance=state.chance)
        _keep(state, turn, learner.detached())
        rows, classes = problem.batch(self.batch, state.chance)
        return F.cross_entropy(learner(rows), classes)

    def accuracy(self, problem: Problem, candidate: Hypergraph) -> float:
        """Accuracy on the validation nodes of a network trained on a candidate, always in the same way."""
        learner = averaged_learner(
            problem.view_of(candidate),
            problem.targets_of(candidate),
            how=self.training,
            chance=generator(0, _JUDGE_STREAM),
        )
        return problem.accuracy(learner)

    @property
    def training(self) -> Training:
        """How the networks are trained."""
        return Training(hidden=self.hidden)

    def _learner(self, state: State, condensed: Tensor, targets: Tensor, turn: int) -> Learner:
        """The network whose turn it is; untrained ones get a head start, so that their ages differ."""
        kept = _kept(state, turn)
        if kept is not None and kept.age < self.horizon:
            return kept
        fresh = Learner.untrained(
            num_features=condensed.shape[1],
            num_classes=targets.shape[1],
            hidden=self.hidden,
            chance=state.chance,
            device=str(condensed.device),
        )
        head_start = 0 if kept is not None else turn * self.horizon // self.networks
        return fresh.trained(condensed, targets, head_start, how=self.training, chance=state.chance)


def _keep(state: State, turn: int, learner: Learner) -> None:
    """Put a learner where a checkpoint finds it."""
    for kind, pair in (("weights", learner.weights), ("means", learner.means), ("squares", learner.squares)):
        for layer, tensor in enumerate(pair):
            state.extras[f"{turn}.{kind}.{layer}"] = tensor
    state.extras[f"{turn}.age"] = torch.tensor(learner.age)


def _kept(state: State, turn: int) -> Learner | None:
    if f"{turn}.age" not in state.extras:
        return None
    weights, means, squares = (
        (state.extras[f"{turn}.{kind}.0"], state.extras[f"{turn}.{kind}.1"])
        for kind in ("weights", "means", "squares")
    )
    return Learner(weights, means, squares, int(state.extras[f"{turn}.age"]))
