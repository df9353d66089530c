"""The paper's own search: points of its grid (appendix B.2), the best on validation nodes is kept."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import ClassVar

from msgspec import structs

from hypercondense.condensing.anchors import Anchors
from hypercondense.condensing.dual_level import DualLevel
from hypercondense.condensing.job import Job, Made
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.starts import Means
from hypercondense.runtime.rng import Stream, numpy_generator
from hypercondense.search.budget import Budget
from hypercondense.search.costs import Sizes
from hypercondense.search.engine import Engine
from hypercondense.search.policy import Facts, Policy, Trial, Try
from hypercondense.search.record import record
from hypercondense.typed import Value

TIMES, NEGATIVES, SAMPLES = (1, 2, 3, 4, 5), (1, 5, 10, 20, 50), (5, 10, 20)
EPOCHS, STEPS = (50, 100, 150, 200), (0.01, 0.001, 0.0001)


class PaperGrid(Value):
    """Draws points of the paper's grid and keeps what HGNN likes best after a short training.

    Args:
        base: What is the same at all points.
        budget: How many points, as ``20``, or for how long, as ``10m``.
    """

    one_thread_up_to: ClassVar[int] = 0
    trains_on_whole: ClassVar[None] = None

    base: Recipe
    budget: str | int = "20"

    def __post_init__(self) -> None:
        super().__post_init__()
        Budget.parse(str(self.budget))
        if not isinstance(self.base.goal, DualLevel):
            raise ValueError("the paper's grid is one of dual-level recipes; leave the budget out")

    @property
    def empty_structure(self) -> str | None:
        """That of the recipe."""
        return self.base.empty_structure

    def run(self, job: Job) -> Made:
        """Try points while the budget lasts."""
        if not job.chooses:
            raise ValueError(
                "the grid is searched on validation nodes, and there are none or they may not choose; "
                "leave the budget out, or let them (select)"
            )
        budget = Budget.parse(str(self.budget))
        sizes = Sizes.of(job.material.source, job.material.split, len(job.labels))
        facts = Facts(sizes=sizes, unlimited=True, seed=job.seed)
        engine = Engine(job, networks=job.material.short_trainings, budget=budget)
        size = len(points(self.base))
        trials = engine.search(policy_of(self.base), facts, at_most=size)
        best = max(trials, key=lambda trial: trial.score)
        return replace(
            engine.made(best.recipe),
            history=tuple(
                {"epoch": number, "score": trial.score, "seconds": trial.seconds}
                for number, trial in enumerate(trials)
            ),
            start_validation=None,
            final_validation=best.score,
            judge=job.material.short_trainings,
            choice=record(best, trials),
        )


def points(base: Recipe) -> list[Recipe]:
    """All points of the grid around a recipe: 2,700, or 900 without structure; a fifth without diffusion."""
    goal, structure = base.goal, base.structure
    assert isinstance(goal, DualLevel)
    times = TIMES if base.map.trusts_structure else (base.map.time,)
    with_structure: list[Anchors | None] = (
        [None] if structure is None else [structs.replace(structure, step=step) for step in STEPS]
    )
    return [
        structs.replace(
            base,
            map=structs.replace(base.map, time=float(time)),
            start=Means(samples=samples),
            goal=structs.replace(goal, negatives=negatives, epochs=epochs, step=step),
            structure=anchors,
        )
        for time, negatives, samples, epochs, step, anchors in product(
            times, NEGATIVES, SAMPLES, EPOCHS, STEPS, with_structure
        )
    ]


def policy_of(base: Recipe) -> Policy:
    """Points in an order that follows from the seed."""
    every = points(base)

    def next_point(facts: Facts, trials: Sequence[Trial]) -> Try | None:
        if len(trials) == len(every):
            return None
        order = numpy_generator(facts.seed, Stream.GRID).permutation(len(every))
        point = every[order[len(trials)]]
        return Try(_label(point), point)

    return next_point


def _label(point: Recipe) -> str:
    goal, start = point.goal, point.start
    assert isinstance(goal, DualLevel) and isinstance(start, Means)
    steps = f"steps {goal.step:g}" + ("" if point.structure is None else f" and {point.structure.step:g}")
    return (
        f"time {point.map.time:g}, {goal.negatives} negatives, {start.samples} samples, "
        f"{goal.epochs} epochs, {steps}"
    )
