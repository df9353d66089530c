"""Auto, the default: which of few strong recipes suits this hypergraph? Networks trained on each tell."""

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from hypercondense.condensing.job import Job, Made
from hypercondense.condensing.run import thread_limit
from hypercondense.errors import CondensationError
from hypercondense.nn import MODELS, model_class
from hypercondense.nn.short_trainings import ShortTrainings
from hypercondense.runtime.progress import expect
from hypercondense.search import costs
from hypercondense.search.budget import Budget
from hypercondense.search.confirm import Confirm
from hypercondense.search.costs import Sizes
from hypercondense.search.engine import ASKS_AFTER, Engine, Price, Shares
from hypercondense.search.policy import Facts, Trial
from hypercondense.search.portfolio import EDITION, PORTFOLIO, Entry
from hypercondense.search.race import Race
from hypercondense.search.record import named, record
from hypercondense.typed import Count, Value

#: Of the time that is left: what networks should take that are asked, and what leaves enough for trials.
_ASKING_SHARE, _LARGEST_SHARE = 0.4, 0.8
_ESTIMATING = 0.05  # of the work, which the ledger takes to find out what a training on everything takes
_SLOWEST = 20.0  # times slower than the machine of nominal seconds, as others may be busy on this one
_log = logging.getLogger(__name__)


class Auto(Value):
    """A search among few recipes, as far as it is expected to pay.

    Args:
        budget: ``none`` lets the race decide what pays. At most so many trials, as ``5``, or how long all may
            take, as ``60s`` or ``2m``: then all recipes are tried in turn as far as it lasts. With none or a
            number of trials equal seeds give equal bits; with a time the command in ``choice`` does.
        models: The networks that are trained on every candidate, joined by ``+``; ``none`` for HGNN, and for
            UniGCNII too where a budget is given. It sees more of single nodes, and takes five times as long.
        confirm: How these are trained, and how often.
        race: What a search may cost, and what it must be expected to gain.
        edition: Of the portfolio; there is only the present one, and results tell which it was.
    """

    empty_structure: ClassVar[None] = None
    one_thread_up_to: ClassVar[int] = 0
    trains_on_whole: ClassVar[None] = None

    budget: str | int | None = None
    models: str | None = None
    confirm: Confirm = Confirm()
    race: Race = Race()
    edition: Count = EDITION

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.edition != EDITION:
            raise ValueError(
                f"edition must be {EDITION}, that of the present portfolio; got {self.edition}: "
                "the version of this package that made a result makes it again"
            )
        if self.budget is not None:
            Budget.parse(str(self.budget))
        unknown = [name for name in self.networks if name not in MODELS]
        if unknown:
            raise ValueError(f"models must be of {', '.join(MODELS)}, joined by +; got {unknown[0]!r}")

    @property
    def networks(self) -> list[str]:
        """Names of the networks that are asked.

        >>> Auto().networks, Auto(budget=5).networks, Auto(models="mlp").networks
        (['hgnn'], ['hgnn', 'unigcnii'], ['mlp'])
        """
        asked = self.models or ("hgnn" if self.budget is None else "hgnn+unigcnii")
        return asked.split("+")

    @property
    def allowed(self) -> Budget:
        """The budget; without one, an endless one."""
        return Budget() if self.budget is None else Budget.parse(str(self.budget))

    def facts(self, sizes: Sizes, *, whole_training: bool, chooses: bool, seed: int) -> Facts:
        """What is known before the first trial; all that may be tried follows from it."""
        facts = Facts(
            sizes=sizes,
            entries=tuple(entry.on(sizes) for entry in PORTFOLIO),
            whole_training=whole_training,
            unlimited=self.budget is not None,
            asking=self._price_of_asking(sizes) if chooses else 0.0,
            seed=seed,
        )
        budget = self.allowed
        if not budget.is_time:
            return facts
        return replace(facts, entries=affordable_first(facts, budget.seconds))

    def run(self, job: Job) -> Made:
        """Try what pays, and return the best with a record of everything that was tried."""
        sizes = Sizes.of(job.material.source, job.material.split, len(job.labels))
        # Within a budget of memory rows of all nodes, which teachers speak of, would not stay in their file.
        teachers = job.whole_training and not job.material.stays_on_disk
        facts = self.facts(sizes, whole_training=teachers, chooses=job.chooses, seed=job.seed)
        budget = self.allowed
        entries = self.race.entries(facts)
        if not job.chooses:
            reason = "there are no validation nodes" if job.select else "validation nodes may not choose"
            return self._alone(entries[0], job, facts, f"{reason}, so nothing was searched")
        if len(entries) == 1 or budget.trials == 1:
            return self._alone(entries[0], job, facts, "trying others was not expected to pay")
        networks = self._networks(job)
        engine = Engine(job, networks=networks, budget=budget)
        if budget.is_time:
            facts, engine.deadline.reserved, engine.instead = _in_time(networks, budget, job, facts)
        prices = _prices(self.race.entries(facts), sizes, asking=facts.asking)
        taken = sum(one.total for one in prices[: int(min(budget.trials, len(prices)))])
        expect(job.progress, {"search": taken, "guard": facts.asking + _ESTIMATING * taken})
        trials = engine.search(self.race.next_proposal, facts, at_most=len(entries), prices=prices)
        if not trials:  # the first was slower than it was expected to be
            first, *others = facts.entries
            facts, engine.instead = replace(facts, entries=(*others, first)), None
            facts = replace(facts, entries=affordable_first(facts, 0.0))
            prices = _prices(facts.entries, sizes, asking=facts.asking)
            trials = engine.search(self.race.next_proposal, facts, at_most=len(entries), prices=prices)
        best = self.race.front(facts, trials)
        made = engine.made(best.recipe)
        return replace(
            made,
            history=tuple(_figures(number, trial) for number, trial in enumerate(trials)),
            start_validation=trials[0].score,
            final_validation=best.score,
            judge=networks,
            warnings=(*made.warnings, *engine.warnings),
            choice=record(best, trials),
        )

    def _alone(self, entry: Entry, job: Job, facts: Facts, why: str) -> Made:
        """One recipe, without asking networks about it; if its teachers are no use, the next without any."""
        try:
            return _alone(entry, job, why)
        except CondensationError as error:
            if not entry.trains_on_whole:
                raise
            left_out = f"{entry.label} was left out: {error}"
        other = self.race.entries(replace(facts, whole_training=False))[0]
        made = _alone(other, job, why)
        return replace(made, warnings=(*made.warnings, left_out))

    def _networks(self, job: Job) -> ShortTrainings:
        """Short trainings of real networks."""
        split = job.material.split
        return ShortTrainings(
            job.material.inputs,
            split,
            models=self.networks,
            metric=job.metric,
            **self.confirm.with_nodes(len(split.validation_ids)),
        )

    def _price_of_asking(self, sizes: Sizes) -> float:
        how = self.confirm.with_nodes(sizes.validation)
        return sum(
            costs.judging(
                sizes,
                network=name,
                trainings=how["repeats"] * len(model_class(name).forms),
                epochs=how["epochs"],
                looks=how["looks"] + 1,
            )
            for name in self.networks
        )


def affordable_first(facts: Facts, seconds: float, *, asking: float | None = None) -> tuple[Entry, ...]:
    """The entries, with one first that a time is expected to be enough for: the first is always finished.

    It is the best of these, or the cheapest of all where there are none. Seconds are nominal.

    Args:
        facts: With all entries.
        seconds: How much time there is.
        asking: What networks will take of it; by default as often as they are asked after a trial.
    """
    known = [entry for entry in facts.entries if facts.whole_training or not entry.trains_on_whole]
    prices = {entry.label: costs.condensing(entry.recipe, facts.sizes) for entry in known}
    left = _LARGEST_SHARE * seconds - (ASKS_AFTER * facts.asking if asking is None else asking)
    payable = [entry for entry in known if prices[entry.label] <= left]
    cheapest = min(known, key=lambda entry: prices[entry.label])
    first = max(payable, key=lambda entry: entry.gain, default=cheapest)
    return (first, *(entry for entry in facts.entries if entry is not first))


def _in_time(
    networks: ShortTrainings, budget: Budget, job: Job, facts: Facts
) -> tuple[Facts, float, float | None]:
    """Facts with an entry first that the time left is enough for, and seconds to keep for asking networks.

    The third are those of the quickest entry, where it is another one.

    They are asked as often as the time allows. How long they take tells how fast this machine is at present.
    What cannot be kept is said before the search begins, and then the quickest recipe comes first.
    """
    begin, used = time.perf_counter(), time.process_time()
    one, asked = networks.forecast(job.labels), networks.repeats
    waited = (time.perf_counter() - begin) / max(1e-3, time.process_time() - used)
    waited = min(_SLOWEST, max(1.0, waited))  # for a processor: so many times as long as its work
    one *= waited
    left = max(0.0, budget.seconds - (time.perf_counter() - job.began))
    networks.repeats = max(1, min(asked, int(_ASKING_SHARE * left / (ASKS_AFTER * one))))
    asking = ASKS_AFTER * one * networks.repeats
    slowness = min(_SLOWEST, max(1.0, waited, one * asked / facts.asking if facts.asking else 1.0))
    facts = replace(facts, entries=affordable_first(facts, left / slowness, asking=asking / slowness))
    first = facts.entries[0]
    making = slowness * costs.condensing(first.recipe, facts.sizes)
    if asking + making > _LARGEST_SHARE * left:
        _log.warning(
            "a budget of %gs cannot be kept: %.0f s of it are left, and one trial and asking networks about "
            "it take about %.0f s here; only the quickest is done: %s",
            budget.seconds,
            left,
            asking + making,
            first.label,
        )
    quickest = affordable_first(facts, 0.0)[0]
    instead = None if first is quickest else slowness * costs.condensing(quickest.recipe, facts.sizes)
    return facts, asking, instead


def _price(entry: Entry, sizes: Sizes, *, asking: float = 0.0) -> Price:
    """What a trial is thought to cost."""
    starting, teaching = costs.starting(entry.recipe, sizes), costs.teaching(entry.recipe, sizes)
    rest = costs.condensing(entry.recipe, sizes) - starting - teaching
    return Price(starting, teaching, rest, asking)


def _prices(entries: Sequence[Entry], sizes: Sizes, *, asking: float) -> list[Price]:
    return [_price(entry, sizes, asking=asking) for entry in entries]


def _alone(entry: Entry, job: Job, why: str) -> Made:
    """One recipe, without asking networks about it."""
    sizes = Sizes.of(job.material.source, job.material.split, len(job.labels))
    price = _price(entry, sizes)
    guard = costs.guarding(sizes) if job.chooses else 0.0
    estimating = 0.0 if price.teaching else _ESTIMATING * price.total  # a teacher was a measurement
    expect(job.progress, {"search": price.total, "guard": guard + estimating})
    with thread_limit(entry.recipe, job):
        made = entry.recipe.run(replace(job, progress=Shares([price]).within(job.progress, 0)))
    choice = {**named(entry.recipe), "why": f"{entry.label}: {why}", "trials": []}
    warnings = made.warnings if job.chooses else (*made.warnings, why)
    return replace(made, warnings=warnings, choice=choice)


def _figures(number: int, trial: Trial) -> dict[str, float]:
    """A row of the history."""
    return {"epoch": number, "score": trial.score, "seconds": trial.seconds}
