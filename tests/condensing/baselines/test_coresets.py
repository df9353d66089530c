"""Coresets against brute force, and the structure they induce."""

import time
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hypercondense.catalogue import condense, make_method
from hypercondense.condensation import Condensation
from hypercondense.condensing.assembly import induced
from hypercondense.condensing.baselines.coresets import Herding, KCenter
from hypercondense.condensing.baselines.embedding import Diffused, HiddenLayer, Raw
from hypercondense.condensing.baselines.selection import herding, k_center, random_positions
from hypercondense.data import synthetic
from hypercondense.errors import ConfigError
from hypercondense.hypergraph import Hypergraph, Ids, Split, split
from hypercondense.nn.short_trainings import ShortTrainings
from hypercondense.nn.training import Inputs
from hypercondense.typed import content_of

#: Small whole numbers: every sum is exact, so ties are real ties and the first of them must win.
ROWS = st.tuples(st.integers(1, 9), st.integers(1, 3)).flatmap(
    lambda shape: arrays(np.float32, shape, elements=st.integers(-3, 3).map(float))
)


def brute_force_herding(rows: Any, size: int) -> list[int]:
    """Every candidate mean written out; whole rows are compared as whole numbers."""
    total, number = rows.sum(0), len(rows)
    chosen: list[int] = []
    while len(chosen) < size:
        best = min(
            (number_of for number_of in range(number) if number_of not in chosen),
            key=lambda candidate: (
                float(((number * rows[[*chosen, candidate]].sum(0) - (len(chosen) + 1) * total) ** 2).sum()),
                candidate,
            ),
        )
        chosen.append(best)
    return chosen


def brute_force_k_center(rows: Any, size: int) -> list[int]:
    to_mean = ((len(rows) * rows - rows.sum(0)) ** 2).sum(1)
    chosen = [int(np.argmin(to_mean))]
    while len(chosen) < size:
        others = [candidate for candidate in range(len(rows)) if candidate not in chosen]
        distance = {c: min(((rows[c] - rows[other]) ** 2).sum() for other in chosen) for c in others}
        chosen.append(max(others, key=lambda candidate: (distance[candidate], -candidate)))
    return chosen


def reached(rows: Any, chosen: Any) -> list[float]:
    """Distance of the running mean to the mean after every choice."""
    mean = rows.mean(0)
    return [float(np.linalg.norm(rows[chosen[: n + 1]].mean(0) - mean)) for n in range(len(chosen))]


@settings(deadline=None)  # a busy machine is no error
@given(rows=ROWS, data=st.data())
def test_k_center_equals_brute_force(rows: Any, data: Any) -> None:
    size = data.draw(st.integers(1, len(rows)))
    start = brute_force_k_center(rows.astype(np.float64), 1)
    chosen = k_center(rows, size).tolist()
    if chosen[0] == start[0]:
        assert chosen == brute_force_k_center(rows.astype(np.float64), size)
    else:  # the mean is not a float: rows that are equally close may differ in the last digit
        to_mean = np.linalg.norm(rows - rows.mean(0, dtype=np.float64), axis=1)
        assert to_mean[chosen[0]] == pytest.approx(to_mean[start[0]])


@settings(deadline=None)  # a busy machine is no error
@given(rows=ROWS, data=st.data())
def test_herding_equals_brute_force(rows: Any, data: Any) -> None:
    number = 2 ** int(np.log2(len(rows)))  # the mean of 1, 2, 4 or 8 whole numbers is exact
    exact = rows[:number].astype(np.float64)
    size = data.draw(st.integers(1, number))
    assert herding(exact, size).tolist() == brute_force_herding(exact, size)


def test_herding_equals_brute_force_on_real_numbers() -> None:
    rows = np.random.default_rng(0).standard_normal((40, 5))
    assert herding(rows, 15).tolist() == brute_force_herding(rows, 15)
    assert reached(rows, herding(rows, 40))[-1] == pytest.approx(0)


def test_k_center_equals_brute_force_on_real_numbers() -> None:
    rows = np.random.default_rng(1).standard_normal((40, 5))
    assert k_center(rows, 15).tolist() == brute_force_k_center(rows, 15)


@settings(deadline=None)  # a busy machine is no error
@given(rows=ROWS, data=st.data())
def test_no_row_is_chosen_twice_even_if_rows_are_equal(rows: Any, data: Any) -> None:
    size = data.draw(st.integers(1, len(rows)))
    for choose in (herding, k_center):
        assert len(set(choose(rows, size).tolist())) == size


@pytest.mark.parametrize("choose", [herding, k_center])
def test_of_equal_rows_the_first_are_chosen(choose: Any) -> None:
    assert choose(np.ones((6, 3), np.float32), 4).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("choose", [herding, k_center])
def test_sparse_rows_give_the_same_choice_as_dense_ones(choose: Any) -> None:
    rng = np.random.default_rng(2)
    rows = rng.random((50, 12), np.float32) * (rng.random((50, 12)) < 0.3)
    assert choose(sp.csr_array(rows), 20).tolist() == choose(rows, 20).tolist()


def test_random_positions_are_uniform_over_the_class() -> None:
    train_labels = np.array([0, 1, 0, 1, 0, 1, 0])
    rng = np.random.default_rng(0)
    draws = np.array([random_positions(train_labels, np.array([0, 0, 1]), rng) for _ in range(4000)])
    counts = np.bincount(draws.ravel(), minlength=7) / 4000
    np.testing.assert_allclose(counts, [1 / 2, 1 / 3] * 3 + [1 / 2], atol=0.04)


def small() -> Hypergraph:
    """Hyperedges {0 1 2}, {2 3}, {3} and {0 2 4} with weights."""
    return Hypergraph(
        features=np.arange(10.0).reshape(5, 2),
        labels=[0, 1, 0, 1, 0],
        incidence=([0, 1, 2, 2, 3, 3, 0, 2, 4], [0, 0, 0, 1, 1, 2, 3, 3, 3], np.arange(1.0, 10.0)),
        num_hyperedges=4,
        label_names=["a", "b", "never"],
        notes=["made up"],
    )


def test_induced_hyperedges_keep_chosen_members_and_weights_and_singletons_are_dropped() -> None:
    chosen = induced(small(), np.array([2, 0, 3]))
    matrix = chosen.incidence.matrix(3, chosen.num_hyperedges).toarray()
    # rows: source nodes 2, 0, 3; columns: {0 1 2} without 1, {2 3}, {0 2 4} without 4
    np.testing.assert_array_equal(matrix, [[3, 4, 8], [1, 0, 7], [0, 5, 0]])
    np.testing.assert_array_equal(chosen.features, small().features[[2, 0, 3]])
    assert chosen.labels.tolist() == [0, 0, 1]
    assert (chosen.label_names, chosen.notes) == (("a", "b", "never"), ("made up",))


def test_nodes_that_share_no_hyperedge_get_the_identity() -> None:
    chosen = induced(small(), np.array([1, 3, 4]))
    np.testing.assert_array_equal(chosen.incidence.matrix(3, 3).toarray(), np.eye(3))


def chosen_by(name: str, source: Hypergraph, nodes: int, **settings: Any) -> Condensation:
    return condense(source, split(source), nodes=nodes, method=name, settings=settings, select=False)


@pytest.mark.parametrize("name", ["random", "herding", "k-center"])
def test_features_are_the_chosen_nodes_own_and_stay_sparse(name: str) -> None:
    source = synthetic(num_nodes=80, num_hyperedges=40, num_features=30, feature_density=0.1, num_classes=3)
    result = chosen_by(name, source, 12)
    ids = np.concatenate(result.members)
    assert len(np.unique(ids)) == 12
    assert result.hypergraph.is_sparse
    np.testing.assert_array_equal(result.hypergraph.dense_features(), source.dense_features(ids))


@pytest.mark.parametrize("embedding", [Raw(), Diffused(time=1.0), HiddenLayer(epochs=3)])
@pytest.mark.parametrize("name", ["herding", "k-center"])
def test_every_embedding_chooses_and_is_recorded(name: str, embedding: Any) -> None:
    source = synthetic(num_nodes=80, num_hyperedges=40, num_features=6, num_classes=3)
    result = chosen_by(name, source, 9, embedding=content_of(embedding))
    assert result.provenance.settings["embedding"] == content_of(embedding)
    assert result.hypergraph.num_nodes == 9


def test_herding_in_an_embedding_uses_that_embedding() -> None:
    source = synthetic(num_nodes=200, num_hyperedges=150, num_features=6, num_classes=2)
    results = [
        np.concatenate(chosen_by("herding", source, 8, embedding=kind).members)
        for kind in ("raw", "diffused", "trained")
    ]
    assert len({tuple(ids) for ids in results}) == 3


def test_different_seeds_choose_different_random_nodes() -> None:
    source = synthetic(num_nodes=200, num_hyperedges=50)
    chosen: list[Ids] = [
        np.concatenate(condense(source, nodes=20, method="random", seed=seed, select=False).members)
        for seed in (0, 1)
    ]
    assert chosen[0].tolist() != chosen[1].tolist()


@pytest.mark.parametrize("name", ["random", "herding", "k-center"])
def test_more_nodes_than_training_nodes_are_refused_with_the_largest_number(name: str) -> None:
    source = synthetic(num_nodes=40, num_hyperedges=20, num_classes=3)
    with pytest.raises(ValueError, match=r"more than the 20 training nodes|at most 20 nodes"):
        chosen_by(name, source, 21)
    everything = chosen_by(name, source, 20)
    assert sorted(np.concatenate(everything.members)) == split(source).train_ids.tolist()


def test_an_empty_structure_is_warned_about_unless_the_method_makes_none() -> None:
    source = Hypergraph(
        features=np.eye(12), labels=np.arange(12) % 3, incidence=([], []), num_hyperedges=0, name="loose"
    )
    for name, changes, expected in (("random", {}, True), ("hgcpa", {"epochs": 1}, False)):
        warnings = chosen_by(name, source, 3, **changes).warnings
        assert any("structure is empty" in warning for warning in warnings) == expected


@pytest.mark.parametrize("name", ["random", "herding"])
def test_chosen_nodes_have_no_score_but_may_be_worse_than_random_ones(
    name: str, source: Hypergraph, parts: Split
) -> None:
    result = condense(source, parts, nodes=9, method=name)
    score = ShortTrainings(Inputs.of(source), parts)
    assert result.start_validation is result.final_validation is None  # nothing was chosen
    random = condense(source, parts, nodes=9, method="random", select=False).hypergraph
    is_worse = any("worse than random" in warning for warning in result.warnings)
    assert is_worse == (score(result.hypergraph) < score(random))


def test_an_unknown_embedding_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match=r"embedding.* must be one of raw, diffused, trained, got 'best'"):
        make_method("herding", {"embedding": "best"})


def test_wrong_options_are_refused() -> None:
    with pytest.raises(ValueError, match="time must be a number > 0"):
        Herding(embedding=Diffused(time=0))
    with pytest.raises(ValueError, match="epochs must be a whole number >= 1"):
        KCenter(embedding=HiddenLayer(epochs=-1))


@pytest.mark.slow
@pytest.mark.parametrize("choose", [herding, k_center])
def test_forty_five_thousand_rows_take_seconds(choose: Any) -> None:
    rows = np.random.default_rng(0).standard_normal((45_000, 16), dtype=np.float32)
    begin = time.process_time()
    assert len(np.unique(choose(rows, 900))) == 900
    assert time.process_time() - begin < 30
