"""Algorithm 1, lines 6 to 18: the one loop in which condensed nodes are optimized.

What differs between methods is the objective (lines 9 to 11) and whether there is a structure to learn.
docs/method.md maps every equation to its function and its test.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from hypercondense.condensing.candidate import Candidate
from hypercondense.condensing.generator import structure_health
from hypercondense.condensing.job import Job, Made, Scorer
from hypercondense.condensing.leaves import Leaves
from hypercondense.errors import CondensationError
from hypercondense.hypergraph import Ids
from hypercondense.typed import CountOrZero, Value, read


class Objective(ABC):
    """A goal at work on one job: what the loop asks of it."""

    chance: torch.Generator  # where its samples are drawn from

    @abstractmethod
    def seen(self, features: Tensor, structure: Tensor) -> Tensor:
        """Condensed features (n, d) as the losses see them, through their own structure (Eq. 10)."""

    @abstractmethod
    def loss(self, seen: Tensor, shares: Tensor | None, epoch: int) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss of an epoch, and its terms by name."""

    @abstractmethod
    def steps(self, epoch: int) -> tuple[float, float]:
        """Steps of Adam for the features and for the scores of classes."""

    def judge(self) -> Scorer | None:
        """Who scores candidates on validation nodes; ``None`` leaves it to short trainings of HGNN."""
        return None

    def score(self, candidate: Candidate) -> float | None:
        """What the objective's own judge says of a candidate; ``None`` if it has none."""
        return None

    def pack(self) -> dict[str, Tensor]:
        """What else must be found again on resuming."""
        return {}

    def unpack(self, tensors: Mapping[str, Tensor]) -> None:  # noqa: B027 (most have nothing to put back)
        """Put back what :meth:`pack` took."""


def optimize(
    job: Job,
    leaves: Leaves,
    objective: Objective,
    *,
    labels: Ids,
    epochs: int,
    looks: int,
    features_turn: Callable[[int], bool] = lambda epoch: True,
) -> "Run":
    """Lines 6 to 18 of Algorithm 1, from where a checkpoint left off or from the beginning.

    Args:
        job: What is being done.
        leaves: What is optimized.
        objective: What for.
        labels: Classes of the rows that are optimized.
        epochs: ``T``.
        looks: How many states besides the start are scored on validation nodes; 0 returns the last.
        features_turn: Whose turn an epoch is, the features' or the structure's.
    """
    run = Run(job, leaves, objective, labels, chooses=job.chooses and looks > 0)
    due = {math.ceil(epochs * part / max(1, looks)) for part in range(1, max(1, looks) + 1)}
    with job.material.clock.stage("optimize"):  # looks have a stage of their own within it
        if not run.resume():
            run.offer(leaves.candidate(0))
        while run.epoch < epochs:
            run.save()
            structure = leaves.structure()  # line 7, Eq. 7 to 9
            seen = objective.seen(leaves.features, structure)  # line 8, Eq. 10
            loss, terms = objective.loss(seen, leaves.shares(), run.epoch)  # lines 9 to 11, Eq. 11 to 13
            if not run.record(loss, terms, structure):
                break
            feature_step, label_step = objective.steps(run.epoch)
            turn = features_turn(run.epoch)  # lines 12 to 17
            leaves.step(loss, features=turn, feature_step=feature_step, label_step=label_step)
            run.advance(epochs, due)
            if run.broken:
                break
        else:
            run.save(force=True)
    return run


class _HowFar(Value, forbid_unknown_fields=False):
    """What a checkpoint tells beside tensors and candidates."""

    epoch: CountOrZero
    history: tuple[Mapping[str, int | float], ...]
    broken: str | None


class Run:
    """How far an optimization is: epoch, history, the first and the best candidate, and what broke it."""

    def __init__(self, job: Job, leaves: Leaves, objective: Objective, labels: Ids, *, chooses: bool) -> None:
        self.job, self.leaves, self.objective, self.labels = job, leaves, objective, labels
        self.chooses = chooses
        self.epoch = 0
        self.history: list[dict[str, float]] = []
        self.start: Candidate | None = None
        self.best: Candidate | None = None
        self.broken: str | None = None

    def offer(self, candidate: Candidate) -> None:
        """Score a candidate; the best so far is what will be returned, ties go to the earlier one."""
        if not candidate.is_finite:
            self.broken = f"the features or the structure became NaN after epoch {self.epoch}"
            return
        if self.chooses:
            candidate = self._scored(candidate)
        score = candidate.score
        if self.start is None:
            self.start = candidate
        if self.best is None or score is None or self.best.score is None or score > self.best.score:
            self.best = candidate

    def record(self, loss: Tensor, terms: Mapping[str, Tensor], structure: Tensor) -> bool:
        """Take note of an epoch; ``False`` where a number is not finite, which ends the run."""
        figures = {name: float(term.detach()) for name, term in {**terms, "loss": loss}.items()}
        wrong = [name for name, value in figures.items() if not math.isfinite(value)]
        if wrong:
            self.broken = f"the {wrong[0]} term became {figures[wrong[0]]} in epoch {self.epoch}"
            return False
        if not self.chooses:  # the last state with a finite loss is the candidate
            self.best = self.leaves.candidate(self.epoch, structure)
        health = {} if self.leaves.generator is None else vars(structure_health(structure, self.labels))
        self.history.append({"epoch": self.epoch, **figures, **health})
        return True

    def advance(self, total: int, due: set[int]) -> None:
        """Count an epoch, and look at the state it led to if that is due."""
        self.epoch += 1
        if self.epoch in due and (self.chooses or self.epoch == total):
            self.offer(self.leaves.candidate(self.epoch))
        self.job.progress("condense", self.epoch, total, loss=self.history[-1]["loss"])

    def made(self, members: tuple[Ids, ...]) -> Made:
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
        judge = self.objective.judge() or self.job.material.short_trainings if self.job.chooses else None
        return Made(
            hypergraph=self.best.hypergraph(self.job.material.source, self.labels),
            members=members,
            history=tuple(self.history),
            start_validation=self.start.score,
            final_validation=self.best.score,
            judge=judge,
            warnings=tuple(warnings),
        )

    def save(self, *, force: bool = False) -> None:
        """Write the state where :meth:`resume` finds it, if it is time to."""
        keeper = self.job.checkpoint
        if keeper is None or not (force or keeper.due()):
            return
        tensors = {**self.leaves.pack(), "chance": self.objective.chance.get_state()}
        tensors |= {f"objective.{name}": tensor for name, tensor in self.objective.pack().items()}
        facts: dict[str, Any] = {"epoch": self.epoch, "history": self.history, "broken": self.broken}
        for role, candidate in (("start", self.start), ("best", self.best)):
            if candidate is not None:
                packed, facts[role] = candidate.pack(role)
                tensors |= packed
        keeper.save(tensors, facts)

    def resume(self) -> bool:
        """Continue from a checkpoint; ``False`` if there is none."""
        keeper = self.job.checkpoint
        saved = keeper and keeper.load()
        if not keeper or not saved:
            return False
        with keeper.continuing():
            self._put_back(*saved)
        return True

    def _put_back(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        self.leaves.unpack(tensors)
        self.objective.chance.set_state(tensors["chance"])
        own = {name: tensor for name, tensor in tensors.items() if name.startswith("objective.")}
        self.objective.unpack({name.removeprefix("objective."): tensor for name, tensor in own.items()})
        told = read(facts, _HowFar, error=ValueError)
        self.epoch, self.history, self.broken = told.epoch, list(map(dict, told.history)), told.broken
        like = self.leaves.features
        self.start, self.best = (
            Candidate.unpack(role, tensors, facts[role], like=like) if role in facts else None
            for role in ("start", "best")
        )

    def _scored(self, candidate: Candidate) -> Candidate:
        with self.job.material.clock.stage("select"):
            score = self.objective.score(candidate)
            if score is None:
                hypergraph = candidate.hypergraph(self.job.material.source, self.labels)
                score = self.job.material.short_trainings(hypergraph)
        return replace(candidate, score=score)
