"""A search from end to end on tiny data: what it returns, how that is made again, and what it says."""

import json
import shlex
import time
from collections.abc import Callable, Iterator
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from hypercondense import condense
from hypercondense.cli import run as run_command
from hypercondense.condensation import Condensation, load_condensed
from hypercondense.condensing.material import Material
from hypercondense.data import synthetic
from hypercondense.data.formats import read, write_native
from hypercondense.data.formats.opened import write_mapped
from hypercondense.errors import CondensationError
from hypercondense.hypergraph import Hypergraph, Split, split, split_from_ids
from hypercondense.nn.short_trainings import ShortTrainings
from hypercondense.nn.training import Inputs
from hypercondense.runtime import clock
from hypercondense.search import auto
from hypercondense.search.auto import Auto
from hypercondense.search.budget import OutOfTimeError, Pace
from hypercondense.search.costs import Sizes, condensing
from hypercondense.search.engine import Engine
from hypercondense.search.policy import Facts
from hypercondense.search.portfolio import PORTFOLIO
from hypercondense.search.race import Race
from hypercondense.typed import digest_of
from makers.searches import SIZES, answers, brief_trainings, brief_trials

ENDLESS = 1000  # more than there is to try
NODES = 9
LIMITED = 3  # trials: a search that is not alone with its first entry


@pytest.fixture(scope="module", autouse=True)
def brief(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The same search with trials and trainings of a few epochs."""
    with pytest.MonkeyPatch.context() as patch:
        brief_trials(patch)
        brief_trainings(patch)
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def source() -> Hypergraph:
    return synthetic(num_nodes=160, num_hyperedges=90, num_features=10, num_classes=3, noise=2.0, seed=1)


@pytest.fixture(scope="module")
def parts(source: Hypergraph) -> Split:
    return split(source, seed=0)


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    """Digests of what recipes made in the search of ``found``, by their own."""
    return {}


@pytest.fixture(scope="module")
def found(source: Hypergraph, parts: Split, made: dict[str, str]) -> Condensation:
    """The longest search."""
    own = Engine.made

    def watched(engine: Engine, recipe: Any, *how: Any) -> Any:
        result = own(engine, recipe, *how)
        made[digest_of(recipe)] = result.hypergraph.digest
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "made", watched)
        return condense(source, parts, nodes=NODES, budget=ENDLESS, seed=3)


def choice_of(result: Condensation) -> dict[str, Any]:
    assert result.choice is not None
    return json.loads(json.dumps(result.choice))  # type: ignore[no-any-return]


def again(chosen: dict[str, Any], source: Hypergraph, parts: Split, **how: Any) -> Condensation:
    """What a record names, made without the search."""
    method, settings = chosen["method"], chosen["settings"]
    return condense(source, parts, method=method, settings=settings, **{"nodes": NODES, **how})


def networks_find(patch: pytest.MonkeyPatch, find: Callable[[Hypergraph], float]) -> list[Hypergraph]:
    """Let networks have this share of right answers; what they are asked about is noted in the list."""
    asked: list[Hypergraph] = []

    def contributions(self: ShortTrainings, candidate: Hypergraph, store: object = None) -> torch.Tensor:
        asked.append(candidate)
        return answers(find(candidate), len(self.split.validation_ids)).contributions

    patch.setattr(ShortTrainings, "contributions", contributions)
    return asked


# --- What is returned ---


def test_an_endless_budget_ends_and_nothing_is_tried_twice(found: Condensation) -> None:
    trials = choice_of(found)["trials"]
    assert len(PORTFOLIO) == len(trials) == len(found.history) < ENDLESS
    assert all(trial["label"] and 0 <= trial["score"] <= 1 and trial["seconds"] >= 0 for trial in trials)
    assert len({json.dumps([trial["method"], trial["settings"]]) for trial in trials}) == len(trials)


def test_the_choice_makes_the_same_bits_again(found: Condensation, source: Hypergraph, parts: Split) -> None:
    assert again(choice_of(found), source, parts, seed=3).hypergraph.digest == found.hypergraph.digest


def test_whatever_trial_had_won_could_be_made_again(
    found: Condensation, source: Hypergraph, parts: Split, made: dict[str, str]
) -> None:
    """Structure, teachers, several maps, the dual-level loss, starts: what trials share changes nothing."""
    trials = choice_of(found)["trials"]
    digests = [again(trial, source, parts, seed=3).hypergraph.digest for trial in trials]
    assert digests == list(made.values())


def test_the_result_is_what_networks_found_best_or_was_expected_to_be(found: Condensation) -> None:
    trials = choice_of(found)["trials"]
    chosen = [trial for trial in trials if trial["settings"] == choice_of(found)["settings"]]
    assert found.final_validation == chosen[0]["score"]
    assert found.start_validation == trials[0]["score"]


def test_the_choice_is_kept_in_a_file(found: Condensation, tmp_path: Path) -> None:
    found.save(tmp_path / "saved")
    assert choice_of(load_condensed(tmp_path / "saved")) == choice_of(found)


def test_a_search_makes_no_more_trials_than_it_may_and_progress_counts_them(
    source: Hypergraph, parts: Split
) -> None:
    seen: list[Any] = []
    result = condense(
        source, parts, nodes=NODES, budget=LIMITED, progress=lambda *step, **_: seen.append(step)
    )
    assert len(choice_of(result)["trials"]) == LIMITED
    told = [step[1:] for step in seen if step[0] == "search"]
    assert told == sorted(told) and {total for _, total in told} == {1000 * LIMITED}
    assert told[-1] == (1000 * LIMITED, 1000 * LIMITED)


def test_without_a_budget_the_search_is_decided_by_sizes_and_makes_equal_bits(
    source: Hypergraph, parts: Split
) -> None:
    first, second = (condense(source, parts, nodes=NODES, seed=1) for _ in range(2))
    assert first.hypergraph.digest == second.hypergraph.digest
    labels = [trial["label"] for trial in choice_of(first)["trials"]]
    facts = Facts(sizes=Sizes.of(source, parts, NODES), entries=auto.PORTFOLIO)
    expected = [entry.label for entry in Race().entries(facts)]
    assert labels == expected[: len(labels)]


def test_where_one_entry_pays_no_network_is_asked(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = networks_find(monkeypatch, lambda candidate: 0.5)
    result = condense(source, parts, nodes=NODES, settings={"race.least_gain": 0.9})
    assert asked == [] and choice_of(result)["trials"] == []
    assert "not expected to pay" in choice_of(result)["why"]
    assert result.final_validation is not None
    assert again(choice_of(result), source, parts).hypergraph.digest == result.hypergraph.digest


# --- Networks have the last word ---


def is_bundled(candidate: Hypergraph) -> bool:
    return candidate.num_incidences > candidate.num_hyperedges


def test_what_networks_like_much_better_wins_and_can_be_made_again(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    networks_find(monkeypatch, lambda candidate: 0.8 if is_bundled(candidate) else 0.1)
    result = condense(source, parts, nodes=NODES, budget=ENDLESS)
    assert is_bundled(result.hypergraph) and result.final_validation == pytest.approx(0.8)
    assert again(choice_of(result), source, parts).hypergraph.digest == result.hypergraph.digest


def test_where_networks_see_no_difference_the_first_stays(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    networks_find(monkeypatch, lambda candidate: 0.5)
    result = condense(source, parts, nodes=NODES, budget=LIMITED)
    assert choice_of(result)["settings"] == choice_of(result)["trials"][0]["settings"]


def test_other_networks_may_be_asked_and_unknown_ones_are_refused(source: Hypergraph, parts: Split) -> None:
    result = condense(source, parts, nodes=NODES, budget=2, settings={"models": "mlp"})
    alone = ShortTrainings(Inputs.of(source), parts, models=["mlp"], epochs=4, looks=1)
    assert result.final_validation == pytest.approx(alone(result.hypergraph))
    with pytest.raises(ValueError, match=r"models must be of hgnn, .*; got 'gpt'"):
        Auto(models="hgnn+gpt")


# --- What is said ---


@pytest.mark.parametrize("budget", [1, "0.001s"])
def test_the_smallest_budget_is_one_recipe(source: Hypergraph, parts: Split, budget: int | str) -> None:
    result = condense(source, parts, nodes=NODES, budget=budget)
    assert len(choice_of(result)["trials"]) <= 1
    assert choice_of(result)["method"] == "learnt" or budget == "0.001s"


def test_a_time_begins_with_the_best_recipe_that_it_is_enough_for() -> None:
    facts = Facts(sizes=SIZES, asking=0.1)
    prices = {entry.label: condensing(entry.recipe, SIZES) for entry in PORTFOLIO}
    for seconds, expected in (
        (0.001, min(prices, key=lambda label: prices[label])),
        (1e6, PORTFOLIO[0].label),
    ):
        entries = auto.affordable_first(facts, seconds)
        assert entries[0].label == expected
        assert sorted(entry.label for entry in entries) == sorted(prices)


def test_a_time_that_is_nearly_over_leaves_the_quickest_recipe(
    source: Hypergraph, parts: Split, caplog: pytest.LogCaptureFixture
) -> None:
    """Minutes were asked for, and all but nothing of them went by before the search."""
    began = copy_context()
    began.run(clock._began.set, time.perf_counter() - 600)
    result = began.run(condense, source, parts, nodes=NODES, budget="10m")
    sizes = Sizes.of(source, parts, NODES)
    quickest = min(PORTFOLIO, key=lambda entry: condensing(entry.recipe, sizes))
    assert [trial["label"] for trial in choice_of(result)["trials"]] == [quickest.label]
    assert "0 s of it are left, and one trial" in caplog.text
    assert f"only the quickest is done: {quickest.label}" in caplog.text


def test_a_first_trial_that_is_too_slow_gives_way_to_the_quickest(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_slow(*_: Any, **__: Any) -> None:
        raise OutOfTimeError

    monkeypatch.setattr(Pace, "watch", too_slow)
    result = condense(source, parts, nodes=NODES, budget="10m")
    sizes = Sizes.of(source, parts, NODES)
    quickest = min(PORTFOLIO, key=lambda entry: condensing(entry.recipe, sizes))
    tried = [trial["label"] for trial in choice_of(result)["trials"]]
    assert tried[0] == quickest.label and len(tried) == len(PORTFOLIO)
    assert f"{tried[-1]} was given up: the budget is too short for it here" in result.warnings


@pytest.mark.parametrize("blind", [True, False], ids=["no validation nodes", "select=False"])
def test_where_nothing_may_choose_the_first_recipe_is_taken(
    source: Hypergraph, parts: Split, blind: bool
) -> None:
    given = parts
    if blind:
        given = split_from_ids(source, train_ids=parts.train_ids, validation_ids=[], test_ids=parts.test_ids)
    result = condense(source, given, nodes=NODES, select=blind)
    reason = "there are no validation nodes" if blind else "validation nodes may not choose"
    assert any(reason in warning for warning in result.warnings)
    choice = choice_of(result)
    same = again(choice, source, given, select=False)
    assert same.hypergraph.digest == result.hypergraph.digest
    assert result.final_validation is None


def misleading() -> Hypergraph:
    """Features tell the class; every hyperedge joins one random node of each of four classes."""
    rng = np.random.default_rng(0)
    labels = np.arange(240) % 4
    features = np.eye(4, 6)[labels] * 4 + rng.normal(size=(240, 6))
    members = [rng.choice(np.flatnonzero(labels == label), 500) for label in range(4)]
    return Hypergraph(
        features=features,
        labels=labels,
        incidence=(np.concatenate(members), np.tile(np.arange(500), 4)),
        num_hyperedges=500,
        name="misleading",
    )


GUARDED = {"nodes": 8, "budget": 1}  # one trial, of diffused rows, which tell nothing here


def test_a_choice_that_is_worse_than_random_nodes_is_warned_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    brief_trainings(monkeypatch, epochs=40)
    source = misleading()
    result = condense(source, split(source), settings={"models": "mlp"}, **GUARDED)  # type: ignore[arg-type]
    (warning,) = [warning for warning in result.warnings if "worse than random selection" in warning]
    assert f"{result.final_validation:.4f} on validation, and 8 random training nodes reach" in warning
    unguarded = condense(source, split(source), select=False, settings={"models": "mlp"}, **GUARDED)  # type: ignore[arg-type]
    assert not any("worse than random" in warning for warning in unguarded.warnings)


def test_the_command_line_warns_of_it_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    brief_trainings(monkeypatch, epochs=40)
    write_native(misleading(), tmp_path / "data")
    words = ["condense", str(tmp_path / "data"), "--nodes", "8", "--budget", "1", "--set", "models=mlp"]
    assert run_command([*words, "--out", str(tmp_path / "out"), "--json"]) == 0
    printed = capsys.readouterr()
    shown = json.loads(printed.out)
    assert any("worse than random selection" in warning for warning in shown["warnings"])
    assert "worse than random selection" in " ".join(printed.err.split())
    assert any("worse than random" in warning for warning in load_condensed(tmp_path / "out").warnings)


@pytest.mark.parametrize("size", [["--nodes", "9"], ["--ratio", "0.1", "--ratio-of", "train"]])
def test_the_printed_command_makes_the_same_again(
    source: Hypergraph,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    size: list[str],
) -> None:
    write_native(source, tmp_path / "some data")
    first, second = tmp_path / "first one", tmp_path / "second"
    seeds = ["--seed", "2", "--split-seed", "1", "--budget", "3"]
    words = ["condense", str(tmp_path / "some data"), *size, *seeds, "--out"]
    assert run_command([*words, str(first), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    name, *command = shlex.split(printed["choice"]["command"])
    assert name == "hypercondense"
    assert run_command([str(second) if word == "OUT" else word for word in command]) == 0
    results = [load_condensed(folder) for folder in (first, second)]
    assert results[0].hypergraph.digest == results[1].hypergraph.digest
    assert results[0].provenance.method == "auto" and results[1].choice is None
    assert results[1].provenance.method == choice_of(results[0])["method"]


def test_the_printed_command_says_where_the_data_the_split_and_the_device_are(
    source: Hypergraph, parts: Split, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "split.json"
    names = {"train": parts.train_ids, "validation": parts.validation_ids, "test": parts.test_ids}
    file.write_text(json.dumps({name: ids.tolist() for name, ids in names.items()}))
    write_native(source, tmp_path / "data")
    where = ["--data-dir", str(tmp_path), "--split", str(file), "--device", "cpu:0"]
    words = ["condense", str(tmp_path / "data"), "--nodes", "9", "--budget", "1", *where]
    assert run_command([*words, "--out", str(tmp_path / "out"), "--json"]) == 0
    command = shlex.split(json.loads(capsys.readouterr().out)["choice"]["command"])
    for option, value in (where[:2], where[2:4], where[4:]):
        assert command[command.index(option) + 1] == value
    assert run_command([*words, "--out", str(tmp_path / "other")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "chosen" in shown and "on validation nodes" in shown and "the same again" in shown


# --- Interrupting ---


@pytest.mark.parametrize("stop_after", [1, 5, 12])
def test_an_interrupted_search_continues_to_the_same_bits(
    source: Hypergraph, parts: Split, tmp_path: Path, stop_after: int
) -> None:
    """In the middle of a trial, and between trials."""
    steps: list[int] = []

    def stop(stage: str, done: int, total: int, /, **figures: float) -> None:
        if stage == "search":
            steps.append(done)
            if len(steps) == stop_after:
                raise KeyboardInterrupt

    how: dict[str, Any] = {"nodes": NODES, "budget": 4}
    kept = {"checkpoint": tmp_path / "partial", "checkpoint_every": 0.0}
    whole = condense(source, parts, **how)
    with pytest.raises(KeyboardInterrupt):
        condense(source, parts, progress=stop, **how, **kept)
    resumed = condense(source, parts, resume=True, **how, **kept)
    labels = [[trial["label"] for trial in choice_of(one)["trials"]] for one in (whole, resumed)]
    assert labels[0] == labels[1]
    assert resumed.hypergraph.digest == whole.hypergraph.digest
    assert resumed.final_validation == whole.final_validation


# --- Odd sources ---


def test_67_classes_with_15_nodes_each() -> None:
    many = synthetic(num_nodes=1005, num_hyperedges=400, num_features=20, num_classes=67, seed=0)
    result = condense(many, split(many), nodes=67, budget=2)
    assert result.hypergraph.labels.tolist() == list(range(67))
    assert result.final_validation is not None and result.final_validation > 1 / 67


def test_features_that_are_zero_for_most_nodes(source: Hypergraph, parts: Split) -> None:
    features = source.dense_features().copy()
    features[np.arange(160) % 10 > 0] = 0
    sparse = Hypergraph(
        features=features,
        labels=source.labels,
        incidence=source.incidence,
        num_hyperedges=source.num_hyperedges,
    )
    result = condense(sparse, parts, nodes=NODES, budget=3)
    assert np.isfinite(result.hypergraph.dense_features()).all()
    assert result.final_validation is not None


# --- Teachers ---


@pytest.fixture
def taught_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A portfolio in which a teacher is expected to gain most, and nothing else is worth trying."""
    taught = next(one for one in PORTFOLIO if one.few)
    closed = next(one for one in PORTFOLIO if one.label == "closed form from means")
    monkeypatch.setattr(
        auto, "PORTFOLIO", (replace(taught, gain=0.9, spread=0.0), replace(closed, spread=0.0))
    )


@pytest.mark.usefixtures("taught_first")
def test_where_teachers_diverge_the_next_recipe_is_taken(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    def diverged(*_: object, **__: object) -> None:
        raise CondensationError("1 of 1 teachers (hgnn) diverged")

    monkeypatch.setattr(Material, "opinions", diverged)
    result = condense(source, parts, nodes=NODES)
    assert choice_of(result)["why"].startswith("closed form from means")
    told = "learnt from a teacher was left out: 1 of 1 teachers (hgnn) diverged"
    assert told in result.warnings


@pytest.mark.usefixtures("taught_first")
def test_within_a_budget_of_memory_auto_does_without_teachers(
    source: Hypergraph, parts: Split, tmp_path: Path
) -> None:
    result = condense(source, parts, nodes=NODES)
    assert choice_of(result)["why"].startswith("learnt from a teacher")
    assert result.ledger is not None and result.ledger.whole_trainings == 1
    write_mapped(source, tmp_path / "mapped")
    result = condense(read(tmp_path / "mapped"), parts, nodes=NODES, memory="4GB")
    assert choice_of(result)["why"].startswith("closed form from means")
