"""Anchors: every condensed node proposes one hyperedge, learnt in turns with the features (Eq. 7 to 9)."""

import math
from typing import Annotated

import torch
from msgspec import Meta
from torch import Tensor

from hypercondense.condensing.generator import (
    AnchorGenerator,
    Threshold,
    nearest_candidates,
    scatter_members,
    span_basis,
    warm_start,
    warm_targets,
)
from hypercondense.condensing.maps import Map
from hypercondense.condensing.rows import spread
from hypercondense.diffusion import Polynomial, diffuse_dense, heat_kernel_series
from hypercondense.typed import Count, CountOrZero, Positive, Value


class WarmUp(Value):
    """What the MLP is taught before condensing begins: an untrained one dies. Paper: no such thing.

    Args:
        steps: Steps of Adam; more if what is taught is still below its thresholds.
        neighbours: Members besides the anchor that a hyperedge is taught.
        step: Step of Adam.
        sharpen: Whether first features become means of source rows (Eq. 6) when they are diffused through
            the taught hyperedges. Paper: they are such means already, and are smoothed a second time.
    """

    steps: CountOrZero = 20
    neighbours: Count = 2
    step: Positive = 2e-3
    sharpen: bool = True


class Anchors(Value):
    """Hyperedges by a pair MLP and thresholds.

    Args:
        feature_turns: Epochs in a row that update features, ``tau_1``.
        structure_turns: Epochs in a row that update the structure, ``tau_2``.
        step: Step of Adam for MLP and thresholds, ``eta_2``.
        hidden: Width of the pair MLP.
        layers: Its number of linear layers.
        threshold: ``anchor`` (the paper), ``shared`` or ``fixed`` (its ablations).
        threshold_start: Where thresholds begin. Paper: not given.
        candidates: Nodes that may join a hyperedge: the most similar at the start. Paper: ``none``, all.
        warm: What the MLP is taught first; ``none`` leaves it untrained.
        spanned: Whether the MLP sees features along the directions that first features span, which are fewer
            than the features and make a condensation of 27 nodes twice as fast. Paper: false.
    """

    feature_turns: CountOrZero = 5
    structure_turns: CountOrZero = 15
    step: Positive = 1e-4
    hidden: Count = 256
    layers: Annotated[int, Meta(ge=2)] = 3
    threshold: Threshold = "anchor"
    threshold_start: Annotated[float, Meta(ge=0, lt=1)] = 0.7
    candidates: Annotated[int, Meta(ge=2)] | None = 3
    warm: WarmUp | None = WarmUp()
    spanned: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.feature_turns + self.structure_turns == 0:
            raise ValueError("feature_turns and structure_turns must not both be 0")

    def features_turn(self, epoch: int) -> bool:
        """``tau_1`` epochs for the features, then ``tau_2`` for the structure, and so on (line 12)."""
        return epoch % (self.feature_turns + self.structure_turns) < self.feature_turns

    def prepare(self, features: Tensor, labels: Tensor, rows_map: Map) -> tuple[Tensor, AnchorGenerator]:
        """First features, perhaps sharpened, and a generator that was warmed up on them.

        Draws from torch's global generator: call it inside ``rng.seeded``.
        """
        candidates = nearest_candidates(features, self.candidates or len(features))
        if self.warm is None:
            return features, self._generator(features, candidates)
        targets = warm_targets(features, labels, candidates, self.warm.neighbours)
        if self.warm.sharpen:
            taught = scatter_members(candidates, (1 - self.threshold_start) * targets)
            features = sharpened(features, taught, rows_map)
        generator = self._generator(features, candidates)
        warm_start(generator, features, targets, steps=self.warm.steps, step_size=self.warm.step)
        return features, generator

    def _generator(self, features: Tensor, candidates: Tensor) -> AnchorGenerator:
        """A generator for features like these, untrained."""
        return AnchorGenerator(
            candidates,
            num_features=features.shape[1],
            hidden=self.hidden,
            layers=self.layers,
            threshold=self.threshold,
            threshold_start=self.threshold_start,
            scale=spread(features),
            basis=span_basis(features) if self.spanned else None,
        ).to(features.device)


def sharpened(features: Tensor, taught: Tensor, rows_map: Map) -> Tensor:
    """Features that turn into the given ones when diffused through the hyperedges ``taught`` (n, n).

    No eigenvalue of P is below 0, so none of the heat kernel is below ``exp(-time)``: the solve is safe where
    the polynomial is closer to it than that, and for the paper's sum, which has no weights below 0.
    """
    eye = torch.eye(len(features), dtype=features.dtype, device=features.device)
    polynomial = rows_map.polynomial
    if _may_vanish(rows_map):  # cannot be undone; the paper's sum is what comes closest
        polynomial = Polynomial(heat_kernel_series(rows_map.time))
    kernel = diffuse_dense(eye, taught, polynomial, self_loops=True)
    sharp: Tensor = torch.linalg.solve(kernel, features)
    return sharp


def _may_vanish(rows_map: Map) -> bool:
    """Whether the polynomial of a map may be 0, or nearly, somewhere in the spectrum of P."""
    polynomial = rows_map.polynomial
    if min(polynomial.weights) >= 0 and not polynomial.chebyshev:
        return polynomial.at(0) == 0
    return 1 - polynomial.at(1) > math.exp(-rows_map.time) / 2  # what the heat kernel leaves out
