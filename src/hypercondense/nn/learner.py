"""A small network in training, written out so that gradients flow through the training itself.

``logits = W_2 [relu(W_1 [x, 1]) * mask, 1]`` with Adam on the cross-entropy. Nodes without hyperedges are all
an HGNN sees of condensed rows whose structure is the identity, so this is how it would be trained on them;
on source rows ``P^2 X`` it is an HGNN that propagates before its nonlinearity rather than after.
"""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from hypercondense.nn.steps import Pair, Training, after_steps


@dataclass(frozen=True)
class Learner:
    """Weights (hidden, d + 1) and (C, hidden + 1), and Adam's running averages of their gradients."""

    weights: Pair
    means: Pair
    squares: Pair
    age: int

    @classmethod
    def untrained(
        cls, *, num_features: int, num_classes: int, hidden: int, chance: torch.Generator, device: str
    ) -> "Learner":
        """Weights drawn as ``torch.nn.Linear`` draws them."""
        sizes = ((hidden, num_features + 1), (num_classes, hidden + 1))
        weights = [
            (2 * torch.rand(size, generator=chance) - 1) / math.sqrt(max(1, size[1] - 1)) for size in sizes
        ]
        first, last = (weight.to(device) for weight in weights)
        zeros = (torch.zeros_like(first), torch.zeros_like(last))
        return cls((first, last), zeros, zeros, 0)

    def __call__(self, rows: Tensor) -> Tensor:
        """Class scores of ``rows`` (m, d), without dropout."""
        first, last = self.weights
        return _affine(torch.relu(_affine(rows, first)), last)

    def trained(
        self, rows: Tensor, targets: Tensor, steps: int, *, how: Training, chance: torch.Generator
    ) -> "Learner":
        """The learner after ``steps`` more steps of Adam on rows (n, d) with class shares (n, C)."""
        if steps == 0:
            return self
        constant = torch.cat([rows, torch.ones_like(rows[:, :1])], dim=1)
        begin = (self.weights, self.means, self.squares)
        end = after_steps(begin, self.age, (constant, targets), steps, how=how, chance=chance)
        return Learner(*end, self.age + steps)

    def detached(self) -> "Learner":
        """The same weights, cut off from the steps that led to them: no gradient flows further back."""
        parts = (self.weights, self.means, self.squares)
        weights, means, squares = ((a.detach(), b.detach()) for a, b in parts)
        return replace(self, weights=weights, means=means, squares=squares)


@torch.no_grad()
def averaged_learner(
    rows: Tensor, targets: Tensor, *, how: Training, chance: torch.Generator, steps: int = 150
) -> Learner:
    """A learner trained on ``rows`` (n, d), with the mean of its weights over the second half of the steps.

    The accuracy of the last weights alone goes up and down with every dropout.
    """
    learner = Learner.untrained(
        num_features=rows.shape[1],
        num_classes=targets.shape[1],
        hidden=how.hidden,
        chance=chance,
        device=str(rows.device),
    ).trained(rows, targets, steps // 2, how=how, chance=chance)
    first, last = (torch.zeros_like(weight) for weight in learner.weights)
    count = max(1, steps - steps // 2)
    for _ in range(count):
        learner = learner.trained(rows, targets, 1, how=how, chance=chance)
        first += learner.weights[0]
        last += learner.weights[1]
    return replace(learner, weights=(first / count, last / count))


def _affine(rows: Tensor, weight: Tensor) -> Tensor:
    return rows @ weight[:, :-1].T + weight[:, -1]
