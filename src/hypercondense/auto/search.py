"""Auto: which start, which map and which objective suit this hypergraph? Ask the validation nodes.

Trials are ordered from cheap to dear. Starts are only judged; the best of them is optimized in short trials;
what does best there is run at full length; a larger budget goes on with elaborations. Small networks on
diffused rows judge every trial. At the end real networks of more than one architecture are trained for a
short while on the last few, the best start among them, and the best of these is returned.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from hypercondense.auto import candidates
from hypercondense.auto.budget import Budget
from hypercondense.auto.judge import Judge
from hypercondense.evaluation.selection import validation_scorer
from hypercondense.methods import Condenser, Unrolled
from hypercondense.methods.base import Outcome, Task
from hypercondense.methods.options import changed_settings, check_options
from hypercondense.models import MODELS
from hypercondense.progress import silent

_CONFIRM_EPOCHS, _CONFIRM_LOOKS = 120, 6


@dataclass(frozen=True, kw_only=True)
class Auto(Condenser):
    """A budgeted search over starts, maps, objectives and structure.

    Args:
        budget: A number of trials, as ``8``, or how long trials may be begun, as ``60s`` or ``2m``. With a
            number of trials equal seeds give equal bits; with a time the command in ``choice`` does.
        finalists: Different candidates that networks are trained on at the end: the best start, and at least
            one other.
        models: The networks, joined by ``+``; the mean of their accuracies decides.
    """

    name: ClassVar[str] = "auto"
    empty_structure: ClassVar[str | None] = None
    selects_itself: ClassVar[bool] = True

    budget: str = "8"
    finalists: int = 3
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
        search = Search(task, Budget.parse(self.budget))
        search.run()
        with task.stage("confirm"):
            finalists = self._confirmed(search, task)
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

    def _confirmed(self, search: "Search", task: Task) -> list["Trial"]:
        """The best start first, then the best of the others, scored by networks."""
        score = task.select or validation_scorer(
            task.source,
            task.split,
            models=self.models.split("+"),
            epochs=_CONFIRM_EPOCHS,
            looks=_CONFIRM_LOOKS,
            device=task.device,
        )
        finalists = search.finalists(self.finalists)
        for done, trial in enumerate(finalists, start=1):
            trial.confirmed = score(search.outcome(trial).hypergraph)
            task.progress("confirm", done, len(finalists), score=trial.confirmed)
        return finalists

    def _without_validation(self, task: Task) -> Outcome:
        recipe = Unrolled()
        with recipe.thread_limit(len(task.labels)):
            outcome = recipe.run(replace(task, select=None, checkpoint=None))
        warning = "there are no validation nodes to choose by, so the recipe is the default of `unrolled`"
        choice = {"method": recipe.name, "settings": {}, "why": warning, "trials": []}
        return replace(outcome, warnings=(*outcome.warnings, warning), choice=choice)


@dataclass
class Trial:
    """A candidate that was tried. ``score`` is the judge's, ``confirmed`` that of networks."""

    number: int
    label: str
    candidate: Condenser
    score: float
    seconds: float
    confirmed: float | None = None

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

    def __init__(self, task: Task, budget: Budget) -> None:
        self.task = replace(task, select=None, checkpoint=None, progress=silent, memo={})
        self.progress, self.checkpoint, self.budget = task.progress, task.checkpoint, budget
        self.judge = Judge.of(self.task)
        self.trials: list[Trial] = []
        self.starts: list[Trial] = []
        self._outcomes: dict[int, Outcome] = {}
        saved = self.checkpoint and self.checkpoint.load()
        self._known: list[list[float]] = saved[1]["trials"] if saved else []
        self.budget.elapsed = saved[1]["elapsed"] if saved else 0.0

    def run(self) -> None:
        """All rungs, each with the best of the one before."""
        self.starts = self.tried(candidates.first_starts())
        self.starts += self.tried(candidates.further_starts(_method(_best(self.starts))))
        short = self.tried(candidates.short_optimizations(_method(_best(self.starts))))
        if not short:
            return
        winner = _best(short)
        best = candidates.full_length(_method(winner))
        self.tried([(winner.label.removesuffix(", short"), best)])
        ranked = sorted(self.starts, key=lambda trial: -trial.score)
        second = _method(ranked[1]) if len(ranked) > 1 else None
        self.tried(candidates.elaborations(best, second))

    def tried(self, proposals: Iterable[tuple[str, Condenser]]) -> list[Trial]:
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
        """The best start, then the best others: one less than ``number`` of them, but at least one.

        An optimization that could not better its start returns it, and is no alternative to it.
        """
        finalists = [_best(self.starts)]
        digests = {self.outcome(finalists[0]).hypergraph.digest}
        others = sorted((t for t in self.trials if t not in self.starts), key=lambda trial: -trial.score)
        for trial in others:
            if len(finalists) == max(2, number):
                break
            digest = self.outcome(trial).hypergraph.digest
            if digest not in digests:
                finalists.append(trial)
                digests.add(digest)
        return finalists

    def record(self, best: Trial) -> dict[str, Any]:
        """What was chosen, why, and among what."""
        start = _best(self.starts)
        why = f"{best.label} (from {start.label}): " if best is not start else f"{best.label}: "
        return {
            "method": best.candidate.name,
            "settings": changed_settings(best.candidate),
            "why": f"{why}{best.confirmed:.1%} on validation nodes, the best start {start.confirmed:.1%}",
            "trials": [trial.facts() for trial in self.trials],
        }

    def warnings(self) -> Iterator[str]:
        """What the user should know about the search itself."""
        if len(self.trials) == len(self.starts):
            yield (
                f"the budget was used up by {len(self.trials)} starts, so nothing was optimized; "
                "a larger --budget would do more"
            )

    def _try(self, label: str, candidate: Condenser) -> Trial:
        number = len(self.trials)
        begin = self.budget.spent_seconds
        if number < len(self._known):
            score, seconds = self._known[number]
        else:
            self._outcomes[number] = self._run(candidate)
            score = self.judge(self._outcomes[number].hypergraph)
            seconds = self.budget.spent_seconds - begin
        self.budget.used += 1
        trial = Trial(number, label, candidate, score, seconds)
        self.trials.append(trial)
        self._save()
        total = int(min(self.budget.trials, _most_trials()))
        self.progress("search", self.budget.used, max(total, self.budget.used), score=score)
        return trial

    def _run(self, candidate: Condenser) -> Outcome:
        with candidate.thread_limit(len(self.task.labels)):
            return candidate.run(self.task)

    def _save(self) -> None:
        if self.checkpoint is not None and self.checkpoint.due():
            known = [[trial.score, trial.seconds] for trial in self.trials]
            facts = {"trials": known, "elapsed": self.budget.spent_seconds}
            self.checkpoint.save({}, facts)


def _best(trials: Sequence[Trial]) -> Trial:
    """Of equals the earlier one, which is the cheaper."""
    return max(trials, key=lambda trial: trial.score)


def _method(trial: Trial) -> Unrolled:
    assert isinstance(trial.candidate, Unrolled)
    return trial.candidate


def _most_trials() -> int:
    """How many there are if the budget never ends."""
    any_start = Unrolled()
    rungs = (
        candidates.first_starts(),
        candidates.further_starts(any_start),
        candidates.short_optimizations(any_start),
        [("full length", any_start)],
        candidates.elaborations(any_start, any_start),
    )
    return sum(len(list(rung)) for rung in rungs)
