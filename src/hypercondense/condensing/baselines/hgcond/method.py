"""HG-Cond and HG-Cond-NHL (Gong et al., 2025), from their published description.

Start reading at :meth:`Matching.run`. docs/baselines.md lists every choice the description leaves open.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from hypercondense.condensing.base import Condenser, Outcome, Task
from hypercondense.condensing.baselines.hgcond.linker import HyperedgeLinker, train_linker
from hypercondense.condensing.baselines.hgcond.matching import (
    SourceRows,
    View,
    Waypoint,
    expert_waypoints,
    first_parameters,
    matching_losses,
)
from hypercondense.condensing.baselines.hgcond.pairs import MembershipSampler
from hypercondense.condensing.options import check_options, choice
from hypercondense.condensing.refinement import Rows, State, first_features, spread
from hypercondense.condensing.starts import STARTS, Start
from hypercondense.diffusion import diffuse_dense, vanilla
from hypercondense.hypergraph import Dense
from hypercondense.runtime.rng import generator, numpy_generator, seeded

_SAMPLE_STREAM, _LINKER_STREAM, _EXPERT_STREAM = 5, 6, 7  # independent sources of chance under one seed
_NO_HYPEREDGES = (
    "no hyperedge of the source has two members, so there is nothing to learn about hyperedges: "
    "the condensed hypergraph has only self-loops"
)


@dataclass(frozen=True, kw_only=True)
class Matching(Condenser):
    """What HG-Cond and HG-Cond-NHL share.

    Args:
        hops: Powers of P in front of the weights of the matched network.
        start: How training rows are aggregated: ``uniform``, ``single`` or ``kmeans``.
        samples_per_node: Rows aggregated per condensed node.
        epochs: Steps of Adam on the features, each against one waypoint.
        feature_step: Its step, times the standard deviation of the features at the start.
        snapshots: How many states besides the start are scored by ``select``.
        linker_hidden: Width of the linker's encoder.
        latent: Width of its latent vectors.
        linker_steps: Steps of its training.
        linker_step: Size of such a step of Adam.
        linker_batch: Incidences per step.
        strangers: Nodes that are not members per step.
        divergence_weight: Weight of the divergence from the prior, per node.
        threshold: Probability above which a node joins a hyperedge.
        max_members: Most members of a condensed hyperedge.
        hidden: Width of the matched network's hidden layer; 0 for none.
        experts: Starts from which the network is trained on the source.
        expert_steps: Steps of gradient descent of each.
        expert_step: Size of such a step.
        expert_rows: Most training rows a step reads.
        stride: Steps of an expert from one waypoint to the next.
        student_steps: Steps on the condensed side that should go as far.
        gradient_weight: Weight of the distance of gradients.
        parameter_weight: Weight of the distance of parameters.
    """

    empty_structure: ClassVar[str | None] = "lower the option threshold, or raise linker_steps"

    hops: int = 2
    start: Start = choice("uniform", STARTS)
    samples_per_node: int = 20
    epochs: int = 100
    feature_step: float = 0.03
    snapshots: int = 4
    linker_hidden: int = 64
    latent: int = 16
    linker_steps: int = 300
    linker_step: float = 0.005
    linker_batch: int = 512
    strangers: int = 256
    divergence_weight: float = 0.01
    threshold: float = 0.5
    max_members: int = 8
    hidden: int = 0
    experts: int = 4
    expert_steps: int = 100
    expert_step: float = 1.0
    expert_rows: int = 4096
    stride: int = 10
    student_steps: int = 5
    gradient_weight: float = 1.0
    parameter_weight: float = 1.0

    def __post_init__(self) -> None:
        check_options(self, at_least={"hops": 0, "samples_per_node": 1, "epochs": 0, "snapshots": 1})
        check_options(self, at_least={"linker_hidden": 1, "latent": 1, "linker_steps": 0, "linker_batch": 1})
        check_options(self, at_least={"strangers": 1, "max_members": 2, "hidden": 0, "experts": 1})
        check_options(self, at_least={"stride": 1, "expert_steps": self.stride, "student_steps": 1})
        check_options(self, at_least={"divergence_weight": 0, "threshold": 0, "expert_rows": 1})
        check_options(self, at_least={"gradient_weight": 0, "parameter_weight": 0})
        check_options(self, above={"feature_step": 0, "linker_step": 0, "expert_step": 0})
        if self.gradient_weight == self.parameter_weight == 0:
            raise ValueError("gradient_weight and parameter_weight must not both be 0")
        if not self.threshold < 1:
            raise ValueError(f"threshold must be from 0 to below 1, got {self.threshold:g}")

    @abstractmethod
    def structure_of(self, linker: HyperedgeLinker, features: Tensor) -> nn.Module:
        """What makes the structure from the features, given the first ones."""

    def run(self, task: Task) -> Outcome:
        """Train the linker, train the experts, then refine the features."""
        coefficients = vanilla(self.hops)
        propagated = task.diffused(coefficients)
        rows = Rows(
            np.asarray(propagated[task.split.train_ids]), task.train_labels, task.device, unit_vectors=False
        )
        first, members = first_features(task, rows, start=self.start, samples=self.samples_per_node)
        center = torch.from_numpy(propagated.mean(axis=0, dtype=np.float64).astype(np.float32))
        center = center.to(task.device)
        linker = self.trained_linker(task, propagated, center)
        view, waypoints = self.trained_experts(task, rows, center)
        state = self.first_state(task, first, linker)
        labels = torch.as_tensor(task.labels, device=task.device)

        for _ in state.epochs(self.epochs, self.snapshots):
            structure = state.structure()
            smoothed = diffuse_dense(state.features, structure, coefficients, self_loops=True)
            waypoint = waypoints[int(torch.randint(len(waypoints), (), generator=state.chance))]
            gradient, parameter = matching_losses(
                view(smoothed),
                labels,
                waypoint,
                steps=self.student_steps,
                step_size=self.expert_step * self.stride / self.student_steps,
            )
            loss = self.gradient_weight * gradient + self.parameter_weight * parameter
            state.update(loss, structure, features=True, gradient=gradient, parameter=parameter)
        outcome = state.outcome(members)
        return outcome if linker else replace(outcome, warnings=(*outcome.warnings, _NO_HYPEREDGES))

    def trained_linker(self, task: Task, propagated: Dense, center: Tensor) -> HyperedgeLinker | None:
        """A frozen linker, or nothing where the source has no hyperedge to learn from."""
        sampler = MembershipSampler(
            task.source, self.linker_batch, self.strangers, numpy_generator(task.seed, _LINKER_STREAM)
        )
        if len(sampler) == 0:
            return None
        with task.stage("linker"), seeded(task.seed):
            linker = HyperedgeLinker(
                center,
                hidden=self.linker_hidden,
                latent=self.latent,
                threshold=self.threshold,
                max_members=self.max_members,
            ).to(task.device)
            train_linker(
                linker,
                propagated,
                sampler,
                steps=self.linker_steps,
                step_size=self.linker_step,
                divergence_weight=self.divergence_weight,
                progress=task.progress,
            )
        return linker

    def trained_experts(self, task: Task, rows: Rows, center: Tensor) -> tuple[View, list[Waypoint]]:
        """How networks see rows, and the ways of all experts, which learn from the training rows."""
        widths = [task.source.num_features, *filter(None, [self.hidden]), task.source.num_classes]
        points: list[Waypoint] = []
        with task.stage("experts"):
            values = torch.from_numpy(rows.values).to(task.device)
            view = View.of(values, center)
            source = SourceRows(
                view(values),
                torch.as_tensor(rows.labels, device=task.device),
                batch=self.expert_rows,
                chance=generator(task.seed, _EXPERT_STREAM),
            )
            for expert in range(self.experts):
                points += expert_waypoints(
                    source,
                    tuple(first.to(task.device) for first in first_parameters(widths, source.chance)),
                    steps=self.expert_steps,
                    stride=self.stride,
                    step_size=self.expert_step,
                )
                task.progress("train experts", expert + 1, self.experts)
        return view, points

    def first_state(self, task: Task, features: Tensor, linker: HyperedgeLinker | None) -> State:
        """What changes from epoch to epoch."""
        return State(
            task=task,
            features=features.requires_grad_(),
            generator=linker and self.structure_of(linker, features.detach()),
            feature_step=self.feature_step * spread(features),
            structure_step=1.0,  # nothing of the structure is learnt here
            chance=generator(task.seed, _SAMPLE_STREAM),
        )


@dataclass(frozen=True, kw_only=True)
class HGCond(Matching):
    """HG-Cond: the frozen linker makes the hyperedges anew whenever the features change."""

    name: ClassVar[str] = "hg-cond"

    def structure_of(self, linker: HyperedgeLinker, features: Tensor) -> nn.Module:
        """The linker itself."""
        return linker


@dataclass(frozen=True, kw_only=True)
class HGCondNHL(Matching):
    """HG-Cond-NHL: the hyperedges are those the linker makes at the start."""

    name: ClassVar[str] = "hg-cond-nhl"

    def structure_of(self, linker: HyperedgeLinker, features: Tensor) -> nn.Module:
        """What the linker makes of the first features, whatever they become."""
        return FixedStructure(linker(features))


class FixedStructure(nn.Module):
    """The same incidence for any features."""

    incidence: Tensor

    def __init__(self, incidence: Tensor) -> None:
        super().__init__()
        self.register_buffer("incidence", incidence)

    def forward(self, features: Tensor) -> Tensor:
        """The incidence (nodes, hyperedges)."""
        return self.incidence
