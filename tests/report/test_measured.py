"""What a page says about networks, where the answer is known."""

import dataclasses
import math

import numpy as np
import pytest

from hypercondense.catalogue import condense
from hypercondense.data import synthetic
from hypercondense.evaluation import Score
from hypercondense.hypergraph import Hypergraph, Split, split, split_from_ids
from hypercondense.nn.training import Configuration
from hypercondense.report.measured import Measured, measure

LABELS = np.array([0, 0, 0, 0, 1, 1, 1, 1, 0, 1])
TEST = np.arange(8)
SHORT = Configuration(model="mlp", epochs=10)


def told(predicted: list[list[int]], whole: list[list[int]]) -> Measured:
    source = Hypergraph(
        features=np.eye(10, dtype=np.float32), labels=LABELS, incidence=([0], [0]), num_hyperedges=1
    )
    parts = split_from_ids(source, train_ids=[8, 9], validation_ids=[], test_ids=TEST)
    mean = float(np.mean([np.array(one) == LABELS[:8] for one in predicted]))
    score = Score(
        model="hgnn",
        task="classify",
        metric="accuracy",
        mean=mean,
        std=0.0,
        values=(mean,) * len(predicted),
        runs=len(predicted),
        macro_f1=None,
        calibration=None,
        validation=(),
        epochs=(),
        options=(),
        seconds=0.0,
        predicted=tuple(map(tuple, predicted)),
        whole_predicted=tuple(map(tuple, whole)),
    )
    return Measured(source=source, split=parts, scores=(score,))


def test_retention_is_the_ratio_of_accuracies_with_an_interval_around_it() -> None:
    right = LABELS[:8].tolist()
    one_wrong = [1, *right[1:]]
    measured = told([one_wrong, one_wrong], [right, right])
    kept = measured.retention(measured.first)
    assert kept is not None
    assert kept.share == pytest.approx(7 / 8)
    # Trainings agree, so the interval is that of eight differences, of which one is 1: d = right - 7/8.
    around = 1.959964 * math.sqrt(np.var([7 / 8, *[-1 / 8] * 7], ddof=1) / 8)
    assert kept.high - kept.share == pytest.approx(around, rel=1e-4)
    assert kept.share - kept.low == pytest.approx(around, rel=1e-4)


def test_confusion_that_condensing_adds_is_counted_in_the_mean_of_trainings() -> None:
    right = LABELS[:8].tolist()
    measured = told([[1, 1, *right[2:]], right], [right])
    added = measured.added_confusion()
    assert added is not None
    assert added.tolist() == [[-1.0, 1.0], [0.0, 0.0]]
    first, second = measured.classes()
    assert (first.nodes, first.condensed, first.whole, first.lost) == (4, 0.75, 1.0, 0.25)
    assert (second.condensed, second.lost) == (1.0, 0.0)


def test_nodes_without_a_prediction_are_wrong_and_in_no_column() -> None:
    measured = told([[-1] * 8], [LABELS[:8].tolist()])
    assert measured.confusion(measured.first.predicted).sum() == 0
    assert [one.condensed for one in measured.classes()] == [0.0, 0.0]


def test_without_the_whole_nothing_is_retained_and_nothing_added() -> None:
    measured = told([LABELS[:8].tolist()], [])
    assert measured.retention(measured.first) is None
    assert measured.added_confusion() is None
    assert measured.classes()[0].lost is None


def test_networks_random_nodes_and_the_whole_are_scored_on_the_same_test_nodes() -> None:
    source = synthetic(num_nodes=120, num_hyperedges=80, num_features=6, num_classes=2, noise=2.0, seed=0)
    parts = split(source, seed=0)
    result = condense(source, parts, nodes=6, method="means")
    measured = measure(result, source, parts, models=[SHORT], runs=2)
    assert len(measured.first.predicted) == len(measured.first.whole_predicted) == len(measured.random) == 2
    labels = source.labels[parts.test_ids]
    for value, predicted in zip(measured.first.values, measured.first.predicted, strict=True):
        assert value == pytest.approx(np.mean(np.array(predicted) == labels))
    kept, score = measured.retention(measured.first), measured.first
    assert kept is not None and score.retention is not None
    assert kept.share == pytest.approx(score.retention)
    assert "predicted" not in score.to_dict()


def test_what_cannot_be_measured_is_told() -> None:
    source = synthetic(num_nodes=60, num_hyperedges=30, num_features=6, num_classes=3, seed=0)
    parts = split(source, seed=0)
    result = condense(source, parts, nodes=3, method="means")
    few = dataclasses.replace(
        result,
        hypergraph=Hypergraph(
            features=result.hypergraph.dense_features()[:1], labels=[0], incidence=([], []), num_hyperedges=0
        ),
        members=result.members[:1],
    )
    measured = measure(few, source, parts, models=[SHORT], runs=1, whole=False)
    assert measured.random == ()
    assert "random nodes were not measured" in measured.missing[0]
    assert isinstance(measured.split, Split)
