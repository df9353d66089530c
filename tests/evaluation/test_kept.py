"""Scores of the whole source are kept, and what trainings will take is told before."""

import json
from pathlib import Path
from typing import Any

import pytest

from hypercondense.evaluation import evaluate, forecast, parallel
from hypercondense.evaluation.protocol import prepare
from hypercondense.hypergraph import Hypergraph, Split, split
from hypercondense.nn.training import Configuration

SHORT = Configuration(model="hgnn", epochs=5)


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each training that is done is one on the whole."""
    seen: list[bool] = []
    real = parallel.Bench.finish

    def finish(bench: Any, run: Any, *rest: Any) -> Any:
        seen.append(run.whole)
        return real(bench, run, *rest)

    monkeypatch.setattr(parallel.Bench, "finish", finish)
    return seen


def whole(source: Hypergraph, parts: Split, folder: Path, **changes: Any) -> Any:
    options: dict[str, Any] = {"model": SHORT, "runs": 2, "whole": True, "cache_dir": folder, **changes}
    return evaluate(source, source, parts, **options)


def test_nobody_trains_on_everything_twice(
    source: Hypergraph, parts: Split, tmp_path: Path, trainings: list[bool]
) -> None:
    first = whole(source, parts, tmp_path)
    assert trainings == [True, True]
    again = whole(source, parts, tmp_path)
    assert trainings == [True, True]
    assert (again.values, again.validation, again.calibration) == (
        first.values,
        first.validation,
        first.calibration,
    )
    whole(source, parts, tmp_path, runs=3)
    assert len(trainings) == 3  # only the third


@pytest.mark.parametrize(
    "changes",
    [{"seed": 1}, {"task": "cluster"}, {"model": Configuration(model="hgnn", epochs=6)}, {"cache_dir": None}],
)
def test_another_seed_task_or_network_is_another_training(
    source: Hypergraph, parts: Split, tmp_path: Path, trainings: list[bool], changes: Any
) -> None:
    whole(source, parts, tmp_path)
    whole(source, parts, tmp_path, **changes)
    assert len(trainings) == 4


def test_another_split_or_other_code_is_another_training(
    source: Hypergraph, parts: Split, tmp_path: Path, trainings: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole(source, parts, tmp_path)
    whole(source, split(source, seed=5), tmp_path)
    assert len(trainings) == 4
    monkeypatch.setattr("hypercondense.evaluation.kept.code_checksum", lambda: "changed")
    whole(source, parts, tmp_path)
    assert len(trainings) == 6


def test_a_changed_bit_of_a_score_is_noticed(
    source: Hypergraph, parts: Split, tmp_path: Path, trainings: list[bool]
) -> None:
    first = whole(source, parts, tmp_path, runs=1)
    (file,) = tmp_path.iterdir()
    content = json.loads(file.read_text())
    file.write_text(json.dumps({**content, "value": content["value"] / 2}))
    assert whole(source, parts, tmp_path, runs=1).mean == first.mean and len(trainings) == 2


@pytest.mark.parametrize("content", ["", "{}", '{"value": "high"}', "[" * 99_999])
def test_a_broken_file_is_made_again(
    source: Hypergraph, parts: Split, tmp_path: Path, trainings: list[bool], content: str
) -> None:
    whole(source, parts, tmp_path, runs=1)
    (file,) = tmp_path.iterdir()
    file.write_text(content)
    whole(source, parts, tmp_path, runs=1)
    assert len(trainings) == 2 and json.loads(file.read_text())["format"] == "hypercondense.whole-score"


def test_what_trainings_take_is_told_by_network_and_hypergraph(
    source: Hypergraph, parts: Split, tmp_path: Path
) -> None:
    planned = prepare(source, source, parts, models=["hgnn", "edhnn"], runs=2, whole=True, cache_dir=tmp_path)
    told = forecast.seconds_by_stage(forecast.forecast(planned).left())
    assert list(told) == ["hgnn on the whole", "edhnn on the whole"] and min(told.values()) > 0
    whole(source, parts, tmp_path, model="hgnn", runs=1)
    assert len(planned.left()) == 3  # one is known


def test_processes_are_used_where_they_gain_and_cores_are_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecast, "free_cores", lambda: 2)
    assert forecast.workers_for(5.0, 10) == 1  # starting takes as long
    assert forecast.workers_for(60.0, 10) == 2
    assert forecast.workers_for(60.0, 1) == 1
    monkeypatch.setattr(forecast, "free_cores", lambda: 1)
    assert forecast.workers_for(60.0, 10) == 1
