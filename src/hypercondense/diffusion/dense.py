"""Polynomials of P of small dense incidences, differentiable: ``P = Dv^-1/2 H De^-1 H^T Dv^-1/2`` (Eq. 2)."""

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hypercondense.diffusion.filters import Kernel, Polynomial

Degrees = TypeVar("Degrees", Tensor, NDArray[np.float64])


def inverse_power(degree: Degrees, power: float) -> Degrees:
    """``degree ** -power``, and 0 where the degree is 0: an isolated node receives nothing.

    >>> inverse_power(torch.tensor([4.0, 0.0]), 0.5)
    tensor([0.5000, 0.0000])
    """
    positive = degree > 0
    # 1 in place of 0 keeps the gradient finite: autograd also visits what is then multiplied by 0.
    return positive * (degree + ~positive) ** -power


def _or_one(degree: Tensor) -> Tensor:
    """``degree``, and 1 where it is 0: what is divided by it is 0 anyway."""
    return torch.where(degree > 0, degree, 1.0)


def propagate(x: Tensor, incidence: Tensor) -> Tensor:
    """Apply P to ``x`` (nodes, features), with ``incidence`` dense and weighted (nodes, hyperedges) (Eq. 2).

    Degrees are sums of weights. Gradients reach both arguments and are finite for empty hyperedges and
    isolated nodes.

    >>> propagate(torch.tensor([[1.0], [3.0]]), torch.ones(2, 1))  # one hyperedge over all: the mean
    tensor([[2.],
            [2.]])
    """
    return diffuse_dense(x, incidence, (0.0, 1.0))


def diffuse_dense(x: Tensor, incidence: Tensor, kernel: Kernel, *, self_loops: bool = False) -> Tensor:
    """A polynomial of P times ``x``, for a small dense incidence (Eq. 4 and 10).

    Args:
        x: Node features (nodes, features).
        incidence: Weights at least 0 (nodes, hyperedges); gradients flow to both.
        kernel: The polynomial, for example from :func:`heat_kernel`, or ``w_0 .. w_K`` of ``sum_k w_k P^k``.
        self_loops: Whether every node also has a hyperedge of its own, of weight 1; it is then a diagonal.
    """
    polynomial = Polynomial.of(kernel)
    degree = incidence.sum(1, keepdim=True)
    scale = (degree + 1).rsqrt() if self_loops else inverse_power(degree, 0.5)
    shares = incidence / _or_one(incidence.sum(0))
    if len(x) < x.shape[1]:  # fewer nodes than features: the small square matrix is cheaper to raise
        eye = torch.eye(len(x), dtype=x.dtype, device=x.device)
        square = scale * torch.addmm(float(self_loops) * eye, shares, incidence.T) * scale.T
        if polynomial.chebyshev:
            return _clenshaw(eye, lambda result: square @ result, polynomial.weights) @ x
        return matrix_polynomial(square, polynomial.weights) @ x
    to_node, to_hyperedge = scale * incidence, (scale * shares).T
    loop = scale.square() if self_loops else 0.0
    sum_up = _clenshaw if polynomial.chebyshev else _horner
    return sum_up(x, lambda result: loop * result + to_node @ (to_hyperedge @ result), polynomial.weights)


def _horner(x: Tensor, propagated: Callable[[Tensor], Tensor], weights: Sequence[float]) -> Tensor:
    """``sum_k w_k P^k x``, from the highest power down."""
    *lower, highest = weights
    result = highest * x
    for weight in reversed(lower):
        result = weight * x + propagated(result)
    return result


def _clenshaw(x: Tensor, propagated: Callable[[Tensor], Tensor], weights: Sequence[float]) -> Tensor:
    """``sum_k w_k T_k(2 P - 1) x``, from the highest degree down (Clenshaw)."""
    first, *higher = weights
    result, before = torch.zeros_like(x), torch.zeros_like(x)
    for weight in reversed(higher):
        result, before = weight * x + 4 * propagated(result) - 2 * result - before, result
    return first * x + 2 * propagated(result) - result - before


def matrix_polynomial(square: Tensor, coefficients: Sequence[float]) -> Tensor:
    """``sum_k w_k A^k`` of a square matrix A with about ``2 sqrt(K)`` products, not K (Paterson, Stockmeyer).

    With ``B = A^s`` it is a polynomial in B whose coefficients are polynomials in A of degree below ``s``.

    >>> matrix_polynomial(torch.tensor([[2.0]]), (1.0, 1.0, 1.0, 1.0, 1.0))
    tensor([[31.]])
    """
    size = math.isqrt(len(coefficients))  # s
    powers = [torch.eye(len(square), dtype=square.dtype, device=square.device), square]
    while len(powers) <= size:
        powers.append(powers[-1] @ square)
    padded = [*coefficients, *[0.0] * (-len(coefficients) % size)]
    weights = torch.tensor(padded, dtype=square.dtype, device=square.device).reshape(-1, size)
    blocks = weights @ torch.stack(powers[:size]).flatten(1)  # all of them in one small product
    result: Tensor
    *lower, result = blocks.view(-1, *square.shape).unbind()
    for block in reversed(lower):
        result = torch.addmm(block, powers[size], result)
    return result
