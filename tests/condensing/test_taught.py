"""Taught: what teachers say of nodes, who may be asked, and what it is good for."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from hypercondense.condensing import Unrolled
from hypercondense.condensing.taught import Taught
from hypercondense.data import synthetic
from hypercondense.diffusion import diffuse
from hypercondense.evaluation import evaluate
from hypercondense.hypergraph import Hypergraph, Split, split
from hypercondense.nn.training import Configuration, Inputs, train
from makers.tasks import task_of

QUICK: dict[str, Any] = {"unrolled_epochs": 3, "window": 2, "horizon": 4, "hidden": 8, "self_select": False}
LABELS = np.array([0, 0, 1, 1, 2, 2])


def source_of(**changes: Any) -> Hypergraph:
    return synthetic(num_nodes=80, num_hyperedges=50, num_features=8, num_classes=3, seed=1, **changes)


def relabelled(source: Hypergraph, node_ids: Any, labels: Any) -> Hypergraph:
    changed = source.labels.copy()
    changed[node_ids] = labels
    return Hypergraph(
        features=source.features,
        labels=changed,
        incidence=source.incidence,
        num_hyperedges=source.num_hyperedges,
        label_names=[str(label) for label in range(source.num_classes)],
    )


def test_training_nodes_have_their_class_and_others_what_teachers_say() -> None:
    source = source_of()
    parts = split(source)
    shares = Taught(teachers=1).shares(task_of(source, parts, LABELS))
    torch.testing.assert_close(shares.sum(1), torch.ones(80))
    assert (shares[parts.train_ids.copy()].argmax(1).numpy() == source.labels[parts.train_ids]).all()
    assert set(shares[parts.train_ids.copy()].flatten().tolist()) == {0.0, 1.0}
    others = np.setdiff1d(np.arange(80), parts.train_ids)
    assert ((shares[others] > 0) & (shares[others] < 1)).any()
    assert (shares[others].argmax(1).numpy() == source.labels[others]).mean() > 0.5


def test_the_opinion_is_the_mean_of_trainings_on_the_whole() -> None:
    source = source_of()
    parts, inputs = split(source), Inputs.of(source)
    task = task_of(source, parts, LABELS, seed=3)
    seeds = np.random.default_rng([3, 10]).integers(2**31, size=2).tolist()
    models = [train(Configuration(model="hcha"), inputs, inputs, parts, seed=seed).model for seed in seeds]
    with torch.no_grad():
        expected = sum(model(inputs.features, inputs.structure).softmax(1) for model in models) / 2
    shares = Taught(teachers=2, teacher="hcha").shares(task)
    torch.testing.assert_close(shares[parts.test_ids.copy()], expected[parts.test_ids.copy()])


def test_all_nodes_are_to_be_predicted_under_every_map() -> None:
    source = source_of()
    problem = Taught(teachers=1, also="half", walks=True).problem(task_of(source, split(source), LABELS))
    assert [rows.shape for rows in problem.train] == [(80, 8)] * 3 and problem.labels.shape == (80, 3)
    method = Taught()
    walked = diffuse(source, method.propagation(method.time), walks=True)
    torch.testing.assert_close(problem.train[2], torch.from_numpy(walked))
    assert len(problem.start_rows) == len(split(source).train_ids)  # features begin as training rows
    rows, classes = problem.batch(1000, torch.Generator().manual_seed(0))
    torch.testing.assert_close(rows, torch.cat(problem.train))
    torch.testing.assert_close(classes, problem.labels.repeat(3, 1))


def test_rows_may_come_from_a_read_only_file(tmp_path: Path) -> None:
    source = source_of()
    parts, method = split(source), Taught(**QUICK, teachers=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = [
            method.condense(source, parts, nodes=6, cache_dir=folder) for folder in (tmp_path, tmp_path, None)
        ]
    assert len({result.hypergraph.digest for result in made}) == 1


def test_labels_of_test_nodes_are_not_read_and_need_not_be_known() -> None:
    source = source_of()
    parts = split(source)
    method = Taught(**QUICK, teachers=1)
    expected = method.condense(source, parts, nodes=6).hypergraph.features
    for labels in (source.labels[parts.test_ids][::-1], -1):
        other = relabelled(source, parts.test_ids, labels)
        np.testing.assert_array_equal(method.condense(other, parts, nodes=6).hypergraph.features, expected)


def test_without_validation_nodes_teachers_keep_their_last_epoch() -> None:
    source = source_of()
    parts = split(source)
    blind = Split(train_ids=parts.train_ids, validation_ids=parts.validation_ids[:0], test_ids=parts.test_ids)
    assert Taught(**QUICK, teachers=1).condense(source, blind, nodes=6).hypergraph.num_nodes == 6


def test_a_wrong_number_or_kind_of_teachers_is_refused() -> None:
    with pytest.raises(ValueError, match="teachers must be at least 1, got 0"):
        Taught(teachers=0)


@pytest.mark.slow
def test_few_labels_are_not_learnt_by_heart() -> None:
    """A long optimization towards 60 labels suits these; with teachers on all nodes it suits the others."""
    source = synthetic(num_nodes=600, num_hyperedges=500, num_features=200, num_classes=3, noise=3.0, seed=0)
    ids = np.random.default_rng(0).permutation(600)
    parts = Split(train_ids=ids[:60], validation_ids=ids[60:200], test_ids=ids[200:])
    scores = {}
    for method in (Unrolled, Taught):
        made = method(epochs=0, unrolled_epochs=200, hidden=64, self_select=False).condense(
            source, parts, nodes=6
        )
        scores[method] = evaluate(made, source, parts, runs=3).mean
    assert scores[Taught] > scores[Unrolled], scores
