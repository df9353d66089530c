"""Which nodes are for what."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercondense.hypergraph import Hypergraph, Split, split, split_from_ids


def labelled(labels: Any) -> Hypergraph:
    """Nodes with labels and nothing else of interest."""
    return Hypergraph(features=np.ones((len(labels), 1)), labels=labels, incidence=([], []), num_hyperedges=0)


def sizes(parts: Split) -> tuple[int, int, int]:
    return len(parts.train_ids), len(parts.validation_ids), len(parts.test_ids)


def test_half_a_quarter_and_a_quarter() -> None:
    parts = split(labelled([0, 1] * 50), seed=3)
    assert sizes(parts) == (50, 25, 25)
    together = np.concatenate([parts.train_ids, parts.validation_ids, parts.test_ids])
    assert sorted(together) == list(range(100))
    assert parts.missing_classes == ()
    assert parts.seed == 3


def test_equal_seeds_give_equal_splits_and_others_do_not() -> None:
    source = labelled([0, 1] * 50)
    assert split(source, seed=1).digest == split(source, seed=1).digest
    assert split(source, seed=1).digest != split(source, seed=2).digest


def test_nodes_of_unknown_class_are_in_no_part() -> None:
    parts = split(labelled([0, -1, 1, -1] * 10))
    assert sizes(parts) == (10, 5, 5)
    for ids in (parts.train_ids, parts.validation_ids, parts.test_ids):
        assert (ids % 2 == 0).all()


def test_shares_may_leave_nodes_out() -> None:
    assert sizes(split(labelled([0, 1] * 50), shares=(0.1, 0.2, 0.3))) == (10, 20, 30)


@pytest.mark.parametrize(
    "shares", [(0, 0.5, 0.5), (0.5, 0.5, 0.5), (0.5, -0.1, 0.5), (0.5, 0.5), (float("nan"), 0, 0)]
)
def test_impossible_shares_are_refused(shares: Any) -> None:
    with pytest.raises(ValueError, match="shares must be"):
        split(labelled([0, 1]), shares=shares)


def test_a_class_without_training_nodes_is_reported() -> None:
    missing = {split(labelled([0] * 20 + [1]), seed=seed).missing_classes for seed in range(10)}
    assert missing == {(), (1,)}


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.lists(st.integers(-1, 3), min_size=4, max_size=40), st.integers(0, 99))
def test_parts_are_disjoint_and_together_all_labelled_nodes(labels: list[int], seed: int) -> None:
    labels = [*labels, 0]
    parts = split(labelled(labels), seed=seed)
    together = np.concatenate([parts.train_ids, parts.validation_ids, parts.test_ids])
    assert sorted(together) == [node for node, label in enumerate(labels) if label >= 0]
    trained = {labels[node] for node in parts.train_ids}
    assert set(parts.missing_classes) == set(labels) - {-1} - trained


def test_a_split_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        split(labelled([0, 1] * 4)).train_ids[0] = 0


def test_given_ids_are_used_sorted() -> None:
    parts = split_from_ids(
        labelled([0, 1, 0, 1]), train_ids=[3, 0], validation_ids=(1,), test_ids=np.array([2])
    )
    assert parts.train_ids.tolist() == [0, 3]
    assert parts.validation_ids.tolist() == [1]
    assert parts.test_ids.tolist() == [2]
    assert parts.seed is None
    assert parts.missing_classes == ()


def test_masks_and_names_are_a_split_as_ids_are() -> None:
    source = labelled([0, 1, 0, 1])
    masks = {
        f"{part}_ids": np.arange(4) == place for place, part in enumerate(("train", "validation", "test"))
    }
    by_mask = split_from_ids(source, **masks)
    by_id = split_from_ids(source, train_ids=[0], validation_ids=[1], test_ids=[2])
    named = dataclasses.replace(source, node_names=["ann", "bob", "eve", "joe"])
    by_name = split_from_ids(named, train_ids=["ann"], validation_ids=["bob"], test_ids=["eve"])
    assert by_mask == by_id == by_name and len({by_mask, by_id, by_name}) == 1
    assert by_id != split_from_ids(source, train_ids=[3], validation_ids=[1], test_ids=[2])
    assert repr(by_id) == "Split(1 train, 1 validation, 1 test, given ids, no training node of class (1,))"


@pytest.mark.parametrize("seed", [True, "0", -1, 1.5])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(ValueError, match="seed must be"):
        split(labelled([0, 1, 0, 1]), seed=seed)


def test_given_ids_report_a_class_without_training_nodes() -> None:
    parts = split_from_ids(labelled([0, 1, 0]), train_ids=[0], validation_ids=[], test_ids=[1])
    assert parts.missing_classes == (1,)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"train_ids": [0, 9]}, "train ids must be 0 to 4: entry 1 is 9"),
        ({"train_ids": [-1]}, "entry 0 is -1"),
        ({"train_ids": [0, 0]}, "node 0 is given twice, for train and for train"),
        ({"test_ids": [0]}, "node 0 is given twice, for train and for test"),
        ({"test_ids": [4]}, "node 4, given for test, has no label"),
        ({"validation_ids": [1.5]}, "validation ids must be whole numbers"),
        ({"train_ids": []}, "no training ids"),
        ({"train_ids": [[0], [3]]}, r"train ids must be a flat list, got shape \(2, 1\)"),
        ({"train_ids": [True, False]}, "each of the 5 nodes; that for train has 2"),
        ({"train_ids": [1, 0, 1, 0, 0]}, r"train ids are 0 and 1 only, like a mask; .* mask.astype\(bool\)"),
        ({"test_ids": np.arange(5) == 4}, "node 4, given for test, has no label"),
        ({"test_ids": np.arange(5) < 1}, "node 0 is given twice, for train and for test"),
    ],
)
def test_impossible_ids_are_named(changes: Any, message: str) -> None:
    good = {"train_ids": [0], "validation_ids": [1], "test_ids": [2]}
    with pytest.raises(ValueError, match=message):
        split_from_ids(labelled([0, 1, 0, 1, -1]), **(good | changes))
