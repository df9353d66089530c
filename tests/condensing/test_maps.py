"""Maps are polynomials of P, the same for the source and for condensed nodes."""

import numpy as np
import pytest
import torch

from hypercondense.condensing.maps import Map, seen_through
from hypercondense.condensing.material import Material
from hypercondense.diffusion import Polynomial, diffuse, heat_kernel, heat_kernel_series, vanilla
from hypercondense.hypergraph import Hypergraph, Split

KERNELS = {
    "heat-kernel": heat_kernel(2.0),
    "heat-kernel-series": Polynomial(heat_kernel_series(2.0)),
    "vanilla": Polynomial(vanilla(7)),  # where the paper's sum of time 2 is cut off
    "power": Polynomial(vanilla(2)),
    "none": Polynomial((1.0,)),
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_has_its_polynomial(kernel: str) -> None:
    made = Map(kernel=kernel, time=2.0)
    assert made.polynomial == KERNELS[kernel]
    assert made.trusts_structure == (kernel != "none")


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def propagation(structure: torch.Tensor) -> torch.Tensor:
    """``P = Dv^-1/2 H De^-1 H^T Dv^-1/2`` of a structure with a self-loop of weight 1 at every node."""
    incidence = torch.cat([structure, torch.eye(len(structure), dtype=structure.dtype)], dim=1)
    nodes, edges = incidence.sum(1) ** -0.5, incidence.sum(0) ** -1
    return nodes[:, None] * (incidence * edges) @ incidence.T * nodes


@pytest.mark.parametrize("kernel", KERNELS)
def test_condensed_features_go_through_the_polynomial_of_their_own_structure(kernel: str) -> None:
    features, structure = normal(5, 3), torch.rand(5, 4, dtype=torch.float64)
    P = propagation(structure)
    expected = sum(
        weight * torch.linalg.matrix_power(P, power) @ features
        for power, weight in enumerate(Map(kernel=kernel).polynomial.weights)
    )
    torch.testing.assert_close(Map(kernel=kernel).condensed(features, structure), expected)
    torch.testing.assert_close(seen_through(features, structure, KERNELS[kernel]), expected)


@pytest.mark.parametrize("kernel", KERNELS)
def test_without_hyperedges_every_power_of_p_is_the_identity(kernel: str) -> None:
    features, nothing = normal(5, 3), torch.zeros(5, 0, dtype=torch.float64)
    seen = seen_through(features, nothing, KERNELS[kernel])
    torch.testing.assert_close(seen, sum(KERNELS[kernel].weights) * features)
    torch.testing.assert_close(seen, Map(kernel=kernel).condensed(features, nothing))


@pytest.mark.parametrize("walks", [False, True])
def test_source_rows_are_diffused_by_the_map(walks: bool, source: Hypergraph, parts: Split) -> None:
    rows_map = Map(kernel="power", time=2.0, walks=walks)
    expected = diffuse(source, vanilla(2), walks=walks)
    rows, validation = Material(source, parts).parts(rows_map)
    np.testing.assert_array_equal(rows, expected[parts.train_ids])
    np.testing.assert_array_equal(validation, expected[parts.validation_ids])
    alone = Material(source, parts).training_rows(rows_map)
    np.testing.assert_allclose(np.asarray(alone), rows, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kernel": "power", "time": 1.5}, "whole number"),
        ({"time": -1.0}, "time must be a number >= 0"),
        ({"time": 1001.0}, "time must be a number <= 1000"),
        ({"time": float("nan")}, "time"),
        (
            {"kernel": "warm"},
            "kernel must be one of heat-kernel, heat-kernel-series, vanilla, power, none, got 'warm'",
        ),
    ],
)
def test_an_impossible_map_is_refused_when_it_is_made(fields: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Map(**fields)
