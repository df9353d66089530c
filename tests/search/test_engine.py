"""The engine: trials are known by the digest of their recipe, and an interrupted search goes on with them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

from hypercondense.condensing.allotment import condensed_labels
from hypercondense.condensing.checkpoint import Checkpoint
from hypercondense.condensing.job import Job, Made
from hypercondense.condensing.material import Material
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.run import condense_by
from hypercondense.condensing.starts import Means
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.nn.short_trainings import ShortTrainings
from hypercondense.search.budget import Budget
from hypercondense.search.engine import Engine
from hypercondense.search.policy import Ask, Facts, Policy, Proposal, Trial, Try
from makers.searches import answers

NUM_VALIDATION = 75
FACTS = Facts(num_nodes=6, num_validation=NUM_VALIDATION, num_training=150)
RAN: list[int] = []  # samples of the recipes that were carried out


class Counted(Recipe):
    """A start that tells when it is made."""

    def run(self, job: Job) -> Made:
        RAN.append(self.start.samples)  # type: ignore[union-attr]
        return super().run(job)


def start(samples: int) -> Recipe:
    return Counted(start=Means(samples=samples), goal=None, looks=0)


def in_turn(facts: Facts, trials: Sequence[Trial]) -> Proposal | None:
    """Starts of 1 to 5 samples; networks are asked about the second, and the better of the next two."""
    if len(trials) == 2 and not trials[1].accuracies:
        return Ask(trials[1])
    if len(trials) == 4:
        best = max(trials[2:], key=lambda trial: trial.score)
        if not best.accuracies:
            return Ask(best)
    return None if len(trials) == 5 else Try(f"means of {len(trials) + 1}", start(len(trials) + 1))


class Networks:
    """Stand for short trainings: they count how often they are asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def each(self, candidate: Hypergraph) -> list[float]:
        self.asked.append(candidate.digest)
        return [float(candidate.dense_features()[0, 0]) % 1, 0.5]


def judged(candidate: Hypergraph, *, trusts_structure: bool) -> Tensor:
    """Some answer that differs from candidate to candidate."""
    return answers(int(candidate.digest[:4], 16) / 16**4, NUM_VALIDATION)


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
        engine = Engine(job, networks=networks, budget=budget or Budget())
        engine.judge = judged  # type: ignore[assignment]
        return engine

    return made


class Stop(Exception):
    """Stands for kill -9: nothing is caught, nothing is cleaned up."""


def stopping(policy: Policy, after: int) -> Policy:
    """A policy that is interrupted when it has proposed so often."""
    calls = iter(range(after))

    def stops(facts: Facts, trials: Sequence[Trial]) -> Proposal | None:
        if next(calls, None) is None:
            raise Stop
        return policy(facts, trials)

    return stops


def told(trials: Sequence[Trial]) -> list[Any]:
    return [
        (trial.label, trial.recipe, trial.key, trial.right.tolist(), trial.accuracies) for trial in trials
    ]


def test_everything_that_is_proposed_is_done_once(engine_of: Any) -> None:
    engine = engine_of()
    trials = engine.search(in_turn, FACTS, at_most=5)
    assert [trial.label for trial in trials] == [f"means of {number}" for number in range(1, 6)]
    assert RAN == [1, 2, 3, 4, 5]
    asked = [trial for trial in trials if trial.accuracies]
    assert len(engine.networks.asked) == len(asked) and trials[1] in asked
    assert all(len(trial.right) == NUM_VALIDATION and trial.seconds > 0 for trial in trials)


def test_an_ask_is_remembered(engine_of: Any) -> None:
    engine = engine_of()
    trials = engine.search(in_turn, FACTS, at_most=5)
    trial = next(trial for trial in trials if not trial.accuracies)
    asked = engine.ask(trial)
    again = engine.ask(asked)
    assert again is asked and asked.accuracies and asked in engine.trials and trial not in engine.trials
    assert len(set(engine.networks.asked)) == len(engine.networks.asked)
    assert asked.seconds > trial.seconds


def test_a_recipe_that_is_proposed_again_is_known(engine_of: Any) -> None:
    def twice(facts: Facts, trials: Sequence[Trial]) -> Proposal | None:
        return None if len(trials) == 2 else Try(f"time {len(trials)}", start(3))

    first, second = engine_of().search(twice, FACTS, at_most=2)
    assert RAN == [3] and first.key == second.key and (first.right == second.right).all()
    assert (first.label, second.label) == ("time 0", "time 1")


@pytest.mark.parametrize("after", range(9))
def test_a_search_that_is_interrupted_at_any_proposal_ends_with_the_same_trials(
    engine_of: Any, tmp_path: Path, after: int
) -> None:
    whole = told(engine_of().search(in_turn, FACTS, at_most=5))
    interrupted = engine_of(tmp_path)
    if after < 8:  # 5 trials, 2 questions, and that there is nothing more
        with pytest.raises(Stop):
            interrupted.search(stopping(in_turn, after), FACTS, at_most=5)
    else:
        interrupted.search(in_turn, FACTS, at_most=5)
    done, questions = set(RAN), len(interrupted.networks.asked)
    engine = engine_of(tmp_path)
    trials = engine.search(in_turn, FACTS, at_most=5)
    assert told(trials) == whole
    asked = [trial for trial in trials if trial.accuracies]
    assert len(engine.networks.asked) == len(asked) - questions
    tried_again = done & set(RAN)
    about = {int(trial.label.split()[-1]) for trial in asked}
    assert tried_again <= about  # only to ask networks about what they made
    assert set(RAN) - tried_again == set(range(1, 6)) - done


@pytest.mark.parametrize("after", [2, 3, 4, 6])
@pytest.mark.parametrize("every", [0.0, 60.0])
def test_a_second_interruption_loses_nothing(
    engine_of: Any, tmp_path: Path, after: int, every: float
) -> None:
    """While finished trials are gone through again, what is kept of them must not shrink."""
    whole = engine_of(tmp_path)
    with pytest.raises(Stop):
        whole.search(stopping(in_turn, 6), FACTS, at_most=5)
    with pytest.raises(Stop):
        engine_of(tmp_path, every=every).search(stopping(in_turn, after), FACTS, at_most=5)
    engine = engine_of(tmp_path)
    with pytest.raises(Stop):
        engine.search(stopping(in_turn, 6), FACTS, at_most=5)
    assert RAN == [] and engine.networks.asked == []
    assert told(engine.trials) == told(whole.trials)


@pytest.mark.parametrize(("number", "expected"), [(1, 1), (2, 2), (4, 4), (5, 5), (100, 5)])
def test_no_more_trials_are_made_than_the_budget_allows(engine_of: Any, number: int, expected: int) -> None:
    trials = engine_of(budget=Budget(trials=number)).search(in_turn, FACTS, at_most=5)
    assert len(trials) == len(RAN) == expected


def test_the_first_trial_is_made_in_any_time(engine_of: Any) -> None:
    assert len(engine_of(budget=Budget(seconds=1e-9)).search(in_turn, FACTS, at_most=5)) == 1


@pytest.mark.parametrize("after", [3, 5])
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


def test_progress_counts_trials_up_to_their_number(engine_of: Any) -> None:
    seen: list[tuple[str, int, int]] = []
    engine = engine_of(progress=lambda *step, **_: seen.append(step), budget=Budget(trials=4))
    engine.search(in_turn, FACTS, at_most=5)
    assert seen == [("search", number, 4) for number in range(1, 5)]  # trials themselves are silent


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
    engine = engine_of()
    networks = ShortTrainings(engine.job.material.inputs, parts, models=["hgnn", "mlp"], epochs=3)
    engine.networks = networks
    (trial,) = engine.search(lambda facts, trials: None if trials else Try("one", start(4)), FACTS, at_most=1)
    asked = engine.ask(trial)
    assert list(asked.accuracies) == networks.each(engine.made(trial.recipe).hypergraph)
    assert asked.confirmed == sum(asked.accuracies) / 2
    assert replace(asked, accuracies=()).confirmed is None
