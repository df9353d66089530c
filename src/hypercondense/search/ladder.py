"""The ladder of ``auto``: a table of rungs, from cheap to dear, each taken where its condition holds.

Starts are only judged; the best of them is optimized in closed form, and where that is not clearly better,
through a training; a larger budget goes on with elaborations. What is in front gives way only to what is
clearly better: with few validation nodes the best of many is luck. Where networks make very different things
of the best start, rows are shown in bundles; where rows suit some networks only, real nodes are tried, too.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from torch import Tensor

from hypercondense.condensing.baselines.coresets import Herding
from hypercondense.condensing.recipe import Recipe
from hypercondense.search import rungs
from hypercondense.search.policy import Ask, Facts, Proposal, Trial, Try

#: Most trials without elaborations: four starts, the closed form, two lengths through a training; with few
#: labels a taught one, or real nodes, in place of the long one.
BASIC_TRIALS = 7
#: So many validation nodes tell half a point: then all maps and both ways to optimize are tried, even where
#: one was found to be good. With so many a search costs little beside a training on everything.
TELLING_NODES = 20_000
#: With fewer validation nodes labels are few, and a training on everything is quick enough for teachers.
FEW_NODES = 4000
#: So far apart, networks that were trained alike need something else than diffused rows.
DISAGREEMENT = 0.1
_STANDARD_ERRORS = 2.5


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How a search stands: what was tried on which rung, what is in front, and which start was optimized."""

    facts: Facts
    front: Trial | None = None
    start: Trial | None = None
    on_rung: dict[str, tuple[Trial, ...]] = field(default_factory=dict)

    @property
    def best_start(self) -> Trial:
        """The start that is, or would be, optimized."""
        found = self.start or self.front
        assert found is not None
        return found

    @property
    def best_front(self) -> Trial:
        """What is in front, once there is a trial."""
        assert self.front is not None
        return self.front

    @property
    def start_recipe(self) -> Recipe:
        """The recipe of the start."""
        return _recipe(self.best_start)

    @property
    def starts(self) -> list[Trial]:
        """All starts, in the order they were tried."""
        return [trial for rung in _STARTS for trial in self.on_rung.get(rung, ())]

    @property
    def second_start(self) -> Recipe | None:
        """The start with the best score besides the one that was optimized."""
        others = [trial for trial in self.starts if trial is not self.best_start]
        if not others:
            return None
        return _recipe(best(others))

    @property
    def bundles(self) -> bool:
        """Whether some networks make much less of the start than others: those that look at single nodes."""
        told = self.best_start.accuracies if self.start_recipe.map.trusts_structure else ()
        return bool(told) and max(told) - min(told) > DISAGREEMENT

    @property
    def labels_are_few(self) -> bool:
        """Whether there are few validation nodes, and so few training nodes."""
        return self.facts.num_validation < FEW_NODES

    @property
    def nodes_are_telling(self) -> bool:
        """Whether there are so many validation nodes that small differences are no chance."""
        return self.facts.num_validation >= TELLING_NODES

    def challenged(self, trials: Iterable[Trial]) -> "Standing":
        """What is clearly better than the front is put in front of it."""
        front = self.front
        for trial in trials:
            if front is None or is_clearly_better(trial.right, front.right):
                front = trial
        return replace(self, front=front)


def _recipe(trial: Trial) -> Recipe:
    assert isinstance(trial.recipe, Recipe)
    return trial.recipe


Condition: TypeAlias = Callable[[Standing], bool]


@dataclass(frozen=True)
class Rung:
    """A row of the table.

    Args:
        name: What is tried.
        when: The condition in words.
        holds: The condition.
        propose: What is tried, given how the search stands.
        accept: How the search stands after these trials.
    """

    name: str
    when: str
    holds: Condition
    propose: Callable[[Standing], list[Proposal]]
    accept: Callable[[Standing, Sequence[Trial]], Standing] = Standing.challenged


def _optimized(label: str, way: Callable[[Recipe, int], Recipe]) -> Callable[[Standing], list[Proposal]]:
    """A way to optimize the start, as single nodes or in bundles."""

    def proposals(standing: Standing) -> list[Proposal]:
        recipe = way(standing.start_recipe, standing.facts.num_nodes)
        if standing.bundles:
            return [Try(f"{label}, in bundles", rungs.in_bundles(recipe))]
        return [Try(label, recipe)]

    return proposals


def _structure_in_doubt(standing: Standing) -> bool:
    """Whether neither the first start, of diffused rows, nor that of raw ones is clearly better."""
    if len(standing.starts) < 2:
        return False
    diffused, raw = standing.starts[:2]
    return standing.front is diffused and not is_clearly_better(diffused.right, raw.right)


def _not_asked_for_proof(standing: Standing, trials: Sequence[Trial]) -> Standing:
    """Where the start is still in front, the better of it and these trials is."""
    if standing.front is not standing.start or standing.start is None:
        return standing
    return replace(standing, front=best([standing.start, *trials]))


def _better_than_start(standing: Standing, trials: Sequence[Trial]) -> Standing:
    """Trials must be clearly better than the start, and better than what is in front."""
    for trial in trials:
        if is_clearly_better(trial.right, standing.best_start.right):
            standing = replace(standing, front=best([standing.best_front, trial]))
    return standing


def _real_nodes_fit(standing: Standing) -> bool:
    rows_suit_some = standing.bundles or not standing.start_recipe.map.trusts_structure
    available = standing.facts.num_nodes <= standing.facts.num_training
    return standing.labels_are_few and rows_suit_some and available


_BRIEF = _optimized("through a training, briefly", rungs.brief_training)
_LONG = _optimized("through a training", rungs.long_training)
_STARTS = ("first starts", "another map", "another start")
_AFTER_STARTS = "ask networks about the best start"

RUNGS: tuple[Rung, ...] = (
    Rung("first starts", "always", lambda s: True, lambda s: list(rungs.first_starts())),
    Rung(
        "another map",
        "many validation nodes, a large budget, or diffused rows not clearly better than raw ones",
        lambda s: s.facts.elaborates or s.nodes_are_telling or _structure_in_doubt(s),
        lambda s: list(rungs.another_map()),
    ),
    Rung(
        "another start",
        "always",
        lambda s: True,
        lambda s: list(rungs.further_starts(_recipe(s.best_front))),
    ),
    Rung(
        "ask networks about the best start",
        "its rows are diffused",
        lambda s: s.start_recipe.map.trusts_structure,
        lambda s: [Ask(s.best_start)],
        lambda s, trials: s,
    ),
    Rung(
        "real nodes",
        "few validation nodes, and networks disagree or raw rows are best",
        _real_nodes_fit,
        lambda s: [Try("real nodes", Herding())],
        lambda s, trials: s,
    ),
    Rung(
        "taught",
        "few validation nodes, and networks agree",
        lambda s: s.labels_are_few and not s.bundles,
        _optimized("through a training, taught", rungs.taught),
        _not_asked_for_proof,
    ),
    Rung(
        "brief training first",
        "many validation nodes",
        lambda s: s.nodes_are_telling,
        _BRIEF,
        _not_asked_for_proof,
    ),
    Rung(
        "long training first",
        "many validation nodes",
        lambda s: s.nodes_are_telling,
        _LONG,
        _better_than_start,
    ),
    Rung(
        "closed form",
        "always",
        lambda s: True,
        _optimized("closed form, smoothed classes", rungs.closed_form),
    ),
    Rung(
        "brief training",
        "not many validation nodes, and the start is still in front",
        lambda s: not s.nodes_are_telling and s.front is s.start,
        _BRIEF,
        _not_asked_for_proof,
    ),
    Rung(
        "long training",
        "after a brief one, with neither few nor many validation nodes",
        lambda s: "brief training" in s.on_rung and not s.labels_are_few,
        _LONG,
        _better_than_start,
    ),
    Rung(
        "elaborations",
        "a large budget",
        lambda s: s.facts.elaborates,
        lambda s: list(rungs.elaborations(s.start_recipe, s.second_start, s.facts.num_nodes)),
    ),
)


def next_proposal(facts: Facts, trials: Sequence[Trial]) -> Proposal | None:
    """The policy: the first thing on the ladder that was not done yet."""
    return climb(facts, trials)[1]


def standing(facts: Facts, trials: Sequence[Trial]) -> Standing:
    """How the search stands after some trials."""
    return climb(facts, trials)[0]


def climb(facts: Facts, trials: Sequence[Trial]) -> tuple[Standing, Proposal | None]:
    """Go up the ladder as far as the trials reach; what is to be done there is the proposal."""
    now, left = Standing(facts=facts), list(trials)
    for rung in RUNGS:
        if rung.name == _AFTER_STARTS:
            now = replace(now, start=now.front)
        if not rung.holds(now):
            continue
        done: list[Trial] = []
        missing: Proposal | None = None
        for proposal in rung.propose(now):
            if isinstance(proposal, Ask):
                missing = None if proposal.trial.accuracies else proposal
            elif left:
                done.append(left.pop(0))
            else:
                missing = proposal
            if missing is not None:
                break
        if done:
            now = replace(now, on_rung={**now.on_rung, rung.name: tuple(done)})
        now = rung.accept(now, done)
        if missing is not None:
            return replace(now, start=now.start or now.front), missing
    return now, None


def most_trials(facts: Facts) -> int:
    """So many trials there are at most."""
    more = rungs.elaborations(rungs.MEANS, rungs.MEANS, facts.num_nodes) if facts.elaborates else ()
    return BASIC_TRIALS + facts.elaborates + len(list(more))


def best(trials: Sequence[Trial]) -> Trial:
    """Of equals the earlier one, which is the cheaper."""
    return max(trials, key=lambda trial: trial.score)


def is_clearly_better(right: Tensor, other: Tensor) -> bool:
    """Whether more nodes are right than in another trial, by 2.5 standard errors of the difference.

    With few validation nodes small differences are chance, and the best of many trials is the luckiest.

    >>> import torch
    >>> is_clearly_better(torch.tensor([True] * 9 + [False]), torch.tensor([True] * 8 + [False] * 2))
    False
    """
    difference = right.double() - other.double()
    error = float(difference.std(correction=0)) / math.sqrt(len(difference))
    return float(difference.mean()) > _STANDARD_ERRORS * error


def as_table() -> list[tuple[str, str]]:
    """The rungs and their conditions, for documentation."""
    return [(rung.name, rung.when) for rung in RUNGS]
