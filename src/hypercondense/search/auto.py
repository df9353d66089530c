"""Auto, the default: which start, which map and which objective suit this hypergraph? Ask validation nodes.

A small network judges every trial of the ladder. Real networks of more than one architecture are trained for
a short while on the best start and on what is in front at the end, and the better of these is returned.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from hypercondense.condensing.bundles import Bundles
from hypercondense.condensing.job import Job, Made
from hypercondense.condensing.presets import PRESETS
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.run import thread_limit
from hypercondense.nn import MODELS
from hypercondense.nn.short_trainings import ShortTrainings
from hypercondense.search import ladder
from hypercondense.search.budget import Budget
from hypercondense.search.engine import Engine
from hypercondense.search.policy import Facts, Trial
from hypercondense.search.record import record
from hypercondense.typed import Count, Value

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
_UNSEARCHED = "unrolled"  # the recipe where there is nothing to choose by


class Auto(Value):
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

    empty_structure: ClassVar[None] = None
    one_thread_up_to: ClassVar[int] = 0

    budget: str | int = str(ladder.BASIC_TRIALS)
    finalists: Count = 2
    models: str = "hgnn+unigcnii"

    def __post_init__(self) -> None:
        super().__post_init__()
        Budget.parse(str(self.budget))
        unknown = [name for name in self.models.split("+") if name not in MODELS]
        if unknown:
            raise ValueError(f"models must be of {', '.join(MODELS)}, joined by +; got {unknown[0]!r}")

    def run(self, job: Job) -> Made:
        """Search, confirm, and return the best with a record of everything that was tried."""
        if not job.chooses:
            return _unsearched(job)
        budget = Budget.parse(str(self.budget))
        facts = Facts(
            num_nodes=len(job.labels),
            num_validation=len(job.material.split.validation_ids),
            num_training=len(job.material.train_labels),
            elaborates=budget.trials > ladder.BASIC_TRIALS,
            seed=job.seed,
        )
        networks = self._networks(job)
        engine = Engine(job, networks=networks, budget=budget)
        engine.search(ladder.next_proposal, facts, at_most=ladder.most_trials(facts))
        standing = ladder.standing(facts, engine.trials)
        finalists = []
        among = list(_finalists(engine, standing, self.finalists))
        for done, trial in enumerate(among, start=1):
            finalists.append(engine.ask(trial))
            job.progress("confirm", done, len(among), score=finalists[-1].confirmed or 0.0)
        start, best = finalists[0], max(finalists, key=lambda trial: (trial.confirmed, trial.score))
        made = engine.made(best.recipe)
        return replace(
            made,
            history=tuple(_figures(number, trial) for number, trial in enumerate(engine.trials)),
            start_validation=start.confirmed,
            final_validation=best.confirmed,
            judge=networks,
            warnings=(*made.warnings, *_warnings(engine.trials, standing)),
            choice={**record(best, engine.trials, start=start), "rungs": ladder.as_table()},
        )

    def _networks(self, job: Job) -> ShortTrainings:
        """Short trainings of real networks."""
        split = job.material.split
        repeats = math.ceil(_ENOUGH_ANSWERS / len(split.validation_ids))
        return ShortTrainings(
            job.material.inputs,
            split,
            models=self.models.split("+"),
            repeats=min(_MOST_REPEATS, repeats),
            **(_QUICK if repeats == 1 else _THOROUGH),
        )


def _unsearched(job: Job) -> Made:
    recipe = PRESETS[_UNSEARCHED][1]
    with thread_limit(recipe, job):
        made = recipe.run(replace(job, select=False))
    reason = (
        "validation nodes may not choose" if not job.select else "there are no validation nodes to choose by"
    )
    warning = f"{reason}, so nothing was searched: the recipe is that of `{_UNSEARCHED}`"
    choice = {"method": _UNSEARCHED, "settings": {}, "why": warning, "trials": []}
    return replace(made, warnings=(*made.warnings, warning), choice=choice)


def _optimized(trials: Sequence[Trial], standing: ladder.Standing) -> list[Trial]:
    """Trials that are neither starts nor real nodes."""
    starts = {trial.key for trial in standing.starts}
    return [trial for trial in trials if isinstance(trial.recipe, Recipe) and trial.key not in starts]


def _finalists(engine: Engine, standing: ladder.Standing, number: int) -> Iterator[Trial]:
    """The start that was optimized, what is in front, and the best others: at least one, if there is any.

    An optimization that could not better its start returns it, and is no alternative to it. What bundles or
    real nodes are worth the judge cannot tell: networks are always asked about the best of either.
    """
    front = standing.best_front
    optimized = sorted(_optimized(engine.trials, standing), key=lambda trial: -trial.score)
    real = [trial for trial in engine.trials if not isinstance(trial.recipe, Recipe)]
    bundled = [trial for trial in [front, *optimized] if _is_bundled(trial)]
    always = {trial.key for trial in [front, *real]}
    digests: set[str] = set()
    for trial in [standing.best_start, *bundled[:1], front, *optimized, *real]:
        if len(digests) >= max(2, number) and trial.key not in always:
            continue
        digest = engine.made(trial.recipe).hypergraph.digest
        if digest not in digests:
            digests.add(digest)
            yield trial


def _is_bundled(trial: Trial) -> bool:
    return isinstance(trial.recipe, Recipe) and isinstance(trial.recipe.bundles, Bundles)


def _figures(number: int, trial: Trial) -> dict[str, float]:
    """A row of the history."""
    return {"epoch": number, "score": trial.score, "seconds": trial.seconds}


def _warnings(trials: Sequence[Trial], standing: ladder.Standing) -> Iterator[str]:
    """What the user should know about the search itself."""
    if not _optimized(trials, standing):
        yield (
            f"the budget was used up by {len(trials)} starts, so nothing was optimized; "
            "a larger --budget would do more"
        )
