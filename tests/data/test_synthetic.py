import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hypercondense.data.synthetic import synthetic
from hypercondense.hypergraph import Hypergraph
from hypercondense.hypergraph.statistics import homophily, statistics


def sizes(hypergraph: Hypergraph) -> np.ndarray:
    return np.bincount(hypergraph.incidence.hyperedge_ids, minlength=hypergraph.num_hyperedges)


def test_equal_seeds_give_equal_bits_and_others_do_not() -> None:
    assert synthetic(seed=1).digest == synthetic(seed=1).digest != synthetic(seed=2).digest


def test_the_bits_do_not_change_between_versions() -> None:
    made = synthetic(num_nodes=20, num_hyperedges=12, num_features=4, num_classes=2, seed=7)
    assert made.labels.tolist() == [0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0, 1]
    assert made.incidence.node_ids.tolist()[:10] == [3, 19, 14, 17, 18, 11, 14, 17, 18, 1]


@pytest.mark.parametrize("asked", [0.25, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("class_balance", [1.0, 0.3])
def test_measured_homophily_is_the_asked(asked: float, class_balance: float) -> None:
    made = synthetic(
        num_nodes=3000, num_hyperedges=5000, homophily=asked, class_balance=class_balance, num_features=1
    )
    assert homophily(made) == pytest.approx(asked, abs=0.015)


@pytest.mark.parametrize("isolated", [0.0, 0.1, 0.333, 0.9])
def test_the_isolated_share_is_exact(isolated: float) -> None:
    made = synthetic(num_nodes=1000, num_hyperedges=700, isolated=isolated, num_features=1)
    assert statistics(made).num_isolated_nodes == round(isolated * 1000)


def test_sizes_follow_the_asked_mean_and_spread() -> None:
    options = {"num_nodes": 2000, "num_hyperedges": 20000, "num_features": 1, "mean_size": 8.0}
    poisson, spread = (
        sizes(synthetic(**options, size_spread=0.0)),
        sizes(synthetic(**options, size_spread=1.0)),
    )
    for drawn, variance in ((poisson, 6), (spread, 6 + 6**2)):
        assert drawn.min() >= 2
        assert drawn.mean() == pytest.approx(8, rel=0.02)
        assert drawn.var() == pytest.approx(variance, rel=0.06)


def test_size_two_is_possible() -> None:
    assert set(sizes(synthetic(mean_size=2.0, num_features=1))) == {2}


@pytest.mark.parametrize("total", [3000, 7777, 20000])
def test_the_number_of_incidences_can_be_exact(total: int) -> None:
    assert synthetic(num_incidences=total, num_features=1, isolated=0.5).num_incidences == total


def test_hyperedges_as_large_as_the_smallest_class_can_be_filled() -> None:
    made = synthetic(
        num_nodes=40, num_hyperedges=30, num_classes=2, mean_size=18, isolated=0.0, homophily=1.0
    )
    assert sizes(made).max() == 20


def test_class_sizes_follow_the_balance() -> None:
    assert list(statistics(synthetic(num_nodes=103)).class_counts.values()) == [21, 20, 21, 20, 21]
    counts = np.bincount(synthetic(num_nodes=10000, num_hyperedges=9000, class_balance=0.25).labels)
    assert counts[-1] / counts[0] == pytest.approx(0.25, abs=0.01)
    assert (np.diff(counts) < 0).all()


def test_dense_features_lie_around_class_means_of_length_two() -> None:
    made = synthetic(num_nodes=20000, noise=0.5, num_classes=2, num_hyperedges=15000)
    assert made.features.dtype == np.float32
    for label in range(2):
        rows = made.features[made.labels == label]
        assert np.linalg.norm(rows.mean(0)) == pytest.approx(2, abs=0.05)
        assert rows.std(0).mean() == pytest.approx(0.5, abs=0.01)


def test_sparse_features_are_ones_with_words_of_the_class() -> None:
    made = synthetic(num_features=500, feature_density=0.02, noise=1.0, num_classes=5)
    assert made.is_sparse
    assert set(made.features.data.tolist()) == {1.0}
    assert made.features.nnz / (2000 * 500) == pytest.approx(0.02, rel=0.1)
    assert np.diff(made.features.indptr).min() >= 1
    share = np.stack([made.dense_features(made.labels == label).mean(0) for label in range(5)])
    # Of ten draws half are from the 100 words of the class, half from all 500.
    assert share.max(0).mean() == pytest.approx(5 / 100 + 5 / 500, rel=0.1)
    assert np.sort(share, axis=0)[:-1].mean() == pytest.approx(5 / 500, rel=0.1)


def test_without_noise_every_word_belongs_to_one_class() -> None:
    made = synthetic(num_features=50, feature_density=0.1, noise=0.0)
    share = np.stack([made.dense_features(made.labels == label).sum(0) for label in range(5)])
    assert ((share > 0).sum(0) == 1).all()


@settings(max_examples=60, deadline=None)
@given(
    num_nodes=st.integers(2, 60),
    num_hyperedges=st.integers(1, 40),
    mean_size=st.floats(2, 12),
    homophily=st.floats(0, 1),
    num_classes=st.integers(1, 4),
    isolated=st.floats(0, 1),
    class_balance=st.floats(0.1, 1),
    feature_density=st.sampled_from([0.1, 1.0]),
    seed=st.integers(0, 1000),
)
def test_parameters_are_either_impossible_or_met(num_nodes: int, isolated: float, **options: float) -> None:
    try:
        made = synthetic(num_nodes=num_nodes, isolated=isolated, num_features=3, **options)  # type: ignore[arg-type]
    except ValueError as error:
        assume("must be" in str(error) or "use" in str(error))
        return
    # Hypergraph itself refuses duplicate members and empty hyperedges.
    assert made.num_hyperedges == options["num_hyperedges"]
    assert made.num_classes == options["num_classes"]
    assert sizes(made).min() >= 2
    assert statistics(made).num_isolated_nodes == round(isolated * num_nodes)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"homophily": 1.2}, "homophily must be a share"),
        ({"homophily": -0.1}, "homophily must be a share"),
        ({"homophily": 0.1}, "homophily must be at least 0.2"),
        ({"isolated": 1.5}, "isolated must be a share"),
        ({"isolated": float("nan")}, "isolated must be a share"),
        ({"isolated": 1.0}, "leaves 0 nodes"),
        ({"isolated": 0.99}, "mean hyperedge size must be from 2"),
        ({"mean_size": 1.5}, "mean hyperedge size must be from 2"),
        ({"mean_size": float("nan")}, "mean hyperedge size must be from 2"),
        ({"num_incidences": 10}, "mean hyperedge size must be from 2"),
        ({"num_hyperedges": 100}, "places for the"),
        ({"num_hyperedges": 0}, "num_hyperedges must be at least 1"),
        ({"num_nodes": 3}, "3 nodes cannot have 5 classes"),
        ({"num_features": 0}, "num_features must be at least 1"),
        ({"feature_density": 0.0}, "feature_density must be a share"),
        ({"class_balance": 0.0}, "class_balance must be a share"),
        ({"noise": -1.0}, "noise must be a number of at least 0"),
        ({"size_spread": float("inf")}, "size_spread must be a number"),
    ],
)
def test_impossible_parameters_are_refused(options: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        synthetic(**options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_hypergraph_of_the_size_of_yelp_is_made() -> None:
    made = synthetic(
        num_nodes=50_758,
        num_hyperedges=679_302,
        num_incidences=4_574_352,
        num_features=1_862,
        feature_density=0.005,
        num_classes=9,
        homophily=0.5,
        size_spread=1.5,
        isolated=0.0,
    )
    assert (made.num_nodes, made.num_hyperedges, made.num_incidences) == (50_758, 679_302, 4_574_352)
    assert made.is_sparse
