import math

import numpy as np
import pytest
from scipy.stats import poisson

from hypercondense.diffusion import (
    Polynomial,
    heat_kernel,
    heat_kernel_series,
    identity,
    truncation_order,
    vanilla,
)
from makers.diffusion_oracles import dense_propagation, random_incidence

TIMES = [0.1, 0.5, 1.0, 2.0, 3.7, 10.0, 50.0]


@pytest.mark.parametrize("time", TIMES)
def test_heat_kernel_weights_are_the_poisson_distribution(time):
    weights = heat_kernel_series(time)
    np.testing.assert_allclose(weights, poisson.pmf(np.arange(len(weights)), time), rtol=1e-12)


@pytest.mark.parametrize("time", [*TIMES, 1e-300, 700.0])
def test_heat_kernel_weights_sum_to_one_but_for_the_tail(time):
    tail = poisson.sf(truncation_order(time), time)
    assert math.fsum(heat_kernel_series(time)) == pytest.approx(1 - tail, abs=1e-11)


def test_truncation_order_is_that_of_the_paper():
    assert [truncation_order(time) for time in (1, 2, 4, 9)] == [4, 7, 10, 18]
    assert len(heat_kernel_series(2.0)) == 8
    assert len(heat_kernel_series(2.0, order=3)) == 4


def test_vanilla_and_identity_are_single_powers():
    assert vanilla(0) == identity() == (1.0,)
    assert vanilla(3) == (0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize("time", [-1.0, math.nan, math.inf])
def test_times_that_are_not_positive_numbers_are_refused(time):
    for function in (truncation_order, heat_kernel_series, heat_kernel):
        with pytest.raises(ValueError, match="positive"):
            function(time)


def test_steps_that_are_not_counts_are_refused():
    with pytest.raises(ValueError, match="steps must be a whole number"):
        vanilla(-1)
    with pytest.raises(ValueError, match="order must be a whole number"):
        heat_kernel_series(1.0, order=1.5)


def test_poisson_tail_is_below_the_bound_of_the_lemma():
    for time in np.geomspace(0.01, 200, 60):
        for deviation in np.geomspace(0.01, 30, 60):
            threshold = time + deviation * math.sqrt(time)
            exact = poisson.sf(math.ceil(threshold) - 1, time)  # P[N >= threshold]
            assert exact <= math.exp(-(deviation**2) / (2 + deviation / math.sqrt(time)))


def test_poisson_tail_is_below_bernsteins_bound_which_implies_that_of_the_lemma():
    for time in np.geomspace(0.01, 200, 40):
        for deviation in np.geomspace(0.01, 30, 40):
            bernstein = math.exp(-(deviation**2) / (2 + 2 * deviation / (3 * math.sqrt(time))))
            exact = poisson.sf(math.ceil(time + deviation * math.sqrt(time)) - 1, time)
            assert exact <= bernstein * (1 + 1e-12)
            assert bernstein <= math.exp(-(deviation**2) / (2 + deviation / math.sqrt(time)))


@pytest.mark.parametrize("time", TIMES)
def test_truncation_error_of_the_diffusion_is_below_the_tail_times_the_norm(time):
    rng = np.random.default_rng(0)
    values, vectors = np.linalg.eigh(dense_propagation(random_incidence(1)))
    x = rng.standard_normal((12, 5))
    exact = vectors @ np.diag(np.exp(-time * (1 - values))) @ vectors.T @ x
    kept = np.polynomial.polynomial.polyval(values, heat_kernel_series(time))
    error = np.linalg.norm(exact - vectors @ np.diag(kept) @ vectors.T @ x)
    tail = poisson.sf(truncation_order(time), time)
    lemma = math.exp(-9 / (2 + 3 / math.sqrt(time)))
    assert error <= tail * np.linalg.norm(x) + 1e-12
    assert tail <= lemma


def test_the_bound_on_the_truncation_error_is_reached_by_constants():
    # A hyperedge over all nodes keeps a constant, so exactly the tail is missing.
    averaging = dense_propagation(np.ones((4, 1)))
    weights = heat_kernel_series(2.0)
    total = sum(weight * np.linalg.matrix_power(averaging, k) for k, weight in enumerate(weights))
    np.testing.assert_allclose(1 - (total @ np.ones(4)), poisson.sf(7, 2.0), rtol=1e-9)


def error_of(kernel, time):
    """Largest distance to the exact kernel over the spectrum."""
    values = np.linspace(0, 1, 4001)
    polynomial = Polynomial.of(kernel)
    return np.abs([polynomial.at(value) - math.exp(time * (value - 1)) for value in values]).max()


@pytest.mark.parametrize("time", [1e-6, *TIMES, 100.0, 1000.0])
def test_the_heat_kernel_is_not_worse_than_the_papers_sum_and_shorter(time):
    kernel, series = heat_kernel(time), heat_kernel_series(time)
    assert error_of(kernel, time) <= error_of(series, time) + 1e-12
    assert kernel.degree <= len(series) - 1
    if time >= 1:
        assert kernel.degree <= (len(series) - 1) * 0.6


@pytest.mark.parametrize("time", [0.3, 2.0, 30.0])
@pytest.mark.parametrize("accuracy", [0.5, 1e-2, 1e-6, 1e-12])
def test_the_heat_kernel_is_as_accurate_as_asked_for_and_no_longer_than_it_must(time, accuracy):
    kernel = heat_kernel(time, accuracy)
    assert error_of(kernel, time) <= accuracy + 1e-13
    # All weights are above 0, so what is left out is missing in full at the eigenvalue 1.
    assert 1 - kernel.at(1) == pytest.approx(error_of(kernel, time), abs=1e-13)
    if kernel.degree and kernel.chebyshev:
        assert error_of(Polynomial(kernel.weights[:-1], chebyshev=True), time) > accuracy


def test_powers_are_used_only_where_their_weights_are_small():
    assert [heat_kernel(time).chebyshev for time in (0.1, 2.0, 20.0)] == [False, False, True]
    assert sum(map(abs, heat_kernel(2.0).weights)) <= 2
    assert heat_kernel(100.0).degree == 22


def test_time_0_is_no_diffusion():
    assert heat_kernel(0.0) == Polynomial(identity())
    assert heat_kernel_series(0.0) == identity()
    assert heat_kernel(1e-300).at(1) == 1


@pytest.mark.parametrize("accuracy", [0.0, -1e-3, 1.5, math.nan])
def test_an_accuracy_that_cannot_be_is_refused(accuracy):
    with pytest.raises(ValueError, match="accuracy must be above 0"):
        heat_kernel(2.0, accuracy)
