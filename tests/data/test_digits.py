import numpy as np
import pytest
from sklearn.datasets import load_digits

from hypercondense.data.digits import digits
from hypercondense.hypergraph.statistics import homophily


def members(neighbours: int) -> np.ndarray:
    made = digits(neighbours=neighbours)
    return made.incidence.node_ids.reshape(made.num_nodes, neighbours + 1)


def test_hyperedges_are_an_image_and_its_nearest() -> None:
    pixels = load_digits().data
    found = members(4)
    for image in (0, 7, 1796):
        distances = ((pixels - pixels[image]) ** 2).sum(1)
        ranked = sorted(range(len(pixels)), key=lambda other: (other != image, distances[other], other))
        assert sorted(ranked[:5]) == found[image].tolist()


def test_every_image_is_in_its_own_hyperedge() -> None:
    assert (members(1) == np.arange(1797)[:, None]).any(axis=1).all()


def test_pixels_are_scaled_and_labels_named() -> None:
    made = digits()
    assert made.features.dtype == np.float32
    assert (made.features.min(), made.features.max()) == (0, 1)
    assert made.label_names == tuple("0123456789")
    np.testing.assert_array_equal(made.labels, load_digits().target)


def test_it_is_the_same_every_time_and_homophilic() -> None:
    assert digits().digest == digits().digest
    assert (homophily(digits()) or 0) > 0.9


@pytest.mark.parametrize("neighbours", [0, 1797])
def test_impossible_neighbours_are_refused(neighbours: int) -> None:
    with pytest.raises(ValueError, match="1 to 1796"):
        digits(neighbours=neighbours)
