"""A recipe: everything that decides how nodes are condensed, as one value.

Start reading at :meth:`Recipe.run`: it is Algorithm 1, whose lines 6 to 18 are ``condensing.loop.optimize``.
A choice that depends on another lives inside the part that owns it; one rule between parts is left.
"""

import math
from dataclasses import replace
from typing import Any, ClassVar, TypeAlias

import torch
from msgspec import structs
from torch import Tensor

from hypercondense.condensation import Condensation
from hypercondense.condensing.anchors import Anchors
from hypercondense.condensing.bundles import Bundles
from hypercondense.condensing.dual_level import DualLevel
from hypercondense.condensing.generator import AnchorGenerator
from hypercondense.condensing.job import Job, Made
from hypercondense.condensing.leaves import Leaves
from hypercondense.condensing.loop import optimize
from hypercondense.condensing.maps import Map
from hypercondense.condensing.predict import Learnt, Plain, Predict, first_scores
from hypercondense.condensing.starts import (
    Better,
    Drawn,
    KMeans,
    Matrix,
    Means,
    Start,
    kept_start,
    start_to_keep,
)
from hypercondense.hypergraph import Hypergraph, Ids, Split
from hypercondense.runtime.progress import silent
from hypercondense.runtime.rng import seeded
from hypercondense.typed import CountOrZero, Value, digest_of

Goal: TypeAlias = DualLevel | Predict


class Recipe(Value):
    """How a hypergraph is condensed.

    Args:
        map: How the source is diffused before anything else (Eq. 4).
        start: Which source rows condensed nodes begin as (Eq. 6).
        goal: What condensed nodes are optimized for; ``none`` keeps the start.
        structure: Hyperedges that are learnt in turns with the features; ``none`` for self-loops only.
        bundles: Whether each row is shown as several noisy nodes; ``none`` shows it as one.
        looks: How many states besides the start are scored on validation nodes, of which the best is
            returned; 0 returns the last.
    """

    map: Map = Map()
    start: Start = Means()
    goal: Goal | None = DualLevel()
    structure: Anchors | None = None
    bundles: Bundles | None = None
    looks: CountOrZero = 4

    _few_nodes: ClassVar[int] = 128  # that one thread is best for where nothing is optimized

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bundles is not None and self.structure is not None:
            raise ValueError("bundles make hyperedges of their own; leave structure or bundles out")

    @property
    def empty_structure(self) -> str | None:
        """What to try when no hyperedge joins two nodes."""
        if self.structure is None:
            return None
        warm = "structure.warm=default" if self.structure.warm is None else "more structure.warm.steps"
        return (
            "scores are below their thresholds and the identity is used instead; "
            f"try {warm}, a lower structure.threshold_start or a smaller structure.step"
        )

    @property
    def one_thread_up_to(self) -> int:
        """Up to so many condensed nodes one thread is faster than several that wait for each other."""
        return self._few_nodes if self.goal is None else self.goal.one_thread_up_to

    @property
    def trains_on_whole(self) -> str | None:
        """Teachers are."""
        return "teachers" if isinstance(self.goal, Predict) and self.goal.teachers is not None else None

    def features_turn(self, epoch: int) -> bool:
        """Whose turn an epoch is: the features' (true) or the structure's (line 12)."""
        return self.structure is None or self.structure.features_turn(epoch)

    def condense(self, source: Hypergraph, split: Split | None = None, **how: Any) -> Condensation:
        """``hypercondense.condense(source, split, method=recipe, **how)`` for a size that is given."""
        from hypercondense.condensing.presets import name_of
        from hypercondense.condensing.run import condense_by, tell_warnings

        result = condense_by(self, source, split, name=name_of(self), **how)
        tell_warnings(result)
        return result

    def run(self, job: Job) -> Made:
        """Algorithm 1."""
        material = job.material
        labels = job.labels if self.bundles is None else self.bundles.row_labels(job.labels)
        if isinstance(self.goal, Predict):
            material.parts(self.map)  # validation rows are needed too, and are diffused together
        rows = material.training_rows(self.map)  # line 4, Eq. 4
        first, members = self._first(job, rows, labels)  # line 5
        features, generator = self._structured(job, first, labels)
        if self.goal is None:
            made = Made(hypergraph=self._start(job, features, generator, labels), members=members)
        else:
            goal = self.goal.prepare(self, job, rows=rows, first=first, labels=labels)
            leaves = self._leaves(features, generator, labels, material.source.num_classes)
            run = optimize(  # lines 6 to 18
                job,
                leaves,
                goal,
                labels=labels,
                epochs=self.goal.epochs,
                looks=self.looks,
                features_turn=self.features_turn,
            )
            made = run.made(members)
        return made if self.bundles is None else self.bundles.unfold(made, job)

    def _first(self, job: Job, rows: Matrix, labels: Ids) -> tuple[Tensor, tuple[Ids, ...]]:
        """First features and the nodes they are means of, which a resumed run has from before."""
        keeper = None
        if job.checkpoint is not None and isinstance(self.start, KMeans | Better):
            keeper = job.checkpoint.part(f"start {digest_of(self)}")
        if keeper is not None and (saved := keeper.load()):
            with keeper.continuing():
                return kept_start(saved[0], like=(len(labels), rows.shape[1]), device=job.material.device)
        start = self._chosen_start(job, rows, labels)
        first, members = job.material.first_features(rows, self.map, start, labels, seed=job.seed)
        if keeper is not None:
            keeper.save(start_to_keep(first, members), {})
        return first, members

    def _chosen_start(self, job: Job, rows: Matrix, labels: Ids) -> Drawn:
        """The start, or the better of two by the judge of the goal; of equals the first."""
        if not isinstance(self.start, Better):
            return self.start
        if not job.chooses or not isinstance(self.goal, Predict):
            return self.start.first
        first, second = (self._start_score(job, rows, labels, start) for start in self.start.both)
        return self.start.second if second > first else self.start.first

    def _start_score(self, job: Job, rows: Matrix, labels: Ids, start: Drawn) -> float:
        """What the judge of the goal says of a start, after the closed form where there is one."""
        assert isinstance(self.goal, Predict)
        first, _ = job.material.first_features(rows, self.map, start, labels, seed=job.seed)
        untaught = structs.replace(self.goal, teachers=None)  # they have no say about validation nodes
        goal = untaught.prepare(self, job, rows=rows, first=first, labels=labels)
        leaves = self._leaves(first, None, labels, job.material.source.num_classes)
        if goal.closed_epochs:
            quiet = replace(job, progress=silent, checkpoint=None)
            optimize(quiet, leaves, goal, labels=labels, epochs=goal.closed_epochs, looks=0)
        candidate = leaves.candidate(goal.closed_epochs)
        with job.material.clock.stage("select"):
            return goal.score(candidate) if candidate.is_finite else -math.inf

    def _leaves(
        self, features: Tensor, generator: AnchorGenerator | None, labels: Ids, num_classes: int
    ) -> Leaves:
        return Leaves(
            features,
            generator=generator,
            structure_step=1.0 if self.structure is None else self.structure.step,
            **self._label_scores(labels, num_classes, features),
        )

    def _structured(self, job: Job, first: Tensor, labels: Ids) -> tuple[Tensor, AnchorGenerator | None]:
        """First features and what makes hyperedges of them."""
        if self.structure is None:
            return first, None
        with job.material.clock.stage("warm up"), seeded(job.seed):
            classes = torch.as_tensor(labels, device=first.device)
            return self.structure.prepare(first, classes, self.map)

    def _start(self, job: Job, features: Tensor, generator: AnchorGenerator | None, labels: Ids) -> Any:
        return Leaves(features, generator=generator).candidate(0).hypergraph(job.material.source, labels)

    def _label_scores(self, labels: Ids, num_classes: int, like: Tensor) -> dict[str, Any]:
        if not isinstance(self.goal, Predict) or isinstance(self.goal.labels, Plain):
            return {}
        classes = torch.as_tensor(labels.copy(), device=like.device)
        targets = torch.nn.functional.one_hot(classes, num_classes).to(like)
        return {
            "label_scores": first_scores(targets, self.goal.labels.own),
            "learns_labels": isinstance(self.goal.labels, Learnt),
        }
