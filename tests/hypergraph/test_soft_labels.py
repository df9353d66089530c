"""Shares of classes instead of classes: kept with the data, learnt while condensing, and trained on."""

import dataclasses
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercondense.catalogue import condense
from hypercondense.cli import run as run_command
from hypercondense.condensation import Condensation, load_condensed
from hypercondense.condensing.assembly import induced
from hypercondense.condensing.job import Job
from hypercondense.condensing.maps import Map
from hypercondense.condensing.material import Material
from hypercondense.condensing.predict import Predict, Prediction
from hypercondense.condensing.problem import Problem
from hypercondense.condensing.unrolled import Unrolled
from hypercondense.data.formats import native, read, read_native, write_native
from hypercondense.errors import FormatError
from hypercondense.evaluation import evaluate
from hypercondense.files.storage import read_tensors, write_tensors
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.hypergraph.statistics import statistics
from hypercondense.nn import MODELS
from hypercondense.nn.short_trainings import ShortTrainings
from hypercondense.nn.training import Configuration, Inputs, train
from hypercondense.runtime.rng import Stream, generator
from makers.format_examples import tiny
from makers.strategies import hypergraphs
from test_condensation import change_manifest, example

SHARES = np.array([[0.75, 0.25], [0.5, 0.5], [0.125, 0.875]], np.float32)
CLOSED = {"goal.closed_form.epochs": 6, "goal.labels": "learnt"}
TRAINING = {"epochs": 5, "window": 2, "horizon": 6, "networks": 2, "hidden": 8}
METHODS: dict[str, dict[str, Any]] = {
    "ridge": CLOSED,
    "unrolled": {
        "start.samples": 5,
        **CLOSED,
        **{f"goal.training.{name}": value for name, value in TRAINING.items()},
    },
}


def changed(hypergraph: Hypergraph, **changes: Any) -> Hypergraph:
    return dataclasses.replace(hypergraph, **changes)


def soft_example() -> Condensation:
    made = example()
    return dataclasses.replace(made, hypergraph=changed(made.hypergraph, soft_labels=SHARES))


def one_hot(hypergraph: Hypergraph) -> Hypergraph:
    """The same classes as shares."""
    return changed(hypergraph, soft_labels=np.eye(hypergraph.num_classes)[hypergraph.labels])


@pytest.fixture(scope="module")
def candidate(source: Hypergraph, parts: Split) -> Hypergraph:
    return induced(source, parts.train_ids[:40])


def run(
    method: str, source: Hypergraph, parts: Split, settings: dict[str, Any] | None = None, **how: Any
) -> Condensation:
    changes = {**METHODS[method], **(settings or {})}
    return condense(source, parts, method=method, settings=changes, **{"nodes": 9, "select": False, **how})


# --- The data type ---


def test_soft_labels_are_part_of_the_digest_only_where_there_are_any() -> None:
    plain, soft = example().hypergraph, soft_example().hypergraph
    # Known from before there were soft labels: results refer to hypergraphs by such digests.
    assert tiny().digest == "05fc3b0d6be01a607ee4f09e06bd02d1b2fe54108139daf980e86caf8f179f55"
    assert "soft_labels" not in plain.to_arrays()[0]
    assert len({plain.digest, soft.digest, one_hot(plain).digest}) == 3
    assert changed(soft, soft_labels=None).digest == plain.digest


def test_changed_copies_keep_soft_labels() -> None:
    soft = soft_example().hypergraph
    assert soft.soft_labels is not None and soft.soft_labels.dtype == np.float32
    assert changed(soft, name="other").digest == soft.digest
    assert pickle.loads(pickle.dumps(soft)).digest == soft.digest
    np.testing.assert_array_equal(induced(soft, np.array([2, 0])).soft_labels, SHARES[[2, 0]])
    assert induced(example().hypergraph, np.array([2, 0])).soft_labels is None


def test_they_are_copied_and_may_be_a_tensor() -> None:
    given = torch.tensor(SHARES, dtype=torch.float64)
    made = changed(example().hypergraph, soft_labels=given)
    given[:] = 0
    np.testing.assert_array_equal(made.soft_labels, SHARES)


def test_a_node_of_unknown_class_has_shares_too() -> None:
    made = changed(soft_example().hypergraph, labels=[0, -1, 1])
    assert statistics(made).own_class_share == (0.75 + 0.875) / 2


def test_people_see_that_there_are_soft_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    soft = soft_example()
    assert repr(soft.hypergraph).endswith("2 classes, soft labels)")
    assert statistics(soft.hypergraph).own_class_share == (0.75 + 0.5 + 0.875) / 3
    assert statistics(example().hypergraph).own_class_share is None
    for made, shown in ((soft, True), (example(), False)):
        made.save(tmp_path / str(shown))
        assert run_command(["info", str(tmp_path / str(shown))]) == 0
        assert ("70.8% on the own class" in capsys.readouterr().out) is shown


def test_pyg_gets_them_where_there_are_any() -> None:
    np.testing.assert_array_equal(soft_example().to_pyg().y_soft.numpy(), SHARES)
    assert "y_soft" not in example().to_pyg()


# --- Folders ---


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(hypergraphs(), st.booleans())
def test_any_condensed_hypergraph_survives_save_and_load(
    tmp_path_factory: pytest.TempPathFactory, hypergraph: Hypergraph, plain: bool
) -> None:
    hypergraph = changed(hypergraph, soft_labels=None) if plain else hypergraph
    path = tmp_path_factory.mktemp("soft") / "saved"
    members = (np.arange(1),) * hypergraph.num_nodes
    dataclasses.replace(example(), hypergraph=hypergraph, members=members).save(path)
    loaded = load_condensed(path).hypergraph
    assert loaded.digest == hypergraph.digest
    assert (loaded.soft_labels is None) == (hypergraph.soft_labels is None)
    if loaded.soft_labels is not None and hypergraph.soft_labels is not None:
        assert loaded.soft_labels.tobytes() == hypergraph.soft_labels.tobytes()


def test_readers_and_converters_keep_them(tmp_path: Path) -> None:
    soft = soft_example()
    soft.save(tmp_path / "condensed")
    assert read(tmp_path / "condensed", name="other").digest == soft.hypergraph.digest
    assert run_command(["convert", str(tmp_path / "condensed"), str(tmp_path / "native"), "--quiet"]) == 0
    assert read_native(tmp_path / "native").digest == soft.hypergraph.digest


def version(folder: Path) -> int:
    manifest = json.loads((folder / "manifest.json").read_text())
    return int(manifest["version"])


def test_native_folders_without_them_can_be_read_by_older_programs_and_those_with_them_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, made in enumerate((example(), soft_example()), start=1):
        write_native(made.hypergraph, tmp_path / f"native {number}")
        assert version(tmp_path / f"native {number}") == number
    monkeypatch.setattr(native, "MAPPED", 1)  # the newest that it knew
    read_native(tmp_path / "native 1")
    with pytest.raises(FormatError, match=r"version 2, .* reads 1 to 1; install a newer"):
        read_native(tmp_path / "native 2")


CORRUPT = {
    "wrong shape": (SHARES[:2], r"3 x 2, got shape \(2, 2\)"),
    "a class too many": (np.eye(3, dtype=np.float32), r"3 x 2, got shape \(3, 3\)"),
    "negative": (SHARES * 2 - 1 + [[0, 1]], "node 1, class 0|node 2, class 0 has -0.75"),
    "not one in all": (SHARES * np.float32(0.5), "those of node 0 give 0.5"),
    "NaN": (SHARES * np.float32(np.nan), "node 0, class 0 has nan"),
    "infinite": (SHARES * np.float32(np.inf), "node 0, class 0 has inf"),
}


@pytest.mark.parametrize("kind", CORRUPT)
def test_corrupt_shares_in_a_folder_are_named(tmp_path: Path, kind: str) -> None:
    shares, message = CORRUPT[kind]
    soft_example().save(tmp_path / "out")
    tensors = tmp_path / "out" / "condensed.safetensors"
    digest = write_tensors(tensors, read_tensors(tensors) | {"soft_labels": np.asarray(shares, np.float32)})
    change_manifest(tmp_path / "out", sha256=digest)
    with pytest.raises(FormatError, match=message):
        load_condensed(tmp_path / "out")


def test_shares_that_were_left_out_or_changed_are_noticed(tmp_path: Path) -> None:
    soft_example().save(tmp_path / "out")
    tensors = tmp_path / "out" / "condensed.safetensors"
    arrays = read_tensors(tensors)
    without = {name: array for name, array in arrays.items() if name != "soft_labels"}
    for wrong in (without, {**arrays, "soft_labels": SHARES[::-1]}):
        change_manifest(tmp_path / "out", sha256=write_tensors(tensors, wrong))
        with pytest.raises(FormatError, match="digest of the content"):
            load_condensed(tmp_path / "out")


# --- Training on them ---


def weights_of(model: str, graph: Hypergraph, source: Hypergraph, parts: Split) -> torch.Tensor:
    configuration = Configuration(
        model=model, options={"hidden": 8, **MODELS[model].forms[0].options}, epochs=6
    )
    trained = train(configuration, Inputs.of(graph), Inputs.of(source), parts, seed=3)
    return torch.cat([value.flatten() for value in trained.model.state_dict().values()])


@pytest.mark.parametrize("model", MODELS)
def test_one_hot_shares_train_the_network_that_classes_train(
    model: str, source: Hypergraph, parts: Split, candidate: Hypergraph
) -> None:
    hard, soft, other = (
        weights_of(model, graph, source, parts)
        for graph in (candidate, one_hot(candidate), changed(candidate, soft_labels=np.full((40, 3), 1 / 3)))
    )
    torch.testing.assert_close(soft, hard, rtol=1e-3, atol=1e-4)
    assert (other - hard).abs().max() > 0.01


@pytest.mark.parametrize("task", ["classify", "cluster", "retrieve"])
def test_every_task_learns_from_shares_rather_than_classes(
    task: str, source: Hypergraph, parts: Split, candidate: Hypergraph
) -> None:
    shuffled = np.random.default_rng(0).permutation(candidate.labels)
    configuration = Configuration(options={"hidden": 8}, epochs=20)
    right, wrong = (
        evaluate(graph, source, parts, model=configuration, task=task, runs=1).mean
        for graph in (changed(one_hot(candidate), labels=shuffled), changed(candidate, labels=shuffled))
    )
    assert right > wrong


def test_nodes_of_unknown_class_are_not_learnt_from(
    source: Hypergraph, parts: Split, candidate: Hypergraph
) -> None:
    labels = np.where(np.arange(40) < 3, -1, candidate.labels)
    first = changed(one_hot(candidate), labels=labels)
    assert first.soft_labels is not None
    shares = first.soft_labels.copy()
    shares[:3] = shares[:3, ::-1]
    second = changed(first, soft_labels=shares)
    assert weights_of("hgnn", first, source, parts).equal(weights_of("hgnn", second, source, parts))


def test_shares_of_another_number_of_classes_are_refused(source: Hypergraph, parts: Split) -> None:
    graph = Hypergraph(
        features=np.eye(4, 12),
        labels=[0, 1, 2, 3],
        incidence=([], []),
        num_hyperedges=0,
        soft_labels=np.eye(4),
    )
    with pytest.raises(ValueError, match="3 classes but the soft labels"):
        train(Configuration(epochs=1), Inputs.of(graph), Inputs.of(source), parts, seed=0)


def test_every_judge_of_candidates_uses_their_shares(
    source: Hypergraph, parts: Split, candidate: Hypergraph
) -> None:
    soft = one_hot(candidate)
    assert soft.soft_labels is not None
    misled = changed(soft, soft_labels=np.roll(soft.soft_labels, 1, axis=1))
    job = Job(material=Material(source, parts), labels=candidate.labels.copy())
    judges: list[Any] = [ShortTrainings(Inputs.of(source), parts, epochs=20)]
    problem = Problem.of(job.material, (Map(),), job.labels)
    for goal in (Predict(), Predict(training=Unrolled(hidden=16))):
        judges.append(
            Prediction(goal, problem, Map(), chance=generator(0, Stream.BATCHES), scale=1.0).judge()
        )
    for judge in judges:
        assert judge(soft) == pytest.approx(judge(candidate), abs=0.03)
        assert judge(misled) < judge(candidate) - 0.3


# --- Learning them ---


def test_the_command_line_makes_and_trains_on_soft_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    out = str(tmp_path / "small")
    options = ["--set", "goal.labels=learnt", "--set", "goal.closed_form.epochs=5"]
    command = ["condense", "synthetic", "--method", "ridge", "--no-select", "--nodes", "20", *options]
    assert run_command([*command, "--out", out, "--quiet"]) == 0
    made = load_condensed(out)
    assert made.provenance.settings["goal"]["labels"]["kind"] == "learnt"
    assert made.hypergraph.soft_labels is not None
    capsys.readouterr()
    assert run_command(["evaluate", out, "--runs", "1", "--json"]) == 0
    soft = json.loads(capsys.readouterr().out)
    plain = dataclasses.replace(made, hypergraph=changed(made.hypergraph, soft_labels=None))
    plain.save(tmp_path / "plain")
    assert run_command(["evaluate", str(tmp_path / "plain"), "--runs", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) != soft
