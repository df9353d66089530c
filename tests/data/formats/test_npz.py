"""npz: what is read and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hypercondense.data.formats import read
from makers.format_examples import FEATURES, HYPEREDGE_IDS, LABELS, NODE_IDS, refuses


def npz(path: Path, **changes: Any) -> Path:
    arrays = {
        "features": FEATURES,
        "labels": LABELS,
        "node_ids": NODE_IDS,
        "hyperedge_ids": HYPEREDGE_IDS,
    } | changes
    np.savez_compressed(path, **{key: value for key, value in arrays.items() if value is not None})
    return path


def test_npz_holds_weights_names_and_notes(tmp_path: Path) -> None:
    path = npz(
        tmp_path / "file.npz",
        weights=[1.0, 2, 3, 4, 5],
        num_nodes=4,
        num_hyperedges=2,
        label_names=["a", "b"],
        feature_names=["c", "d"],
        name="mine",
        notes=["seen"],
        other=[1],
    )
    hypergraph = read(path)
    assert hypergraph.incidence.weights is not None
    assert hypergraph.incidence.weights.tolist() == [1, 2, 3, 4, 5]
    assert hypergraph.label_names == ("a", "b")
    assert hypergraph.feature_names == ("c", "d")
    assert hypergraph.name == "mine"
    assert hypergraph.notes == ("seen", "arrays of the file that were not used: other")


def test_npz_holds_sparse_features_and_may_be_called_anything(tmp_path: Path) -> None:
    matrix = sp.csr_array(FEATURES)
    path = npz(
        tmp_path / "x.npz",
        features=None,
        features_data=matrix.data,
        features_indices=matrix.indices,
        features_indptr=matrix.indptr,
        features_shape=matrix.shape,
    ).rename(tmp_path / "file.dat")
    hypergraph = read(path)
    assert hypergraph.is_sparse
    np.testing.assert_array_equal(hypergraph.dense_features(), FEATURES)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": None}, "lacks the array 'labels'"),
        ({"features": None}, "lacks 'features'"),
        ({"node_ids": [0.0, 1, 2, 2, 3.5]}, "entry 4 is 3.5"),
        ({"node_ids": np.array(["a"])}, "whole numbers, got type"),
        ({"num_hyperedges": 10**15}, "are empty"),
        ({"num_hyperedges": [1, 2]}, "must be one whole number"),
        ({"num_nodes": 10**15}, "4 rows but num_nodes"),
        ({"features": np.full((4, 2), np.inf)}, "column 0 is inf"),
        ({"weights": ["a"] * 5}, "x.npz"),
        ({"label_names": ["a"]}, "1 label names"),
        ({"labels": [LABELS]}, "flat list"),
        ({"hyperedge_ids": [[0]]}, "flat list"),
    ],
)
def test_npz_content_that_does_not_fit_is_named(tmp_path: Path, changes: Any, message: str) -> None:
    refuses(npz(tmp_path / "x.npz", **changes), message)
