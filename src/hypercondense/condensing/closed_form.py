"""The closed form: condensed rows from which ridge regression predicts the rows of the source.

Ridge regression has a closed form, so its error on the source can be minimized through the solve: no network
is trained while condensing. With condensed rows ``Z'`` (n, d), their classes or shares of classes ``Y'``
(n, C) and source rows ``Z`` (m, d):

    ``W = (Z' Z'^T + r I)^-1 Y'``,  prediction ``Z Z'^T W``,  loss between prediction and ``Y``.
"""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from hypercondense.condensing.problem import Problem
from hypercondense.typed import Count, Positive, Value

_JITTER_TRIES = 8
_SHARPNESS = 10.0  # ridge regression predicts within 0 and 1; as logits that is nearly nothing


class ClosedForm(Value):
    """Epochs in which the model is ridge regression.

    Args:
        epochs: Steps of Adam.
        step: Its first step, times the standard deviation of the features at the start; it falls to 0 along
            half a cosine.
        strength: ``r`` as a fraction of the mean squared length of the condensed rows.
    """

    epochs: Count = 100
    step: Positive = 0.1
    strength: Positive = 0.05

    def predict(self, condensed: Tensor, targets: Tensor, rows: Tensor) -> Tensor:
        """Predictions (m, C) for ``rows``."""
        return ridge_predict(condensed, targets, rows, strength=self.strength)

    def loss(
        self, problem: Problem, condensed: Tensor, targets: Tensor, *, batch: int, chance: torch.Generator
    ) -> Tensor:
        """Cross-entropy of the model, fitted to ``condensed`` rows (n, d), on a batch of source rows."""
        rows, classes = problem.batch(batch, chance)
        return F.cross_entropy(_SHARPNESS * self.predict(condensed, targets, rows), classes)

    def score(self, problem: Problem, condensed: Tensor, targets: Tensor) -> float:
        """Score of the model on the validation rows."""
        return problem.score(lambda rows: self.predict(condensed, targets, rows))


def falling(share: float) -> float:
    """Half a cosine, from 1 at the begin (``share`` 0) to 0 at the end (1).

    >>> round(falling(0.5), 6)
    0.5
    """
    return 0.5 * (1 + math.cos(math.pi * share))


def ridge_predict(condensed: Tensor, classes: Tensor, rows: Tensor, *, strength: float) -> Tensor:
    """Predict ``rows`` (m, d) by ridge regression fitted to ``condensed`` (n, d) and ``classes`` (n, C).

    Every row also has a constant entry of the size of a typical feature, which is the bias.

    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> ridge_predict(x, torch.eye(2), x, strength=1e-6).round()
    tensor([[1., 0.],
            [0., 1.]])
    """
    bias = condensed.detach().square().mean()
    kernel = products(condensed) + bias
    weights = solve_positive(kernel, classes, ridge=strength * kernel.diagonal().mean())
    # Classes first: the gradient is then a short, wide product, several times faster than a tall, thin one.
    return F.linear(rows, weights.T @ condensed, bias * weights.sum(0))


def products(rows: Tensor) -> Tensor:
    """``Z Z^T``. Its gradient ``(G + G^T) Z`` is one product; of two independent factors it would be two."""
    found: Tensor = _Products.apply(rows)  # type: ignore[no-untyped-call]
    return found


class _Products(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:
        ctx.save_for_backward(rows)
        return rows @ rows.T

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        (rows,) = ctx.saved_tensors
        slope: Tensor = (gradient + gradient.T) @ rows
        return slope


def solve_positive(kernel: Tensor, targets: Tensor, *, ridge: Tensor) -> Tensor:
    """``(kernel + ridge I)^-1 targets`` by Cholesky; the ridge grows tenfold until the factor exists."""
    eye = torch.eye(len(kernel), dtype=kernel.dtype, device=kernel.device)
    ridge = torch.where(ridge > 0, ridge, torch.ones_like(ridge))  # all rows 0: any ridge gives 0
    for _ in range(_JITTER_TRIES):
        factor, failed = torch.linalg.cholesky_ex(kernel + ridge * eye)
        if not failed:
            break
        ridge = 10 * ridge
    solved: Tensor = torch.cholesky_solve(targets, factor)
    return solved
