"""The state of a gradient-based condensation: optimizers, snapshots, history, checkpoints."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from hypercondense.condensing.base import Outcome, Task
from hypercondense.condensing.checkpoint import pack_optimizer, unpack_optimizer
from hypercondense.condensing.generator import follow_gradient, structure_health
from hypercondense.condensing.snapshot import Snapshot
from hypercondense.condensing.starts import Start, initialize
from hypercondense.diffusion import SelectedRows, class_sums
from hypercondense.errors import CondensationError
from hypercondense.hypergraph import Dense, Ids
from hypercondense.runtime.rng import generator, numpy_generator

_START_STREAM = 1  # another source of chance than that of the samples, under one seed
_BLOCK = 512  # rows prepared at a time, so that they stay in cache


@dataclass(frozen=True)
class Rows:
    """Diffused features of the training nodes as the losses see them, handed out a few at a time."""

    values: Dense | SelectedRows  # (training nodes, features)
    labels: Ids
    device: str
    unit_vectors: bool = True
    centered: bool = False

    def __getitem__(self, positions: Ids) -> Tensor:
        if isinstance(self.values, SelectedRows):  # there is a memory budget: nothing is kept
            return self._seen(self.values[positions]).to(self.device)
        return torch.from_numpy(self._all_seen.take(positions, axis=0)).to(self.device)

    @cached_property
    def centre(self) -> Tensor:
        """What classes have in common: the mean of their means, or 0 if that is left in, (features,)."""
        counts, sums = self._class_sums
        means = sums[counts > 0] / counts[counts > 0, None]
        return torch.from_numpy(means.mean(0) * self.centered).float().to(self.device)

    def without_centre(self, features: Tensor) -> Tensor:
        """The features as the coarse loss sees them."""
        return features - self.centre.to(features.device) if self.centered else features

    def directed(self, features: Tensor) -> Tensor:
        """The features, scaled to length 1 if the fine loss compares directions."""
        return F.normalize(features, dim=-1) if self.unit_vectors else features

    def _seen(self, values: Dense) -> Tensor:
        return self.directed(self.without_centre(torch.from_numpy(values)))

    @cached_property
    def _all_seen(self) -> Dense:
        """All rows, prepared once: each is drawn several times, and then only copied."""
        if not (self.centered or self.unit_vectors):
            return np.asarray(self.values)
        seen = np.empty_like(self.values)
        for start in range(0, len(seen), _BLOCK):
            seen[start : start + _BLOCK] = self._seen(self.values[start : start + _BLOCK])
        return seen

    def prototypes(self, num_classes: int) -> Tensor:
        """Class sums, added up in float64 and then rounded once, shape (classes, features) (Eq. 11)."""
        counts, sums = self._class_sums
        prototypes = np.zeros((num_classes, sums.shape[1]), np.float32)
        prototypes[: len(sums)] = sums - np.outer(counts, self.centre.cpu())
        return torch.from_numpy(prototypes).to(self.device)

    @cached_property
    def _class_sums(self) -> tuple[Ids, NDArray[np.float64]]:
        """Number and sum of the rows of each class up to the largest."""
        counts = np.bincount(self.labels)
        return counts, class_sums(self.values, self.labels, len(counts))


def first_features(task: Task, rows: Rows, *, start: Start, samples: int) -> tuple[Tensor, tuple[Ids, ...]]:
    """Means of source rows (Eq. 6), and the source node ids each was made from."""

    def made() -> tuple[Dense, list[Ids]]:
        rng = numpy_generator(task.seed, _START_STREAM)
        return initialize(rows.values, rows.labels, task.labels, start=start, samples=samples, rng=rng)

    key = ("start", id(rows.values), start, samples, task.labels.tobytes())
    with task.stage("start"):
        features, groups = task.shared(key, made)
    members = tuple(task.split.train_ids[group] for group in groups)
    return torch.from_numpy(features.copy()).to(task.device), members


def spread(features: Tensor) -> float:
    """Standard deviation of all entries; 1 for constant features, which have no scale of their own."""
    deviation = float(features.detach().std(correction=0))
    return deviation if 0 < deviation < math.inf else 1.0


@dataclass(eq=False)
class State:
    """Everything that changes from epoch to epoch, and the best candidate so far.

    Args:
        task: What is being done.
        features: Condensed features at the start, (n, d); a leaf that requires gradients.
        generator: Makes the structure; ``None`` for no hyperedges but self-loops.
        feature_step: Step of Adam for the features.
        structure_step: Step of Adam for the generator.
        chance: Where samples are drawn from.
        label_scores: Where classes are learnt too, scores (n, C) whose softmax are the shares of the classes.
    """

    task: Task
    features: Tensor
    generator: nn.Module | None
    feature_step: float
    structure_step: float
    chance: torch.Generator
    label_scores: Tensor | None = None
    epoch: int = 0
    history: list[dict[str, float]] = field(default_factory=list)
    start: Snapshot | None = None
    best: Snapshot | None = None
    broken: str | None = None
    extras: dict[str, Tensor] = field(default_factory=dict)  # what else a method must find again on resuming

    def __post_init__(self) -> None:
        # Fused Adam walks through memory: restored averages must lie as the features do.
        self.features = self.features.detach().contiguous().requires_grad_()
        self.feature_optimizer = torch.optim.Adam([self.features], lr=self.feature_step, fused=True)
        learnable = [p for p in self._parameters().values() if p.requires_grad]
        self.structure_optimizer = (
            torch.optim.Adam(learnable, lr=self.structure_step, fused=True) if learnable else None
        )

    @classmethod
    def features_only(cls, task: Task, features: Tensor, *, step: float, stream: int) -> "State":
        """The state of a method whose structure is the identity; ``stream`` is its source of chance."""
        return cls(
            task=task,
            features=features.requires_grad_(),
            generator=None,
            feature_step=step,
            structure_step=1.0,
            chance=generator(task.seed, stream),
        )

    def learn_labels(self, label_scores: Tensor) -> None:
        """Optimize class shares together with the features, from these scores (n, C) on."""
        self.label_scores = label_scores.detach().contiguous().requires_grad_()
        self.feature_optimizer.add_param_group({"params": [self.label_scores]})

    def shares(self) -> Tensor | None:
        """The shares of the classes in every node, (n, C), where they are learnt."""
        return None if self.label_scores is None else self.label_scores.softmax(1)

    def epochs(self, total: int, snapshots: int) -> Iterator[int]:
        """Count epochs; between them score candidates, save the state and tell where we are."""
        if not self._resume():
            self._consider()
        scored = {math.ceil(total * part / snapshots) for part in range(1, snapshots + 1)}
        while self.epoch < total:
            self._save()
            yield self.epoch
            if self.broken:
                return
            self.epoch += 1
            if self.epoch in scored and (self.task.select is not None or self.epoch == total):
                self._consider()
            self.task.progress("condense", self.epoch, total, loss=self.history[-1]["loss"])
        self._save(force=True)

    def structure(self) -> Tensor:
        """The generated incidence, shape (nodes, hyperedges), or no hyperedges at all."""
        if self.generator is None:
            return self.features.new_zeros(len(self.features), 0)
        incidence: Tensor = self.generator(self.features)
        return incidence

    def update(self, loss: Tensor, structure: Tensor, *, features: bool, **terms: Tensor) -> None:
        """Take one step of Adam on the features or on the generator; stop at the first NaN."""
        figures = {name: float(term.detach()) for name, term in {**terms, "loss": loss}.items()}
        wrong = [name for name, value in figures.items() if not math.isfinite(value)]
        if wrong:
            self.broken = f"the {wrong[0]} term became {figures[wrong[0]]} in epoch {self.epoch}"
            return
        if self.task.select is None:  # the last state with a finite loss is the candidate
            self.best = self._present(structure.detach())
        optimizer = self.feature_optimizer if features else self.structure_optimizer
        if optimizer is not None:
            # Only whose turn it is needs gradients: the others would be half of the work.
            follow_gradient(loss, optimizer)
        self.history.append({"epoch": self.epoch, **figures, **self._health(structure)})

    def set_steps(self, *steps: float) -> None:
        """Change the step of Adam for the features and, where they are learnt, for the scores of labels."""
        for group, step in zip(self.feature_optimizer.param_groups, steps, strict=False):
            group["lr"] = step

    def outcome(self, members: tuple[Ids, ...]) -> Outcome:
        """The best candidate as a hypergraph, with warnings about what went wrong."""
        if self.best is None or self.start is None:
            raise CondensationError(
                f"{self.broken}, before there was anything to return; lower the steps, or check the features"
            )
        warnings = []
        if self.broken:
            warnings.append(
                f"{self.broken}; this is the last good snapshot, of epoch {self.best.epoch}: lower the steps"
            )
        return Outcome(
            hypergraph=self.best.hypergraph(self.task),
            members=members,
            history=tuple(self.history),
            start_validation=self.start.score,
            final_validation=self.best.score,
            warnings=tuple(warnings),
        )

    def _consider(self) -> None:
        """Score the present state; the best so far is what will be returned, ties go to the earlier one."""
        with torch.no_grad():
            snapshot = self._present(self.structure())
        if not snapshot.is_finite:
            self.broken = f"the features or the structure became NaN after epoch {self.epoch}"
            return
        if self.task.select is not None:
            with self.task.stage("select"):
                snapshot = replace(snapshot, score=self.task.select(snapshot.hypergraph(self.task)))
        score = snapshot.score
        if self.start is None:
            self.start = snapshot
        if self.best is None or score is None or self.best.score is None or score > self.best.score:
            self.best = snapshot

    @torch.no_grad()
    def _present(self, structure: Tensor) -> Snapshot:
        """The present state as a candidate; the start is a plain one, of allotted classes."""
        shares = self.shares() if self.epoch else None
        return Snapshot(
            epoch=self.epoch, features=self.features.detach().clone(), structure=structure, shares=shares
        )

    def _health(self, structure: Tensor) -> dict[str, float]:
        if self.generator is None:
            return {}
        return vars(structure_health(structure, self.task.labels))

    def _parameters(self) -> dict[str, Tensor]:
        return {} if self.generator is None else dict(self.generator.named_parameters())

    def _leaves(self) -> dict[str, Tensor]:
        """Everything that is optimized, by its name in a checkpoint."""
        leaves = {"features": self.features}
        if self.label_scores is not None:
            leaves["label_scores"] = self.label_scores
        return leaves | {f"generator.{name}": parameter for name, parameter in self._parameters().items()}

    def _save(self, *, force: bool = False) -> None:
        keeper = self.task.checkpoint
        if keeper is None or not (force or keeper.due()):
            return
        tensors = {**self._leaves(), "chance": self.chance.get_state()}
        tensors |= {f"extra.{name}": tensor for name, tensor in self.extras.items()}
        tensors |= pack_optimizer("feature_optimizer", self.feature_optimizer)
        if self.structure_optimizer is not None:
            tensors |= pack_optimizer("structure_optimizer", self.structure_optimizer)
        facts: dict[str, Any] = {"epoch": self.epoch, "history": self.history, "broken": self.broken}
        for role, snapshot in (("start", self.start), ("best", self.best)):
            if snapshot is not None:
                packed, facts[role] = snapshot.pack(role)
                tensors |= packed
        keeper.save(tensors, facts)

    def _resume(self) -> bool:
        saved = self.task.checkpoint and self.task.checkpoint.load()
        if not saved:
            return False
        tensors, facts = saved
        with torch.no_grad():
            for name, leaf in self._leaves().items():
                leaf.copy_(tensors[name])
        self.chance.set_state(tensors["chance"])
        self.extras = {
            name.removeprefix("extra."): tensor.to(self.features.device)
            for name, tensor in tensors.items()
            if name.startswith("extra.")
        }
        unpack_optimizer("feature_optimizer", self.feature_optimizer, tensors)
        if self.structure_optimizer is not None:
            unpack_optimizer("structure_optimizer", self.structure_optimizer, tensors)
        self.epoch, self.history, self.broken = facts["epoch"], facts["history"], facts["broken"]
        self.start, self.best = (
            Snapshot.unpack(role, tensors, facts[role], like=self.features) if role in facts else None
            for role in ("start", "best")
        )
        return True
