"""Dual-level discrimination, the paper's goal: lines 9 to 11 of Algorithm 1 (Eq. 11 to 13).

What the paper does otherwise is marked ``Paper:``; the preset ``ahgcdd-paper`` has it so.
"""

from typing import TYPE_CHECKING, ClassVar, Literal

import torch
from torch import Tensor

from hypercondense.condensing.candidate import Candidate
from hypercondense.condensing.job import Job, Scorer
from hypercondense.condensing.judging import RowsJudge
from hypercondense.condensing.loop import Objective
from hypercondense.condensing.losses import PairSampler, class_prototypes, coarse_loss, fine_loss, lengths
from hypercondense.condensing.rows import SeenRows, spread
from hypercondense.condensing.schedules import SCHEDULES
from hypercondense.condensing.starts import Matrix
from hypercondense.hypergraph import Ids
from hypercondense.runtime.rng import Stream, generator
from hypercondense.typed import CountOrZero, Positive, Value

if TYPE_CHECKING:
    from hypercondense.condensing.recipe import Recipe


class DualLevel(Value, tag_field="kind", tag="dual-level"):
    """Tell classes apart as the source does, between prototypes (coarse) and between samples (fine).

    Args:
        epochs: Steps of Adam on features and structure together, ``T``.
        step: How far features move per epoch, ``eta_1``; in standard deviations of the start if ``relative``.
            Adam's step follows: where features have their turn in one epoch of four, it is four times that.
        relative: Whether ``step`` is measured in standard deviations of the first features. Paper: false. An
            absolute step of 0.01 is half the size of a tf-idf feature.
        negatives: Rows of other classes that each condensed node is contrasted with, ``N_neg``.
        schedule: Weights of the two losses over time (Eq. 13).
        unit_vectors: Whether the fine loss compares directions. Paper: raw inner products in Eq. 12,
            normalized features in Theorem 3.3.
        centered: Whether both losses see features without the mean of the class means. Paper: false. What
            all classes share makes their prototypes nearly parallel, and what moves them apart moves them
            away from the data. Centered, it moves them towards their own class (docs/ablation.md).
        average_others: Whether the coarse loss takes the mean over other classes. Paper: false, the sum.
        sums: Whether the coarse loss is a sum over classes and the fine one over nodes. Paper: true. Means
            keep the balance of Eq. 13 the same for 3 and for 60 classes.
        temperature: Divides the similarities of the fine loss. Paper: 1. A low one gives weight to the
            negatives a node is confused with (docs/ablation.md).
    """

    one_thread_up_to: ClassVar[int] = 256

    epochs: CountOrZero = 50
    step: Positive = 0.02
    relative: bool = True
    negatives: CountOrZero = 10
    schedule: Literal["cosine", "linear", "step", "static", "coarse-only", "fine-only"] = "cosine"
    unit_vectors: bool = True
    centered: bool = True
    average_others: bool = True
    sums: bool = False
    temperature: Positive = 0.03

    def prepare(
        self, recipe: "Recipe", job: Job, *, rows: Matrix, first: Tensor, labels: Ids
    ) -> "Discrimination":
        """The goal at work: source prototypes and a sampler of pairs."""
        return Discrimination(self, recipe, job, rows=rows, first=first, labels=labels)


class Discrimination(Objective):
    """Coarse and fine loss on the rows of one source."""

    def __init__(
        self, goal: DualLevel, recipe: "Recipe", job: Job, *, rows: Matrix, first: Tensor, labels: Ids
    ) -> None:
        material = job.material
        self.goal, self.map = goal, recipe.map
        self.rows = SeenRows(
            rows,
            material.train_labels,
            device=material.device,
            unit_vectors=goal.unit_vectors,
            centered=goal.centered,
        )
        self.labels = torch.as_tensor(labels, device=material.device)
        self.prototypes = self.rows.prototypes(material.source.num_classes)
        self.sampler = PairSampler.of(self.rows.labels, labels, goal.negatives)
        self.chance = generator(job.seed, Stream.DUAL_LEVEL)
        cheap = job.chooses and len(material.sampled_ids) > 0
        self._judge = RowsJudge(material, recipe.map) if cheap else None
        self._source, self._labels = material.source, labels
        self.step = goal.step
        if goal.relative:  # of the first features, before they are sharpened
            turns = sum(recipe.features_turn(epoch) for epoch in range(goal.epochs))
            self.step = goal.step * spread(first) * goal.epochs / max(1, turns)

    def seen(self, features: Tensor, structure: Tensor) -> Tensor:
        """Condensed features, diffused as the source's are (Eq. 10)."""
        return self.map.condensed(features, structure)

    def loss(self, seen: Tensor, shares: Tensor | None, epoch: int) -> tuple[Tensor, dict[str, Tensor]]:
        """Both losses, weighed by the schedule."""
        goal, smoothed = self.goal, self.rows.without_centre(seen)
        condensed = class_prototypes(smoothed, self.labels, len(self.prototypes))
        coarse = coarse_loss(self.prototypes, condensed, average_others=goal.average_others)  # Eq. 11
        positives, negatives = (self.rows[positions] for positions in self.sampler.draw(self.chance))
        scale = lengths(smoothed) if goal.unit_vectors else 1.0  # of similarities, to compare directions
        fine = fine_loss(smoothed, positives, negatives, temperature=scale * goal.temperature)  # Eq. 12
        if goal.sums:
            coarse, fine = len(self.prototypes) * coarse, len(seen) * fine
        coarse_weight, fine_weight = SCHEDULES[goal.schedule](epoch / goal.epochs)
        return coarse_weight * coarse + fine_weight * fine, {"coarse": coarse, "fine": fine}  # Eq. 13

    def steps(self, epoch: int) -> tuple[float, float]:
        """The same all the time."""
        return self.step, 0.0

    def judge(self) -> Scorer | None:
        """Rows of validation nodes where these are many, since networks would have to look at the source."""
        return self._judge

    def score(self, candidate: Candidate) -> float | None:
        """What that judge says, if it is asked."""
        return None if self._judge is None else self._judge(candidate.hypergraph(self._source, self._labels))
