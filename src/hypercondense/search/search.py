"""Auto: which start, which map and which objective suit this hypergraph? Ask the validation nodes.

Trials are ordered from cheap to dear. Starts are only judged; the best of them is optimized in closed form,
and where that is not clearly better, through a training; a larger budget goes on with elaborations. A small
network judges every trial, and what is in front gives way only to what is clearly better: with few validation
nodes the best of many is luck. Real networks of more than one architecture are trained for a short while on
the best start and on what is in front at the end, and the better of these is returned. Where they make much
less of the start than the judge does, who convolves, rows are shown in bundles of noisy nodes. On small data
whose rows suit some networks only, they are asked about real nodes with their hyperedges, too.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, ClassVar, TypeAlias

import torch
from torch import Tensor

from hypercondense.condensing import Bundled, Condenser, Ridge, Unrolled
from hypercondense.condensing.base import Outcome, Task
from hypercondense.condensing.baselines.coresets import Coreset
from hypercondense.condensing.options import changed_settings, check_options
from hypercondense.hypergraph import Hypergraph
from hypercondense.nn import MODELS
from hypercondense.nn.short_trainings import validation_scores
from hypercondense.runtime.progress import silent
from hypercondense.search import candidates
from hypercondense.search.budget import Budget
from hypercondense.search.judge import Judge, is_clearly_better

#: Confirming where validation nodes are many: narrow networks, and so short a training cannot overfit.
_QUICK: dict[str, Any] = {
    "epochs": 60,
    "looks": 1,
    "options": {"hidden": 64, "dropout": 0.0, "input_dropout": 0.0},
}
#: And where they are few: networks of full width, several times, because one training tells little. They drop
#: half of their inputs, for those that do not prefer what suits no network that does.
_THOROUGH: dict[str, Any] = {"epochs": 120, "looks": 3, "options": {"input_dropout": 0.5}}
_ENOUGH_ANSWERS, _MOST_REPEATS = 4000, 5

#: So many validation nodes tell half a point: then all maps and both ways to optimize are tried, even where
#: one was found to be good. With so many a search costs little beside a training on everything.
_TELLING_NODES = 20_000

#: With fewer validation nodes labels are few, and a training on everything is quick enough for teachers.
_FEW_NODES = 4000

#: So far apart, networks that were trained alike need something else than diffused rows.
_DISAGREEMENT = 0.1

#: Accuracies of networks of different architectures that were trained on a candidate.
Networks: TypeAlias = Callable[[Hypergraph], Sequence[float]]

#: Most trials of a search without elaborations: four starts, the closed form, two lengths through a training;
#: with few labels a taught one, or real nodes, in place of the long one.
BASIC_TRIALS = 7


@dataclass(frozen=True, kw_only=True)
class Auto(Condenser):
    """A budgeted search over starts, maps, objectives and structure.

    Args:
        budget: At most so many trials, as ``7``, or how long trials may be begun, as ``60s`` or ``2m``. With
            a number of trials equal seeds give equal bits; with a time the command in ``choice`` does. Seven
            trials are the basic search, which stops before where it has found something clearly better than
            its starts; more trials, or any time that is left, go into elaborations.
        finalists: Different candidates that networks are trained on at the end: the best start, what is in
            front, and then the best others; the best of bundles and real nodes are always among them.
        models: The networks, joined by ``+``; the mean of their accuracies decides.
    """

    name: ClassVar[str] = "auto"
    empty_structure: ClassVar[str | None] = None
    selects_itself: ClassVar[bool] = True

    budget: str = str(BASIC_TRIALS)
    finalists: int = 2
    models: str = "hgnn+unigcnii"

    def __post_init__(self) -> None:
        Budget.parse(self.budget)
        check_options(self, at_least={"finalists": 1})
        unknown = [name for name in self.models.split("+") if name not in MODELS]
        if unknown:
            raise ValueError(f"models must be of {', '.join(MODELS)}, joined by +; got {unknown[0]!r}")

    def run(self, task: Task) -> Outcome:
        """Search, confirm, and return the best with a record of everything that was tried."""
        if len(task.split.validation_ids) == 0:
            return self._without_validation(task)
        search = Search(task, Budget.parse(self.budget), networks=self._networks(task))
        search.run()
        finalists = search.finalists(self.finalists)
        for done, trial in enumerate(finalists, start=1):
            task.progress("confirm", done, len(finalists), score=search.confirm(trial))
        start, best = finalists[0], max(finalists, key=lambda trial: (trial.confirmed, trial.score))
        outcome = search.outcome(best)
        return replace(
            outcome,
            history=tuple(trial.figures() for trial in search.trials),
            start_validation=start.confirmed,
            final_validation=best.confirmed,
            warnings=(*outcome.warnings, *search.warnings()),
            choice=search.record(best),
        )

    def _networks(self, task: Task) -> "Networks":
        """Short trainings of real networks, or what the caller scores by."""
        select = task.select
        if select is not None:
            return lambda candidate: [select(candidate)]
        repeats = math.ceil(_ENOUGH_ANSWERS / len(task.split.validation_ids))
        return validation_scores(
            task.source,
            task.split,
            models=self.models.split("+"),
            repeats=min(_MOST_REPEATS, repeats),
            device=task.device,
            **(_QUICK if repeats == 1 else _THOROUGH),
        )

    def _without_validation(self, task: Task) -> Outcome:
        recipe = Unrolled()
        with recipe.thread_limit(len(task.labels)):
            outcome = recipe.run(replace(task, select=None, checkpoint=None))
        warning = "there are no validation nodes to choose by, so the recipe is the default of `unrolled`"
        choice = {"method": recipe.name, "settings": {}, "why": warning, "trials": []}
        return replace(outcome, warnings=(*outcome.warnings, warning), choice=choice)


@dataclass
class Trial:
    """A candidate that was tried.

    ``right`` says which validation nodes the judge got right; ``accuracies`` are those of networks,
    ``confirmed`` is their mean.
    """

    number: int
    label: str
    candidate: Condenser
    right: Tensor
    seconds: float
    accuracies: Sequence[float] = ()
    confirmed: float | None = None

    @property
    def score(self) -> float:
        """The judge's accuracy."""
        return float(self.right.double().mean())

    def figures(self) -> dict[str, float]:
        """A row of the history."""
        return {"epoch": self.number, "score": self.score, "seconds": self.seconds}

    def facts(self) -> dict[str, Any]:
        """A row of the record."""
        return {
            "label": self.label,
            "method": self.candidate.name,
            "settings": changed_settings(self.candidate),
            "score": self.score,
            "confirmed": self.confirmed,
            "seconds": self.seconds,
        }


class Search:
    """Runs trials while the budget lasts and remembers what they were worth.

    What was scored before an interruption is not run again; only finalists are, to the same bits.
    """

    def __init__(self, task: Task, budget: Budget, *, networks: Networks) -> None:
        self.task = replace(task, select=None, checkpoint=None, progress=silent, memo={})
        self.progress, self.checkpoint, self.budget = task.progress, task.checkpoint, budget
        self.judge, self.networks = Judge.of(self.task), networks
        self.trials: list[Trial] = []
        self.starts: list[Trial] = []
        self.num_nodes = len(task.labels)
        self.elaborates = budget.trials > BASIC_TRIALS
        extra = candidates.elaborations(Ridge(), Ridge(), num_nodes=self.num_nodes)
        self.num_elaborations = len(list(extra)) if self.elaborates else 0
        self.planned = BASIC_TRIALS + self.elaborates + self.num_elaborations  # at most
        self._outcomes: dict[int, Outcome] = {}
        saved = self.checkpoint and self.checkpoint.load()
        self._known: list[tuple[Tensor, float]] = []
        if saved:
            self._known = [(saved[0][str(i)].bool(), s) for i, s in enumerate(saved[1]["seconds"])]
        self.budget.elapsed = saved[1]["elapsed"] if saved else 0.0
        self.bundles: bool = saved[1]["bundles"] if saved else False

    def run(self) -> None:
        """All rungs, each from what is in front after the one before."""
        self.starts = self.tried(candidates.first_starts())
        self.front = self.starts[0]
        self._challenge(self.starts)
        if self.elaborates or self._nodes_are_telling or self._structure_is_in_doubt:
            self.starts += self._challenge(self.tried(candidates.another_map()))
        self.starts += self._challenge(self.tried(candidates.further_starts(_method(self.front))))
        self.start = start = self.front
        self.bundles = self._networks_disagree(start)
        real = list(self._real_nodes())
        num_ways = 2 if self.bundles and self._labels_are_few else 3
        self.planned = len(self.starts) + len(real) + num_ways + self.num_elaborations
        self.tried(real)
        self._optimize(start)
        if self.elaborates:
            others = [trial for trial in self.starts if trial is not start]
            second = _method(_best(others)) if others else None
            self._challenge(
                self.tried(candidates.elaborations(_method(start), second, num_nodes=self.num_nodes))
            )

    @property
    def _structure_is_in_doubt(self) -> bool:
        """Whether neither the first start, of diffused rows, nor that of raw ones is clearly better."""
        if len(self.starts) == 1:
            return False
        diffused, raw = self.starts
        return self.front is diffused and not is_clearly_better(diffused.right, raw.right)

    def _optimize(self, start: Trial) -> None:
        """Through a training and in closed form; with fewer nodes to tell, only until one is clearly better.

        The closed form is the cheaper, and where it is better, it is by much. Of equals, plain classes are
        preferred to smoothed ones. Where labels are few, and a training on everything is quick, teachers tell
        of the nodes without one: that does not overfit, and is not asked for proof.
        """
        if self._labels_are_few and not self.bundles:
            self.front = _best([start, *self._tried_from(start, candidates.taught)])
        if self._nodes_are_telling:
            self._train_through(start)
        self._challenge(self._tried_from(start, candidates.closed_form))
        if not self._nodes_are_telling and self.front is start:
            self._train_through(start)
        elif not self._nodes_are_telling:
            self.planned -= 1 if self._labels_are_few else 2

    @property
    def _nodes_are_telling(self) -> bool:
        return len(self.judge.receivers.node_ids) >= _TELLING_NODES

    @property
    def _labels_are_few(self) -> bool:
        return len(self.judge.receivers.node_ids) < _FEW_NODES

    def _real_nodes(self) -> Iterator[candidates.Proposal]:
        """On small data, where rows suit some networks only: raw ones those that do not convolve."""
        if self._labels_are_few and (self.bundles or not candidates.trusts_structure(self.start.candidate)):
            yield from candidates.real_nodes(num_nodes=self.num_nodes, available=len(self.task.train_labels))

    @property
    def _optimized(self) -> list[Trial]:
        """Trials that are neither starts nor real nodes."""
        others = (trial for trial in self.trials if trial not in self.starts)
        return [trial for trial in others if not isinstance(trial.candidate, Coreset)]

    def _train_through(self, start: Trial) -> None:
        """Briefly and at length. The brief one is too small a change of its start to be asked for proof.

        The long one must be clearly better than the start, and better than the brief one. It would learn few
        labels by heart.
        """
        brief = self._tried_from(start, candidates.brief_training)
        if self.front is start:
            self.front = _best([start, *brief])
        if self._labels_are_few:
            return
        for trial in self._tried_from(start, candidates.long_training):
            if is_clearly_better(trial.right, start.right):
                self.front = _best([self.front, trial])

    def _networks_disagree(self, start: "Trial") -> bool:
        """Whether some networks make much less of the start than others: those that look at single nodes.

        What was decided before an interruption stays decided. The time this takes is not that of trials.
        """
        if len(self._known) > len(self.trials):
            return self.bundles
        if not candidates.trusts_structure(start.candidate) or not self.budget.is_left():
            return False
        begin = self.budget.spent_seconds
        self.confirm(start)
        self.budget.elapsed -= self.budget.spent_seconds - begin
        return max(start.accuracies) - min(start.accuracies) > _DISAGREEMENT

    def _tried_from(self, start: "Trial", ways: candidates.Ways) -> list["Trial"]:
        """Ways to optimize a start, tried as single nodes or in bundles."""
        proposals = ways(_method(start), num_nodes=self.num_nodes)
        return self.tried(candidates.in_bundles(proposals) if self.bundles else proposals)

    def confirm(self, trial: "Trial") -> float:
        """Mean accuracy of networks of more than one architecture."""
        if trial.confirmed is None:
            with self.task.stage("confirm"):
                trial.accuracies = self.networks(self.outcome(trial).hypergraph)
            trial.confirmed = fmean(trial.accuracies)
        return trial.confirmed

    def _challenge(self, trials: list[Trial]) -> list[Trial]:
        """Put what is clearly better than the front in front of it."""
        for trial in trials:
            if is_clearly_better(trial.right, self.front.right):
                self.front = trial
        return trials

    def tried(self, proposals: Iterable[candidates.Proposal]) -> list[Trial]:
        """The trials of those proposals that the budget allows."""
        done = []
        for label, candidate in proposals:
            is_known = len(self.trials) < len(self._known)  # what was done before an interruption stays done
            if not is_known and not self.budget.is_left():
                break
            done.append(self._try(label, candidate))
        return done

    def outcome(self, trial: Trial) -> Outcome:
        """What a trial made; made again, to the same bits, if it was not kept."""
        if trial.number not in self._outcomes:
            self._outcomes[trial.number] = self._run(trial.candidate)
        return self._outcomes[trial.number]

    def finalists(self, number: int) -> list[Trial]:
        """The start that was optimized, what is in front, and the best others: at least one, if there is any.

        An optimization that could not better its start returns it, and is no alternative to it. What bundles
        or real nodes are worth the judge cannot tell: networks are always asked about the best of either.
        """
        finalists = [self.start]
        digests = {self.outcome(finalists[0]).hypergraph.digest}
        optimized = sorted(self._optimized, key=lambda trial: -trial.score)
        real = [trial for trial in self.trials if isinstance(trial.candidate, Coreset)]
        bundled = [trial for trial in [self.front, *optimized] if isinstance(trial.candidate, Bundled)]
        for trial in [*bundled[:1], self.front, *optimized, *real]:
            if len(finalists) >= max(2, number) and trial not in [self.front, *real]:
                continue
            digest = self.outcome(trial).hypergraph.digest
            if digest not in digests:
                finalists.append(trial)
                digests.add(digest)
        return finalists

    def record(self, best: Trial) -> dict[str, Any]:
        """What was chosen, why, and among what."""
        start = self.start
        is_from_start = best is not start and not isinstance(best.candidate, Coreset)
        why = f"{best.label} (from {start.label}): " if is_from_start else f"{best.label}: "
        return {
            "method": best.candidate.name,
            "settings": changed_settings(best.candidate),
            "why": f"{why}{best.confirmed:.1%} on validation nodes, the best start {start.confirmed:.1%}",
            "trials": [trial.facts() for trial in self.trials],
        }

    def warnings(self) -> Iterator[str]:
        """What the user should know about the search itself."""
        if not self._optimized:
            yield (
                f"the budget was used up by {len(self.trials)} starts, so nothing was optimized; "
                "a larger --budget would do more"
            )

    def _try(self, label: str, candidate: Condenser) -> Trial:
        number = len(self.trials)
        begin = self.budget.spent_seconds
        if number < len(self._known):
            right, seconds = self._known[number]
        else:
            self._outcomes[number] = self._run(candidate)
            right = self.judge(
                self._outcomes[number].hypergraph, trusts_structure=candidates.trusts_structure(candidate)
            )
            seconds = self.budget.spent_seconds - begin
        self.budget.used += 1
        trial = Trial(number, label, candidate, right, seconds)
        self.trials.append(trial)
        if len(self.trials) > len(self._known):  # what is known must not be written over by a part of it
            self._save()
        total = min(self.budget.trials, self.planned)
        self.progress("search", self.budget.used, int(max(self.budget.used, total)), score=trial.score)
        return trial

    def _run(self, candidate: Condenser) -> Outcome:
        with candidate.thread_limit(len(self.task.labels)):
            return candidate.run(self.task)

    def _save(self) -> None:
        if self.checkpoint is not None and self.checkpoint.due():
            answers = {str(trial.number): trial.right.to(torch.uint8) for trial in self.trials}
            facts = {
                "seconds": [trial.seconds for trial in self.trials],
                "elapsed": self.budget.spent_seconds,
                "bundles": self.bundles,
            }
            self.checkpoint.save(answers, facts)


def _best(trials: Sequence[Trial]) -> Trial:
    """Of equals the earlier one, which is the cheaper."""
    return max(trials, key=lambda trial: trial.score)


def _method(trial: Trial) -> Ridge:
    assert isinstance(trial.candidate, Ridge)
    return trial.candidate
