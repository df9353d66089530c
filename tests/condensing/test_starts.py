"""First features are means of rows of the right class (Eq. 6)."""

import numpy as np
import pytest

from hypercondense.condensing.starts import STARTS, initialize, kmeans, single, uniform

ROWS = np.arange(24, dtype=np.float32).reshape(12, 2)
ROW_LABELS = np.array([0, 1] * 6)
LABELS = np.array([0, 0, 0, 1, 1])


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_features_are_means_of_rows_of_their_class(start) -> None:
    features, groups = initialize(
        ROWS, ROW_LABELS, LABELS, start=start, samples=3, rng=np.random.default_rng(0)
    )
    assert features.dtype == np.float32
    for feature, group, label in zip(features, groups, LABELS, strict=True):
        assert (ROW_LABELS[group] == label).all()
        np.testing.assert_allclose(feature, ROWS[group].mean(axis=0), rtol=1e-6)


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_more_condensed_nodes_than_rows_is_no_error(start) -> None:
    labels = np.zeros(9, np.int64)
    features, groups = initialize(
        ROWS[:2], np.zeros(2, np.int64), labels, start=start, samples=5, rng=np.random.default_rng(0)
    )
    assert len(features) == len(groups) == 9


def test_uniform_draws_the_asked_number_without_repeats() -> None:
    groups = uniform(ROWS, 50, 5, np.random.default_rng(0))
    assert all(len(set(group)) == 5 for group in groups)
    assert len({tuple(group) for group in groups}) > 40


def test_uniform_takes_the_whole_class_if_it_is_small() -> None:
    assert uniform(ROWS[:3], 1, 20, np.random.default_rng(0))[0].tolist() == [0, 1, 2]


def test_single_rows_do_not_repeat_while_there_are_others() -> None:
    chosen = np.concatenate(single(ROWS, 12, 1, np.random.default_rng(0)))
    assert sorted(chosen) == list(range(12))


def test_kmeans_finds_planted_clusters() -> None:
    centres = np.array([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]], np.float32)
    rows = np.repeat(centres, 5, axis=0) + np.random.default_rng(0).normal(size=(15, 2)).astype(np.float32)
    groups = kmeans(rows, 3, 1, np.random.default_rng(0))
    assert sorted(sorted(group.tolist()) for group in groups) == [
        list(range(5)),
        list(range(5, 10)),
        list(range(10, 15)),
    ]


def test_samples_must_be_positive() -> None:
    with pytest.raises(ValueError, match="samples must be at least 1, got 0"):
        initialize(ROWS, ROW_LABELS, LABELS, samples=0, rng=np.random.default_rng(0))
