import numpy as np
import pytest
import torch
from hypothesis import given, settings
from scipy.linalg import expm

from hypercondense.diffusion import (
    Propagation,
    diffuse_dense,
    heat_kernel,
    heat_kernel_series,
    identity,
    propagate,
    vanilla,
)
from hypercondense.diffusion.dense import matrix_polynomial
from hypercondense.hypergraph import Hypergraph
from makers.diffusion_oracles import (
    dense_diffusion,
    dense_propagation,
    hypergraph_of,
    random_incidence,
    sources,
    with_self_loops,
)


def random_tensors(seed=0):
    rng = np.random.default_rng(seed)
    incidence = random_incidence(seed).astype(np.float64)
    return torch.tensor(rng.standard_normal((12, 3))), torch.tensor(incidence)


def test_propagate_is_the_matrix_of_the_definition():
    x, incidence = random_tensors()
    torch.testing.assert_close(propagate(x, incidence), torch.tensor(dense_propagation(incidence)) @ x)


def test_heat_kernel_equals_matrix_exponential():
    x, incidence = random_tensors()
    laplacian = torch.eye(12, dtype=x.dtype) - torch.tensor(dense_propagation(incidence))
    diffused = diffuse_dense(x, incidence, heat_kernel_series(2.0, order=60))
    torch.testing.assert_close(diffused, torch.matrix_exp(-2.0 * laplacian) @ x, rtol=1e-12, atol=1e-12)


def test_heat_kernel_equals_spectral_filter():
    x, incidence = random_tensors(seed=3)
    laplacian = torch.eye(12, dtype=x.dtype) - torch.tensor(dense_propagation(incidence))
    frequencies, basis = torch.linalg.eigh(laplacian)
    filtered = basis @ torch.diag(torch.exp(-3.0 * frequencies)) @ basis.T @ x
    diffused = diffuse_dense(x, incidence, heat_kernel_series(3.0, order=80))
    torch.testing.assert_close(diffused, filtered, rtol=1e-12, atol=1e-12)


def test_frequencies_are_between_0_and_1_and_the_smallest_is_0():
    for seed in range(20):
        matrix = np.eye(12) - dense_propagation(random_incidence(seed, density=0.5))
        frequencies = np.linalg.eigvalsh(matrix)
        assert abs(frequencies[0]) < 1e-12
        assert frequencies[-1] < 1 + 1e-12  # tighter than the 2 of the theorem: P is positive semidefinite


def test_one_hyperedge_over_all_nodes_averages():
    x = torch.randn(5, 2, dtype=torch.float64)
    torch.testing.assert_close(propagate(x, torch.ones(5, 1, dtype=x.dtype)), x.mean(0).expand(5, 2))
    source = hypergraph_of(np.ones((5, 1)), x.numpy().astype(np.float32))
    averaged = Propagation.of(source, self_loops=False).apply(source.features)
    np.testing.assert_allclose(averaged, np.broadcast_to(x.mean(0), (5, 2)), atol=1e-6)


def test_identity_incidence_leaves_everything_as_it_is():
    x = torch.randn(4, 3, dtype=torch.float64)
    torch.testing.assert_close(propagate(x, torch.eye(4, dtype=x.dtype)), x)
    source = hypergraph_of(np.eye(4), x.numpy().astype(np.float32))
    propagation = Propagation.of(source)
    np.testing.assert_array_equal(propagation.apply(source.features), source.features)
    assert len(propagation.active_ids) == 0


def test_isolated_nodes_keep_their_features_but_for_the_truncated_mass():
    source = hypergraph_of([[1], [1], [0]], np.float32([[1], [2], [4]]))
    weights = heat_kernel(2.0)
    assert Propagation.of(source).diffuse(source.features, weights)[2, 0] == pytest.approx(4 * weights.at(1))
    without = Propagation.of(source, self_loops=False).diffuse(source.features, weights)
    assert without[2, 0] == pytest.approx(4 * weights.at(0))  # P makes it 0, only the power 0 is left


def test_empty_hyperedges_and_isolated_nodes_have_finite_correct_gradients():
    incidence = torch.tensor([[1.0, 0.5, 0.0], [0.3, 0.0, 0.0], [0.0, 0.0, 0.0], [2.0, 1.0, 0.0]]).double()
    x = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)
    incidence.requires_grad_()
    diffuse_dense(x, incidence, heat_kernel(1.0)).square().sum().backward()
    assert x.grad.isfinite().all()
    assert incidence.grad.isfinite().all()
    # Numerically only where the weights are positive: a step below 0 leaves the domain.
    positive = incidence.detach() > 0

    def diffused(x, weights):
        spread = torch.zeros(4, 3, dtype=x.dtype).masked_scatter(positive, weights)
        return diffuse_dense(x, spread, heat_kernel(1.0))

    weights = incidence.detach()[positive].requires_grad_()
    assert torch.autograd.gradcheck(diffused, (x, weights))


@settings(deadline=None, max_examples=150)
@given(sources())
def test_source_propagation_equals_the_dense_oracle(source):
    for coefficients in (heat_kernel(2.0), heat_kernel(30.0), vanilla(2), identity(), (0.5, -1.0)):
        got = Propagation.of(source).diffuse(source.dense_features(), coefficients)
        np.testing.assert_allclose(got, dense_diffusion(source, coefficients), rtol=1e-5, atol=1e-5)


@settings(deadline=None, max_examples=50)
@given(sources())
def test_source_and_dense_propagation_agree(source):
    x = torch.tensor(source.dense_features(), dtype=torch.float64)
    dense = diffuse_dense(x, torch.tensor(with_self_loops(source)).double(), heat_kernel(1.0))
    sparse = Propagation.of(source).diffuse(source.dense_features(), heat_kernel(1.0))
    np.testing.assert_allclose(sparse, dense, rtol=1e-5, atol=1e-5)


@settings(deadline=None, max_examples=100)
@given(sources())
def test_random_walks_are_the_symmetric_propagation_between_roots_of_degrees(source):
    root = np.sqrt(with_self_loops(source).astype(np.float64).sum(1))
    symmetric = dense_propagation(with_self_loops(source))
    walk = np.diag(1 / root) @ symmetric @ np.diag(root)
    np.testing.assert_allclose(walk.sum(1), 1)  # means over neighbours
    propagation = Propagation.of(source, walks=True)
    for steps in (1, 3):
        got = propagation.diffuse(source.dense_features(), vanilla(steps))
        expected = np.linalg.matrix_power(walk, steps) @ source.dense_features()
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


def test_a_random_walk_takes_the_mean_of_neighbours():
    source = hypergraph_of([[1, 0], [1, 1], [0, 1]], np.float32([[0], [3], [9]]))
    # Node 0 is in its hyperedge with node 1 and in a loop: half of either.
    assert Propagation.of(source, walks=True).apply(source.features)[0, 0] == pytest.approx((1.5 + 0) / 2)


def test_walks_without_loops_make_isolated_nodes_0():
    source = hypergraph_of([[1], [1], [0]], np.float32([[1], [2], [4]]))
    walked = Propagation.of(source, self_loops=False, walks=True).apply(source.features)
    np.testing.assert_allclose(walked.ravel(), [1.5, 1.5, 0])


def test_factors_and_loop_make_up_the_matrix():
    source = hypergraph_of(random_incidence(5, num_hyperedges=4))
    propagation = Propagation.of(source)
    matrix = np.diag(propagation.loop).astype(np.float64)
    inner = propagation.to_nodes.matrix.toarray() @ propagation.to_hyperedges.matrix.toarray()
    matrix[np.ix_(propagation.active_ids, propagation.active_ids)] += inner
    np.testing.assert_allclose(matrix, dense_propagation(with_self_loops(source)), atol=1e-6)
    assert sorted([*propagation.active_ids, *propagation.still_ids]) == list(range(source.num_nodes))


def test_diffusing_does_not_change_its_input():
    source = hypergraph_of(random_incidence(6), np.ones((12, 3), np.float32))
    x = source.dense_features().copy()
    Propagation.of(source).diffuse(x, heat_kernel(1.0))
    np.testing.assert_array_equal(x, 1)


def test_a_read_only_cut_of_a_matrix_is_read_where_it_lies():
    incidence = random_incidence(0)
    wide = np.random.default_rng(0).standard_normal((len(incidence), 6), dtype=np.float32)
    propagation = Propagation.of(hypergraph_of(incidence))
    expected = propagation.diffuse(wide[:, 2:5].copy(), heat_kernel(2.0))
    wide.setflags(write=False)
    np.testing.assert_array_equal(propagation.diffuse(wide[:, 2:5], heat_kernel(2.0)), expected)


def test_a_block_does_not_see_the_one_before_it():
    incidence = random_incidence(0)
    x = np.random.default_rng(0).standard_normal((len(incidence), 6), dtype=np.float32)
    propagation = Propagation.of(hypergraph_of(incidence))
    first = propagation.diffuse(x[:, :4], heat_kernel(5.0))
    kept = first.copy()
    propagation.diffuse(x[:, 3:6] * 1e6, heat_kernel(2.0))
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(propagation.diffuse(x[:, :4], heat_kernel(5.0)), kept)


def test_no_hyperedges_at_all():
    source = Hypergraph(features=np.ones((3, 2)), labels=[0, 1, 0], incidence=([], []), num_hyperedges=0)
    np.testing.assert_array_equal(Propagation.of(source).apply(source.features), 1)
    np.testing.assert_array_equal(Propagation.of(source, self_loops=False).apply(source.features), 0)


@pytest.mark.parametrize("coefficients", [(), (1.0, float("nan")), ((1.0,),), float("inf")])
def test_coefficients_that_are_no_polynomial_are_refused(coefficients):
    with pytest.raises(ValueError, match="coefficients"):
        diffuse_dense(torch.ones(1, 1), torch.ones(1, 1), coefficients)


@pytest.mark.parametrize("degree", range(11))
def test_a_matrix_polynomial_is_the_sum_of_its_powers(degree):
    matrix = torch.randn(4, 4, generator=torch.Generator().manual_seed(degree), dtype=torch.float64)
    coefficients = tuple(float(k + 1) for k in range(degree + 1))
    expected = sum(w * torch.linalg.matrix_power(matrix, k) for k, w in enumerate(coefficients))
    torch.testing.assert_close(matrix_polynomial(matrix, coefficients), expected)


def exact_kernel(incidence, time, *, walks=False):
    """The matrix exponential in float64, of ``time (P - 1)`` or of that of walks."""
    matrix = dense_propagation(incidence)
    if walks:
        root = np.sqrt(np.asarray(incidence, np.float64).sum(1))
        matrix = np.diag(1 / root) @ matrix @ np.diag(root)
    return expm(time * (matrix - np.eye(len(matrix))))


def hard_incidence(kind):
    """Hypergraphs that a diffusion may stumble over."""
    rng = np.random.default_rng(1)
    if kind == "none":
        return np.zeros((7, 0))
    if kind == "one over all":
        return np.ones((7, 1))
    if kind == "identical":
        return np.repeat(random_incidence(2, num_nodes=7, num_hyperedges=2, density=0.5), 40, axis=1)
    if kind == "far apart":
        incidence = random_incidence(4, num_nodes=7, density=0.4, weighted=False)
        return incidence * 10.0 ** rng.uniform(-6, 6, incidence.shape)
    incidence = random_incidence(3, num_nodes=7, density=0.3)
    incidence[0] = 0  # isolated
    return incidence


KINDS = ("weighted", "none", "one over all", "identical", "far apart")
KERNEL_TIMES = (0.0, 1e-6, 2.0, 100.0)


@pytest.mark.parametrize("time", KERNEL_TIMES)
@pytest.mark.parametrize("walks", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_heat_kernel_of_a_source_is_the_matrix_exponential_within_its_bound(kind, walks, time):
    source = hypergraph_of(hard_incidence(kind))  # features are the identity: rows are those of the kernel
    incidence = with_self_loops(source)
    exact = exact_kernel(incidence, time, walks=walks)
    got = Propagation.of(source, walks=walks).diffuse(source.features, heat_kernel(time))
    difference = got - exact
    if walks:  # between roots of degrees it is that of the symmetric kernel, whose norm is bounded
        root = np.sqrt(incidence.astype(np.float64).sum(1))
        difference = difference * root[:, None] / root
    bound = 1 - heat_kernel(time).at(1)
    rounding = 1e-5 * (root.max() / root.min() if walks else 1)
    assert np.linalg.norm(difference, 2) <= bound + rounding


@pytest.mark.parametrize("time", KERNEL_TIMES)
@pytest.mark.parametrize("columns", [3, 12])  # fewer and more than nodes take different ways
@pytest.mark.parametrize("kind", KINDS)
def test_the_dense_heat_kernel_is_the_matrix_exponential_as_closely_as_asked_for(kind, columns, time):
    incidence = torch.tensor(hard_incidence(kind), dtype=torch.float64)
    x = torch.tensor(np.random.default_rng(0).standard_normal((7, columns)))
    looped = np.hstack([incidence.numpy(), np.eye(7)])
    for self_loops, full in ((True, looped), (False, incidence.numpy())):
        exact = torch.tensor(exact_kernel(full, time)) @ x
        got = diffuse_dense(x, incidence, heat_kernel(time, 1e-11), self_loops=self_loops)
        torch.testing.assert_close(got, exact, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("columns", [2, 6])
@pytest.mark.parametrize("time", [2.0, 20.0])
def test_the_dense_heat_kernel_has_the_gradients_of_the_matrix_exponential(time, columns):
    incidence = torch.tensor(random_incidence(1, num_nodes=4, num_hyperedges=3)).double().requires_grad_()
    x = torch.tensor(np.random.default_rng(0).standard_normal((4, columns)), requires_grad=True)
    eye = torch.eye(4, dtype=torch.float64)
    weights = torch.tensor(np.random.default_rng(1).standard_normal((4, columns)))
    square = torch.stack(
        [propagate(column[:, None], torch.cat([incidence, eye], 1))[:, 0] for column in eye], 1
    )
    exact = (weights * (torch.matrix_exp(time * (square - eye)) @ x)).sum()
    ours = (weights * diffuse_dense(x, incidence, heat_kernel(time, 1e-11), self_loops=True)).sum()
    for want, got in zip(*(torch.autograd.grad(one, (x, incidence)) for one in (exact, ours)), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-7, atol=1e-8)


@settings(deadline=None, max_examples=50)
@given(sources())
def test_several_polynomials_from_one_sweep_have_the_bits_of_each_alone(source):
    kernels = [
        identity(),
        vanilla(2),
        heat_kernel(1.0),
        heat_kernel(2.0),
        heat_kernel(20.0),
        heat_kernel(9.0),
    ]
    propagation, x = Propagation.of(source), source.dense_features()
    together = [np.empty_like(x) for _ in kernels]
    propagation.diffuse_all(x, kernels, together)
    for kernel, got in zip(kernels, together, strict=True):
        np.testing.assert_array_equal(got, propagation.diffuse(x, kernel))


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int32])
def test_other_numbers_than_float32_are_converted(dtype):
    """Node 3 is in no hyperedge."""
    source = Hypergraph(
        features=np.eye(4), labels=[0, 1, 0, 1], incidence=([0, 1, 2], [0, 0, 0]), num_hyperedges=1
    )
    propagation, x = Propagation.of(source), np.arange(8).reshape(4, 2)
    np.testing.assert_array_equal(propagation.apply(x.astype(dtype)), propagation.apply(x.astype(np.float32)))


def test_defaults_of_torch_do_not_matter():
    source = Hypergraph(
        features=np.eye(4), labels=[0, 1, 0, 1], incidence=([0, 1, 2], [0, 0, 0]), num_hyperedges=1
    )
    expected = Propagation.of(source).apply(source.dense_features())
    torch.set_default_dtype(torch.float64)
    try:
        np.testing.assert_array_equal(Propagation.of(source).apply(source.dense_features()), expected)
    finally:
        torch.set_default_dtype(torch.float32)
