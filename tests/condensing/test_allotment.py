"""How many condensed nodes each class gets."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercondense.condensing.allotment import (
    by_spread,
    class_spreads,
    condensed_labels,
    equal_shares,
    share_out,
    unusual,
)
from hypercondense.condensing.baselines.coresets import Random
from hypercondense.condensing.maps import Map
from hypercondense.condensing.material import Material
from hypercondense.condensing.run import condense_by
from hypercondense.diffusion import SelectedRows, diffuse
from hypercondense.errors import ConfigError
from hypercondense.hypergraph import Hypergraph, Split
from makers.jobs import quick, variant


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
    assert set(condensed_labels(np.array([0, 0, 0, 5]), num_nodes=10, nodes=4)) == {0, 5}


@pytest.mark.parametrize("ratio", [0.0, -0.1, 1.01, float("nan")])
def test_impossible_ratios_are_named(ratio: float) -> None:
    with pytest.raises(ValueError, match=r"ratio must be above 0 and at most 1, got"):
        condensed_labels(np.array([0, 1]), num_nodes=10, ratio=ratio)


def test_fewer_nodes_than_classes_says_how_many_are_needed() -> None:
    labels = np.arange(7)
    with pytest.raises(
        ValueError, match=r"gives 3 condensed nodes, fewer than the 7 classes .* 0\.0026 or 7 nodes"
    ):
        condensed_labels(labels, num_nodes=2708, ratio=0.001)
    assert len(condensed_labels(labels, num_nodes=2708, ratio=0.0026)) == 7  # the advice works
    with pytest.raises(ValueError, match=r"^2 condensed nodes, fewer than"):
        condensed_labels(labels, num_nodes=2708, nodes=2)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"nodes": 11}, "^11 condensed nodes, more than the 2 training nodes .* at most 2 nodes"),
        (
            {"ratio": 1},
            "ratio 1 of 10 nodes gives 10 .* 2 training nodes .* was 1 % meant. that is ratio 0.01",
        ),
        ({"nodes": 2.5}, "nodes must be a whole number, got 2.5"),
        ({"ratio": True}, "ratio must be a number, as 0.01 for 1 % of the nodes, got True"),
        ({"ratio": "1%"}, "ratio must be a number, as 0.01 for 1 % of the nodes, got '1%'"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_may_be(asked: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        condensed_labels(np.array([0, 1]), num_nodes=10, **asked)


def test_a_size_that_condenses_little_is_told_before_the_work() -> None:
    assert list(unusual(0.3, 30, 100)) == []
    assert "0.004 would be 0.4 %" in next(unusual(0.4, 40, 100))
    assert "40 of 100 nodes condense little" in next(unusual(None, 40, 100))


@pytest.mark.parametrize(
    ("given_both", "message"),
    [
        ({}, "a ratio, as 0.01, or a number of nodes, as 20"),
        ({"ratio": 0.5, "nodes": 3}, "either ratio or nodes, and not both"),
    ],
)
def test_exactly_one_of_ratio_and_nodes_is_needed(given_both: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        condensed_labels(np.array([0, 1]), num_nodes=10, **given_both)  # type: ignore[arg-type]


@given(st.lists(st.integers(1, 500), min_size=1, max_size=12), st.integers(0, 300))
def test_equal_shares_differ_by_one_at_most_and_larger_classes_have_no_fewer(
    counts: list[int], extra: int
) -> None:
    sizes = np.array(counts)
    shares = equal_shares(sizes, len(counts) + extra)
    assert shares.sum() == len(counts) + extra
    assert shares.min() >= 1
    assert shares.max() - shares.min() <= 1
    assert sizes[shares == shares.max()].min() >= sizes[shares == shares.min()].max() or (
        shares.max() == shares.min()
    )


@given(
    st.lists(st.tuples(st.integers(1, 500), st.floats(0, 1e6)), min_size=1, max_size=12),
    st.integers(0, 300),
    st.booleans(),
)
def test_shares_by_spread_add_up_and_leave_nobody_out(
    classes: list[tuple[int, float]], extra: int, alike: bool
) -> None:
    counts, spreads = (np.array(some) for some in zip(*classes, strict=True))
    if not spreads.any():
        spreads = spreads + 1
    shares = by_spread(spreads, classes_count_alike=alike)(counts, len(counts) + extra)
    assert shares.sum() == len(counts) + extra
    assert shares.min() >= 1


def test_neyman_by_hand() -> None:
    # Two classes of 4 and 2 rows, 1 and 3 apart from their means: 4 * 1 to 2 * 3, or 1 to 3.
    rows = np.array([[-1, 0], [1, 0], [0, 1], [0, -1], [10, 3], [10, -3]], np.float32)
    labels = np.array([0, 0, 0, 0, 1, 1])
    spreads = class_spreads(rows, labels)
    np.testing.assert_allclose(spreads, [1, 3])
    counts = np.array([4, 2])
    assert by_spread(spreads, classes_count_alike=False)(counts, 10).tolist() == [4, 6]
    assert by_spread(spreads, classes_count_alike=True)(counts, 8).tolist() == [2, 6]


def test_spreads_are_the_same_in_blocks_and_from_selected_rows() -> None:
    rng = np.random.default_rng(0)
    matrix, labels = rng.normal(size=(50, 4)).astype(np.float32), rng.integers(3, size=40) * 2
    ids = np.sort(rng.permutation(50)[:40])
    whole = class_spreads(matrix[ids], labels)
    expected = [
        np.sqrt(((own - own.mean(0)) ** 2).sum(1).mean())
        for own in (matrix[ids][labels == one].astype(np.float64) for one in (0, 2, 4))
    ]
    np.testing.assert_allclose(whole, expected)
    np.testing.assert_allclose(class_spreads(SelectedRows(matrix, ids), labels, entries=12), whole)


def test_the_other_meaning_of_ratio_gives_as_many_nodes_shared_out_otherwise() -> None:
    labels = np.repeat([0, 1, 2], [60, 39, 1])
    how = {"num_nodes": 200, "ratio": 0.1, "ratio_of": "train"}
    assert np.bincount(condensed_labels(labels, **how, sharing=equal_shares)).tolist() == [4, 4, 3]  # type: ignore[arg-type]


@pytest.mark.parametrize(("allocate", "metric"), [("adaptive", "accuracy"), ("adaptive", "macro-f1")])
def test_a_material_shares_out_by_the_spread_of_its_diffused_training_rows(
    source: Hypergraph, parts: Split, allocate: str, metric: str
) -> None:
    material = Material(source, parts, metric=metric)  # type: ignore[arg-type]
    rows = diffuse(source, Map().polynomial)[parts.train_ids]
    spreads = class_spreads(rows, material.train_labels)
    counts = np.bincount(material.train_labels)
    expected = share_out(spreads if metric == "macro-f1" else counts * spreads, 17)
    assert material.sharing("adaptive")(counts, 17).tolist() == expected.tolist()
    assert material.warnings == []


def test_constant_rows_are_shared_out_in_proportion_with_a_warning(source: Hypergraph, parts: Split) -> None:
    alone = variant(source, features=np.ones((300, 2), np.float32), incidence=([], []), num_hyperedges=0)
    result = condense_by(quick("means"), alone, parts, nodes=12, allocate="adaptive", select=False)
    usual = condense_by(quick("means"), alone, parts, nodes=12, select=False)
    assert result.hypergraph.labels.tolist() == usual.hypergraph.labels.tolist()
    assert (
        "the spread of classes is 0 or no number, so nodes were shared out in proportion" in result.warnings
    )
    assert result.provenance.allocate == "adaptive"


def test_an_unknown_allocation_is_named(source: Hypergraph, parts: Split) -> None:
    with pytest.raises(
        ConfigError, match="allocate must be one of proportional, equal, adaptive, got 'fair'"
    ):
        condense_by(quick("means"), source, parts, nodes=12, allocate="fair")


def test_real_nodes_need_enough_of_every_class_and_the_guard_takes_what_there_is(
    source: Hypergraph, parts: Split
) -> None:
    rare = np.flatnonzero(source.labels[parts.train_ids] == 2)[3:]  # three training nodes are left of it
    labels = source.labels.copy()
    labels[parts.train_ids[rare]] = 0
    rarer = variant(source, labels=labels)
    with pytest.raises(ValueError, match=r"need 6 training nodes of class 2.*with allocate='proportional'"):
        condense_by(Random(), rarer, parts, nodes=18, allocate="equal")
    result = condense_by(quick("ahgcdd-x"), rarer, parts, nodes=18, allocate="equal")
    assert np.bincount(result.hypergraph.labels).tolist() == [6, 6, 6]


def test_a_wrong_size_is_found_before_anything_is_diffused(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Material, "_class_spreads", None)
    with pytest.raises(ValueError, match="fewer than the 3 classes"):
        condense_by(quick("means"), source, parts, nodes=2, allocate="adaptive")
