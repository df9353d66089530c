"""Numbers that cannot be computed with are refused at the door, and those that teach little are told of."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from hypercondense.condensing.run import condense_by
from hypercondense.diffusion import diffuse, heat_kernel
from hypercondense.hypergraph import Hypergraph, Split, magnitude
from hypercondense.hypergraph.magnitude import LONGEST, scale_warnings
from makers.format_examples import tiny
from makers.jobs import quick


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, torch.tensor])
def test_features_whose_squares_are_too_large_are_refused(make) -> None:
    good = np.full((4, 2), LONGEST / 3)  # eight of them: a length of 0.94 times the most
    assert np.isfinite(diffuse(tiny(features=make(good)), heat_kernel(2.0))).all()
    with pytest.raises(ValueError, match=r"length .* is 2.83e\+30, and 1e\+18 is the most; .*--standardize"):
        tiny(features=make(good / good * 1e30))


def test_the_largest_features_stay_finite_whatever_is_made_of_them(source: Hypergraph) -> None:
    size = source.features.size
    large = tiny_of(source, np.full(source.features.shape, 0.99 * LONGEST / size**0.5))
    rows = diffuse(large, heat_kernel(2.0))
    assert np.isfinite(rows).all()
    with np.errstate(over="raise"):
        assert np.isfinite(np.square(rows).sum(dtype=np.float32))


def tiny_of(source: Hypergraph, features: np.ndarray) -> Hypergraph:
    return Hypergraph(
        features=features,
        labels=source.labels,
        incidence=source.incidence,
        num_hyperedges=source.num_hyperedges,
    )


@pytest.mark.parametrize("weight", [3e38, 1e19, 1e-30])
def test_weights_that_cannot_be_added_up_are_refused(weight: float) -> None:
    node_ids, hyperedge_ids, _ = tiny().incidence
    weights = np.array([1, 1, weight, 1, 1])
    with pytest.raises(
        ValueError, match=r"weights must be at least 1e-18 and add up to at most .* divide them"
    ):
        tiny(incidence=(node_ids, hyperedge_ids, weights))


def test_complex_numbers_are_refused_not_cast() -> None:
    node_ids, hyperedge_ids, _ = tiny().incidence
    for weights in (np.ones(5, complex), torch.ones(5, dtype=torch.complex64)):
        with pytest.raises(ValueError, match="weights must be real numbers"):
            tiny(incidence=(node_ids, hyperedge_ids, weights))
    for features in (np.ones((4, 2), complex), torch.ones(4, 2, dtype=torch.complex64)):
        with pytest.raises(ValueError, match="features must be real numbers"):
            tiny(features=features)
    with pytest.raises(ValueError, match="labels must be whole numbers"):
        tiny(labels=np.zeros(4, complex))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda rows: rows, None),
        (lambda rows: rows * 100, None),
        (lambda rows: rows * 1e-6, r"differ by .*e-06 only"),
        (lambda rows: rows + 1e6, r"up to 1e\+06 from 0 and differ by"),
        (lambda rows: rows * 0, None),  # constant features have a warning of their own
    ],
)
def test_features_that_networks_hardly_see_are_warned_of(source: Hypergraph, change, told) -> None:
    (warning,) = list(scale_warnings(tiny_of(source, change(source.features)))) or [None]
    if told is None:
        assert warning is None
    else:
        assert warning is not None
        assert re.search(told, warning) and "--standardize" in warning


def test_a_row_beside_which_all_others_are_noise_is_named(source: Hypergraph) -> None:
    rows = source.features.copy()
    rows[7] *= np.float32(1e12)
    (warning,) = scale_warnings(tiny_of(source, rows))
    assert re.search(r"features of node 7 are .*e\+1[12] times as long as those of most", warning)


def test_a_condensation_of_such_features_says_so(source: Hypergraph, parts: Split) -> None:
    small = tiny_of(source, source.features * np.float32(1e-6))
    result = condense_by(quick("ahgcdd-x"), small, parts, nodes=9, select=False)
    assert any("--standardize" in warning for warning in result.warnings)


def test_texts_that_no_file_can_hold_are_refused() -> None:
    for where in ({"name": "\ud800"}, {"notes": ["\ud800"]}, {"label_names": ["a", "\udc80"]}):
        with pytest.raises(ValueError, match="which is no letter"):
            tiny(**where)


def test_a_sample_of_sparse_rows_is_looked_at_where_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some readers store indices and row starts in different types; scipy cannot step through such rows."""
    monkeypatch.setattr(magnitude, "SAMPLE", 10)
    rows = sp.csr_array(np.eye(40, 3, dtype=np.float32))
    rows.indptr = rows.indptr.astype(np.int64)
    sparse = Hypergraph(features=rows, labels=np.arange(40) % 2, incidence=([], []), num_hyperedges=0)
    assert list(scale_warnings(sparse)) == []
