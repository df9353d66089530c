"""How many condensed nodes each class gets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercondense.condensing.allotment import condensed_labels, share_out


@given(st.lists(st.integers(1, 500), min_size=1, max_size=12), st.integers(0, 300))
def test_shares_add_up_leave_nobody_out_and_follow_the_counts(counts: list[int], extra: int) -> None:
    sizes = np.array(counts)
    size = len(counts) + extra
    shares = share_out(sizes, size)
    assert shares.sum() == size
    assert shares.min() >= 1
    order = np.argsort(sizes, kind="stable")
    assert (np.diff(shares[order]) >= 0).all() or (np.diff(sizes[order]) == 0).any()
    quota = size * sizes / sizes.sum()
    if quota.min() >= 1:  # nobody had to be lifted: largest remainder stays within one of the quota
        assert np.abs(shares - quota).max() < 1


def test_size_is_a_share_of_all_nodes_not_of_the_training_nodes() -> None:
    labels = np.repeat([0, 1], [60, 40])
    assert len(condensed_labels(labels, num_nodes=200, ratio=0.1)) == 20
    assert condensed_labels(labels, num_nodes=200, ratio=0.1).tolist() == [0] * 12 + [1] * 8


def test_the_other_meaning_of_ratio_rounds_up_in_each_class() -> None:
    labels = np.repeat([0, 1, 2], [60, 39, 1])
    assert np.bincount(condensed_labels(labels, num_nodes=200, ratio=0.1, ratio_of="train")).tolist() == [
        6,
        4,
        1,
    ]


def test_only_classes_with_training_nodes_get_condensed_nodes() -> None:
    assert set(condensed_labels(np.array([0, 0, 5]), num_nodes=10, nodes=4)) == {0, 5}


@pytest.mark.parametrize("ratio", [0.0, -0.1, 1.01, float("nan")])
def test_impossible_ratios_are_named(ratio: float) -> None:
    with pytest.raises(ValueError, match=r"ratio must be above 0 and at most 1, got"):
        condensed_labels(np.array([0, 1]), num_nodes=10, ratio=ratio)


def test_fewer_nodes_than_classes_says_how_many_are_needed() -> None:
    labels = np.arange(7)
    with pytest.raises(
        ValueError, match=r"gives 3 condensed nodes, fewer than the 7 classes .* 0\.0026 or --nodes 7"
    ):
        condensed_labels(labels, num_nodes=2708, ratio=0.001)
    assert len(condensed_labels(labels, num_nodes=2708, ratio=0.0026)) == 7  # the advice works
    with pytest.raises(ValueError, match=r"^2 condensed nodes, fewer than"):
        condensed_labels(labels, num_nodes=2708, nodes=2)


def test_more_nodes_than_the_source_has_is_an_error() -> None:
    with pytest.raises(ValueError, match="11 condensed nodes are more than the 10 nodes"):
        condensed_labels(np.array([0, 1]), num_nodes=10, nodes=11)


@pytest.mark.parametrize(
    ("given_both", "message"),
    [
        ({}, "--ratio 0.01.* or .*--nodes 20"),
        ({"ratio": 0.5, "nodes": 3}, "either ratio or nodes, and not both"),
    ],
)
def test_exactly_one_of_ratio_and_nodes_is_needed(given_both: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        condensed_labels(np.array([0, 1]), num_nodes=10, **given_both)  # type: ignore[arg-type]
