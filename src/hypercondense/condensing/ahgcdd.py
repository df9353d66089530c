"""AHGCDD: anchor-guided hypergraph condensation with dual-level discrimination.

Start reading at :meth:`DualLevel.run`, which is Algorithm 1. docs/method.md maps every equation to its
function and its test; what the paper leaves open is marked ``Paper:``.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import torch
from torch import Tensor

from hypercondense.condensing.base import Condenser, Outcome, Task
from hypercondense.condensing.generator import (
    AnchorGenerator,
    Threshold,
    nearest_candidates,
    scatter_members,
    span_basis,
    warm_start,
    warm_targets,
)
from hypercondense.condensing.losses import PairSampler, class_prototypes, coarse_loss, fine_loss, lengths
from hypercondense.condensing.options import check_options, choice
from hypercondense.condensing.refinement import Rows, State, first_features, spread
from hypercondense.condensing.schedules import SCHEDULES, Schedule
from hypercondense.condensing.starts import STARTS, Start
from hypercondense.diffusion import diffuse_dense, heat_kernel, identity, truncation_order, vanilla
from hypercondense.runtime.rng import generator, seeded

Propagation: TypeAlias = Callable[[float], tuple[float, ...]]

#: How the source is diffused, as coefficients of powers of P: the paper's way and its ablations (Figure 3).
PROPAGATIONS: dict[str, Propagation] = {
    "heat-kernel": heat_kernel,
    "vanilla": lambda time: vanilla(truncation_order(time)),
    "power": vanilla,  # not in the paper: P^2 is what two layers of a network do
    "none": lambda time: identity(),
}
_SAMPLE_STREAM = 2


@dataclass(frozen=True, kw_only=True)
class DualLevel(Condenser):
    """Algorithm 1, and the options that AHGCDD and AHGCDD-X share.

    Args:
        time: Diffusion time, lambda in Eq. 2.
        propagation: ``heat-kernel`` (the paper), ``vanilla`` or ``none`` (its ablations), or ``power``, which
            is P to the power of ``time``.
        start: How source rows are aggregated: ``uniform`` (Eq. 6), ``single`` or ``kmeans``.
        samples_per_node: Rows aggregated per condensed node, ``s``.
        epochs: ``T``.
        feature_step: How far features move per epoch, in standard deviations of the start. Adam's step
            ``eta_1`` follows: where features have their turn in one epoch of four, it is four times as long.
        relative_step: Whether it does; else ``feature_step`` is ``eta_1``. Paper: false. An absolute step of
            0.01 is half the size of a tf-idf feature.
        negatives: ``N_neg``.
        schedule: Weights of the two losses over time (Eq. 13).
        unit_vectors: Whether the fine loss compares directions. Paper: raw inner products in Eq. 12,
            normalized features in Theorem 3.3.
        centered: Whether both losses see features without the mean of the class means. Paper: false. What all
            classes share makes their prototypes nearly parallel; to tell them apart then means to leave the
            data. Centered, "away from the others" is "towards its own" (docs/ablation.md).
        average_others: Whether the coarse loss takes the mean over other classes. Paper: false, the sum.
        temperature: Divides the similarities of the fine loss. Paper: 1. A low one gives weight to the
            negatives a node is confused with (docs/ablation.md).
        snapshots: How many states besides the start are scored by ``select``.
    """

    one_thread_up_to: ClassVar[int] = 256

    time: float = 2.0
    propagation: Propagation = choice("heat-kernel", PROPAGATIONS)
    start: Start = choice("uniform", STARTS)
    samples_per_node: int = 20
    epochs: int = 50
    feature_step: float = 0.02
    relative_step: bool = True
    negatives: int = 10
    schedule: Schedule = choice("cosine", SCHEDULES)
    unit_vectors: bool = True
    centered: bool = True
    average_others: bool = True
    temperature: float = 0.03
    snapshots: int = 4

    def __post_init__(self) -> None:
        check_options(self, at_least={"samples_per_node": 1, "epochs": 0, "negatives": 0, "snapshots": 1})
        check_options(self, above={"temperature": 0, "feature_step": 0})
        self.propagation(self.time)  # an impossible time is found before the work begins

    @abstractmethod
    def make_state(self, task: Task, features: Tensor, labels: Tensor) -> State:
        """What changes from epoch to epoch, from the first features on."""

    @abstractmethod
    def updates_features(self, epoch: int) -> bool:
        """Whose turn it is, the features' (true) or the structure's (line 12 of Algorithm 1)."""

    def run(self, task: Task) -> Outcome:
        """Algorithm 1."""
        coefficients = self.propagation(self.time)
        rows = Rows(
            task.diffused_rows(coefficients),  # Eq. 4
            task.train_labels,
            device=task.device,
            unit_vectors=self.unit_vectors,
            centered=self.centered,
        )
        labels = torch.as_tensor(task.labels, device=task.device)
        first, members = first_features(task, rows, start=self.start, samples=self.samples_per_node)  # Eq. 6
        state = self.make_state(task, first, labels)
        prototypes = rows.prototypes(task.source.num_classes)
        sampler = PairSampler.of(rows.labels, task.labels, self.negatives)

        for epoch in state.epochs(self.epochs, self.snapshots):
            structure = state.structure()  # Eq. 7 to 9
            diffused = diffuse_dense(state.features, structure, coefficients, self_loops=True)  # Eq. 10
            smoothed = rows.without_centre(diffused)
            condensed = class_prototypes(smoothed, labels, len(prototypes))
            coarse = coarse_loss(prototypes, condensed, average_others=self.average_others)  # Eq. 11
            positives, negatives = (rows[positions] for positions in sampler.draw(state.chance))
            scale = lengths(smoothed) if self.unit_vectors else 1.0  # of similarities, to compare directions
            fine = fine_loss(smoothed, positives, negatives, temperature=scale * self.temperature)  # Eq. 12
            coarse_weight, fine_weight = self.schedule(epoch / self.epochs)
            loss = coarse_weight * coarse + fine_weight * fine  # Eq. 13
            state.update(loss, structure, features=self.updates_features(epoch), coarse=coarse, fine=fine)
        return state.outcome(members)

    def adam_step(self, features: Tensor) -> float:
        """The step of Adam for the features, ``eta_1``, in their own units."""
        if not self.relative_step:
            return self.feature_step
        turns = sum(self.updates_features(epoch) for epoch in range(self.epochs))
        return self.feature_step * spread(features) * self.epochs / max(1, turns)


@dataclass(frozen=True, kw_only=True)
class AHGCDD(DualLevel):
    """The paper's method: features and structure are optimized in turns.

    Args:
        feature_turns: Epochs in a row that update features, ``tau_1``.
        structure_turns: Epochs in a row that update the structure, ``tau_2``.
        structure_step: Step of Adam for MLP and thresholds, ``eta_2``.
        hidden: Width of the pair MLP.
        layers: Its number of linear layers.
        threshold: ``anchor`` (the paper), ``shared`` or ``fixed`` (its ablations).
        threshold_start: Where thresholds begin. Paper: not given.
        candidates: Nodes that may join a hyperedge: the most similar at the start. Paper: ``none``, all.
        warm_steps: Steps that teach the MLP likely members before condensing, more if they are still below
            their thresholds. Paper: 0; it then dies.
        warm_neighbours: Members besides the anchor that a hyperedge is taught.
        warm_step: Step of Adam while warming up.
        sharpen: Whether the first features are such that they are means of source rows (Eq. 6) *after* being
            diffused through the taught hyperedges. Paper: before, so that they are smoothed twice.
        spanned: Whether the MLP sees features along the directions that first features span, which are fewer
            than the features and make a condensation of 27 nodes twice as fast. Paper: false.
    """

    name: ClassVar[str] = "ahgcdd"
    empty_structure: ClassVar[str | None] = (
        "scores are below their thresholds and the identity is used instead; "
        "try more warm_steps, a lower threshold_start or a smaller structure_step"
    )

    feature_turns: int = 5
    structure_turns: int = 15
    structure_step: float = 1e-4
    hidden: int = 256
    layers: int = 3
    threshold: Threshold = "anchor"
    threshold_start: float = 0.7
    candidates: int | None = 3
    warm_steps: int = 20
    warm_neighbours: int = 2
    warm_step: float = 2e-3
    sharpen: bool = True
    spanned: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_options(self, at_least={"feature_turns": 0, "structure_turns": 0, "hidden": 1, "layers": 2})
        check_options(self, at_least={"candidates": 2, "warm_steps": 0, "warm_neighbours": 1})
        check_options(self, above={"structure_step": 0, "warm_step": 0})
        if self.feature_turns + self.structure_turns == 0:
            raise ValueError("feature_turns and structure_turns must not both be 0")
        if not 0 <= self.threshold_start < 1:
            raise ValueError(f"threshold_start must be from 0 to below 1, got {self.threshold_start:g}")

    def updates_features(self, epoch: int) -> bool:
        """``tau_1`` epochs for the features, then ``tau_2`` for the structure, and so on."""
        return epoch % (self.feature_turns + self.structure_turns) < self.feature_turns

    def make_state(self, task: Task, features: Tensor, labels: Tensor) -> State:
        """First features and a generator that was warmed up on them."""
        step = self.adam_step(features)  # sharpening widens features; steps stay as long as in AHGCDD-X
        with task.stage("warm up"), seeded(task.seed):
            candidates = nearest_candidates(features, self.candidates or len(features))
            targets = warm_targets(features, labels, candidates, self.warm_neighbours)
            if self.sharpen:
                taught = scatter_members(candidates, (1 - self.threshold_start) * targets)
                features = self.sharpened(features, taught)
            anchors = self.untrained_generator(features, candidates)
            warm_start(anchors, features, targets, steps=self.warm_steps, step_size=self.warm_step)
        return State(
            task=task,
            features=features.requires_grad_(),
            generator=anchors,
            feature_step=step,
            structure_step=self.structure_step,
            chance=generator(task.seed, _SAMPLE_STREAM),
        )

    def untrained_generator(self, features: Tensor, candidates: Tensor) -> AnchorGenerator:
        """A generator for features like these, its weights drawn from torch's global source of chance."""
        return AnchorGenerator(
            candidates,
            num_features=features.shape[1],
            hidden=self.hidden,
            layers=self.layers,
            threshold=self.threshold,
            threshold_start=self.threshold_start,
            scale=spread(features),
            basis=span_basis(features) if self.spanned else None,
        ).to(features.device)

    def sharpened(self, features: Tensor, taught: Tensor) -> Tensor:
        """Features that turn into the given ones when diffused through the hyperedges ``taught`` (n, n).

        No eigenvalue of P is below 0, so none of the heat kernel is below ``exp(-time)``: the solve is safe.
        """
        eye = torch.eye(len(features), dtype=features.dtype, device=features.device)
        coefficients = self.propagation(self.time)
        if coefficients[0] == 0:  # a power of P cannot be undone; the heat kernel is what comes closest
            coefficients = heat_kernel(self.time)
        kernel = diffuse_dense(eye, taught, coefficients, self_loops=True)
        sharp: Tensor = torch.linalg.solve(kernel, features)
        return sharp


@dataclass(frozen=True, kw_only=True)
class AHGCDDX(DualLevel):
    """AHGCDD-X: the structure is the identity, and every epoch updates the features."""

    name: ClassVar[str] = "ahgcdd-x"
    empty_structure: ClassVar[str | None] = None

    def updates_features(self, epoch: int) -> bool:
        """Always: there is nothing else to update."""
        return True

    def make_state(self, task: Task, features: Tensor, labels: Tensor) -> State:
        """First features and no generator."""
        return State.features_only(task, features, step=self.adam_step(features), stream=_SAMPLE_STREAM)
