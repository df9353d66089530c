"""Prediction, the goal beyond the paper: a model fitted to condensed rows predicts the rows of the source.

The model is ridge regression in closed form, a network in training, or first the one and then the other. Only
where source rows are predicted can there be several maps, teachers and soft labels.
"""

import math
from typing import TYPE_CHECKING, Annotated, TypeAlias

import torch
from msgspec import Meta
from torch import Tensor

from hypercondense.condensing.candidate import Candidate
from hypercondense.condensing.closed_form import ClosedForm, falling
from hypercondense.condensing.job import Job, Scorer
from hypercondense.condensing.loop import Objective
from hypercondense.condensing.maps import Map, seen_through
from hypercondense.condensing.problem import Problem, rows_of, targets_of
from hypercondense.condensing.rows import spread
from hypercondense.condensing.starts import Matrix
from hypercondense.condensing.teachers import Teachers
from hypercondense.condensing.unrolled import Learners, Unrolled
from hypercondense.hypergraph import Hypergraph, Ids
from hypercondense.runtime.rng import Stream, generator
from hypercondense.typed import Count, Positive, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hypercondense.condensing.recipe import Recipe

#: Of the allotted class in soft labels: not all, or there would be no gradient.
OwnShare = Annotated[float, Meta(gt=0, lt=1)]


class Plain(Value, tag_field="kind", tag="plain"):
    """Condensed nodes have their allotted class."""


class Smoothed(Value, tag_field="kind", tag="smoothed"):
    """Condensed nodes have most of their allotted class and the rest of all others equally.

    Args:
        own: Share of the allotted class.
    """

    own: OwnShare = 0.9


class Learnt(Value, tag_field="kind", tag="learnt"):
    """Shares of classes are optimized together with the features; they begin as if smoothed.

    Args:
        step: Adam's step of the scores whose softmax they are, times that of the features in deviations.
        own: Share of the allotted class in the beginning: near one-hot, where gradients still flow.
    """

    step: Positive = 1.0
    own: OwnShare = 0.9


Labels: TypeAlias = Plain | Smoothed | Learnt


class Predict(Value, tag_field="kind", tag="predict"):
    """Predict source rows by a model fitted to condensed rows.

    Args:
        closed_form: Epochs in which the model is ridge regression; ``none`` leaves them out.
        training: Epochs after them in which it is a network in training; ``none`` leaves them out.
        also: Maps of further rows to predict besides those of the recipe's own map. Networks with residual
            connections see something between raw and diffused rows.
        teachers: Networks whose opinion of all nodes is predicted, too; ``none`` predicts training nodes.
        labels: What classes condensed nodes have: ``plain``, ``smoothed`` or ``learnt``.
        batch: Source rows a step looks at.
    """

    closed_form: ClosedForm | None = ClosedForm()
    training: Unrolled | None = None
    also: tuple[Map, ...] = ()
    teachers: Teachers | None = None
    labels: Labels = Plain()
    batch: Count = 2048

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.closed_form is None and self.training is None:
            raise ValueError("closed_form and training must not both be none; a goal of none keeps the start")

    @property
    def epochs(self) -> int:
        """Those of the closed form, then those of the training."""
        return sum(part.epochs for part in (self.closed_form, self.training) if part is not None)

    @property
    def one_thread_up_to(self) -> int:
        """Thousands of small steps make threads wait; the batches of the closed form gain from two sooner."""
        return 128 if self.training is None else 1024

    def prepare(
        self, recipe: "Recipe", job: Job, *, rows: Matrix, first: Tensor, labels: Ids
    ) -> "Prediction":
        """The goal at work: rows to predict."""
        # With anchors it draws as dual-level recipes do: committed results were made so.
        stream = Stream.BATCHES if recipe.structure is None else Stream.DUAL_LEVEL
        maps = (recipe.map, *self.also)
        opinions = None
        if self.teachers is not None:
            opinions = job.material.opinions(
                self.teachers,
                seed=job.seed,
                select=job.select,
                checkpoint=job.checkpoint,
                progress=job.progress,
            )
        problem = Problem.of(job.material, maps, labels, opinions=opinions, judges=job.chooses)
        chance = generator(job.seed, stream)
        return Prediction(self, problem, recipe.map, chance=chance, scale=spread(first))


class Prediction(Objective):
    """The error of a model on rows of one source."""

    def __init__(
        self, goal: Predict, problem: Problem, rows_map: Map, *, chance: torch.Generator, scale: float
    ) -> None:
        self.goal, self.problem, self.map, self.scale = goal, problem, rows_map, scale
        self.chance = chance
        self.learners = None if goal.training is None else Learners(goal.training)
        self.closed_epochs = goal.closed_form.epochs if goal.closed_form else 0

    def seen(self, features: Tensor, structure: Tensor) -> Tensor:
        """Condensed features through their own structure."""
        return seen_through(features, structure, self.map.polynomial)

    def loss(self, seen: Tensor, shares: Tensor | None, epoch: int) -> tuple[Tensor, dict[str, Tensor]]:
        """Of the closed form first, then of the networks in training."""
        targets = self.problem.targets if shares is None else shares
        goal = self.goal
        if epoch < self.closed_epochs:
            assert goal.closed_form is not None
            loss = goal.closed_form.loss(self.problem, seen, targets, batch=goal.batch, chance=self.chance)
        else:
            assert self.learners is not None
            loss = self.learners.loss(
                self.problem, seen, targets, epoch=epoch, batch=goal.batch, chance=self.chance
            )
        return loss, {"error": loss}

    def steps(self, epoch: int) -> tuple[float, float]:
        """Both fall to 0 in either part."""
        part = self.goal.closed_form if epoch < self.closed_epochs else self.goal.training
        assert part is not None
        begin = 0 if epoch < self.closed_epochs else self.closed_epochs
        step = part.step * falling((epoch - begin) / part.epochs)
        labels = self.goal.labels
        return self.scale * step, labels.step * step if isinstance(labels, Learnt) else 0.0

    def score(self, candidate: Candidate) -> float:
        """Score on the validation rows of the model of the last part, fitted to a candidate."""
        shares = candidate.shares
        seen = self.seen(candidate.features, candidate.structure)
        return self._score(seen, self.problem.targets if shares is None else shares)

    def judge(self) -> Scorer:
        """The same for a hypergraph."""

        def score(candidate: Hypergraph) -> float:
            like = self.problem.targets
            rows = rows_of(candidate, self.map.polynomial, like=like)
            return self._score(rows, targets_of(candidate, num_classes=like.shape[1], like=like))

        return score

    def _score(self, rows: Tensor, targets: Tensor) -> float:
        part = self.goal.training or self.goal.closed_form
        assert part is not None
        return part.score(self.problem, rows, targets)

    def pack(self) -> dict[str, Tensor]:
        """The networks in training."""
        return {} if self.learners is None else self.learners.pack()

    def unpack(self, tensors: "Mapping[str, Tensor]") -> None:
        """Put them back."""
        if self.learners is not None:
            self.learners.unpack(tensors, device=str(self.problem.targets.device))


def first_scores(targets: Tensor, own: float) -> Tensor:
    """Scores whose softmax gives ``own`` to the class in one-hot ``targets`` (n, C), the rest to all others.

    >>> first_scores(torch.eye(3)[:2], 0.9).softmax(1)
    tensor([[0.9000, 0.0500, 0.0500],
            [0.0500, 0.9000, 0.0500]])
    """
    others = max(1, targets.shape[1] - 1)
    return targets * math.log(own * others / (1 - own))
