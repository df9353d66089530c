"""Trials of a search on other machines, which carry out what a policy will propose before it does.

The policy still decides: trials are taken in the order in which it asks for them, and what it does not ask
for is given up. So a search on a cluster has the trials, and the bits, of one on this machine.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from hypercondense.condensing.job import Job, Made
from hypercondense.condensing.maps import Map
from hypercondense.condensing.predict import Predict
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.run import thread_limit
from hypercondense.errors import CondensationError
from hypercondense.frozen import Frozen
from hypercondense.nn.short_trainings import ShortTrainings
from hypercondense.runtime.clock import Clock
from hypercondense.runtime.engine import Engine
from hypercondense.runtime.loading import load_optimizers
from hypercondense.runtime.progress import Progress, silent
from hypercondense.search.answers import Answers
from hypercondense.search.budget import OutOfTimeError
from hypercondense.search.policy import Facts, Policy, Trial


@dataclass(frozen=True, eq=False)
class Outcome(Frozen):
    """What a trial on another machine gave, and what it cost there.

    ``made`` and ``contributions`` are ``None`` where the recipe made nothing, for the reason ``error``.
    """

    seconds: float
    made: Made | None = None
    contributions: Tensor | None = None
    error: str = ""
    stages: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    whole_trainings: int = 0


@dataclass(frozen=True, eq=False)
class _Shared:
    job: Job
    networks: ShortTrainings
    until: float | None  # by the clock on the wall, when trials but the first are given up


class Ahead:
    """Outcomes of recipes in their order.

    Args:
        machines: Who carries them out.
        job: What is condensed.
        networks: Who is asked about every result.
        recipes: What will be asked for; none where there are no machines.
        until: When time is over, by the clock on the wall.
    """

    def __init__(
        self,
        machines: Engine | None,
        job: Job,
        networks: ShortTrainings,
        recipes: Sequence[Recipe],
        *,
        until: float | None = None,
    ) -> None:
        self.expected = iter(recipes)
        self.outcomes: Iterator[Outcome | None] = iter(())
        if machines is not None and recipes:
            for rows_map in dict.fromkeys(one for recipe in recipes for one in maps_of(recipe)):
                job.material.parts(rows_map)  # diffused once, by all machines, and sent along
            shared = _Shared(replace(job, checkpoint=None, progress=silent), networks, until)
            self.outcomes = machines.map(_trial, list(enumerate(recipes)), shared=shared)

    def outcome(self, recipe: Recipe) -> Outcome | None:
        """What was found out about a recipe; ``None`` if nobody was asked, so that it is done here.

        Raises:
            OutOfTimeError: The time was over.
        """
        if next(self.expected, None) != recipe:
            self.close()
            return None
        outcome = next(self.outcomes)
        if outcome is None:
            raise OutOfTimeError
        return outcome

    def close(self) -> None:
        """Give up what was not asked for."""
        self.expected = iter(())
        if hasattr(self.outcomes, "close"):
            self.outcomes.close()


def maps_of(recipe: Recipe) -> Iterator[Map]:
    """The maps whose rows a recipe needs."""
    yield recipe.map
    if isinstance(recipe.goal, Predict):
        yield from recipe.goal.also


def foreseen(policy: Policy, facts: Facts, most: int) -> list[Recipe]:
    """What a policy proposes as long as everything that was tried is wrong about all nodes."""
    trials: list[Trial] = []
    nothing = Answers(torch.zeros(1, max(1, facts.sizes.validation), dtype=torch.float64))
    while len(trials) < most and (proposal := policy(facts, trials)) is not None:
        trials.append(Trial(label=proposal.label, recipe=proposal.recipe, answers=nothing, seconds=0.0))
    return [trial.recipe for trial in trials]


def carried_out(recipe: Recipe, job: Job) -> Made:
    """What a recipe makes; rows that it diffuses are kept for others under the same map."""
    with thread_limit(recipe, job):
        job.material.parts(recipe.map)
        return recipe.run(job)


def _trial(shared: _Shared, task: tuple[int, Recipe]) -> Outcome | None:
    """Carry out a recipe and ask networks about the result; ``None`` if the time is over."""
    number, recipe = task
    load_optimizers()
    material, networks, begin = shared.job.material, shared.networks, time.perf_counter()
    networks.source = material.inputs
    material.clock, material.warnings = Clock(), []
    before = material.whole_trainings
    job = replace(shared.job, progress=_watching(shared.until) if number else silent)
    made, contributions, error = None, None, ""
    try:
        made = replace(carried_out(recipe, job), judge=None)
        with material.clock.stage("confirm"):
            contributions = networks.contributions(made.hypergraph)
    except CondensationError as reason:
        error = str(reason)
    except OutOfTimeError:
        return None
    return Outcome(
        time.perf_counter() - begin,
        made=made,
        contributions=contributions,
        error=error,
        stages=dict(material.clock.seconds),
        warnings=tuple(material.warnings),
        whole_trainings=material.whole_trainings - before,
    )


def _watching(until: float | None) -> Progress:
    def tell(stage: str, done: int, total: int, /, **figures: float) -> None:
        if until is not None and time.time() > until:
            raise OutOfTimeError

    return tell
