import numpy as np
import pytest

from hypercondense.diffusion import class_sums


def test_sums_equal_those_of_each_class():
    rng = np.random.default_rng(0)
    features = rng.standard_normal((9000, 3)).astype(np.float32)
    labels = rng.integers(-1, 4, 9000)
    sums = class_sums(features, labels, 5)
    for label in range(4):
        np.testing.assert_allclose(sums[label], features[labels == label].astype(np.float64).sum(0))
    np.testing.assert_array_equal(sums[4], 0)


def test_sums_are_accumulated_in_float64():
    # In float32 the ones are lost behind 2^25.
    features = np.ones((20_001, 1), np.float32)
    features[0] = 2.0**25
    assert class_sums(features, np.zeros(20_001, np.int64), 1) == 2.0**25 + 20_000


def test_a_memory_map_gives_the_same_sums(tmp_path):
    features = np.random.default_rng(0).standard_normal((5000, 2)).astype(np.float32)
    np.save(tmp_path / "features.npy", features)
    labels = np.arange(5000) % 3
    mapped = np.load(tmp_path / "features.npy", mmap_mode="r")
    np.testing.assert_array_equal(class_sums(mapped, labels, 3), class_sums(features, labels, 3))


def test_labels_out_of_range_and_of_another_length_are_refused():
    with pytest.raises(ValueError, match="labels must be -1 to 1, got 0 to 2"):
        class_sums(np.ones((2, 1), np.float32), np.array([0, 2]), 2)
    with pytest.raises(ValueError, match="2 rows but there are 1 labels"):
        class_sums(np.ones((2, 1), np.float32), np.array([0]), 2)
