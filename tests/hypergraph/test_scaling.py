"""Features on one scale: what is computed, what is warned of, what stays sparse."""

import numpy as np
import pytest
import scipy.sparse as sp

from hypercondense.hypergraph.scaling import Columns, Scale, scale_warnings
from makers.format_examples import tiny

SPENDING = np.array([[100, 1, 5], [300, 2, 5], [500, 1, 5], [700, 2, 5]], np.float32)


def test_every_column_gets_mean_0_and_deviation_1_and_a_constant_one_0() -> None:
    scaled = Scale.of(tiny(features=SPENDING)).applied(tiny(features=SPENDING)).dense_features()
    np.testing.assert_allclose(scaled.mean(0), [0, 0, 0], atol=1e-6)
    np.testing.assert_allclose(scaled.std(0), [1, 1, 0], atol=1e-6)


def test_sparse_features_stay_sparse_and_agree_with_dense_ones_but_for_the_mean() -> None:
    sparse, dense = tiny(features=sp.csr_array(SPENDING)), tiny(features=SPENDING)
    scaled = Scale.of(sparse).applied(sparse)
    assert scaled.is_sparse
    np.testing.assert_allclose(scaled.dense_features(), SPENDING / Scale.of(dense).deviations, rtol=1e-6)
    for ours, theirs in zip(vars(Columns.of(sparse)).values(), vars(Columns.of(dense)).values(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_columns_that_are_far_apart_or_constant_are_named() -> None:
    named = tiny(features=SPENDING, feature_names=["spent", "visits", "year"])
    constant, apart = scale_warnings(named, Columns.of(named))
    assert constant == "'year' is the same for all nodes: nothing can be learnt from it"
    assert "'spent' spans 600 times as much as 'visits'" in apart and "--standardize" in apart
    assert list(scale_warnings(tiny(), Columns.of(tiny()))) == []


def test_a_scale_is_for_the_same_number_of_features() -> None:
    with pytest.raises(ValueError, match="for 3 features, but unnamed has 2"):
        Scale.of(tiny(features=SPENDING)).applied(tiny())


@pytest.mark.parametrize(
    "broken",
    [
        {"scale.means": np.zeros(2, np.float32)},
        {"scale.deviations": np.ones(3, np.float64)},
        {"scale.deviations": np.array([1, 0, 1], np.float32)},
        {"scale.means": np.array([1, np.nan, 1], np.float32)},
    ],
)
def test_stored_scales_are_checked(broken: dict[str, np.ndarray]) -> None:  # type: ignore[type-arg]
    good = Scale.of(tiny(features=SPENDING))
    assert Scale.from_arrays(good.to_arrays(), 3) == good
    assert Scale.from_arrays({}, 3) is None
    with pytest.raises(ValueError, match="scale"):
        Scale.from_arrays({**good.to_arrays(), **broken}, 3)
