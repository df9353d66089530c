"""Steps of Adam on a network with one hidden layer, and their derivative, both written out.

Thousands of such steps on small matrices are differentiated through while condensing. Recorded by autograd,
most of the time would go into keeping records, not into numbers.

One step, with rows ``R`` (n, d + 1) whose last column is 1, class shares ``T`` (n, C), weights ``W_1``
(hidden, d + 1) and ``W_2`` (C, hidden + 1), and ``s`` the slopes of the ReLU times the dropout:

    ``A = [R W_1^T * s, 1]``, ``E = (softmax(A W_2^T) - T) / n``, ``K = (E W_2) * s`` without the last column,
    ``G_1 = K^T R``, ``G_2 = E^T A``, and Adam's step from ``W`` along ``G + decay W``.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

_FIRST_DECAY, _SECOND_DECAY, _TINY = 0.9, 0.999, 1e-8
_ALIGNED = 16  # numbers: where the second weights may begin, so that products find them as if they were alone

Pair = tuple[Tensor, Tensor]
#: Both weights, and Adam's running averages of their gradients and of these squared.
Moments = tuple[Pair, Pair, Pair]


@dataclass(frozen=True)
class Training:
    """How a learner is trained; the defaults are those of HGNN, at twice its step."""

    hidden: int = 128
    step: float = 0.02
    weight_decay: float = 5e-4
    dropout: float = 0.5


def after_steps(
    begin: Moments, age: int, seen: Pair, steps: int, *, how: Training, chance: torch.Generator
) -> Moments:
    """Weights and averages after some steps on ``seen`` rows (n, d + 1) and class shares (n, C).

    They are ``age`` steps old at the beginning. Gradients flow to the rows, the shares and to what they were.
    """
    pairs = (tensor for pair in begin for tensor in pair)
    end = _Steps.apply(*seen, *pairs, age, steps, how, chance)  # type: ignore[no-untyped-call]
    return end[0:2], end[2:4], end[4:6]


class _State(NamedTuple):
    """Weights and averages, both of a kind in one vector."""

    weights: Tensor
    means: Tensor
    squares: Tensor
    age: int


class _Record(NamedTuple):
    """What the derivative of a step needs to know of it; vectors hold both weights."""

    age: int
    weights: Tensor
    gradient: Tensor
    root: Tensor
    scale: Tensor
    move: Tensor
    slope: Tensor
    active: Tensor
    shares: Tensor
    error: Tensor
    carried: Tensor


class _Steps(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, targets: Tensor, *others: Any) -> tuple[Tensor, ...]:
        *pairs, age, steps, how, chance = others
        layout = _Layout.of(pairs[0], pairs[1])
        weights, means, squares = (layout.joined(pairs[i], pairs[i + 1]) for i in (0, 2, 4))
        state = _State(weights, means, squares, age)
        wanted = any(ctx.needs_input_grad)
        records = []
        for _ in range(steps):
            state, record = _step(state, layout, (rows, targets), how, chance)
            if wanted:
                records.append(record)
        ctx.layout, ctx.records, ctx.how = layout, records, how
        ctx.save_for_backward(rows)
        return tuple(copy for joined in state[:3] for copy in layout.copies(joined))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        (rows,) = ctx.saved_tensors
        layout, how = ctx.layout, ctx.how
        of_weights, of_means, of_squares = (layout.joined(slopes[i], slopes[i + 1]) for i in (0, 2, 4))
        of_rows, of_targets = torch.zeros_like(rows), torch.zeros_like(ctx.records[0].error)
        for record in reversed(ctx.records):
            # Adam
            of_scale = of_weights * (record.move / record.scale)
            of_means = of_means - (of_weights / record.scale) * _rate(how, record.age)
            of_squares = of_squares + of_scale / (2 * record.root) / (1 - _SECOND_DECAY**record.age)
            of_gradient = (1 - _FIRST_DECAY) * of_means
            of_gradient += ((1 - _SECOND_DECAY) * of_squares) * (2 * record.gradient)
            of_weights = of_weights + how.weight_decay * of_gradient
            of_means, of_squares = _FIRST_DECAY * of_means, _SECOND_DECAY * of_squares
            # The gradients of the loss
            (first, last), (to_first, to_last) = layout.parts(record.weights), layout.parts(of_weights)
            of_first, of_last = layout.parts(of_gradient)
            of_product = (rows @ of_first.T) * record.slope
            of_rows += record.carried @ of_first
            to_last[:, :-1] += record.error.T @ of_product
            of_error = (record.active @ of_last.T).add_(of_product @ last[:, :-1].T).div_(len(rows))
            of_targets -= of_error
            # The scores
            of_scores = torch._softmax_backward_data(of_error, record.shares, 1, of_error.dtype)
            of_active = (record.error @ of_last).add_(of_scores @ last)
            to_last += of_scores.T @ record.active
            of_hidden = of_active[:, :-1] * record.slope
            of_rows += of_hidden @ first
            to_first += of_hidden.T @ rows
        state = (of_weights, of_means, of_squares)
        return of_rows, of_targets, *(part for joined in state for part in layout.parts(joined)), *[None] * 4


def _step(
    state: _State, layout: "_Layout", seen: Pair, how: Training, chance: torch.Generator
) -> tuple[_State, _Record]:
    """The state after one step on the rows and class shares that are ``seen``, and a record of the step."""
    (weights, means, squares, age), (rows, targets) = state, seen
    age += 1
    first, last = layout.parts(weights)
    hidden = rows @ first.T
    kept = torch.rand(hidden.shape, generator=chance).to(rows.device) >= how.dropout
    slope = (hidden > 0) * kept / (1 - how.dropout)
    active = torch.cat([hidden * slope, torch.ones_like(hidden[:, :1])], dim=1)
    shares = torch.softmax(active @ last.T, dim=1)
    error = (shares - targets) / len(rows)
    carried = (error @ last[:, :-1]) * slope
    gradient = torch.zeros_like(weights)
    of_first, of_last = layout.parts(gradient)
    torch.mm(carried.T, rows, out=of_first)
    torch.mm(error.T, active, out=of_last)
    gradient += how.weight_decay * weights
    means = (_FIRST_DECAY * means).add_((1 - _FIRST_DECAY) * gradient)
    squares = (_SECOND_DECAY * squares).add_((1 - _SECOND_DECAY) * gradient.square())
    # The root has no slope at 0, where a feature that is always 0 would put it.
    root = (squares / (1 - _SECOND_DECAY**age)).add_(_TINY**2).sqrt_()
    scale = root + _TINY
    move = (_rate(how, age) * means).div_(scale)
    record = _Record(age, weights, gradient, root, scale, move, slope, active, shares, error, carried)
    return _State(weights - move, means, squares, age), record


def _rate(how: Training, age: int) -> float:
    return how.step / (1 - _FIRST_DECAY**age)


class _Layout(NamedTuple):
    """Two matrices in one vector: what is done to every number is done once."""

    first: torch.Size
    last: torch.Size
    begin: int  # of the second

    @classmethod
    def of(cls, first: Tensor, last: Tensor) -> "_Layout":
        return cls(first.shape, last.shape, -(-first.numel() // _ALIGNED) * _ALIGNED)

    def joined(self, first: Tensor, last: Tensor) -> Tensor:
        vector = first.new_zeros(self.begin + last.numel())
        for part, matrix in zip(self.parts(vector), (first, last), strict=True):
            part.copy_(matrix)
        return vector

    def parts(self, vector: Tensor) -> Pair:
        """Views of the two."""
        first, last = self.first, self.last
        return (
            vector.as_strided(first, (first[1], 1)),
            vector.as_strided(last, (last[1], 1), self.begin),
        )

    def copies(self, vector: Tensor) -> Pair:
        """The same in memory of their own, as files want them."""
        first, last = self.parts(vector)
        return first.clone(), last.clone()
