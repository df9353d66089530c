"""Hyperedges that are there many times."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

from hypercondense.diffusion import Propagation, heat_kernel
from hypercondense.diffusion.repeats import without_repeats
from hypercondense.hypergraph import Hypergraph
from makers.diffusion_oracles import dense_propagation, hypergraph_of, random_incidence, with_self_loops

COPIES = 1_500  # a hypergraph of 10,000 memberships or fewer is left as it is


@given(st.integers(0, 100), st.lists(st.integers(1_500, 6_000), min_size=5, max_size=5), st.booleans())
def test_repeats_are_one_hyperedge_and_p_is_the_same(seed: int, times: list[int], weighted: bool) -> None:
    few = random_incidence(seed, num_nodes=8, num_hyperedges=5, density=0.5, weighted=weighted)
    source = hypergraph_of(np.random.default_rng(seed).permutation(np.repeat(few, times, axis=1), axis=1))
    for walks in (False, True):
        got = Propagation.of(source, walks=walks).apply(np.eye(8, dtype=np.float32))
        incidence = with_self_loops(source)
        expected = dense_propagation(incidence)
        if walks:
            root = np.sqrt(incidence.astype(np.float64).sum(1))
            expected = expected / root[:, None] * root
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


def test_other_weights_are_other_hyperedges_and_few_repeats_stay() -> None:
    number = 4 * COPIES
    nodes, edges = np.tile([0, 1], number), np.repeat(np.arange(number), 2)
    heavier = np.tile([1.0, 1, 1, 2, 1, 1, 1, 1], COPIES)
    found = without_repeats(nodes, edges, heavier)
    assert [part.tolist() for part in found] == [
        [0, 1, 0, 1],
        [0, 0, 1, 1],
        [3 * COPIES, 3 * COPIES, COPIES, 2 * COPIES],
    ]
    different = np.arange(2 * number)
    assert without_repeats(different, edges, np.ones(2 * number))[0] is different


@pytest.mark.parametrize("time", [2.0, 100.0])
def test_a_million_identical_hyperedges_are_as_exact_as_one(time: float) -> None:
    number = 10**6
    source = Hypergraph(
        features=np.eye(3, dtype=np.float32),
        labels=[0, 1, 0],
        incidence=(np.tile([0, 1], number), np.repeat(np.arange(number), 2)),
        num_hyperedges=number,
    )
    propagation = Propagation.of(source)
    assert propagation.to_hyperedges.shape == (1, 2)
    half = number / 2 / (number + 1)
    matrix = np.array([[half, half, 0], [half, half, 0], [0, 0, 1]]) + np.diag([1 / (number + 1)] * 2 + [0])
    exact = expm(time * (matrix - np.eye(3)))
    got = propagation.diffuse(source.features, heat_kernel(time))
    bound = 1 - heat_kernel(time).at(1)
    assert np.linalg.norm(got - exact, 2) <= bound + 1e-5
