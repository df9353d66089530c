"""Options of `condense`, `evaluate` and `compare` about metric, allotment, cost and retention."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypercondense import load_condensed
from hypercondense.cli import run
from hypercondense.data import synthetic
from hypercondense.data.formats import read, write_native
from hypercondense.hypergraph.scaling import Scale
from hypercondense.nn.training import Configuration
from hypercondense.search import retain
from makers.searches import brief_trainings

QUICK = ["--method", "ahgcdd-x", "--set", "goal.epochs=4", "--set", "start.samples=5", "--no-cache"]


@pytest.fixture(autouse=True)
def quickly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    brief_trainings(monkeypatch)
    monkeypatch.setattr(retain, "Configuration", lambda **how: Configuration(**{**how, "epochs": 8}))


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A source with a large, a middle and a small class."""
    source = synthetic(
        num_nodes=120, num_hyperedges=80, num_features=8, num_classes=3, noise=2.0, class_balance=0.5, seed=1
    )
    write_native(source, tmp_path / "source")
    return str(tmp_path / "source")


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = run([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def call_json(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    status, out, err = call(capsys, *arguments, "--json", "--quiet")
    assert status == 0, err
    return json.loads(out)


def test_metric_and_allotment_are_done_recorded_and_told(
    capsys: pytest.CaptureFixture[str], folder: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    how = ["--nodes", 9, "--allocate", "equal", "--metric", "macro-f1"]
    facts = call_json(capsys, "condense", folder, *how, *QUICK, "--out", out)
    result = load_condensed(out)
    assert np.bincount(result.hypergraph.labels).tolist() == [3, 3, 3]
    assert (result.provenance.allocate, result.provenance.metric) == ("equal", "macro-f1")
    assert facts["metric"] == "macro-f1"
    score = call_json(capsys, "evaluate", out, "--runs", 1, "--whole", "--metric", "macro-f1")
    assert score["metric"] == "macro-f1" and score["mean"] == score["macro_f1"] != score["accuracy"]
    assert len(score["train_seconds"]) == len(score["whole_seconds"]) == 1
    assert score["ledger"] == facts["ledger"]
    status, shown, told = call(capsys, "evaluate", out, "--runs", 1, "--whole")
    assert status == 0 and "accuracy" in shown
    assert "one training took" in told and "of one training on the whole (measured)" in told
    assert "note: this was condensed for macro-f1; --metric macro-f1 evaluates for it" in told


def test_the_cost_is_told_in_a_few_lines_and_in_json(
    capsys: pytest.CaptureFixture[str], folder: str, tmp_path: Path
) -> None:
    how = ["condense", folder, "--nodes", 9, "--allocate", "adaptive", *QUICK]
    status, shown, _ = call(capsys, *how, "--out", tmp_path / "one")
    assert status == 0
    (cost,) = [line for line in shown.splitlines() if line.startswith("cost ")]
    assert "of one training on everything (estimated " in cost
    assert "trained on everything  none\n" in shown
    ledger = call_json(capsys, *how, "--out", tmp_path / "two")["ledger"]
    assert ledger["result"]["nodes"] == 9 and ledger["source"]["nodes"] == 120
    assert ledger["share"] == ledger["seconds"]["total"] / ledger["whole_seconds"]


def test_what_a_search_chose_is_repeated_with_the_same_options(
    capsys: pytest.CaptureFixture[str], folder: str, tmp_path: Path
) -> None:
    how = ["--nodes", 9, "--allocate", "equal", "--metric", "macro-f1", "--budget", 1, "--no-cache"]
    facts = call_json(capsys, "condense", folder, *how, "--no-whole-training", "--out", tmp_path / "out")
    command = facts["choice"]["command"]
    assert "--allocate equal --metric macro-f1" in command and "--no-whole-training" in command
    again = command.split()[1:]
    again[again.index("OUT")] = str(tmp_path / "again")
    assert run([*again, "--quiet"]) == 0
    one, two = (load_condensed(tmp_path / name).hypergraph.digest for name in ("out", "again"))
    assert one == two


def test_a_share_to_retain_decides_on_the_size_and_the_curve_is_shown(
    capsys: pytest.CaptureFixture[str], folder: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    how = ["condense", folder, "--retain", 0.5, "--confidence", 0.6, *QUICK, "--out", out]
    status, shown, _ = call(capsys, *how)
    assert status == 0 and "to keep 0.5 of" in shown and "taken" in shown
    result = load_condensed(out)
    assert result.curve is not None and result.hypergraph.num_nodes in [one.nodes for one in result.curve]
    assert (result.provenance.retain, result.provenance.confidence) == (0.5, 0.6)
    assert not (tmp_path / "out.partial").exists()
    facts = call_json(capsys, *how, "--force")
    assert [point["nodes"] for point in facts["curve"]] == [point.nodes for point in result.curve]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--retain", 1.5], "retain must be above 0 and at most 1, got 1.5"),
        (["--retain", 0.9, "--ratio", 0.1], "leave ratio, nodes and ratio_of out"),
        (["--retain", 0.9, "--no-select"], "--no-select"),
        (["--retain", 0.9, "--no-whole-training"], "--no-whole-training"),
        (["--nodes", 9, "--no-whole-training", "--method", "taught"], "needs teachers"),
        (["--nodes", 9, "--metric", "f1"], "f1"),
        (["--nodes", 9, "--allocate", "fair"], "fair"),
    ],
)
def test_impossible_options_are_errors_that_leave_nothing(
    capsys: pytest.CaptureFixture[str], folder: str, tmp_path: Path, wrong: list[object], message: str
) -> None:
    status, _, told = call(capsys, "condense", folder, *wrong, "--out", tmp_path / "out")
    assert status == 2 and message in told
    assert not (tmp_path / "out").exists() and not (tmp_path / "out.partial").exists()


def test_compare_takes_metric_and_allotment(capsys: pytest.CaptureFixture[str], folder: str) -> None:
    how = ["--nodes", 9, "--methods", "means,whole", "--seeds", 1, "--runs", 1]
    rows = call_json(capsys, "compare", folder, *how, "--metric", "macro-f1", "--allocate", "equal")
    usual = call_json(capsys, "compare", folder, *how)
    assert [row["method"] for row in rows] == ["means", "whole"]
    assert [row["mean"] for row in rows] != [row["mean"] for row in usual]


def test_compare_on_standardized_features_is_that_of_scaled_tables(
    capsys: pytest.CaptureFixture[str], folder: str, tmp_path: Path
) -> None:
    how = ["--nodes", 9, "--methods", "means,whole", "--seeds", 1, "--runs", 1]
    rows = call_json(capsys, "compare", folder, *how, "--standardize")
    source = read(Path(folder))
    write_native(Scale.of(source).applied(source), tmp_path / "scaled")
    expected = call_json(capsys, "compare", tmp_path / "scaled", *how)
    assert [row["mean"] for row in rows] == [row["mean"] for row in expected]
    assert rows != call_json(capsys, "compare", folder, *how)
