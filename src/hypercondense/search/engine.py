"""Runs a policy: carries out what it proposes, remembers trials by the digest of their recipe, asks networks.

Resuming is calling it again: what was tried before an interruption is known and not tried again.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from hypercondense.condensing.job import Job, Made
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.run import thread_limit
from hypercondense.nn.short_trainings import ShortTrainings
from hypercondense.runtime.progress import silent
from hypercondense.search.budget import Budget
from hypercondense.search.judge import Judge
from hypercondense.search.policy import Ask, Facts, Policy, Trial, Tried, Try
from hypercondense.typed import digest_of


class Engine:
    """Carries out trials of one job.

    Args:
        job: What is condensed; its checkpoint keeps what is known.
        networks: Trained for a short while on what trials made, where a policy asks for it.
        budget: How long trials may be begun.
    """

    def __init__(self, job: Job, *, networks: ShortTrainings, budget: Budget) -> None:
        self.trial_job = replace(job, progress=silent, checkpoint=None)
        self.job, self.networks, self.budget = job, networks, budget
        self.judge = Judge.of(job)
        self.trials: list[Trial] = []
        self._made: dict[str, Made] = {}
        self._known = dict(self._load())

    def search(self, policy: Policy, facts: Facts, *, at_most: int) -> list[Trial]:
        """Do what the policy proposes until it has no proposal, or the budget is used up."""
        while (proposal := policy(facts, self.trials)) is not None:
            if not self._is_known(proposal) and not self.budget.is_left(self.trials):
                break
            if isinstance(proposal, Ask):
                self.ask(proposal.trial)
                continue
            trial = self._tried(proposal)
            self.trials.append(trial)
            self._save()
            total = max(len(self.trials), int(min(self.budget.trials, at_most)))
            self.job.progress("search", len(self.trials), total, score=trial.score)
        return self.trials

    def ask(self, trial: Trial) -> Trial:
        """The trial with the accuracies of networks, which replaces it among the trials."""
        if trial.accuracies:
            return trial
        known = self._known.get(trial.key)
        if known is not None and known.accuracies:
            asked = replace(trial, accuracies=known.accuracies, seconds=known.seconds)
        else:
            begin = time.perf_counter()
            with self.job.material.clock.stage("confirm"):
                accuracies = tuple(self.networks.each(self.made(trial.recipe).hypergraph))
            seconds = trial.seconds + time.perf_counter() - begin
            asked = replace(trial, accuracies=accuracies, seconds=seconds)
            self._known[trial.key] = asked
        self.trials[self.trials.index(trial)] = asked
        self._save()
        return asked

    def made(self, recipe: Tried) -> Made:
        """What a recipe made; made again, to the same bits, if it was not kept."""
        key = digest_of(recipe)
        if key not in self._made:
            with thread_limit(recipe, self.trial_job):
                if isinstance(recipe, Recipe):
                    self.job.material.parts(recipe.map)  # kept for other trials under the same map
                self._made[key] = recipe.run(self.trial_job)
        return self._made[key]

    def _is_known(self, proposal: Try | Ask) -> bool:
        if isinstance(proposal, Try):
            return digest_of(proposal.recipe) in self._known
        known = self._known.get(proposal.trial.key)
        return known is not None and bool(known.accuracies)

    def _tried(self, proposal: Try) -> Trial:
        known = self._known.get(digest_of(proposal.recipe))
        if known is not None:
            return replace(known, label=proposal.label, recipe=proposal.recipe, accuracies=())
        begin = time.perf_counter()
        recipe = proposal.recipe
        trusts = not isinstance(recipe, Recipe) or recipe.map.trusts_structure
        right = self.judge(self.made(recipe).hypergraph, trusts_structure=trusts)
        seconds = time.perf_counter() - begin
        trial = Trial(label=proposal.label, recipe=recipe, right=right, seconds=seconds)
        self._known[trial.key] = trial
        return trial

    def _save(self) -> None:
        keeper = self.job.checkpoint
        if keeper is None or not keeper.due():
            return
        answers = {key: trial.right.to(torch.uint8) for key, trial in self._known.items()}
        facts: dict[str, Any] = {
            "trials": {
                key: {"seconds": trial.seconds, "accuracies": trial.accuracies}
                for key, trial in self._known.items()
            }
        }
        keeper.save(answers, facts)

    def _load(self) -> Iterator[tuple[str, Trial]]:
        saved = self.job.checkpoint and self.job.checkpoint.load()
        if not saved:
            return
        answers, facts = saved
        for key, told in facts["trials"].items():
            yield (
                key,
                Trial(
                    label="",
                    recipe=Recipe(),
                    right=answers[key].bool(),
                    seconds=told["seconds"],
                    accuracies=tuple(told["accuracies"]),
                ),
            )
