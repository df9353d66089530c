"""Sizes nobody can mean are refused with the number and the limit, before anything is made."""

import os
from pathlib import Path

import pytest

from hypercondense.cli import run
from hypercondense.data import synthetic
from hypercondense.data.formats import read_native, write_native
from hypercondense.errors import ConfigError
from hypercondense.experiments.plan_reader import MOST_RUNS, read_plan
from makers.experiment_cases import QUICK, write_plan
from makers.format_examples import tiny

CONDENSE = ["condense", "digits", "--ratio", "0.01", "--method", "ahgcdd", "--out", "out"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([*CONDENSE, "--set", "time=1e308"], "map.time must be a number <= 1000"),
        ([*CONDENSE, "--set", "goal.epochs=1e30"], "goal.epochs must be a whole number"),
        ([*CONDENSE, "--set", "goal.epochs=10000000000"], "goal.epochs must be a whole number <= 1000000"),
        ([*CONDENSE, "--set", "looks=1000000000000"], "looks must be a whole number <= 1000000"),
        ([*CONDENSE, "--set", "goal.epochs=[1]"], "goal.epochs must be a whole number, got [1]"),
        ([*CONDENSE, "--set", "goal=" + "[" * 2000], "is not JSON"),
        (["condense", "digits", "--method", "random", "--set", "goal.epochs=3"], "has none to set"),
        ([*CONDENSE, "--device", "hpu"], "device 'hpu' cannot be used here"),
        ([*CONDENSE, "--device", "\x1b[2J"], "cannot be used here"),
        ([*CONDENSE, "--memory", "1e400GB"], "a memory size is a number with a unit"),
        ([*CONDENSE, "--memory", "9" * 400], "a memory size is at most"),
        (["export", "digits"], "Missing option '--to'. Choose from: npz"),
        (["condense", "digits", "--ratio", "1e400", "--out", "out"], "ratio must be above 0 and at most 1"),
        (["evaluate", "digits", "--runs", "1000000000"], "100000"),
        (["compare", "digits", "--ratio", "0.1", "--seeds", "1000000000"], "100000"),
        (["run", "/dev/zero", "--results", "r.jsonl"], "must be a file, but it is a device"),
        (["table", "/dev/zero"], "must be a file, but it is a device"),
        (["info", "/dev/zero"], "must be a file, but it is a device"),
        (
            ["condense", "digits", "--nodes", "9", "--split", "/dev/zero", "--out", "out"],
            "but it is a device",
        ),
    ],
)
def test_it_is_one_line_and_nothing_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments, told
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    shown = capsys.readouterr().err
    assert told in shown and shown.count("\n") == 1 and "bug" not in shown
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("seeds = 2", "seeds = 1000000000", "seeds must be a whole number <= 1000000, got 1000000000"),
        ("seeds = 2", "seeds = 60000", f"asks for 120,001 runs, and {MOST_RUNS:,} are the most"),
        ("runs = 2", "runs = 1000000000", "runs must be a whole number <= 1000000, got 1000000000"),
        ("[0.01]", f"[1{'0' * 400}]", "must be a finite number"),
        ("[0.01]", "[0.01]\ngenerator = " + "[" * 1000 + "]" * 1000, "nested too deeply"),
    ],
)
def test_a_plan_of_too_many_runs_is_refused(tmp_path: Path, old: str, new: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_plan(write_plan(tmp_path, QUICK.replace(old, new, 1)))
    assert told in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_source_is_not_replaced_by_its_condensation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = synthetic(num_nodes=90, num_hyperedges=60, num_classes=3)
    write_native(source, Path("source"))
    (tmp_path / "link").symlink_to("source")
    for out in ("source", "./source/", "link"):
        asked = ["condense", "source", "--nodes", "6", "--method", "random", "--out", out, "--force"]
        assert run(asked) == 2
        assert "is the source itself" in capsys.readouterr().err
    assert read_native(Path("source")).digest == source.digest


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "x.csv")
    assert run(["info", str(tmp_path / "x.csv")]) == 2
    write_native(tiny(), tmp_path / "native")
    (tmp_path / "native" / "hypergraph.safetensors").unlink()
    os.mkfifo(tmp_path / "native" / "hypergraph.safetensors")
    assert run(["info", str(tmp_path / "native")]) == 2
    assert capsys.readouterr().err.count("\n") == 2


def test_a_generator_is_asked_for_what_fits_into_memory() -> None:
    for asked in ({"num_nodes": 10**12}, {"num_features": 10**12}, {"num_incidences": 10**13}):
        with pytest.raises(ValueError, match=r"needs about .* TB of memory, and .* are free"):
            synthetic(**asked)  # type: ignore[arg-type]


def test_all_memory_there_is_may_be_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    asked = [
        "condense",
        "digits",
        "--nodes",
        "20",
        "--method",
        "ahgcdd",
        "--set",
        "goal.epochs=1",
        "--no-select",
    ]
    more = ["--memory", "999999999999", "--quiet", "--json", "--out", str(tmp_path / "out")]
    assert run([*asked, *more]) == 0
