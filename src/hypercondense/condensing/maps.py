"""How rows of the source are diffused: the paper's heat kernel (Eq. 2 and 4), its ablations, and powers."""

from typing import Annotated, Literal

from msgspec import Meta
from torch import Tensor

from hypercondense.diffusion import (
    Kernel,
    Polynomial,
    diffuse_dense,
    heat_kernel,
    heat_kernel_series,
    identity,
    truncation_order,
    vanilla,
)
from hypercondense.typed import Value

_TIME = 2.0


class Map(Value):
    """A polynomial of P, the propagation matrix, that features go through.

    Args:
        kernel: ``heat-kernel`` (at least as exact as the paper's sum, in fewer products),
            ``heat-kernel-series`` (the paper's sum), ``vanilla`` or ``none`` (its ablations), or ``power``,
            which is P to the power of ``time``. Vanilla is one power, at which the paper's sum is cut off.
        time: Diffusion time, lambda in Eq. 2; the power of P where ``kernel`` is ``power``. Where it is
            ``none`` there is none to give.
        walks: Whether P is that of random walks. Networks that take means over neighbours see such rows.
    """

    kernel: Literal["heat-kernel", "heat-kernel-series", "vanilla", "power", "none"] = "heat-kernel"
    time: Annotated[float, Meta(ge=0, le=1000)] = _TIME
    walks: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kernel == "power" and self.time != int(self.time):
            raise ValueError(f"time must be a whole number where kernel is power, got {self.time:g}")
        if self.kernel == "none" and self.time != _TIME:
            raise ValueError(
                f"without diffusion there is no time; leave it out where kernel is none (got {self.time:g})"
            )
        if self.kernel == "none" and self.walks:
            raise ValueError("walks need a kernel to walk by; without diffusion leave them out")
        _ = self.polynomial  # an impossible time is found before the work begins

    @property
    def polynomial(self) -> Polynomial:
        """The polynomial of P.

        >>> Map(kernel="power").polynomial.weights
        (0.0, 0.0, 1.0)
        """
        if self.kernel == "heat-kernel":
            return heat_kernel(self.time)
        if self.kernel == "heat-kernel-series":
            return Polynomial(heat_kernel_series(self.time))
        if self.kernel == "vanilla":
            return Polynomial(vanilla(truncation_order(self.time)))
        return Polynomial(vanilla(self.time) if self.kernel == "power" else identity())

    @property
    def trusts_structure(self) -> bool:
        """Whether rows are diffused at all."""
        return self.kernel != "none"

    def condensed(self, features: Tensor, structure: Tensor) -> Tensor:
        """Condensed features (n, d) through their own structure (n, hyperedges) and self-loops (Eq. 10)."""
        return diffuse_dense(features, structure, self.polynomial, self_loops=True)


def seen_through(features: Tensor, structure: Tensor, kernel: Kernel) -> Tensor:
    """Features through a polynomial of P; without hyperedges every power of P is the identity."""
    if structure.shape[1] == 0:
        return Polynomial.of(kernel).at(1) * features
    return diffuse_dense(features, structure, kernel, self_loops=True)
