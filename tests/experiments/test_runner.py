"""Running plans: what is missing is done, once, whatever happens to the process."""

import errno
import json
import os
import signal
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest

from hypercondense.catalogue import condense
from hypercondense.cli import run
from hypercondense.data import load
from hypercondense.errors import ConfigError
from hypercondense.evaluation import evaluate
from hypercondense.experiments import runner, work
from hypercondense.experiments.claims import Claims
from hypercondense.experiments.results import FinishedRuns, ResultsFile, read_lines
from hypercondense.experiments.runner import choose_workers, make_agenda, run_plans
from hypercondense.experiments.settings import Settings
from hypercondense.experiments.work import jobs_of, perform
from hypercondense.experiments.workers import perform_all
from hypercondense.hypergraph import split
from makers.experiment_cases import QUICK, content, line, plan_of, write_plan
from makers.processes import Blow, command, left_of, told

# Six condensations of a hundred nodes.
TINY = """
name = "tiny"
title = "Tiny"
seeds = 3
runs = 1
models = ["mlp"]

[datasets.tiny]
source = "synthetic"
generator = { num_nodes = 100, num_hyperedges = 50, num_features = 8 }
ratios = [0.1]

[variants.random]
[variants.ahgcdd-x]
options = { epochs = 2 }
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("HYPERCONDENSE_DATA", raising=False)


@pytest.fixture
def instant(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that take no time: their score tells their settings."""

    def made_up(job: work.RunGroup) -> Any:
        for one in job.runs:
            yield content(one, [0.5 + one.seed / 100]) | {"metric": "accuracy"}

    monkeypatch.setattr("hypercondense.experiments.workers.perform", made_up)


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = run([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def scores(path: Path) -> dict[str, list[float]]:
    """Values by key; fails if a key is there twice."""
    lines = read_lines(path).lines
    keys = [one.settings.key for one in lines]
    assert len(set(keys)) == len(keys)
    return {one.settings.key: list(one.result.values) for one in lines}


# --- what is to be done ---


def test_finished_runs_are_not_done_again_and_absent_data_are_counted(tmp_path: Path) -> None:
    text = QUICK + "[datasets.yelp]\nratios = [0.01]\n"
    plan = plan_of(tmp_path, text)
    all_runs = [one for place in plan.places() for one in plan.settings_at(place)]
    finished = FinishedRuns([line(all_runs[0])])
    agenda = make_agenda([plan, plan], finished)
    assert [one.key for one in agenda.finished] == [all_runs[0].key]
    assert [one.key for one in agenda.pending] == [one.key for one in all_runs[1:5]]
    assert agenda.absent == {"yelp": 5}


def test_filters_and_limits_choose_runs(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)

    def methods(**only: list[str]) -> list[tuple[str, int]]:
        agenda = make_agenda([plan], FinishedRuns(), only=only)
        return [(one.method, one.seed) for one in agenda.pending]

    assert methods(method=["whole"]) == [("whole", 0)]
    assert methods(variant=["random", "whole"], seed=["0"]) == [("random", 0), ("whole", 0)]
    assert methods(dataset=["cora"]) == []
    assert methods(ratio=["1e-2"], seed=["1"]) == [("random", 1), ("ahgcdd", 1)]
    assert methods(ratio=["0.01"], model=["hgnn"], task=["classify"], split_seed=["0"]) == methods()
    assert len(make_agenda([plan], FinishedRuns(), limit=2).pending) == 2
    with pytest.raises(ConfigError, match="there is no filter 'colour'; the filters are dataset"):
        methods(colour=["red"])


def test_runs_are_grouped_by_condensation(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, 'models = ["hgnn", "mlp"]\ntasks = ["classify", "cluster"]\n' + QUICK)
    runs = make_agenda([plan], FinishedRuns()).pending
    jobs = jobs_of(runs, None)
    assert len(runs) == 20 and [len(job.runs) for job in jobs] == [4] * 5
    assert all(len({one.condensation for one in job.runs}) == 1 for job in jobs)


def test_workers_fit_into_cores_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    cora = Settings(source="cora", ratio=0.01, method="random")
    unknown = Settings(source="./mine", ratio=0.01, method="random")
    monkeypatch.setattr(runner.os, "sched_getaffinity", lambda _: range(8), raising=False)
    monkeypatch.setattr(runner, "available_bytes", lambda: 4_000_000_000)
    assert choose_workers([cora], []) == 6  # 0.8 x 4 GB / (400 MB + 16 x 2708 x 1433 B)
    assert choose_workers([cora], [line(cora, run_memory_mb=1000.0)]) == 3
    assert choose_workers([cora, unknown], []) == 1
    monkeypatch.setattr(runner, "available_bytes", lambda: 10)
    assert choose_workers([cora], []) == 1
    monkeypatch.setattr(runner, "available_bytes", lambda: None)
    assert choose_workers([cora], []) == 8


# --- the work ---


def test_a_line_holds_what_evaluate_says(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    (job,) = jobs_of(plan.settings_at(list(plan.places())[1])[1:], None)
    (made,) = perform(job)
    source = load("digits")
    parts = split(source, seed=0)
    settings = {"goal.epochs": 2, "structure.warm.steps": 2, "structure.hidden": 8}
    condensed = condense(source, parts, ratio=0.01, seed=1, method="ahgcdd", settings=settings)
    score = evaluate(condensed, source, parts, runs=2, seed=1)
    assert made["values"] == score.values
    assert made["macro_f1"] == score.macro_f1
    assert made["source_digest"] == source.digest and made["split_digest"] == parts.digest
    assert made["num_nodes"] == 18 and made["mean_hyperedge_size"] == condensed.mean_hyperedge_size
    assert made["versions"].keys() >= {"hypercondense", "torch", "numpy", "python"}
    assert made["machine"]["threads"] == 1
    assert 0 < made["peak_memory_mb"] <= made["run_memory_mb"]
    json.dumps(made, allow_nan=False)


@pytest.mark.usefixtures("instant")
def test_failures_are_recorded_the_others_go_on_and_are_done_the_next_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from hypercondense.experiments import workers

    made_up = workers.perform

    def half_broken(job: work.RunGroup) -> Any:
        if job.first.method == "random" and job.first.seed == 1:
            raise RuntimeError("this went\nwrong")
        yield from made_up(job)

    plan, results = write_plan(tmp_path), tmp_path / "results.jsonl"
    with monkeypatch.context() as patched:
        patched.setattr(workers, "perform", half_broken)
        status, out, err = call(capsys, "run", plan, "--results", results, "--workers", 1, "--json")
    assert status == 1
    summary = json.loads(out)
    assert (summary["done"], summary["done_before"], len(summary["failed"])) == (4, 0, 1)
    assert summary["failed"][0]["error"] == "RuntimeError: this went wrong"
    assert "warning: failed: digits 0.01 random hgnn classify split 0 seed 1: RuntimeError" in err
    assert [one.failed for one in read_lines(results).lines] == [False, True, False, False, False]
    status, out, _ = call(capsys, "run", plan, "--results", results, "--workers", 1, "--json")
    assert status == 0
    summary = json.loads(out)
    assert (summary["done"], summary["done_before"]) == (1, 4)


@pytest.mark.usefixtures("instant")
def test_a_missing_data_set_is_skipped_and_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = write_plan(tmp_path, QUICK + "[datasets.yelp]\nratios = [0.01]\n")
    status, _, err = call(capsys, "run", plan, "--results", tmp_path / "r.jsonl", "--workers", 1)
    assert status == 0
    assert "skipped 5 runs on yelp, which is not on this machine" in err
    assert "5 runs done, 0 failed" in err


@pytest.mark.usefixtures("instant")
def test_a_cut_off_line_is_told_and_done_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan, results = write_plan(tmp_path), tmp_path / "results.jsonl"
    call(capsys, "run", plan, "--results", results, "--workers", 1)
    whole = results.read_bytes()
    results.write_bytes(whole[:-20])
    status, _, err = call(capsys, "run", plan, "--results", results, "--workers", 1, "--quiet")
    assert status == 0 and results.read_bytes() == whole
    assert err.startswith("warning:") and "line 5" in err and "done again" in err


@pytest.mark.usefixtures("instant")
def test_a_full_disk_ends_with_one_line_that_says_what_was_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, results = write_plan(tmp_path), tmp_path / "results.jsonl"
    write, written = os.write, []

    def filling_up(handle: int, text: bytes) -> int:
        if text.startswith(b'{"key"'):
            written.append(text)
            if len(written) > 2:
                write(handle, text[:30])
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(handle, text)

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", filling_up)
        status, _, err = call(capsys, "run", plan, "--results", results, "--workers", 1, "--quiet")
    assert status == 2
    assert err.count("\n") == 1 and "No space left on device" in err and "the 2 lines before it" in err
    assert len(read_lines(results).lines) == 2
    status, _, _ = call(capsys, "run", plan, "--results", results, "--workers", 1)
    assert status == 0 and len(scores(results)) == 5


@pytest.mark.usefixtures("instant")
def test_lines_of_another_version_are_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan, results = write_plan(tmp_path), tmp_path / "results.jsonl"
    call(capsys, "run", plan, "--results", results, "--workers", 1)  # made-up lines are of version 1.0
    _, _, err = call(capsys, "run", plan, "--results", results, "--workers", 1, "--quiet")
    assert "made by hypercondense 1.0" in err


@pytest.mark.usefixtures("instant")
def test_another_source_of_the_same_name_is_refused_before_it_is_written(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    results = ResultsFile(tmp_path / "results.jsonl")
    first = plan.settings_at(next(iter(plan.places())))[0]
    results.append(content(first, source_digest="another"))
    agenda = make_agenda([plan], results.finished)
    with pytest.raises(ConfigError, match=r"digits on this machine is not that of .* in line 1"):
        run_plans(agenda, results)
    assert len(read_lines(results.path).lines) == 1


def test_a_dry_run_lists_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan, results = write_plan(tmp_path), tmp_path / "results.jsonl"
    status, out, _ = call(capsys, "run", plan, "--results", results, "--dry-run", "--only", "method=whole")
    assert status == 0 and out == "digits whole hgnn classify split 0 seed 0\n1 to do, 0 done before\n"
    assert list(tmp_path.glob("*.jsonl")) == [] and list(tmp_path.glob(".*.lock")) == []
    status, out, _ = call(capsys, "run", plan, "--results", results, "--dry-run", "--json")
    assert len(json.loads(out)["pending"]) == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--only", "seed"), "--only takes WHAT=VALUE"),
        (("--only", "colour=red"), "there is no filter 'colour'"),
    ],
)
def test_wrong_filters_are_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    status, _, err = call(capsys, "run", write_plan(tmp_path), "--results", tmp_path / "r.jsonl", *arguments)
    assert status == 2 and message in err and err.count("\n") == 1


@pytest.mark.usefixtures("instant")
def test_what_another_process_does_is_left_to_it(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    results = ResultsFile(tmp_path / "results.jsonl")
    agenda = make_agenda([plan], results.finished)
    other = Claims(results.path)
    assert other.take(agenda.pending[0].condensation)
    # A lock belongs to an open file, so this process stands for the other one as well.
    summary = run_plans(agenda, results)
    assert (summary.done, summary.elsewhere) == (4, 1)
    other.close()
    agenda = make_agenda([plan], results.finished)
    assert run_plans(agenda, results).done == 1


@pytest.mark.slow
def test_run_and_table_give_what_compare_gives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = 'models = ["mlp"]\n' + QUICK.split("[variants.ahgcdd]")[0] + "[variants.ahgcdd-x]\n"
    plan, results = write_plan(tmp_path, text), tmp_path / "results.jsonl"
    only = ("--only", "variant=random,ahgcdd-x")
    assert call(capsys, "run", plan, "--results", results, "--workers", 1, "--quiet", *only)[0] == 0
    status, out, _ = call(capsys, "table", results, "--plan", plan, "--json")
    assert status == 0
    cells = json.loads(out)
    what = ("--methods", "random,ahgcdd-x", "--models", "mlp", "--ratio", 0.01)
    counts = ("--seeds", 2, "--runs", 2, "--workers", 1, "--quiet", "--json")
    status, out, _ = call(capsys, "compare", "digits", *what, *counts)
    assert status == 0
    for cell, row in zip(cells, json.loads(out), strict=True):
        assert (cell["variant"], cell["count"]) == (row["method"], 4)
        assert cell["mean"] == pytest.approx(100 * row["mean"], abs=1e-9)
        assert cell["std"] == pytest.approx(100 * row["std"], abs=1e-9)


# --- processes ---


LINE_IS_WRITTEN = "hypercondense.experiments.results:ResultsFile.append"


@pytest.mark.slow
def test_killed_in_the_middle_and_continued_gives_the_lines_of_an_undisturbed_run(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, TINY)
    undisturbed, killed = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    assert run(["run", str(plan), "--results", str(undisturbed), "--workers", "1", "--quiet"]) == 0
    blow = Blow(signal.SIGKILL, LINE_IS_WRITTEN, calls=2)
    victim = command(["run", plan, "--results", killed, "--workers", 2], folder=tmp_path, blow=blow)
    assert told(victim, tmp_path)[0] == -signal.SIGKILL
    assert left_of(victim.pid) == []
    assert len(scores(killed)) == 2
    assert run(["run", str(plan), "--results", str(killed), "--workers", "1", "--quiet"]) == 0
    assert scores(killed) == scores(undisturbed)
    assert len(scores(killed)) == 6


@pytest.mark.slow
def test_two_processes_share_one_file_without_a_doubled_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, results = write_plan(tmp_path, TINY), tmp_path / "results.jsonl"
    words = ("run", plan, "--results", results, "--workers", 1, "--json")
    other = command(words, folder=tmp_path)  # both begin at about the same time
    both = [call(capsys, *words), told(other, tmp_path)]
    assert [status for status, _, _ in both] == [0, 0], both
    assert sum(json.loads(out)["done"] for _, out, _ in both) == len(scores(results)) == 6


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupted_run_keeps_what_is_finished_and_leaves_no_process(tmp_path: Path) -> None:
    plan, results = write_plan(tmp_path, TINY), tmp_path / "results.jsonl"
    blow = Blow(signal.SIGINT, LINE_IS_WRITTEN)
    running = command(["run", plan, "--results", results, "--workers", 2], folder=tmp_path, blow=blow)
    status, _, err = told(running, tmp_path)
    assert status == 130
    assert err.rstrip().endswith("the same command continues from there")
    assert "Traceback" not in err
    assert len(scores(results)) == 1
    assert left_of(running.pid) == []


@pytest.mark.slow
def test_a_worker_that_dies_fails_its_runs_only(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, TINY)
    agenda = make_agenda([plan], FinishedRuns(), only={"method": ["random"], "seed": ["0", "1"]})
    # One is killed from outside, as the system does when memory runs out; another has no source.
    bad = Settings(source=str(tmp_path / "no-such-file"), ratio=0.1, method="random")
    good, doomed, broken = jobs_of([*agenda.pending, bad], None)

    others = set(active_children())

    def jobs() -> Iterator[work.RunGroup]:
        yield doomed
        (worker,) = set(active_children()) - others  # it was given the first job when the second is asked for
        worker.kill()
        yield from (good, broken)

    made = [one for _, one in perform_all(jobs(), 2)]
    errors = {one["settings"]["seed"]: one.get("error", "") for one in made if one["key"] != bad.key}
    assert len(made) == 3
    assert errors[0] == "" and "the process ended with status -9" in errors[1]
    assert any("no-such-file" in one.get("error", "") for one in made)


@pytest.mark.slow
def test_runs_whose_cost_is_measured_have_a_process_of_their_own(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "cache = false\n" + TINY)
    results = ResultsFile(tmp_path / "results.jsonl")
    agenda = make_agenda([plan], results.finished, only={"variant": ["ahgcdd-x"], "seed": ["0"]})
    assert run_plans(agenda, results, workers=1).done == 1
    assert not (tmp_path / "cache" / "hypercondense" / "diffusion").exists()
