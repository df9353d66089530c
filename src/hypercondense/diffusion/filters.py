"""Diffusions as polynomials of P: heat kernel PageRank, plain propagation, none at all.

They differ only in numbers, so whatever diffuses takes a polynomial and never asks for its name.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Coefficients: TypeAlias = tuple[float, ...]

_STEADY = 2.0  # sum of |w_k| up to which powers of P lose nothing to rounding; beyond, Chebyshev's recurrence


@dataclass(frozen=True)
class Polynomial:
    """A polynomial of P by its coefficients in one of two bases.

    Attributes:
        weights: ``w_0 .. w_K``.
        chebyshev: Whether they belong to ``T_k(2 P - 1)``, Chebyshev's polynomials on the spectrum [0, 1],
            and not to the powers ``P^k``.
    """

    weights: Coefficients
    chebyshev: bool = False

    @classmethod
    def of(cls, given: "Kernel") -> "Polynomial":
        """The polynomial itself, or the one with these coefficients of powers: finite, at least one.

        >>> Polynomial.of((0.5, 0.5)).at(0.0)
        0.5
        """
        return cls(_finite(given.weights), given.chebyshev) if isinstance(given, cls) else cls(_finite(given))

    @property
    def degree(self) -> int:
        """Products with P that it takes."""
        return len(self.weights) - 1

    def at(self, eigenvalue: float) -> float:
        """Its value at an eigenvalue of P."""
        if self.chebyshev:
            return float(np.polynomial.chebyshev.chebval(2 * eigenvalue - 1, self.weights))
        return float(np.polynomial.polynomial.polyval(eigenvalue, self.weights))


Kernel: TypeAlias = Polynomial | Sequence[float]  # numbers alone are coefficients of powers


def truncation_order(time: float) -> int:
    """Largest power that the paper keeps, ``K = ceil(time + 3 sqrt(time))`` (text after Lemma 3.2).

    >>> truncation_order(2.0)
    7
    """
    _check_time(time)
    return math.ceil(time + 3 * math.sqrt(time))


def heat_kernel_series(time: float, order: int | None = None) -> Coefficients:
    """Poisson weights ``exp(-time) time^k / k!`` for ``k = 0 .. order`` (Eq. 2 and 4), the paper's sum.

    The default order is :func:`truncation_order`. The weights are not scaled back to sum 1: what is cut off
    is the Poisson tail, at most ``exp(-9 / (2 + 3 / sqrt(time)))``.

    >>> [round(weight, 3) for weight in heat_kernel_series(1.0, order=3)]
    [0.368, 0.368, 0.184, 0.061]
    """
    _check_time(time)
    order = truncation_order(time) if order is None else _checked_steps("order", order)
    if time == 0:
        return (1.0,) + (0.0,) * order
    # In logarithms: time^k and k! overflow long before their quotient does.
    return tuple(math.exp(k * math.log(time) - time - math.lgamma(k + 1)) for k in range(order + 1))


def heat_kernel(time: float, accuracy: float | None = None) -> Polynomial:
    """The shortest Chebyshev sum that is as close to ``exp(time (P - 1))`` as ``accuracy`` (Theorem 3.1).

    Close on all of [0, 1], where the spectrum of P is, so ``accuracy`` bounds the change of a matrix relative
    to its norm. The default is what the paper's longer sum, :func:`heat_kernel_series`, leaves out.

    >>> heat_kernel(2.0).degree, len(heat_kernel_series(2.0)) - 1
    (4, 7)
    """
    from scipy.special import pdtrc

    order = truncation_order(time)
    if accuracy is None:
        accuracy = float(pdtrc(order, time)) if time else 0.0  # the tail of the Poisson distribution
    elif not 0 < accuracy <= 1:
        raise ValueError(f"accuracy must be above 0 and at most 1, got {accuracy}")
    weights, missing = _bessel_weights(time, number=2 * order + 50)
    degree = int(np.argmax(missing <= accuracy))  # the first; the last are 0 but for underflow
    kept = weights[: degree + 1]
    powers = np.polynomial.Chebyshev(kept, domain=[0, 1]).convert(kind=np.polynomial.Polynomial).coef
    if degree == 0 or np.abs(powers).sum() <= _STEADY:
        return Polynomial(tuple(np.append(powers, np.zeros(degree + 1 - len(powers))).tolist()))
    return Polynomial(tuple(kept.tolist()), chebyshev=True)


def _bessel_weights(time: float, *, number: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Chebyshev coefficients of ``exp(time (x - 1))`` on [0, 1], and the sum of all that follow each.

    With ``s = 2 x - 1`` it is ``exp(-time / 2) exp(s time / 2)``, whose coefficients are modified Bessel
    functions, ``exp(-time / 2) I_k(time / 2)``, twice that for k > 0. None is below 0 and no ``|T_k|`` above
    1, so what a sum leaves out is at most the sum of the others, and just that at 1.
    """
    from scipy.special import ive

    half = time / 2
    weights = 2.0 * ive(np.arange(number), half)
    weights[0] /= 2
    ratio = half / (2 * number)  # I_k / I_(k-1) < half / (2 k), so the rest is below a geometric series
    rest = weights[-1] * ratio / (1 - ratio)
    following = np.append(np.cumsum(weights[:0:-1])[::-1], 0.0) + rest
    return weights, following


def vanilla(steps: float) -> Coefficients:
    """Plain propagation ``P^steps``, the ablation without Poisson weights.

    >>> vanilla(2)
    (0.0, 0.0, 1.0)
    """
    return (0.0,) * _checked_steps("steps", steps) + (1.0,)


def identity() -> Coefficients:
    """No diffusion: the features as they are."""
    return (1.0,)


def _finite(coefficients: object) -> Coefficients:
    values = np.asarray(coefficients, np.float64)
    if values.ndim != 1 or len(values) == 0 or not np.isfinite(values).all():
        raise ValueError(
            f"coefficients must be one or more finite numbers, one for each power of P, got {coefficients!r}"
        )
    return tuple(values.tolist())


def _check_time(time: float) -> None:
    if not (math.isfinite(time) and time >= 0):
        raise ValueError(f"diffusion time must be 0 (none at all) or a positive number, got {time}")


def _checked_steps(what: str, steps: float) -> int:
    if steps != int(steps) or steps < 0:
        raise ValueError(f"{what} must be a whole number, 0 or more, got {steps}")
    return int(steps)
