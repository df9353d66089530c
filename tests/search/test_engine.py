"""The engine: trials are known by the digest of their recipe, and an interrupted search goes on with them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from torch import Tensor

from hypercondense.condensing.allotment import condensed_labels
from hypercondense.condensing.checkpoint import Checkpoint
from hypercondense.condensing.closed_form import ClosedForm
from hypercondense.condensing.job import Job, Made
from hypercondense.condensing.material import Material
from hypercondense.condensing.predict import Predict
from hypercondense.condensing.presets import PRESETS
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.run import condense_by
from hypercondense.condensing.starts import Means
from hypercondense.errors import CondensationError
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.nn.short_trainings import ShortTrainings
from hypercondense.search.budget import Budget
from hypercondense.search.engine import Engine, Price, Shares
from hypercondense.search.policy import Facts, Policy, Trial, Try
from hypercondense.search.portfolio import Entry
from hypercondense.search.race import Race
from makers.searches import SIZES, answers

NUM_VALIDATION = 75
FACTS = Facts(sizes=SIZES)
RAN: list[int] = []  # samples of the recipes that were carried out


class Counted(Recipe):
    """A start that tells when it is made."""

    def run(self, job: Job) -> Made:
        RAN.append(self.start.samples)  # type: ignore[union-attr]
        return super().run(job)


def start(samples: int) -> Recipe:
    return Counted(start=Means(samples=samples), goal=None, looks=0)


def in_turn(facts: Facts, trials: Sequence[Trial]) -> Try | None:
    """Starts of 1 to 5 samples."""
    return None if len(trials) == 5 else Try(f"means of {len(trials) + 1}", start(len(trials) + 1))


class Networks:
    """Stand for short trainings: they count how often they are asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.stores: list[Path] = []

    def contributions(
        self, candidate: Hypergraph, store: Callable[[str], Checkpoint] | None = None
    ) -> Tensor:
        """Some answer that differs from candidate to candidate."""
        self.asked.append(candidate.digest)
        if store is not None:
            self.stores += [store(name).folder / store(name).file for name in ("hgnn 0", "hgnn 1")]
        return answers(int(candidate.digest[:4], 16) / 16**4, NUM_VALIDATION).contributions


@pytest.fixture
def engine_of(source: Hypergraph, parts: Split) -> Callable[..., Engine]:
    material = Material(source, parts)
    labels = condensed_labels(material.train_labels, num_nodes=source.num_nodes, nodes=6)

    def made(
        folder: Path | None = None, budget: Budget | None = None, every: float = 0.0, **changes: Any
    ) -> Engine:
        RAN.clear()
        keeper = folder and Checkpoint(folder, {}, resume=True, every=every)
        job = Job(material=material, labels=labels, checkpoint=keeper or None, **changes)
        networks: Any = Networks()
        return Engine(job, networks=networks, budget=budget or Budget())

    return made


class Stop(Exception):
    """Stands for kill -9: nothing is caught, nothing is cleaned up."""


def stopping(policy: Policy, after: int) -> Policy:
    """A policy that is interrupted when it has proposed so often."""
    calls = iter(range(after))

    def stops(facts: Facts, trials: Sequence[Trial]) -> Try | None:
        if next(calls, None) is None:
            raise Stop
        return policy(facts, trials)

    return stops


def told(trials: Sequence[Trial]) -> list[Any]:
    return [(trial.label, trial.recipe, trial.key, trial.answers.contributions.tolist()) for trial in trials]


def test_everything_that_is_proposed_is_done_once_and_networks_are_asked_about_it(engine_of: Any) -> None:
    engine = engine_of()
    trials = engine.search(in_turn, FACTS, at_most=5)
    assert [trial.label for trial in trials] == [f"means of {number}" for number in range(1, 6)]
    assert RAN == [1, 2, 3, 4, 5]
    assert engine.networks.asked == [engine.made(trial.recipe).hypergraph.digest for trial in trials]
    assert all(
        trial.answers.contributions.shape == (2, NUM_VALIDATION) and trial.seconds > 0 for trial in trials
    )


def test_a_recipe_that_is_proposed_again_is_known(engine_of: Any) -> None:
    def twice(facts: Facts, trials: Sequence[Trial]) -> Try | None:
        return None if len(trials) == 2 else Try(f"time {len(trials)}", start(3))

    first, second = engine_of().search(twice, FACTS, at_most=2)
    assert (
        RAN == [3]
        and first.key == second.key
        and (first.answers.contributions == second.answers.contributions).all()
    )
    assert (first.label, second.label) == ("time 0", "time 1")


def test_every_training_that_is_asked_for_has_a_place_for_its_state(engine_of: Any, tmp_path: Path) -> None:
    engine = engine_of(tmp_path)
    engine.search(in_turn, FACTS, at_most=5)
    places = engine.networks.stores
    assert len(places) == len(set(places)) == 2 * 5 and {one.parent for one in places} == {tmp_path}
    without = engine_of()
    without.search(in_turn, FACTS, at_most=5)
    assert without.networks.stores == []


@pytest.mark.parametrize("after", range(7))
def test_a_search_that_is_interrupted_at_any_proposal_ends_with_the_same_trials(
    engine_of: Any, tmp_path: Path, after: int
) -> None:
    whole = told(engine_of().search(in_turn, FACTS, at_most=5))
    interrupted = engine_of(tmp_path)
    if after < 6:  # 5 trials, and that there is nothing more
        with pytest.raises(Stop):
            interrupted.search(stopping(in_turn, after), FACTS, at_most=5)
    else:
        interrupted.search(in_turn, FACTS, at_most=5)
    done, questions = set(RAN), len(interrupted.networks.asked)
    engine = engine_of(tmp_path)
    assert told(engine.search(in_turn, FACTS, at_most=5)) == whole
    assert len(engine.networks.asked) == 5 - questions
    assert set(RAN) == set(range(1, 6)) - done


@pytest.mark.parametrize("after", [1, 2, 4])
@pytest.mark.parametrize("every", [0.0, 60.0])
def test_a_second_interruption_loses_nothing(
    engine_of: Any, tmp_path: Path, after: int, every: float
) -> None:
    """While finished trials are gone through again, what is kept of them must not shrink."""
    whole = engine_of(tmp_path)
    with pytest.raises(Stop):
        whole.search(stopping(in_turn, 4), FACTS, at_most=5)
    with pytest.raises(Stop):
        engine_of(tmp_path, every=every).search(stopping(in_turn, after), FACTS, at_most=5)
    engine = engine_of(tmp_path)
    with pytest.raises(Stop):
        engine.search(stopping(in_turn, 4), FACTS, at_most=5)
    assert RAN == [] and engine.networks.asked == []
    assert told(engine.trials) == told(whole.trials)


def test_a_trial_that_is_interrupted_goes_on_where_it_was(engine_of: Any, tmp_path: Path) -> None:
    recipe = structs.replace(PRESETS["ridge"][1], goal=Predict(closed_form=ClosedForm(epochs=8)))
    only: Policy = lambda facts, trials: None if trials else Try("ridge", recipe)  # noqa: E731
    whole = engine_of().search(only, FACTS, at_most=1)
    steps: list[int] = []

    def stop(stage: str, done: int, total: int, /, **figures: float) -> None:
        steps.append(done)
        if len(steps) == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine_of(tmp_path, progress=stop).search(only, FACTS, at_most=1)
    left: list[int] = []
    resumed = engine_of(tmp_path, progress=lambda stage, done, total, **_: left.append(done))
    assert told(resumed.search(only, FACTS, at_most=1)) == told(whole)
    assert steps[-1] >= left[0] >= steps[-2] and len(left) <= 8 - 5 + 2
    finished: list[int] = []
    again = engine_of(tmp_path, progress=lambda stage, done, total, **_: finished.append(done))
    again.made(recipe)
    assert finished == []  # what was carried out is read and not done again


@pytest.mark.parametrize(("number", "expected"), [(1, 1), (2, 2), (4, 4), (5, 5), (100, 5)])
def test_no_more_trials_are_made_than_the_budget_allows(engine_of: Any, number: int, expected: int) -> None:
    trials = engine_of(budget=Budget(trials=number)).search(in_turn, FACTS, at_most=5)
    assert len(trials) == len(RAN) == expected


def test_the_first_trial_is_made_in_any_time(engine_of: Any) -> None:
    assert len(engine_of(budget=Budget(seconds=1e-9)).search(in_turn, FACTS, at_most=5)) == 1


@pytest.mark.parametrize("after", [2, 4])
def test_what_is_known_is_gone_through_even_where_the_time_is_used_up(
    engine_of: Any, tmp_path: Path, after: int
) -> None:
    before = engine_of(tmp_path)
    with pytest.raises(Stop):
        before.search(stopping(in_turn, after), FACTS, at_most=5)
    after_it = engine_of(tmp_path, budget=Budget(seconds=1e-9))
    assert told(after_it.search(in_turn, FACTS, at_most=5)) == told(before.trials)
    assert RAN == []


def test_another_recipe_of_the_same_name_is_not_known(engine_of: Any, tmp_path: Path) -> None:
    def one(samples: int) -> Policy:
        return lambda facts, trials: None if trials else Try("a start", start(samples))

    first = engine_of(tmp_path).search(one(2), FACTS, at_most=1)[0]
    second = engine_of(tmp_path).search(one(3), FACTS, at_most=1)[0]
    assert RAN == [3] and first.key != second.key
    engine_of(tmp_path).search(one(2), FACTS, at_most=1)
    assert RAN == []


def test_progress_is_told_in_thousandths_of_trials_up_to_their_number(engine_of: Any) -> None:
    seen: list[tuple[str, int, int]] = []
    engine = engine_of(progress=lambda *step, **_: seen.append(step), budget=Budget(trials=4))
    engine.search(in_turn, FACTS, at_most=5)
    assert seen == [("search", 1000 * number, 4000) for number in range(1, 5)]  # starts have no epochs


def test_progress_is_told_by_what_trials_are_thought_to_cost(engine_of: Any) -> None:
    """Two trials: the first takes three quarters, of which half are its teachers'."""
    seen: list[int] = []
    shares = Shares([Price(starting=1, teaching=2, optimizing=2, asking=1), Price(optimizing=2)])
    tell = shares.within(lambda stage, done, total, /, **_: seen.append(done), 0)
    for stage, done in (("diffuse", 1), ("teach", 1), ("condense", 1), ("condense", 2)):
        tell(stage, done, 1 if stage == "teach" else 2)
    assert seen == [750, 1000, 1250] and shares.before(1) == 0.75 and shares.before(2) == 1
    engine = engine_of(progress=lambda stage, done, total, **_: seen.append(done))
    engine.search(in_turn, FACTS, at_most=5, prices=[Price(optimizing=one) for one in (4, 3, 2, 1, 0)])
    assert seen[3:] == [2000, 3500, 4500, 5000, 5000]


def test_what_a_trial_made_is_what_its_recipe_makes_alone(
    engine_of: Any, source: Hypergraph, parts: Split
) -> None:
    engine = engine_of()
    trial = engine.search(in_turn, FACTS, at_most=5)[2]
    alone = condense_by(trial.recipe, source, parts, nodes=6, select=False).hypergraph
    assert engine.made(trial.recipe).hypergraph.digest == alone.digest


def test_real_networks_are_asked_about_what_was_made(
    engine_of: Any, source: Hypergraph, parts: Split
) -> None:
    job = engine_of().job
    networks = ShortTrainings(job.material.inputs, parts, models=["hgnn", "mlp"], epochs=3)
    engine = Engine(job, networks=networks, budget=Budget())
    (trial,) = engine.search(lambda facts, trials: None if trials else Try("one", start(4)), FACTS, at_most=1)
    each = networks.each(engine.made(trial.recipe).hypergraph)
    assert list(trial.answers.scores) == pytest.approx(each) and trial.score == pytest.approx(sum(each) / 2)


def test_a_recipe_that_makes_nothing_is_left_out_with_a_warning(
    engine_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engine_of()
    own = Engine.made

    def made(self: Engine, recipe: Recipe, *how: Any) -> Made:
        if recipe == start(2):
            raise CondensationError("all teachers diverged")
        return own(self, recipe, *how)

    monkeypatch.setattr(Engine, "made", made)
    trials = engine.search(in_turn, FACTS, at_most=5)
    assert [trial.score > 0 for trial in trials] == [True, False, True, True, True]
    assert engine.warnings == ["means of 2 was left out: all teachers diverged"]
    assert Race().front(Facts(sizes=SIZES, entries=_entries(trials)), trials[:2]) is trials[0]


def _entries(trials: Sequence[Trial]) -> tuple[Entry, ...]:
    return tuple(Entry(trial.label, trial.recipe, 0.0, 0.01) for trial in trials)


def test_a_trial_is_given_up_when_the_time_is_over(engine_of: Any) -> None:
    recipe = structs.replace(PRESETS["ridge"][1], goal=Predict(closed_form=ClosedForm(epochs=8)))
    steps: list[int] = []

    def late(facts: Facts, trials: Sequence[Trial]) -> Try | None:
        return Try("ridge", recipe) if trials else Try("a start", start(1))

    def told_of(stage: str, done: int, total: int, /, **figures: float) -> None:
        steps.append(done)
        if engine.trials and done % 1000:
            engine.deadline.end = engine.deadline.now()  # the time is over in the middle of the second

    engine = engine_of(budget=Budget(seconds=1e6), progress=told_of)
    assert [trial.label for trial in engine.search(late, FACTS, at_most=2)] == ["a start"]
    assert sum(1 for done in steps if done > 1000) == 1
