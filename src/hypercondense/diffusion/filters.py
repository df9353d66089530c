"""Diffusions as polynomials: the coefficients ``w_0 .. w_K`` of ``sum_k w_k P^k``.

Heat kernel PageRank, plain propagation and no diffusion at all differ only in these numbers, so whatever
diffuses takes them as an argument and never asks for their name.
"""

import math

import numpy as np

Coefficients = tuple[float, ...]


def truncation_order(time: float) -> int:
    """Largest power kept, ``K = ceil(time + 3 sqrt(time))`` (text after Lemma 3.2).

    >>> truncation_order(2.0)
    7
    """
    _check_time(time)
    return math.ceil(time + 3 * math.sqrt(time))


def heat_kernel(time: float, order: int | None = None) -> Coefficients:
    """Poisson weights ``exp(-time) time^k / k!`` for ``k = 0 .. order`` (Eq. 2 and 4).

    The default order is :func:`truncation_order`. The weights are not scaled back to sum 1: what is cut off
    is the Poisson tail, at most ``exp(-9 / (2 + 3 / sqrt(time)))``.

    >>> [round(weight, 3) for weight in heat_kernel(1.0, order=3)]
    [0.368, 0.368, 0.184, 0.061]
    """
    _check_time(time)
    order = truncation_order(time) if order is None else _checked_steps("order", order)
    # In logarithms: time^k and k! overflow long before their quotient does.
    return tuple(math.exp(k * math.log(time) - time - math.lgamma(k + 1)) for k in range(order + 1))


def vanilla(steps: float) -> Coefficients:
    """Plain propagation ``P^steps``, the ablation without Poisson weights.

    >>> vanilla(2)
    (0.0, 0.0, 1.0)
    """
    return (0.0,) * _checked_steps("steps", steps) + (1.0,)


def identity() -> Coefficients:
    """No diffusion: the features as they are."""
    return (1.0,)


def checked_coefficients(coefficients: object) -> Coefficients:
    """``coefficients`` as finite floats, at least one."""
    values = np.asarray(coefficients, np.float64)
    if values.ndim != 1 or len(values) == 0 or not np.isfinite(values).all():
        raise ValueError(
            f"coefficients must be one or more finite numbers, one for each power of P, got {coefficients!r}"
        )
    return tuple(values.tolist())


def _check_time(time: float) -> None:
    if not (math.isfinite(time) and time > 0):
        raise ValueError(f"diffusion time must be a positive number, got {time}; identity() is no diffusion")


def _checked_steps(what: str, steps: float) -> int:
    if steps != int(steps) or steps < 0:
        raise ValueError(f"{what} must be a whole number, 0 or more, got {steps}")
    return int(steps)
