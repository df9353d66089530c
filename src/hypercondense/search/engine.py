"""Runs a policy: carries out what it proposes, and remembers trials by the digest of their recipe.

Resuming is calling it again: what networks said before an interruption is known, and a recipe that was
carried out, or half of it, continues from a checkpoint of its own.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from hypercondense.condensing.job import Job, Made
from hypercondense.condensing.recipe import Recipe
from hypercondense.errors import CondensationError
from hypercondense.nn.short_trainings import ShortTrainings
from hypercondense.runtime.progress import Progress
from hypercondense.search.ahead import Ahead, Outcome, carried_out, foreseen
from hypercondense.search.answers import Answers
from hypercondense.search.budget import Budget, Deadline, OutOfTimeError, Pace
from hypercondense.search.policy import Facts, Policy, Trial, Try
from hypercondense.typed import digest_of

#: How often networks are asked after something was made: about it, and about random nodes.
ASKS_AFTER = 2
_THOUSANDTHS = 1000  # of a trial, in which progress is told


@dataclass(frozen=True)
class Price:
    """Nominal seconds of a trial: of its start, its teachers, the rest of condensing, and asking networks."""

    starting: float = 0.0
    teaching: float = 0.0
    optimizing: float = 1.0
    asking: float = 0.0

    @property
    def total(self) -> float:
        """Of the trial."""
        return self.starting + self.teaching + self.optimizing + self.asking


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of a recipe that was tried: contributions, (trainings, nodes), and how long it took."""

    contributions: Tensor
    seconds: float


class Engine:
    """Carries out trials of one job.

    Args:
        job: What is condensed; its checkpoint keeps what is known.
        networks: Trained on what every trial made.
        budget: How much may be tried.
        reserved: Seconds that are needed after a recipe was carried out, of a budget of time.
        instead: Seconds of a recipe that is quicker than the first, which is given up for it where it would
            not end in time; without one the first is always finished.
    """

    def __init__(
        self,
        job: Job,
        *,
        networks: ShortTrainings,
        budget: Budget,
        reserved: float = 0.0,
        instead: float | None = None,
    ) -> None:
        self.job, self.networks, self.budget, self.instead = job, networks, budget, instead
        self.trials: list[Trial] = []
        self.warnings: list[str] = []
        self._made: dict[str, Made] = {}
        self._known: dict[str, Known] = self._load()  # by the digest of the recipe
        used = sum(known.seconds for known in self._known.values())
        self._ahead = Ahead(None, job, networks, [])
        self.deadline = Deadline(budget, reserved=reserved, used=used, began=job.began)
        self._told = in_time(job.progress, self.deadline) if budget.is_time else job.progress

    def search(
        self, policy: Policy, facts: Facts, *, at_most: int, prices: Sequence[Price] = ()
    ) -> list[Trial]:
        """Do what the policy proposes until it has no proposal, or the budget is used up.

        Args:
            policy: What to try next.
            facts: What it is told.
            at_most: More trials it will not propose.
            prices: Of trials in their order, for the progress; all are alike unless they are given.
        """
        total = max(1, int(min(self.budget.trials, at_most)))
        with closing(self._elsewhere(policy, facts, total)):
            return self._search(policy, facts, Shares(prices[:total] or [Price()] * total))

    def _search(self, policy: Policy, facts: Facts, shares: "Shares") -> list[Trial]:
        while (proposal := policy(facts, self.trials)) is not None:
            is_known = digest_of(proposal.recipe) in self._known
            if not is_known and not self._may_go_on():
                break
            progress = self._watched(shares.within(self._told, len(self.trials)))
            try:
                self.trials.append(self._tried(proposal, progress))
            except OutOfTimeError:
                if not self.trials:
                    self.warnings.append(
                        f"{proposal.label} was given up: the budget is too short for it here"
                    )
                break
            self._save()
            shares.tell(self._told, shares.before(len(self.trials)), score=self.trials[-1].score)
        return self.trials

    def _elsewhere(self, policy: Policy, facts: Facts, total: int) -> Ahead:
        """Trials that other machines carry out before they are asked for; none without such machines."""
        machines = self.job.material.engine
        recipes: list[Recipe] = []
        if machines is not None and machines.remote:
            recipes = [one for one in foreseen(policy, facts, total) if digest_of(one) not in self._known]
        until = time.time() + self.deadline.end - self.deadline.now() if self.budget.is_time else None
        self._ahead = Ahead(machines, self.job, self.networks, recipes, until=until)
        return self._ahead

    def _may_go_on(self) -> bool:
        """Whether something else may be tried; the first trial always may."""
        in_time = not self.trials or not self.deadline.is_over
        return in_time and self.budget.is_left(self.trials)

    def _watched(self, progress: Progress) -> Progress:
        """Progress of a trial that is given up when the time is over, unless it is the first.

        That is given up where it would end too late, and later than something quicker would.
        """
        if not self.budget.is_time or (not self.trials and self.instead is None):
            return progress
        pace = None if self.trials else Pace(self.deadline, self.instead or 0.0)

        def tell(stage: str, done: int, total: int, /, **figures: float) -> None:
            (pace or self.deadline).watch(stage, done, total)
            progress(stage, done, total, **figures)

        return tell

    def made(self, recipe: Recipe, progress: Progress | None = None) -> Made:
        """What a recipe made; made again, to the same bits, if it was not kept."""
        key = digest_of(recipe)
        if key not in self._made:
            keeper = self.job.checkpoint and self.job.checkpoint.of_trial(key)
            job = replace(self.job, checkpoint=keeper, progress=progress or self.job.progress)
            self._made[key] = carried_out(recipe, job)
        return self._made[key]

    def _tried(self, proposal: Try, progress: Progress) -> Trial:
        key = digest_of(proposal.recipe)
        if key not in self._known:
            begin = time.perf_counter()
            there = self._ahead.outcome(proposal.recipe)
            if there is None:
                contributions = self._answers(proposal, progress)
                self._known[key] = Known(contributions, time.perf_counter() - begin)
            else:
                self._known[key] = Known(self._adopted(proposal, there), there.seconds)
        known = self._known[key]
        return Trial(
            label=proposal.label,
            recipe=proposal.recipe,
            answers=Answers(known.contributions),
            seconds=known.seconds,
        )

    def _adopted(self, proposal: Try, there: Outcome) -> Tensor:
        """What another machine found out, as if it had been here."""
        material = self.job.material
        for stage, seconds in there.stages.items():
            material.clock.seconds[stage] = material.clock.seconds.get(stage, 0.0) + seconds
        material.whole_trainings += there.whole_trainings
        material.warnings += there.warnings
        if there.made is None or there.contributions is None:
            return self._left_out(proposal, there.error)
        self._made[digest_of(proposal.recipe)] = there.made
        return there.contributions

    def _left_out(self, proposal: Try, reason: object) -> Tensor:
        self.warnings.append(f"{proposal.label} was left out: {reason}")
        return torch.zeros(1, len(self.job.material.split.validation_ids), dtype=torch.float64)

    def _answers(self, proposal: Try, progress: Progress) -> Tensor:
        """What networks say of what a recipe makes; of one that makes nothing, that all is wrong."""
        try:
            made = self.made(proposal.recipe, progress)
        except CondensationError as error:
            return self._left_out(proposal, error)
        asked = time.perf_counter()
        with self.job.material.clock.stage("confirm"):
            keeper, key = self.job.checkpoint, digest_of(proposal.recipe)
            store = None if keeper is None else lambda name: keeper.part(f"{name} asked about {key}")
            contributions = self.networks.contributions(made.hypergraph, store)
        taken = time.perf_counter() - asked
        self.deadline.reserved = max(self.deadline.reserved, ASKS_AFTER * taken)
        return contributions

    def _save(self) -> None:
        keeper = self.job.checkpoint
        if keeper is None:
            return
        told = {key: known.contributions for key, known in self._known.items()}
        facts: dict[str, Any] = {"seconds": {key: known.seconds for key, known in self._known.items()}}
        keeper.save(told, facts)

    def _load(self) -> dict[str, Known]:
        keeper = self.job.checkpoint
        saved = keeper and keeper.load()
        if not keeper or not saved:
            return {}
        with keeper.continuing():
            return dict(_restored(*saved))


def _restored(told: Mapping[str, Tensor], facts: Mapping[str, Any]) -> Iterator[tuple[str, Known]]:
    for key, seconds in facts["seconds"].items():
        yield key, Known(told[key].double(), float(seconds))


def in_time(progress: Progress, deadline: Deadline) -> Progress:
    """Progress that is at least as far as the time is: a search ends with it, whatever is left."""
    begin = deadline.now()

    def tell(stage: str, done: int, total: int, /, **figures: float) -> None:
        left = max(1e-9, deadline.end - deadline.reserved - begin)
        passed = round(total * min(1.0, (deadline.now() - begin) / left))
        progress(stage, max(done, passed), total, **figures)

    return tell


class Shares:
    """How far a search is when its trials are, by what they are thought to cost.

    Args:
        prices: Of trials in their order.
    """

    def __init__(self, prices: Sequence[Price]) -> None:
        self.prices = prices
        self.sum = max(1e-9, sum(one.total for one in prices))

    def before(self, trial: int) -> float:
        """The share of the search that comes before a trial; all of it before one that was not expected."""
        return sum(one.total for one in self.prices[:trial]) / self.sum

    def tell(self, progress: Progress, share: float, **figures: float) -> None:
        """Tell a share in thousandths of trials."""
        total = _THOUSANDTHS * len(self.prices)
        progress("search", round(share * total), total, **figures)

    def within(self, progress: Progress, trial: int) -> Progress:
        """Progress of a trial as a part of that of the search."""
        price = self.prices[trial] if trial < len(self.prices) else Price(optimizing=0.0)

        def tell(stage: str, step: int, steps: int, /, **figures: float) -> None:
            share = step / max(1, steps)
            done = {
                "teach": price.starting + share * price.teaching,
                "condense": price.starting + price.teaching + share * price.optimizing,
            }
            if stage in done:
                self.tell(progress, self.before(trial) + done[stage] / self.sum, **figures)

        return tell
