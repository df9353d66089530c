"""First features are means of rows of the right class (Eq. 6)."""

import numpy as np
import pytest

from hypercondense.condensing.starts import KMeans, Means, Single, clusters, first_rows

ROWS = np.arange(24, dtype=np.float32).reshape(12, 2)
ROW_LABELS = np.array([0, 1] * 6)
LABELS = np.array([0, 0, 0, 1, 1])
STARTS = pytest.mark.parametrize("start", [Means(samples=3), Single(), KMeans()])


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@STARTS
def test_features_are_means_of_rows_of_their_class(start: Means) -> None:
    features, groups = first_rows(ROWS, ROW_LABELS, LABELS, start=start, rng=rng())
    assert features.dtype == np.float32
    for feature, group, label in zip(features, groups, LABELS, strict=True):
        assert (ROW_LABELS[group] == label).all()
        np.testing.assert_allclose(feature, ROWS[group].mean(axis=0), rtol=1e-6)


@STARTS
def test_more_condensed_nodes_than_rows_is_no_error(start: Means) -> None:
    labels = np.zeros(9, np.int64)
    features, groups = first_rows(ROWS[:2], np.zeros(2, np.int64), labels, start=start, rng=rng())
    assert len(features) == len(groups) == 9
    assert all(len(group) for group in groups)


@STARTS
def test_equal_chance_gives_equal_groups(start: Means) -> None:
    first, second = (first_rows(ROWS, ROW_LABELS, LABELS, start=start, rng=rng())[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_means_draw_the_asked_number_without_repeats() -> None:
    groups = Means(samples=5).groups(ROWS, 50, rng())
    assert all(len(set(group)) == 5 for group in groups)
    assert len({tuple(group) for group in groups}) > 40


def test_means_take_the_whole_class_if_it_is_small() -> None:
    assert Means(samples=20).groups(ROWS[:3], 1, rng())[0].tolist() == [0, 1, 2]


def test_single_rows_do_not_repeat_while_there_are_others() -> None:
    chosen = np.concatenate(Single().groups(ROWS, 12, rng()))
    assert sorted(chosen) == list(range(12))


def test_k_means_finds_planted_clusters() -> None:
    centres = np.array([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]], np.float32)
    rows = np.repeat(centres, 5, axis=0) + rng().normal(size=(15, 2)).astype(np.float32)
    groups = KMeans().groups(rows, 3, rng())
    assert sorted(sorted(group.tolist()) for group in groups) == [
        list(range(5)),
        list(range(5, 10)),
        list(range(10, 15)),
    ]


def test_of_many_rows_a_sample_is_grouped() -> None:
    rows = rng().normal(size=(90, 2)).astype(np.float32)
    groups = clusters(rows, 4, rng(), most=30)
    members = np.concatenate(groups)
    assert len(groups) == 4 and len(members) == len(set(members)) == 30
    whole = clusters(rows, 4, rng(), most=90)
    assert sorted(np.concatenate(whole)) == list(range(90))


def test_samples_must_be_positive() -> None:
    with pytest.raises(ValueError, match="samples must be a whole number >= 1, got 0"):
        Means(samples=0)
