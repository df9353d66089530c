"""The one data type: what it refuses, and that it cannot be changed."""

import dataclasses
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercondense.hypergraph import Hypergraph
from hypercondense.hypergraph.checks import csr_from_parts
from makers.format_examples import FEATURES, HYPEREDGE_IDS, LABELS, NODE_IDS, tiny
from makers.strategies import hypergraphs


def with_feature(value: float, dtype: Any = np.float64) -> np.ndarray[Any, Any]:
    features = FEATURES.astype(dtype)
    features[2, 1] = value
    return features


def broken_csr(part: str, value: Any) -> sp.csr_array:
    matrix = sp.csr_array(FEATURES)
    setattr(matrix, part, np.asarray(value, getattr(matrix, part).dtype))
    return matrix


REFUSED = [
    ({"features": with_feature(np.nan)}, "node 2, column 1 is nan"),
    ({"features": with_feature(-np.inf)}, "node 2, column 1 is -inf"),
    ({"features": with_feature(1e300)}, r"node 2, column 1 is 1e\+300"),
    ({"features": sp.csr_array(with_feature(np.nan))}, "node 2, column 1 is nan"),
    ({"features": FEATURES[0]}, r"got shape \(2,\)"),
    ({"features": FEATURES[:, :0]}, r"got shape \(4, 0\)"),
    ({"features": sp.csr_array((4, 0))}, r"got shape \(4, 0\)"),
    ({"features": FEATURES.astype(complex)}, "real numbers, got type complex128"),
    ({"features": sp.csr_array(FEATURES.astype(complex))}, "real numbers, got type complex128"),
    ({"features": np.full((4, 1), "a")}, "real numbers, got type"),
    ({"features": sp.csr_array((4, 2**31))}, "fewer than 2\\*\\*31 columns"),
    ({"features": broken_csr("indices", [0, 1, 0, 1, 9])}, "ind"),
    ({"features": broken_csr("indptr", [0, 3, 1, 4, 5])}, "ind"),
    ({"num_nodes": 5}, "4 rows but num_nodes is 5"),
    ({"labels": [0, 1, 1]}, "3 labels for 4 nodes"),
    ({"labels": [0, 1, 0.5, 1]}, "entry 2 is 0.5"),
    ({"labels": [0, 1, np.nan, 1]}, "entry 2 is nan"),
    ({"labels": ["a", "b", "a", "b"]}, "whole numbers, got type"),
    ({"labels": [True, False, True, True]}, "whole numbers, got type bool"),
    ({"labels": [[0], [1], [1], [0]]}, r"flat list, got shape \(4, 1\)"),
    ({"labels": [0, 1, -2, 1]}, "node 2 has -2"),
    ({"labels": [-1, -1, -1, -1]}, "none of the 4 nodes has a label"),
    ({"labels": [0, 1, 10**9, 1]}, "node 2 has 1000000000"),
    ({"labels": np.array([0, 1, 2**64 - 1, 1], np.uint64)}, "entry 2 is 18446744073709551615"),
    ({"incidence": ([0, 1, 4], [0, 0, 1])}, "node ids must be 0 to 3: incidence 2 has node 4"),
    ({"incidence": ([0, -1, 2], [0, 0, 1])}, "incidence 1 has node -1"),
    ({"incidence": ([0, 1, 2], [0, 2, 1])}, "hyperedge ids must be 0 to 1: incidence 1 has hyperedge 2"),
    ({"incidence": ([0, 1, 2], [0, -1, 1])}, "incidence 1 has hyperedge -1"),
    ({"incidence": ([0, 1.5, 2], [0, 0, 1])}, "node ids must be whole numbers: entry 1 is 1.5"),
    ({"incidence": ([0, 1, 2], [0, 0])}, "3 node ids but 2 hyperedge ids"),
    ({"incidence": ([0, 2, 1, 2], [0, 1, 0, 1])}, "node 2 is in hyperedge 1 twice .entries 1 and 3."),
    ({"incidence": ([0, 1], [0, 0])}, "1 of 2 hyperedges are empty, the first is hyperedge 1"),
    ({"incidence": ([0, 1], [1, 1])}, "1 of 2 hyperedges are empty, the first is hyperedge 0"),
    ({"num_hyperedges": 10**15}, "the first is hyperedge 2"),
    ({"num_hyperedges": -1}, "at least 0, got -1"),
    ({"incidence": ([0, 1], [0, 1], [1.0])}, r"weights have shape \(1,\) but there are 2"),
    ({"incidence": ([0, 1], [0, 1], [1.0, 0.0])}, "incidence 1 has 0.0"),
    ({"incidence": ([0, 1], [0, 1], [1.0, -2.0])}, "incidence 1 has -2.0"),
    ({"incidence": ([0, 1], [0, 1], [np.nan, 1.0])}, "incidence 0 has nan"),
    ({"incidence": [(0, 0), (1, 0), (2, 1), (2, 0)]}, r"got 4 parts; for a list of pairs give tuple\(zip"),
    ({"incidence": [(0, 0), (1, 0), (2, 1)]}, "3 parts of length 2 could be pairs as well"),
    ({"incidence": [[0, 0], [2, 1]]}, "2 parts of length 2 could be pairs as well"),
    ({"incidence": np.array([[0, 0], [1, 0], [2, 1]])}, "could be pairs as well"),
    ({"incidence": np.eye(2, dtype=int)}, "could be pairs as well, or a matrix: give a tuple"),
    ({"incidence": np.eye(3, dtype=int)}, "could be pairs as well, or a matrix: give a tuple"),
    ({"incidence": np.array([[0, 0], [1, 0], [2, 0], [2, 1]])}, r"got shape \(4, 2\)"),
    ({"incidence": ([0, 1],)}, "got 1 parts"),
    ({"incidence": sp.eye_array(4)}, r"sparse matrix; .* give H.tocoo\(\).coords"),
    ({"incidence": {0: [0, 1], 1: [2]}}, "got a dict"),
    ({"incidence": 3}, "got a int"),
    ({"num_hyperedges": 2.7}, "num_hyperedges must be a whole number, got 2.7"),
    ({"num_nodes": True}, "num_nodes must be a whole number, got True"),
    ({"label_names": "ab"}, "a list with a name for each, got the text 'ab'"),
    ({"label_names": {0: "a", 1: "b"}}, "got a mapping; give its values"),
    ({"feature_names": "ab"}, "got the text 'ab'"),
    ({"label_names": ["a"]}, "1 label names for 2 labels"),
    ({"feature_names": ["a", "b", "c"]}, "3 feature names for 2 features"),
    ({"node_names": ["a", "b", "c"]}, "3 node names for 4 nodes"),
    ({"node_names": ["a", "b", "a", "c"]}, "nodes 0 and 2 are both called 'a'"),
    ({"node_names": ["a", "b", "", "c"]}, "must not be empty: that of node 2 is"),
    ({"node_names": "abcd"}, "a list with a name for each, got the text 'abcd'"),
    ({"hyperedge_names": ["x", "x"]}, "hyperedges 0 and 1 are both called 'x'"),
    ({"soft_labels": [[1.0, 0.0]] * 3}, r"4 x 2, got shape \(3, 2\)"),
    ({"soft_labels": [[1.0]] * 4}, r"4 x 2, got shape \(4, 1\)"),
    ({"soft_labels": [1.0, 0.0, 0.0, 1.0]}, r"4 x 2, got shape \(4,\)"),
    ({"soft_labels": [["a", "b"]] * 4}, "soft labels must be real numbers, got type <U1"),
    ({"soft_labels": [[1, 0], [1, 0], [1.5, -0.5], [1, 0]]}, "node 2, class 1 has -0.5"),
    ({"soft_labels": [[1, 0], [np.nan, 1], [1, 0], [1, 0]]}, "node 1, class 0 has nan"),
    ({"soft_labels": [[1, 0], [np.inf, 1], [1, 0], [1, 0]]}, "node 1, class 0 has inf"),
    ({"soft_labels": [[1, 0], [1, 0], [1, 0], [0.5, 0.4]]}, "add up to 1: those of node 3 give 0.9"),
    ({"soft_labels": [[0, 0], [1, 0], [1, 0], [1, 0]]}, "add up to 1: those of node 0 give 0"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_the_door_names_the_offending_value_and_its_place(changes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        tiny(**changes)
    assert "\n" not in str(caught.value)


def test_coordinates_of_a_matrix_and_rows_of_an_array_are_an_incidence() -> None:
    matrix = sp.coo_array((np.ones(5), (NODE_IDS, HYPEREDGE_IDS)))
    assert tiny(incidence=matrix.coords) == tiny(incidence=np.array([NODE_IDS, HYPEREDGE_IDS])) == tiny()


def test_equal_hypergraphs_are_equal_and_their_hashes_agree() -> None:
    first, second = tiny(name="first"), tiny(name="second")
    assert first == second and hash(first) == hash(second) and len({first, second}) == 1
    assert first != tiny(labels=[0, 1, 1, 1])
    assert first != tiny(node_names=["a", "b", "c", "d"])
    assert first != "first"


def test_one_note_may_be_a_text() -> None:
    assert tiny(notes="made up").notes == ("made up",)


def test_arrays_and_fields_cannot_be_changed() -> None:
    hypergraph = tiny(incidence=(NODE_IDS, HYPEREDGE_IDS, np.ones(5)), soft_labels=np.full((4, 2), 0.5))
    arrays = list(hypergraph.to_arrays()[0].values())
    arrays += tiny(features=sp.csr_array(FEATURES)).to_arrays()[0].values()
    arrays += hypergraph.with_self_loops[0]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        hypergraph.num_nodes = 3  # type: ignore[misc]


def test_the_given_labels_and_sparse_features_are_not_touched() -> None:
    labels, features = np.array(LABELS), sp.csr_array(FEATURES)
    hypergraph = tiny(labels=labels, features=features)
    labels[0] = 1
    features.data[:] = 7
    assert hypergraph.labels.tolist() == LABELS
    np.testing.assert_array_equal(hypergraph.dense_features(), FEATURES)


def test_dense_features_are_not_copied() -> None:
    assert np.shares_memory(tiny().features, FEATURES)


def test_every_node_without_a_singleton_hyperedge_gets_one() -> None:
    hypergraph = tiny(incidence=([0, 1, 2], [0, 0, 1], [2.0, 3.0, 4.0]))
    completed, num_hyperedges = hypergraph.with_self_loops
    assert completed.node_ids.tolist() == [0, 1, 2, 0, 1, 3]
    assert completed.hyperedge_ids.tolist() == [0, 0, 1, 2, 3, 4]
    assert completed.weights is not None
    assert completed.weights.tolist() == [2, 3, 4, 1, 1, 1]
    assert num_hyperedges == 5
    assert hypergraph.num_incidences == 3


def test_a_hypergraph_without_hyperedges_is_fine() -> None:
    hypergraph = tiny(incidence=([], []), num_hyperedges=0)
    assert hypergraph.num_incidences == 0
    assert hypergraph.with_self_loops[1] == 4


@pytest.mark.parametrize(
    "features",
    [
        torch.tensor(FEATURES).to_sparse_coo(),
        torch.tensor(FEATURES, dtype=torch.float64).to_sparse_coo(),
        sp.coo_matrix(FEATURES),
        sp.csc_array(FEATURES),
        sp.lil_matrix(FEATURES.astype(np.float64)),
    ],
)
def test_every_kind_of_sparse_features_becomes_the_same(features: Any) -> None:
    hypergraph = tiny(features=features)
    assert hypergraph.is_sparse
    assert hypergraph.digest == tiny(features=sp.csr_array(FEATURES)).digest


def test_torch_tensors_are_taken() -> None:
    hypergraph = tiny(
        features=torch.tensor(FEATURES, requires_grad=True),
        labels=torch.tensor(LABELS),
        incidence=torch.tensor([NODE_IDS, HYPEREDGE_IDS]),
    )
    assert hypergraph.digest == tiny().digest


def test_repeated_sparse_entries_are_added_and_zeros_dropped() -> None:
    repeated = sp.coo_array(([1.0, 2.0, 0.0], ([0, 0, 1], [1, 1, 0])), shape=(4, 2))
    features = tiny(features=repeated).features
    assert features.nnz == 1
    assert features[0, 1] == 3


def test_whole_floats_are_taken_as_labels() -> None:
    assert tiny(labels=[0.0, 1.0, 1.0, 0.0]).digest == tiny().digest


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(hypergraphs(), st.randoms(use_true_random=False))
def test_the_order_of_incidences_does_not_matter(hypergraph: Hypergraph, random: Any) -> None:
    order = list(range(hypergraph.num_incidences))
    random.shuffle(order)
    node_ids, hyperedge_ids, weights = hypergraph.incidence
    shuffled = Hypergraph(
        features=hypergraph.features,
        labels=hypergraph.labels,
        soft_labels=hypergraph.soft_labels,
        incidence=(node_ids[order], hyperedge_ids[order], None if weights is None else weights[order]),
        num_hyperedges=hypergraph.num_hyperedges,
        label_names=hypergraph.label_names,
        feature_names=hypergraph.feature_names,
    )
    assert shuffled.digest == hypergraph.digest


def test_name_and_notes_are_not_part_of_the_digest() -> None:
    assert tiny(name="a", notes=["b"]).digest == tiny().digest


def test_weights_of_one_differ_from_no_weights() -> None:
    weighted = tiny(incidence=(NODE_IDS, HYPEREDGE_IDS, np.ones(5)))
    assert weighted.digest != tiny().digest


def test_the_incidence_matrix_holds_the_weights() -> None:
    matrix = tiny(incidence=([2, 0], [1, 0], [5, 7])).incidence.matrix(4, 2)
    assert matrix.toarray().tolist() == [[7, 0], [0, 0], [0, 5], [0, 0]]


def test_named_classes_without_nodes_count() -> None:
    assert tiny(label_names=["a", "b", "c"]).num_classes == 3
    assert tiny().num_classes == 2


def test_dense_features_of_some_nodes() -> None:
    for features in (FEATURES, sp.csr_array(FEATURES)):
        np.testing.assert_array_equal(
            tiny(features=features).dense_features(np.array([3, 0])), FEATURES[[3, 0]]
        )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": [0, 2]}, "entry 1 is 2"),
        ({"columns": [0, -1]}, "entry 1 is -1"),
        ({"columns": [0.5, 1]}, "entry 0 is 0.5"),
        ({"row_starts": [0, 1]}, "3 numbers from 0 to 2"),
        ({"row_starts": [1, 1, 2]}, "3 numbers from 0 to 2"),
        ({"row_starts": [0, 1, 9]}, "3 numbers from 0 to 2"),
        ({"row_starts": []}, "3 numbers from 0 to 2"),
        ({"row_starts": [0, 5, 2]}, "after row 1"),
        ({"values": [1.0]}, r"values of shape \(1,\)"),
        ({"shape": (10**15, 2)}, "row starts must be"),
    ],
)
def test_parts_of_a_sparse_matrix_are_checked(changes: Any, message: str) -> None:
    good = {"values": [1.0, 2.0], "columns": [1, 0], "row_starts": [0, 1, 2], "shape": (2, 2)}
    assert csr_from_parts(**good).toarray().tolist() == [[0, 1], [2, 0]]
    with pytest.raises(ValueError, match=message):
        csr_from_parts(**(good | changes))
