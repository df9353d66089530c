"""Teachers: what they say of nodes, who may be asked, and what it is good for."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from hypercondense.condensing.checkpoint import Checkpoint
from hypercondense.condensing.job import Job
from hypercondense.condensing.maps import Map
from hypercondense.condensing.material import Material
from hypercondense.condensing.presets import PRESETS
from hypercondense.condensing.problem import Problem
from hypercondense.condensing.run import condense_by
from hypercondense.condensing.settings import changed
from hypercondense.condensing.teachers import Teachers, opinions
from hypercondense.data import synthetic
from hypercondense.diffusion import diffuse
from hypercondense.evaluation import evaluate
from hypercondense.hypergraph import Hypergraph, Split, split
from hypercondense.nn.training import Configuration, Inputs, train
from makers.jobs import job_of, quick, relabelled

ONE = Teachers(number=1)
LABELS = np.array([0, 0, 1, 1, 2, 2])


@pytest.fixture(scope="module")
def small() -> Hypergraph:
    return synthetic(num_nodes=80, num_hyperedges=50, num_features=8, num_classes=3, seed=1)


@pytest.fixture(scope="module")
def its_parts(small: Hypergraph) -> Split:
    return split(small)


@pytest.fixture(scope="module")
def material(small: Hypergraph, its_parts: Split) -> Material:
    """Teachers are asked once, and their opinion is kept."""
    return Material(small, its_parts)


def test_training_nodes_have_their_class_and_others_what_teachers_say(
    material: Material, small: Hypergraph, its_parts: Split
) -> None:
    shares = material.opinions(ONE, seed=0)
    torch.testing.assert_close(shares.sum(1), torch.ones(80))
    known = shares[its_parts.train_ids.copy()]
    assert (known.argmax(1).numpy() == small.labels[its_parts.train_ids]).all()
    assert set(known.flatten().tolist()) == {0.0, 1.0}
    others = np.setdiff1d(np.arange(80), its_parts.train_ids)
    assert ((shares[others] > 0) & (shares[others] < 1)).any()
    assert (shares[others].argmax(1).numpy() == small.labels[others]).mean() > 0.5


def test_teachers_are_asked_once_for_each_seed(material: Material) -> None:
    assert material.opinions(ONE, seed=0) is material.opinions(Teachers(number=1), seed=0)
    assert not torch.equal(material.opinions(ONE, seed=0), material.opinions(ONE, seed=1))


def test_a_teacher_that_was_interrupted_goes_on(
    small: Hypergraph, its_parts: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs, saved, real = Inputs.of(small), [], Checkpoint.save

    def save(self: Checkpoint, tensors: Any, facts: Any) -> None:
        real(self, tensors, facts)
        saved.append(facts.get("epochs"))
        if len(saved) == 30:
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "save", save)
    begun = Checkpoint(tmp_path, {"what": "a test"}, every=0)
    with pytest.raises(KeyboardInterrupt):
        opinions(Teachers(number=1), inputs, its_parts, seed=1, checkpoint=begun)
    again = Checkpoint(tmp_path, {"what": "a test"}, every=0, resume=True)
    found = opinions(Teachers(number=1), inputs, its_parts, seed=1, checkpoint=again)
    assert saved[29:32] == [30, 31, 32] and saved[-1] is None
    assert torch.equal(found, opinions(Teachers(number=1), inputs, its_parts, seed=1))
    assert len(list(tmp_path.iterdir())) == 1  # what the teacher said


def test_only_whole_trainings_tell_what_a_training_takes(
    small: Hypergraph, its_parts: Split, tmp_path: Path
) -> None:
    material = Material(small, its_parts)
    resumed = Checkpoint(tmp_path, {}, resume=True)
    material.opinions(Teachers(number=1), seed=5, checkpoint=resumed)
    assert material.whole_seconds is None
    material.opinions(Teachers(number=1), seed=6, checkpoint=Checkpoint(tmp_path, {}))
    assert material.whole_seconds is not None and material.whole_seconds > 0


def test_the_opinion_is_the_mean_of_trainings_on_the_whole(small: Hypergraph, its_parts: Split) -> None:
    inputs = Inputs.of(small)
    seeds = np.random.default_rng([3, 10]).integers(2**31, size=2).tolist()
    models = [train(Configuration(model="mlp"), inputs, inputs, its_parts, seed=seed).model for seed in seeds]
    with torch.no_grad():
        expected = sum(model(inputs.features, inputs.structure).softmax(1) for model in models) / 2
    told: list[tuple[str, int, int]] = []
    shares = opinions(
        Teachers(number=2, network="mlp"),
        inputs,
        its_parts,
        seed=3,
        progress=lambda stage, done, total, /, **_: told.append((stage, done, total)),
    )
    test_ids = its_parts.test_ids.copy()
    torch.testing.assert_close(shares[test_ids], expected[test_ids])
    assert told == [("teach", 1, 2), ("teach", 2, 2)]


def test_all_nodes_are_to_be_predicted_under_every_map(material: Material, small: Hypergraph) -> None:
    maps = (Map(kernel="power"), Map(time=1.0), Map(walks=True))
    shares = material.opinions(ONE, seed=0)
    problem = Problem.of(material, maps, LABELS, opinions=shares)
    for one, rows in zip(maps, problem.rows, strict=True):
        np.testing.assert_array_equal(rows, diffuse(small, one.polynomial, walks=one.walks))
    rows, classes = problem.batch(1000, torch.Generator().manual_seed(0))
    torch.testing.assert_close(rows, torch.cat(problem.rows))
    torch.testing.assert_close(classes, shares.repeat(3, 1))


def test_features_begin_as_training_rows(material: Material, its_parts: Split) -> None:
    made = quick("taught").run(Job(material=material, labels=LABELS, select=False))
    assert all(np.isin(ids, its_parts.train_ids).all() for ids in made.members)


def test_rows_may_come_from_a_read_only_file(small: Hypergraph, its_parts: Split, tmp_path: Path) -> None:
    shares, found = torch.full((80, 3), 1 / 3), []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for folder in (tmp_path, tmp_path, None):  # where they are written, read, and not kept
            material = Material(small, its_parts, cache_dir=folder)
            found.append(Problem.of(material, (Map(),), LABELS, opinions=shares).rows[0])
    assert torch.equal(found[0], found[1]) and torch.equal(found[0], found[2])


def test_labels_of_test_nodes_are_not_read_and_need_not_be_known(
    material: Material, small: Hypergraph, its_parts: Split
) -> None:
    other = Material(relabelled(small, its_parts.test_ids, -1), its_parts)
    torch.testing.assert_close(other.opinions(ONE, seed=0), material.opinions(ONE, seed=0), rtol=0, atol=0)


def test_without_validation_nodes_teachers_keep_their_last_epoch(small: Hypergraph, its_parts: Split) -> None:
    blind = Split(
        train_ids=its_parts.train_ids,
        validation_ids=its_parts.validation_ids[:0],
        test_ids=its_parts.test_ids,
    )
    assert quick("taught").run(job_of(small, blind, LABELS, select=True)).hypergraph.num_nodes == 6


def test_a_wrong_number_or_kind_of_teachers_is_refused() -> None:
    with pytest.raises(ValueError, match="number must be a whole number >= 1, got 0"):
        Teachers(number=0)
    with pytest.raises(ValueError, match=r"network must be one of hgnn, hcha, .* got 'me'"):
        Teachers(network="me")  # type: ignore[arg-type]


@pytest.mark.slow
def test_few_labels_are_not_learnt_by_heart() -> None:
    """A long optimization towards 15 labels suits these; with teachers on all nodes it suits the others."""
    source = synthetic(num_nodes=600, num_hyperedges=500, num_features=200, num_classes=3, noise=2.0, seed=0)
    ids = np.random.default_rng(0).permutation(600)
    parts = Split(train_ids=ids[:15], validation_ids=ids[15:200], test_ids=ids[200:])
    settings = {"goal.training.epochs": 60, "goal.training.hidden": 32, "goal.teachers.number": 1}
    taught = changed(PRESETS["taught"][1], {**settings, "looks": 0})
    scores = [
        evaluate(condense_by(method, source, parts, nodes=6), source, parts, runs=2).mean
        for method in (taught, changed(taught, {"goal.teachers": None}))
    ]
    assert scores[0] > scores[1] + 0.03, scores  # by 0.07; other seeds by 0.02 to 0.10
