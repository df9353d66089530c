"""A search within a budget: what it tries, what it returns, and how that is made again."""

import json
import math
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from hypercondense.catalogue import make_method
from hypercondense.cli import run as run_command
from hypercondense.condensation import Condensation, load_condensed
from hypercondense.condensing import AHGCDDX, Condenser, Herding, Ridge
from hypercondense.condensing.ahgcdd import PROPAGATIONS
from hypercondense.condensing.base import Task
from hypercondense.data import load, synthetic
from hypercondense.evaluation import evaluate
from hypercondense.hypergraph import Hypergraph, Split, split, split_from_ids
from hypercondense.nn import build, training
from hypercondense.nn.learner import averaged_learner
from hypercondense.runtime.rng import generator
from hypercondense.search import Auto, candidates, judge, search
from hypercondense.search.budget import Budget

MANY = 1000  # more than there is to try


@pytest.fixture(autouse=True)
def short_trials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The same search with trials of a few epochs, so that the tests take seconds."""
    changes: dict[Any, dict[str, Any]] = {
        candidates: {"CLOSED_FORM_EPOCHS": 4, "BRIEF_EPOCHS": 3, "LONG_EPOCHS": 5},
        judge: {"_STEPS": 12},
        search: {"_THOROUGH": {**search._THOROUGH, "epochs": 12}, "_MOST_REPEATS": 1},
    }
    for module, values in changes.items():
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def source() -> Hypergraph:
    return synthetic(num_nodes=160, num_hyperedges=90, num_features=10, num_classes=3, noise=2.0, seed=1)


@pytest.fixture(scope="module")
def parts(source: Hypergraph) -> Split:
    return split(source, seed=0)


def test_networks_that_confirm_on_small_data_drop_inputs(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[tuple[str, dict[str, Any]]] = []

    def noted(name: str, **options: Any) -> Any:
        built.append((name, options))
        return build(name, **options)

    monkeypatch.setattr(training, "build", noted)
    run(source, parts, 3)
    dropped = {name: options.get("input_dropout") for name, options in built}
    assert dropped == {"hgnn": None, "unigcnii": 0.5}


def run(source: Hypergraph, parts: Split, budget: int | str, **how: Any) -> Condensation:
    return Auto(budget=str(budget)).condense(source, parts, **{"nodes": 9, **how})


def variant(source: Hypergraph, **changes: Any) -> Hypergraph:
    given = {
        "features": source.features,
        "labels": source.labels,
        "incidence": source.incidence,
        "num_hyperedges": source.num_hyperedges,
    }
    return Hypergraph(**{**given, **changes})


def record(result: Condensation) -> dict[str, Any]:
    assert result.choice is not None
    return result.choice


def made_again(result: Condensation, source: Hypergraph, parts: Split, **how: Any) -> Condensation:
    """What a search chose, made without the search; its settings went through JSON."""
    choice = json.loads(json.dumps(record(result)))
    method = make_method(choice["method"], choice["settings"])
    return method.condense(source, parts, **{"nodes": 9, "select": None, **how})


# --- The budget ---


@pytest.mark.parametrize(
    ("text", "trials", "seconds"),
    [
        ("8", 8, math.inf),
        (" 12 ", 12, math.inf),
        ("60s", math.inf, 60),
        ("0.5s", math.inf, 0.5),
        ("1.5m", math.inf, 90),
        ("2 m", math.inf, 120),
        ("1h", math.inf, 3600),
    ],
)
def test_budgets_are_trials_or_times(text: str, trials: float, seconds: float) -> None:
    budget = Budget.parse(text)
    assert (budget.trials, budget.seconds) == (trials, seconds)


@pytest.mark.parametrize(
    "text",
    ["", "0", "0s", "0.0m", "-3", "2.5", "s", "60 sec", "1d", "1e3", "nan", "inf", "1m30s", "8 trials"],
)
def test_other_texts_are_refused_with_what_would_be_right(text: str) -> None:
    with pytest.raises(ValueError, match=r"budget must be a number of trials, as 8, or a time, as 60s"):
        Budget.parse(text)
    with pytest.raises(ValueError, match="budget must be"):
        Auto(budget=text)


@given(st.integers(1, 10**9))
def test_any_number_of_trials_is_read_back(number: int) -> None:
    assert Budget.parse(str(number)).trials == number


@given(st.floats(0.01, 1e6).map(lambda number: round(number, 2)), st.sampled_from("smh"))
def test_any_time_is_read_back(number: float, unit: str) -> None:
    assert Budget.parse(f"{number:.2f}{unit}").seconds == pytest.approx(
        number * {"s": 1, "m": 60, "h": 3600}[unit]
    )


@given(st.text(max_size=8))
def test_any_text_is_a_positive_budget_or_a_value_error(text: str) -> None:
    try:
        budget = Budget.parse(text)
    except ValueError:
        return
    assert budget.trials > 0 and budget.seconds > 0
    assert (budget.trials == math.inf) != (budget.seconds == math.inf)


def test_trials_are_left_until_they_are_used_and_the_first_always_is() -> None:
    assert Budget(trials=2, used=1).is_left() and not Budget(trials=2, used=2).is_left()
    assert Budget(seconds=60, used=5).is_left() and not Budget(seconds=60, used=5, elapsed=61).is_left()
    assert Budget(seconds=1e-9, elapsed=5).is_left() and Budget(trials=1).is_left()
    assert Budget(used=10**6).is_left()  # nothing was limited


# --- The search ---


@pytest.mark.parametrize("trials", [1, 2, 3, 5, 8])
def test_a_search_makes_exactly_as_many_trials_as_it_may_and_names_them(
    source: Hypergraph, parts: Split, trials: int
) -> None:
    result = run(source, parts, trials)
    tried = record(result)["trials"]
    assert len(tried) == len(result.history) == trials
    assert all(trial["label"] and 0 <= trial["score"] <= 1 and trial["seconds"] >= 0 for trial in tried)
    settings = [json.dumps([trial["method"], trial["settings"]]) for trial in tried]
    assert len(set(settings)) == trials  # nothing is tried twice


def test_an_endless_budget_ends_and_progress_ends_with_it(source: Hypergraph, parts: Split) -> None:
    seen: list[tuple[int, int]] = []

    def progress(stage: str, done: int, total: int, /, **figures: float) -> None:
        if stage == "search":
            seen.append((done, total))

    result = run(source, parts, MANY, progress=progress)
    number = len(record(result)["trials"])
    assert number < MANY
    assert [done for done, _ in seen] == list(range(1, number + 1))
    assert seen[-1][1] == number
    assert made_again(result, source, parts).hypergraph.digest == result.hypergraph.digest
    labels = [trial["label"] for trial in record(result)["trials"]]
    assert len(set(labels)) == number  # every trial has a name of its own


def test_the_same_seed_gives_the_same_bits_and_the_same_record(source: Hypergraph, parts: Split) -> None:
    first, second = (run(source, parts, 8, seed=3) for _ in range(2))
    assert first.hypergraph.digest == second.hypergraph.digest
    kept = ("label", "method", "settings", "score", "confirmed")
    for mine, theirs in zip(record(first)["trials"], record(second)["trials"], strict=True):
        assert all(mine[key] == theirs[key] for key in kept)
    assert (first.start_validation, first.final_validation) == (
        second.start_validation,
        second.final_validation,
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("budget", [1, 4, 8])
def test_the_record_makes_the_same_bits_again_and_the_result_is_not_below_the_best_start(
    source: Hypergraph, parts: Split, seed: int, budget: int
) -> None:
    result = run(source, parts, budget, seed=seed)
    assert made_again(result, source, parts, seed=seed).hypergraph.digest == result.hypergraph.digest
    assert result.final_validation is not None and result.start_validation is not None
    assert result.final_validation >= result.start_validation


@pytest.mark.parametrize("number", range(search.BASIC_TRIALS + 11))
def test_whatever_trial_wins_can_be_made_again(
    source: Hypergraph, parts: Split, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judge prefers one trial and the networks agree: structure, other methods, several maps..."""
    calls: list[str] = []

    def judged(self: judge.Judge, candidate: Hypergraph, *, trusts_structure: bool) -> torch.Tensor:
        calls.append(candidate.digest)
        share = 0.9 if len(calls) == number + 1 else 0.5
        return torch.linspace(0, 1, len(parts.validation_ids)) < share

    def confirmed(candidate: Hypergraph) -> float:
        return float(candidate.digest == calls[min(number, len(calls) - 1)])

    monkeypatch.setattr(judge.Judge, "__call__", judged)
    result = run(source, parts, number + 1, select=confirmed)
    tried = record(result)["trials"]
    # An optimization may return its start: then either of the two is a right name for the same bits.
    right = [trial["settings"] for trial, made in zip(tried, calls, strict=True) if made == calls[-1]]
    assert record(result)["settings"] in right
    assert result.hypergraph.digest == calls[-1]
    assert made_again(result, source, parts).hypergraph.digest == result.hypergraph.digest


def test_networks_are_trained_on_different_candidates_only(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Optimizations that return their start, here all of them, are no alternatives to it."""
    monkeypatch.setattr(Ridge, "accuracy", lambda self, problem, candidate: 0.5)  # nothing beats the start
    asked: list[str] = []

    def confirmed(candidate: Hypergraph) -> float:
        asked.append(candidate.digest)
        return 0.5

    result = run(source, parts, 8, select=confirmed)
    assert len(record(result)["trials"]) == 8
    assert len(set(asked)) == len(asked)


def test_the_networks_have_the_last_word_and_the_best_start_is_always_asked(
    source: Hypergraph, parts: Split
) -> None:
    scores = iter([0.8, *[0.3] * MANY])
    result = run(source, parts, 8, select=lambda candidate: next(scores))
    assert result.final_validation == result.start_validation == 0.8
    chosen = make_method(record(result)["method"], record(result)["settings"])
    assert isinstance(chosen, Ridge) and chosen.total_epochs == 0


@pytest.mark.parametrize("finalists", [1, 2, 4])
def test_as_many_finalists_are_confirmed_as_were_asked_for(
    source: Hypergraph, parts: Split, finalists: int
) -> None:
    result = Auto(budget="9", finalists=finalists).condense(source, parts, nodes=9)
    confirmed = [trial for trial in record(result)["trials"] if trial["confirmed"] is not None]
    assert len(confirmed) == max(2, finalists)  # the best start and at least one other
    assert max(trial["confirmed"] for trial in confirmed) == result.final_validation


def test_other_networks_may_confirm_and_unknown_ones_are_refused(source: Hypergraph, parts: Split) -> None:
    result = Auto(budget="1", models="mlp").condense(source, parts, nodes=9)
    assert result.final_validation is not None
    with pytest.raises(ValueError, match=r"models must be of hgnn, .*; got 'gpt'"):
        Auto(models="hgnn+gpt")


def test_one_trial_is_a_start_with_a_warning(source: Hypergraph, parts: Split) -> None:
    result = run(source, parts, 1)
    assert any("larger --budget" in warning for warning in result.warnings)
    assert len(record(result)["trials"]) == 1
    assert result.final_validation == result.start_validation
    assert not any("larger --budget" in warning for warning in run(source, parts, 9).warnings)


def test_a_time_too_short_for_one_trial_is_a_start_with_a_warning(source: Hypergraph, parts: Split) -> None:
    result = run(source, parts, "0.001s")
    assert any("larger --budget" in warning for warning in result.warnings)
    assert result.hypergraph.num_nodes == 9
    assert len(record(result)["trials"]) == 1


def test_without_validation_nodes_the_recipe_is_the_default(source: Hypergraph, parts: Split) -> None:
    blind = split_from_ids(source, train_ids=parts.train_ids, validation_ids=[], test_ids=parts.test_ids)
    result = run(source, blind, 3)
    assert any("no validation nodes" in warning for warning in result.warnings)
    assert record(result)["method"] == "unrolled" and record(result)["settings"] == {}
    assert made_again(result, source, blind).hypergraph.digest == result.hypergraph.digest


def test_test_labels_are_never_read(source: Hypergraph, parts: Split) -> None:
    labels = source.labels.copy()
    labels[parts.test_ids] = (labels[parts.test_ids] + 1) % 3
    first, second = (run(graph, parts, 8) for graph in (source, variant(source, labels=labels)))
    assert first.hypergraph.digest == second.hypergraph.digest
    assert first.final_validation == second.final_validation


def test_the_record_survives_saving(source: Hypergraph, parts: Split, tmp_path: Path) -> None:
    result = run(source, parts, 2)
    result.save(tmp_path / "saved")
    assert load_condensed(tmp_path / "saved").choice == record(result)


def test_trials_share_diffused_rows_and_never_the_start_of_other_rows(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Starts are shared by the identity of their rows, so no rows may be freed while trials go on."""
    handed_out: list[Any] = []
    own = Task.diffused_rows

    def watched(task: Task, coefficients: Any) -> Any:
        rows = own(task, coefficients)
        assert task.memo is not None and rows is task.diffused_parts(coefficients)[0]
        handed_out.append(rows)
        return rows

    monkeypatch.setattr(Task, "diffused_rows", watched)
    run(source, parts, MANY)
    assert len(handed_out) >= 2  # of the methods with the dual-level loss


# --- The judge ---


def first_task(source: Hypergraph, parts: Split) -> Task:
    """The task a method is given."""
    seen: list[Task] = []

    class Watched(Ridge):
        def run(self, task: Task) -> Any:
            seen.append(task)
            return super().run(task)

    Watched(epochs=0).condense(source, parts, nodes=9)
    return seen[0]


def test_the_judge_convolves_as_an_hgnn_with_the_weights_of_its_learner(
    source: Hypergraph, parts: Split
) -> None:
    judging = judge.Judge.of(first_task(source, parts))
    candidate = Ridge(epochs=0).condense(source, parts, nodes=9).hypergraph
    learner = averaged_learner(
        torch.tensor(candidate.dense_features()),  # it has no hyperedges
        F.one_hot(torch.tensor(candidate.labels), 3).float(),
        how=judge._TRAINING,
        chance=generator(0, judge._STREAM),
        steps=judge._STEPS,
    )
    (first, last), once = learner.weights, torch.tensor(operator_matrix(source), dtype=torch.float32)
    hidden = torch.relu(once @ torch.tensor(source.dense_features()) @ first[:, :-1].T + first[:, -1])
    scores = once @ hidden @ last[:, :-1].T + last[:, -1]
    expected = scores.argmax(1).numpy()[parts.validation_ids] == source.labels[parts.validation_ids]
    found = judging(candidate, trusts_structure=True)
    assert found.numpy().tolist() == expected.tolist()


def operator_matrix(source: Hypergraph) -> Any:
    """``Dv^-1/2 H De^-1 H^T Dv^-1/2`` with self-loops, as a dense matrix."""
    incidence, num_hyperedges = source.with_self_loops
    h = incidence.matrix(source.num_nodes, num_hyperedges).toarray().astype(float)
    root = h.sum(1) ** -0.5
    return root[:, None] * (h / h.sum(0)) @ h.T * root


def test_raw_candidates_are_judged_on_raw_rows(source: Hypergraph, parts: Split) -> None:
    """There structure does not matter, so a source without hyperedges gives the same answers."""
    raw = Ridge(epochs=0, propagation=PROPAGATIONS["none"]).condense(source, parts, nodes=9).hypergraph
    alone = variant(source, incidence=(np.arange(160), np.arange(160)), num_hyperedges=160)
    answers = [judge.Judge.of(first_task(one, parts))(raw, trusts_structure=False) for one in (source, alone)]
    assert torch.equal(*answers)


@pytest.mark.parametrize(
    ("changed", "total", "expected"),
    [(0, 100, False), (5, 100, False), (7, 100, True), (7, 10_000, True), (6, 10_000, False), (1, 1, True)],
)
def test_clearly_better_is_two_and_a_half_standard_errors(changed: int, total: int, expected: bool) -> None:
    """``k`` more right and none less is ``k / sqrt(k (1 - k / n))`` standard errors."""
    right = torch.ones(total, dtype=torch.bool)
    other = torch.arange(total) >= changed
    assert judge.is_clearly_better(right, other) is expected
    assert not judge.is_clearly_better(other, right)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_two_trials_are_never_both_clearly_better(pairs: list[tuple[bool, bool]]) -> None:
    first, second = torch.tensor(pairs).T
    assert not (judge.is_clearly_better(first, second) and judge.is_clearly_better(second, first))
    assert not judge.is_clearly_better(first, first)


def scripted(monkeypatch: pytest.MonkeyPatch, parts: Split, shares: dict[int, float]) -> None:
    """Let the judge find shares of right answers, by the number of the trial; 0.5 for others."""
    calls = iter(range(MANY))

    def judged(self: judge.Judge, candidate: Hypergraph, *, trusts_structure: bool) -> torch.Tensor:
        return torch.linspace(0, 1, len(parts.validation_ids)) < shares.get(next(calls), 0.5)

    monkeypatch.setattr(judge.Judge, "__call__", judged)


def labels_of(result: Condensation) -> list[str]:
    return [trial["label"] for trial in record(result)["trials"]]


@pytest.fixture
def enough_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let so few validation nodes count as enough to do without teachers."""
    monkeypatch.setattr(search, "_FEW_NODES", 0)


def assert_progress_is_right(seen: list[Any], labels: list[str]) -> None:
    """Every trial is counted, and the total never grows."""
    done, totals = zip(*(step[1:] for step in seen if step[0] == "search"), strict=True)
    assert list(done) == list(range(1, len(labels) + 1))
    assert totals[-1] == len(labels)
    assert list(totals) == sorted(totals, reverse=True)


@pytest.mark.parametrize(
    ("diffused", "budget", "telling", "tried"),
    [
        (0.9, search.BASIC_TRIALS, 41, False),
        (0.52, search.BASIC_TRIALS, 41, True),
        (0.9, MANY, 41, True),
        (0.9, search.BASIC_TRIALS, 40, True),
    ],
)
def test_another_map_is_tried_where_structure_is_in_doubt_and_where_time_or_nodes_are_many(
    source: Hypergraph,
    parts: Split,
    monkeypatch: pytest.MonkeyPatch,
    diffused: float,
    budget: int,
    telling: int,
    tried: bool,
) -> None:
    monkeypatch.setattr(search, "_TELLING_NODES", telling)
    scripted(monkeypatch, parts, {0: diffused})
    seen: list[tuple[int, int]] = []
    result = run(
        source, parts, budget, select=lambda candidate: 0.5, progress=lambda *step, **_: seen.append(step)
    )
    labels = labels_of(result)
    assert ("means of 100 rows, P^2" in labels) == tried
    assert labels.index("k-means") == 2 + tried
    assert_progress_is_right(seen, labels)


@pytest.mark.usefixtures("enough_labels")
def test_where_the_closed_form_is_clearly_better_nothing_else_is_tried(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, parts, {4: 0.9})
    seen: list[tuple[int, int]] = []
    result = run(source, parts, search.BASIC_TRIALS, progress=lambda *step, **_: seen.append(step[1:]))
    assert labels_of(result)[4:] == ["closed form, smoothed classes"]
    scripted(monkeypatch, parts, {4: 0.51})
    result = run(source, parts, search.BASIC_TRIALS)
    assert labels_of(result)[5:] == ["through a training, briefly", "through a training"]


@pytest.mark.usefixtures("enough_labels")
def test_with_many_validation_nodes_both_ways_are_tried(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_TELLING_NODES", 1)
    scripted(monkeypatch, parts, {4: 0.9})
    result = run(source, parts, search.BASIC_TRIALS)
    assert labels_of(result)[4:] == [
        "through a training, briefly",
        "through a training",
        "closed form, smoothed classes",
    ]


@pytest.mark.parametrize(
    ("taught", "closed", "labels", "expected"),
    [
        (0.55, 0.57, ["closed form, smoothed classes"], "through a training, taught"),  # without proof
        (0.55, 0.95, ["closed form, smoothed classes"], "closed form, smoothed classes"),
        (0.50, 0.50, ["closed form, smoothed classes", "through a training, briefly"], None),
        (0.30, 0.95, ["closed form, smoothed classes"], "closed form, smoothed classes"),
    ],
)
def test_where_labels_are_few_teachers_come_first(
    source: Hypergraph,
    parts: Split,
    monkeypatch: pytest.MonkeyPatch,
    taught: float,
    closed: float,
    labels: list[str],
    expected: str | None,
) -> None:
    scripted(monkeypatch, parts, {4: taught, 5: closed})
    result = run(source, parts, search.BASIC_TRIALS, select=lambda candidate: 0.5)
    assert labels_of(result)[4:] == ["through a training, taught", *labels]
    if expected is not None:
        confirmed = [t["label"] for t in record(result)["trials"] if t["confirmed"] is not None]
        assert confirmed[1:] == [expected]


def test_teachers_of_a_start_without_structure_do_not_look_at_it(source: Hypergraph, parts: Split) -> None:
    starts = dict(candidates.first_starts())
    for label, teacher in (("means of 100 rows, heat kernel", "hgnn"), ("means of 100 rows, raw", "mlp")):
        ((_, method),) = candidates.taught(starts[label], num_nodes=10)
        assert method.teacher == teacher
        assert method.propagation is starts[label].propagation


@pytest.mark.usefixtures("enough_labels")
@pytest.mark.parametrize(
    ("brief", "long", "expected"),
    [
        (0.53, 0.55, "through a training, briefly"),  # the long one is not clearly better than the start
        (0.53, 0.95, "through a training"),
        (0.90, 0.95, "through a training"),  # clearly better than the start, and a little than the brief one
        (0.97, 0.95, "through a training, briefly"),
    ],
)
def test_a_brief_training_needs_no_proof_but_a_long_one_does(
    source: Hypergraph,
    parts: Split,
    monkeypatch: pytest.MonkeyPatch,
    brief: float,
    long: float,
    expected: str,
) -> None:
    scripted(monkeypatch, parts, {5: brief, 6: long})
    result = run(source, parts, search.BASIC_TRIALS, select=lambda candidate: 0.5)
    confirmed = [t["label"] for t in record(result)["trials"] if t["confirmed"] is not None]
    assert confirmed[1:] == [expected]


def networks_find(monkeypatch: pytest.MonkeyPatch, find: Callable[[Hypergraph], list[float]]) -> None:
    """Let networks have these accuracies when they confirm."""
    monkeypatch.setattr(search, "validation_scores", lambda *what, **how: find)


def is_bundled(candidate: Hypergraph) -> bool:
    return candidate.num_incidences > candidate.num_hyperedges


@pytest.mark.parametrize(("worse", "bundled"), [(0.39, True), (0.41, False)])
def test_where_networks_disagree_about_the_start_rows_are_bundled(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch, worse: float, bundled: bool
) -> None:
    scripted(monkeypatch, parts, {})  # the judge finds 0.5 everywhere
    networks_find(monkeypatch, lambda candidate: [worse, 0.5])
    result = run(source, parts, search.BASIC_TRIALS)
    tried = labels_of(result)[4:]
    assert (tried[0] == "real nodes") == bundled
    assert [", in bundles" in label for label in tried[bundled:]] == [bundled] * (3 - bundled)
    assert {trial["method"] for trial in record(result)["trials"][:4]} == {"ridge"}
    for trial in record(result)["trials"]:  # who looks at single nodes first often takes means
        assert trial["settings"].get("walks", False) == (trial["method"] == "bundled")
    epochs = [trial["settings"].get("unrolled_epochs", 0) for trial in record(result)["trials"]]
    assert max(epochs) == (2 * candidates.BRIEF_EPOCHS if bundled else candidates.LONG_EPOCHS)


@pytest.mark.usefixtures("enough_labels")
@pytest.mark.parametrize("budget", [search.BASIC_TRIALS, MANY])
def test_a_bundled_winner_can_be_made_again_and_stays_among_elaborations(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch, budget: int
) -> None:
    scripted(monkeypatch, parts, {4: 0.55, 9: 0.99})  # the judge prefers a later, plain candidate
    networks_find(monkeypatch, lambda candidate: [0.8 if is_bundled(candidate) else 0.1, 0.6])
    monkeypatch.setattr(search.candidates, "AHGCDD", AHGCDDX)  # hyperedges would look like bundles
    result = run(source, parts, budget)
    assert record(result)["method"] == "bundled"
    assert made_again(result, source, parts).hypergraph.digest == result.hypergraph.digest


def test_raw_rows_are_never_bundled(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, parts, {1: 0.9})  # where structure misleads, networks must disagree
    networks_find(monkeypatch, lambda candidate: [0.1, 0.9])
    result = run(source, parts, search.BASIC_TRIALS)
    assert not any("in bundles" in label for label in labels_of(result))


def test_where_networks_disagree_they_are_asked_about_real_nodes_too(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Herding().condense(source, parts, nodes=9).hypergraph
    scripted(monkeypatch, parts, {4: 0.1, 5: 0.9})  # whatever the judge says
    networks_find(monkeypatch, lambda candidate: [0.7, 0.7 if candidate.digest == real.digest else 0.1])
    result = run(source, parts, search.BASIC_TRIALS)
    assert result.hypergraph.digest == real.digest
    assert record(result)["method"] == "herding"
    assert record(result)["why"].startswith("real nodes: 70.0%")
    assert made_again(result, source, parts).hypergraph.digest == result.hypergraph.digest


def test_more_nodes_than_there_are_real_ones_are_never_chosen_from_these(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, parts, {})
    networks_find(monkeypatch, lambda candidate: [0.1, 0.7])
    number = len(parts.train_ids)
    for nodes in (number, number + 1):
        seen: list[Any] = []
        result = run(
            source,
            parts,
            search.BASIC_TRIALS,
            nodes=nodes,
            progress=lambda *step, seen=seen, **_: seen.append(step),
        )
        assert_progress_is_right(seen, labels_of(result))
        assert ("real nodes" in labels_of(result)) == (nodes == number)


@pytest.mark.parametrize(
    ("raw", "few", "tried"), [(0.9, True, True), (0.52, True, False), (0.9, False, False)]
)
def test_networks_are_asked_about_real_nodes_where_raw_rows_are_in_front_and_data_are_small(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch, raw: float, few: bool, tried: bool
) -> None:
    if not few:
        monkeypatch.setattr(search, "_FEW_NODES", 0)
    scripted(monkeypatch, parts, {1: raw})
    networks_find(monkeypatch, lambda candidate: [0.5])
    seen: list[Any] = []
    result = run(source, parts, search.BASIC_TRIALS, progress=lambda *step, **_: seen.append(step))
    assert_progress_is_right(seen, labels_of(result))
    assert "through a training, briefly" in labels_of(result)  # is not given up for them
    trials = record(result)["trials"]
    confirmed = [trial["label"] for trial in trials if trial["confirmed"] is not None]
    assert ("real nodes" in confirmed) == tried
    assert len(confirmed) == 2 + tried  # real nodes take nobody's place


def test_hyperedges_of_almost_all_nodes(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Convolutions see nearly the same of all nodes; means of what they see suit no other network."""
    monkeypatch.undo()  # the judge and the networks at their true lengths
    zoo = load("zoo", data_dir=shared_data)
    parts = split(zoo, seed=0)
    result = Auto().condense(zoo, parts, ratio=0.15)
    models = ("hgnn", "hcha", "unigcnii", "allset", "edhnn")
    scores = [evaluate(result.hypergraph, zoo, parts, model=model, runs=1).mean for model in models]
    assert float(np.mean(scores)) > 0.8, scores


def test_real_nodes_are_no_optimization(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, parts, {1: 0.9})
    networks_find(monkeypatch, lambda candidate: [0.5])
    result = run(source, parts, 4)
    assert labels_of(result)[3] == "real nodes"
    assert any("nothing was optimized" in warning for warning in result.warnings)
    assert not any("nothing was optimized" in warning for warning in run(source, parts, 5).warnings)


def test_scores_of_a_caller_decide_nothing_but_who_wins(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(monkeypatch, parts, {})
    result = run(source, parts, search.BASIC_TRIALS, select=lambda candidate: -100.0)  # any scale will do
    assert not any("in bundles" in label for label in labels_of(result))


@pytest.mark.parametrize(
    ("enough", "repeats", "is_quick"), [(1, 1, True), (100, 3, False), (10**6, 4, False)]
)
def test_few_validation_nodes_are_asked_often_and_by_networks_of_full_width(
    source: Hypergraph,
    parts: Split,
    monkeypatch: pytest.MonkeyPatch,
    enough: int,
    repeats: int,
    is_quick: bool,
) -> None:
    asked: list[dict[str, Any]] = []

    def watched(*what: Any, **how: Any) -> Callable[[Hypergraph], list[float]]:
        asked.append(how)
        return lambda candidate: [0.5]

    assert len(parts.validation_ids) == 40
    monkeypatch.setattr(search, "validation_scores", watched)
    monkeypatch.setattr(search, "_ENOUGH_ANSWERS", enough)
    monkeypatch.setattr(search, "_MOST_REPEATS", 4)
    run(source, parts, 1)
    assert [how["repeats"] for how in asked] == [repeats]
    assert ("hidden" in asked[0]["options"]) == is_quick
    assert asked[0]["options"]["input_dropout"] == (0.0 if is_quick else 0.5)


def test_asking_the_networks_early_takes_no_time_from_the_trials(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = time.perf_counter()
    clock = [begin]
    monkeypatch.setattr("hypercondense.search.budget.time.perf_counter", lambda: clock[0])

    def slow(candidate: Hypergraph) -> list[float]:
        clock[0] += 100.0
        return [0.5, 0.5]

    networks_find(monkeypatch, slow)
    result = run(source, parts, "60s")
    assert len(record(result)["trials"]) > search.BASIC_TRIALS  # and the elaborations
    assert clock[0] >= begin + 200.0


# --- Interrupting ---


def stops_after(number: int) -> Callable[..., None]:
    def progress(stage: str, done: int, total: int, /, **figures: float) -> None:
        if stage == "search" and done == number:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("stop_after", [1, 4, 8])
def test_an_interrupted_search_continues_to_the_same_bits_without_the_finished_trials(
    source: Hypergraph, parts: Split, tmp_path: Path, stop_after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(source, parts, 8)
    how: dict[str, Any] = {"checkpoint": tmp_path / "partial", "checkpoint_every": 0.0}
    with pytest.raises(KeyboardInterrupt):
        run(source, parts, 8, progress=stops_after(stop_after), **how)
    ran: list[Condenser] = []
    run_alone = Ridge.run

    def watched(self: Ridge, task: Any) -> Any:
        ran.append(self)
        return run_alone(self, task)

    monkeypatch.setattr(Ridge, "run", watched)
    result = run(source, parts, 8, resume=True, **how)
    assert result.hypergraph.digest == whole.hypergraph.digest
    assert result.final_validation == whole.final_validation
    assert [trial["score"] for trial in record(result)["trials"]] == [
        trial["score"] for trial in record(whole)["trials"]
    ]
    most = 8 - stop_after + Auto().finalists
    assert 8 - stop_after <= len(ran) <= most  # those that are left, and finalists


def test_a_second_interruption_loses_nothing(
    source: Hypergraph, parts: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While finished trials are gone through again, what is kept of them must not shrink."""
    how: dict[str, Any] = {"checkpoint": tmp_path / "partial"}
    with pytest.raises(KeyboardInterrupt):
        run(source, parts, 8, progress=stops_after(5), checkpoint_every=0.0, **how)
    with pytest.raises(KeyboardInterrupt):
        run(source, parts, 8, progress=stops_after(5), checkpoint_every=60.0, resume=True, **how)
    seen: list[Any] = []
    ran: list[Condenser] = []
    run_alone = search.Search._run

    def watched(self: search.Search, candidate: Condenser) -> Any:
        if len(self.trials) < 8:  # not a finalist that is made again
            ran.append(candidate)
        return run_alone(self, candidate)

    monkeypatch.setattr(search.Search, "_run", watched)
    result = run(source, parts, 8, resume=True, progress=lambda *step, **_: seen.append(step), **how)
    assert len(record(result)["trials"]) == 8
    assert len(ran) <= 3 + 1  # the trials that were left, and the start, which networks are asked about


def test_a_search_interrupted_when_its_time_was_used_up_keeps_its_trials(
    source: Hypergraph, parts: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    how: dict[str, Any] = {"checkpoint": tmp_path / "partial", "checkpoint_every": 0.0}
    with pytest.raises(KeyboardInterrupt):
        run(source, parts, "1h", progress=stops_after(4), **how)
    used_up = property(lambda self: 3601.0)
    monkeypatch.setattr(Budget, "spent_seconds", used_up)
    result = run(source, parts, "1h", resume=True, **how)
    assert len(record(result)["trials"]) == 4


@pytest.mark.usefixtures("enough_labels")
@pytest.mark.parametrize("worse", [0.1, 0.5])
def test_whether_rows_are_bundled_stays_decided_when_the_time_is_used_up(
    source: Hypergraph, parts: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worse: float
) -> None:
    networks_find(monkeypatch, lambda candidate: [worse, 0.5])
    how: dict[str, Any] = {"checkpoint": tmp_path / "partial", "checkpoint_every": 0.0}
    with pytest.raises(KeyboardInterrupt):
        run(source, parts, "1h", progress=stops_after(6), **how)
    monkeypatch.setattr(Budget, "spent_seconds", property(lambda self: 3601.0))
    labels = labels_of(run(source, parts, "1h", resume=True, **how))
    assert ["in bundles" in label for label in labels] == [False] * 4 + [worse == 0.1] * 2


@pytest.mark.parametrize("stop_after", [3, 4, 5])
@pytest.mark.parametrize("real", [0.1, 0.9])
def test_a_search_with_real_nodes_that_was_interrupted_ends_the_same(
    source: Hypergraph,
    parts: Split,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stop_after: int,
    real: float,
) -> None:
    chosen = Herding().condense(source, parts, nodes=9).hypergraph.digest
    networks_find(monkeypatch, lambda candidate: [real if candidate.digest == chosen else 0.1, 0.5])
    how: dict[str, Any] = {"checkpoint": tmp_path / "partial", "checkpoint_every": 0.0}
    whole = run(source, parts, search.BASIC_TRIALS)
    with pytest.raises(KeyboardInterrupt):
        run(source, parts, search.BASIC_TRIALS, progress=stops_after(stop_after), **how)
    resumed = run(source, parts, search.BASIC_TRIALS, resume=True, **how)
    assert "real nodes" in labels_of(whole) and labels_of(resumed) == labels_of(whole)
    assert resumed.hypergraph.digest == whole.hypergraph.digest
    assert (whole.hypergraph.digest == chosen) == (real == 0.9)


# --- Odd sources ---


def test_two_classes_of_which_one_has_a_single_training_node(source: Hypergraph) -> None:
    labels = np.zeros(160, int)
    labels[[7, 30, 90]] = 1
    train = np.arange(80)
    train = train[train != 30]
    rare = variant(source, labels=labels)
    parts = split_from_ids(
        rare, train_ids=train, validation_ids=[30, *range(80, 120)], test_ids=range(120, 160)
    )
    result = run(rare, parts, 8)
    assert result.hypergraph.labels.tolist() == [0] * 8 + [1]
    assert np.isfinite(result.hypergraph.dense_features()).all()
    assert made_again(result, rare, parts).hypergraph.digest == result.hypergraph.digest


def test_67_classes_with_15_nodes_each() -> None:
    many = synthetic(num_nodes=1005, num_hyperedges=400, num_features=20, num_classes=67, seed=0)
    result = run(many, split(many), 8, nodes=67)
    assert result.hypergraph.labels.tolist() == list(range(67))
    assert result.final_validation is not None and result.final_validation > 1 / 67


def test_100_nodes_in_all_condensed_to_one_per_class() -> None:
    small = synthetic(num_nodes=100, num_hyperedges=40, num_features=8, num_classes=3, seed=0)
    result = run(small, split(small), 8, nodes=3)
    assert result.hypergraph.labels.tolist() == [0, 1, 2]
    assert made_again(result, small, split(small), nodes=3).hypergraph.digest == result.hypergraph.digest


@pytest.mark.parametrize("num_features", [1, 3])
def test_few_columns(num_features: int) -> None:
    narrow = synthetic(num_nodes=160, num_hyperedges=60, num_features=num_features, num_classes=3, seed=0)
    result = run(narrow, split(narrow), 8)
    assert result.hypergraph.features.shape == (9, num_features)
    assert np.isfinite(result.hypergraph.dense_features()).all()


def test_features_that_are_zero_for_most_nodes(source: Hypergraph, parts: Split) -> None:
    features = source.dense_features().copy()
    features[np.arange(160) % 10 > 0] = 0
    result = run(variant(source, features=features), parts, MANY)
    assert np.isfinite(result.hypergraph.dense_features()).all()
    assert result.final_validation is not None and result.start_validation is not None
    assert result.final_validation >= result.start_validation


def test_features_that_are_all_zero(source: Hypergraph, parts: Split) -> None:
    result = run(variant(source, features=np.zeros((160, 4))), parts, 8)
    assert not result.hypergraph.dense_features().any()
    assert any("same features" in warning for warning in result.warnings)


def heterophilous() -> Hypergraph:
    """Features tell the class; every hyperedge joins one random node of each of four classes."""
    rng = np.random.default_rng(0)
    labels = np.arange(600) % 4
    features = np.eye(4, 8)[labels] * 3 + rng.normal(size=(600, 8))
    members = [rng.choice(np.flatnonzero(labels == label), 900) for label in range(4)]
    return Hypergraph(
        features=features,
        labels=labels,
        incidence=(np.concatenate(members), np.tile(np.arange(900), 4)),
        num_hyperedges=900,
    )


def test_where_structure_misleads_raw_features_win_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # the judge and the networks at their true lengths
    misleading = heterophilous()
    result = run(misleading, split(misleading), len(list(candidates.first_starts())), nodes=12)
    scores: dict[str, float] = {}
    for trial in record(result)["trials"]:
        name = trial["settings"].get("propagation", "heat-kernel")
        scores[name] = max(trial["score"], scores.get(name, 0.0))
    assert scores["none"] == max(scores.values()), scores
    assert record(result)["settings"]["propagation"] == "none"


# --- The command line ---


@pytest.mark.parametrize("size", [["--nodes", "20"], ["--ratio", "0.02", "--ratio-of", "train"]])
def test_the_printed_command_makes_the_same_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, size: list[str]
) -> None:
    first, second = tmp_path / "first one", tmp_path / "second"
    words = ["condense", "digits", *size, "--seed", "2", "--split-seed", "1", "--budget", "8", "--out"]
    assert run_command([*words, str(first), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    name, *again = shlex.split(printed["choice"]["command"])
    assert name == "hypercondense"
    assert run_command([str(second) if word == "OUT" else word for word in again]) == 0
    manifests = [json.loads((folder / "manifest.json").read_text()) for folder in (first, second)]
    assert manifests[0]["digest"] == manifests[1]["digest"]
    assert manifests[0]["provenance"]["method"] == "auto"
    assert manifests[1]["provenance"]["method"] == manifests[0]["choice"]["method"]
    assert manifests[1]["choice"] is None


def test_the_printed_command_says_where_the_data_the_split_and_the_device_are(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "split.json"
    ids = list(range(1797))
    file.write_text(json.dumps({"train": ids[:900], "validation": ids[900:1300], "test": ids[1300:]}))
    where = ["--data-dir", str(tmp_path), "--split", str(file), "--device", "cpu:0"]
    words = ["condense", "digits", "--nodes", "20", "--budget", "1", *where, "--json"]
    assert run_command([*words, "--out", str(tmp_path / "out")]) == 0
    command = shlex.split(json.loads(capsys.readouterr().out)["choice"]["command"])
    for option, value in (where[:2], where[2:4], where[4:]):
        assert command[command.index(option) + 1] == value


def test_the_choice_and_the_command_are_shown_to_people(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert (
        run_command(["condense", "digits", "--nodes", "20", "--budget", "1", "--out", str(tmp_path / "o")])
        == 0
    )
    shown = " ".join(capsys.readouterr().out.split())
    assert "chosen" in shown and "on validation nodes" in shown
    assert "the same again" in shown and "--no-select" in shown
