"""HG-Cond and HG-Cond-NHL (Gong et al., 2025), from their published description.

Start reading at :meth:`HGCond.run`. docs/baselines.md lists every choice the description leaves open.
"""

from dataclasses import replace
from typing import Annotated, ClassVar

import numpy as np
import torch
from msgspec import Meta
from torch import Tensor, nn

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
from hypercondense.condensing.job import Job, Made
from hypercondense.condensing.leaves import Leaves
from hypercondense.condensing.loop import Objective, optimize
from hypercondense.condensing.maps import Map
from hypercondense.condensing.rows import spread
from hypercondense.condensing.starts import Means
from hypercondense.hypergraph import Dense
from hypercondense.runtime.rng import Stream, generator, numpy_generator, seeded
from hypercondense.typed import Count, CountOrZero, NotNegative, Positive, Value

_EXPERT_STEP, _EXPERT_ROWS = 1.0, 4096  # size of a step, and most training rows it reads
_STRIDE, _STUDENT_STEPS = 10, 5  # steps from waypoint to waypoint, and those of a student that go as far
_LINKER_BATCH, _STRANGERS, _LINKER_STEP = 512, 256, 0.005  # incidences and non-members per step of Adam
_DIVERGENCE_WEIGHT = 0.01
_NO_HYPEREDGES = (
    "no hyperedge of the source has two members, so there is nothing to learn about hyperedges: "
    "the condensed hypergraph has only self-loops"
)


class HGCond(Value):
    """A linker makes hyperedges; features are refined by matching gradients and parameters.

    Args:
        hops: Powers of P in front of the weights of the matched network.
        samples: Rows aggregated per condensed node.
        epochs: Steps of Adam on the features, each against one waypoint.
        step: Its step, times the standard deviation of the features at the start.
        relink: Whether the linker makes the hyperedges anew whenever features change (HG-Cond), or only at
            the start (HG-Cond-NHL).
        linker_steps: Steps of the linker's training.
        threshold: Probability above which a node joins a hyperedge.
        max_members: Most members of a condensed hyperedge.
        experts: Starts from which the network is trained on the source.
        expert_steps: Steps of gradient descent of each.
        gradient_weight: Weight of the distance of gradients.
        parameter_weight: Weight of the distance of parameters.
        looks: How many states besides the start are scored on validation nodes; 0 returns the last.
    """

    empty_structure: ClassVar[str] = "lower the option threshold, or raise linker_steps"
    one_thread_up_to: ClassVar[int] = 0
    trains_on_whole: ClassVar[str] = "experts"

    hops: CountOrZero = 2
    samples: Count = 20
    epochs: CountOrZero = 100
    step: Positive = 0.03
    relink: bool = True
    linker_steps: CountOrZero = 300
    threshold: Annotated[float, Meta(ge=0, lt=1)] = 0.5
    max_members: Annotated[int, Meta(ge=2)] = 8
    experts: Count = 4
    expert_steps: Annotated[int, Meta(ge=_STRIDE)] = 100
    gradient_weight: NotNegative = 1.0
    parameter_weight: NotNegative = 1.0
    looks: CountOrZero = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gradient_weight == self.parameter_weight == 0:
            raise ValueError("gradient_weight and parameter_weight must not both be 0")

    def run(self, job: Job) -> Made:
        """Train the linker, train the experts, then refine the features."""
        material, rows_map = job.material, Map(kernel="power", time=self.hops)
        propagated = material.diffused(rows_map)
        rows = np.asarray(propagated[material.split.train_ids])
        start = Means(samples=self.samples)
        first, members = material.first_features(rows, rows_map, start, job.labels, seed=job.seed)
        center = torch.from_numpy(propagated.mean(axis=0, dtype=np.float64).astype(np.float32))
        center = center.to(material.device)
        linker = self._trained_linker(job, propagated, center)
        view, waypoints = self._trained_experts(job, rows, center)
        structure: nn.Module | None = linker
        if linker is not None and not self.relink:
            structure = FixedStructure(linker(first.detach()))
        objective = Matching(self, job, rows_map, view, waypoints, step=self.step * spread(first))
        run = optimize(
            job,
            Leaves(first, generator=structure),
            objective,
            labels=job.labels,
            epochs=self.epochs,
            looks=self.looks,
        )
        made = run.made(members)
        return made if linker else replace(made, warnings=(*made.warnings, _NO_HYPEREDGES))

    def _trained_linker(self, job: Job, propagated: Dense, center: Tensor) -> HyperedgeLinker | None:
        """A frozen linker, or nothing where the source has no hyperedge to learn from."""
        rng = numpy_generator(job.seed, Stream.BATCHES)
        sampler = MembershipSampler(job.material.source, _LINKER_BATCH, _STRANGERS, rng)
        if len(sampler) == 0:
            return None
        with job.material.clock.stage("linker"), seeded(job.seed):
            linker = HyperedgeLinker(center, threshold=self.threshold, max_members=self.max_members)
            train_linker(
                linker.to(job.material.device),
                propagated,
                sampler,
                steps=self.linker_steps,
                step_size=_LINKER_STEP,
                divergence_weight=_DIVERGENCE_WEIGHT,
                progress=job.progress,
            )
        return linker

    def _trained_experts(self, job: Job, rows: Dense, center: Tensor) -> tuple[View, list[Waypoint]]:
        """How networks see rows, and the ways of all experts, which learn from the training rows."""
        material = job.material
        widths = [material.source.num_features, material.source.num_classes]
        points: list[Waypoint] = []
        material.begin_whole_training(self.trains_on_whole, self.experts)
        with material.clock.stage("experts"):
            values = torch.from_numpy(rows).to(material.device)
            view = View.of(values, center)
            source = SourceRows(
                view(values),
                torch.as_tensor(material.train_labels, device=material.device),
                batch=_EXPERT_ROWS,
                chance=generator(job.seed, Stream.LEARNERS),
            )
            for expert in range(self.experts):
                points += expert_waypoints(
                    source,
                    tuple(first.to(material.device) for first in first_parameters(widths, source.chance)),
                    steps=self.expert_steps,
                    stride=_STRIDE,
                    step_size=_EXPERT_STEP,
                )
                job.progress("train experts", expert + 1, self.experts)
        return view, points


class Matching(Objective):
    """Distance of gradients and parameters from those of experts."""

    def __init__(
        self, method: HGCond, job: Job, rows_map: Map, view: View, waypoints: list[Waypoint], *, step: float
    ) -> None:
        self.method, self.map, self.view, self.waypoints, self.step = method, rows_map, view, waypoints, step
        self.labels = torch.as_tensor(job.labels, device=job.material.device)
        self.chance = generator(job.seed, Stream.HG_COND)

    def seen(self, features: Tensor, structure: Tensor) -> Tensor:
        """Condensed features, propagated as the source's are, as networks see them."""
        return self.view(self.map.condensed(features, structure))

    def loss(self, seen: Tensor, shares: Tensor | None, epoch: int) -> tuple[Tensor, dict[str, Tensor]]:
        """Both distances at a waypoint drawn by chance."""
        waypoint = self.waypoints[int(torch.randint(len(self.waypoints), (), generator=self.chance))]
        size = _EXPERT_STEP * _STRIDE / _STUDENT_STEPS
        gradient, parameter = matching_losses(
            seen, self.labels, waypoint, steps=_STUDENT_STEPS, step_size=size
        )
        loss = self.method.gradient_weight * gradient + self.method.parameter_weight * parameter
        return loss, {"gradient": gradient, "parameter": parameter}

    def steps(self, epoch: int) -> tuple[float, float]:
        """The same all the time."""
        return self.step, 0.0


class FixedStructure(nn.Module):
    """The same incidence for any features."""

    incidence: Tensor

    def __init__(self, incidence: Tensor) -> None:
        super().__init__()
        self.register_buffer("incidence", incidence)

    def forward(self, features: Tensor) -> Tensor:
        """The incidence (nodes, hyperedges)."""
        return self.incidence
