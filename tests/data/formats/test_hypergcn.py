"""HyperGCN pickles: what is read and what is refused."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hypercondense.data.formats import read
from makers import format_examples
from makers.format_examples import FEATURES, LABELS, refuses


def hypergcn(folder: Path, **contents: Any) -> Path:
    format_examples.hypergcn(folder)
    for name, content in contents.items():
        (folder / f"{name}.pickle").write_bytes(pickle.dumps(content))
    return folder


@pytest.mark.parametrize(
    "labels", [np.array(LABELS), np.eye(2)[LABELS], np.eye(2, dtype=int)[LABELS].tolist()]
)
def test_hypergcn_labels_may_be_one_hot(tmp_path: Path, labels: Any) -> None:
    assert read(hypergcn(tmp_path, labels=labels)).labels.tolist() == LABELS


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("shape", [(4,), (4, 1)])
def test_hypergcn_labels_may_be_an_array_of_objects_that_are_whole_numbers(
    tmp_path: Path, protocol: int, shape: tuple[int, ...]
) -> None:
    labels = np.array(LABELS, dtype=object).reshape(shape)
    format_examples.hypergcn(tmp_path)
    (tmp_path / "labels.pickle").write_bytes(pickle.dumps(labels, protocol=protocol))
    assert read(tmp_path).labels.tolist() == LABELS


@pytest.mark.parametrize(
    ("strange", "kind"), [(None, "NoneType"), (1.5, "float"), (True, "bool"), ("1", "str"), ([1], "list")]
)
def test_objects_that_are_no_whole_numbers_are_refused(tmp_path: Path, strange: Any, kind: str) -> None:
    labels = np.array([0, 1, 1, None], dtype=object)
    labels[3] = strange
    refuses(hypergcn(tmp_path, labels=labels), f"labels.pickle .*only whole numbers are allowed .* a {kind}$")


def test_an_object_too_large_for_a_number_is_refused(tmp_path: Path) -> None:
    refuses(hypergcn(tmp_path, labels=np.array([0, 1, 1, 2**70], dtype=object)), "labels.pickle .*too large")


def test_hypergcn_labels_may_be_rows_of_arrays(tmp_path: Path) -> None:
    assert read(hypergcn(tmp_path, labels=list(np.eye(2)[LABELS]))).labels.tolist() == LABELS


@pytest.mark.parametrize(
    "features", [FEATURES, np.asfortranarray(FEATURES), FEATURES.astype(">f8"), FEATURES.tolist()]
)
def test_hypergcn_features_may_be_dense(tmp_path: Path, features: Any) -> None:
    hypergraph = read(hypergcn(tmp_path, features=features))
    np.testing.assert_array_equal(hypergraph.features, FEATURES)


def test_hypergcn_drops_empty_hyperedges_and_repeated_members_with_a_note(tmp_path: Path) -> None:
    hypergraph = read(hypergcn(tmp_path, hypergraph={"a": [1, 0, 1], "b": [], "c": {0, 1}, "d": [0, 1]}))
    assert hypergraph.num_hyperedges == 3  # the identical ones are kept
    assert hypergraph.incidence.node_ids.tolist() == [0, 1] * 3
    assert hypergraph.notes == (
        "1 repeated members of a hyperedge were dropped",
        "1 empty hyperedges were dropped",
    )


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ({"hypergraph": {0: [0, 9]}}, "node ids must be 0 to 3: incidence 1 has node 9"),
        ({"hypergraph": {0: [0, -1]}}, "has node -1"),
        ({"hypergraph": {0: [0, 1.5]}}, "whole numbers, there is a float"),
        ({"hypergraph": {0: ["x"]}}, "whole numbers, there is a str"),
        ({"hypergraph": {0: [2**70]}}, "hypergraph.pickle"),
        ({"hypergraph": {0: 5}}, "not a int"),
        ({"hypergraph": "text"}, "not a str"),
        ({"labels": [0, 1]}, "2 labels for 4 nodes"),
        ({"labels": [0, 1, 0.5, 1]}, "entry 2 is 0.5"),
        ({"labels": []}, "labels.pickle"),
        ({"labels": np.ones((4, 2))}, "not one-hot"),
        ({"labels": {0: 1}}, "not a dict"),
        ({"labels": [[0, 1], [1]]}, "rows of one length"),
        ({"features": "text"}, "not a str"),
        ({"features": [[1.0], "x"]}, "it also holds a str"),
        ({"features": np.full((4, 2), np.nan)}, "node 0, column 0 is nan"),
    ],
)
def test_hypergcn_content_that_does_not_fit_is_named(tmp_path: Path, contents: Any, message: str) -> None:
    refuses(hypergcn(tmp_path, **contents), message)


@pytest.mark.parametrize(("part", "value"), [("indices", [0, 1, 0, 1, 99]), ("indptr", [0, 9, 0, 4, 5])])
def test_hypergcn_sparse_features_with_wrong_indices_are_refused(
    tmp_path: Path, part: str, value: Any
) -> None:
    matrix = sp.csr_matrix(FEATURES)
    setattr(matrix, part, np.array(value, np.int32))
    refuses(hypergcn(tmp_path, features=matrix), "features.pickle: (columns|row starts)")
