"""Gradient-Parameter Synergistic Matching: what condensed data must make a network do.

The network is an HNN whose propagation comes before its weights (as in SGC): it sees rows of ``P^2 X``, in
which ``P`` is that of the source or of the condensed hypergraph. So the source is propagated once, a step on
it reads some rows, and a step on the condensed side is small enough to be differentiated twice, exactly.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor

#: Weight (inputs, outputs) and bias of every layer, in turns.
Parameters: TypeAlias = tuple[Tensor, ...]
_TINY = 1e-12


@dataclass(frozen=True)
class Waypoint:
    """A place on the way of an expert, a network that was trained on the source.

    Attributes:
        parameters: Where the expert was.
        gradients: Of its loss on the source there.
        later: Where it was some steps later.
    """

    parameters: Parameters
    gradients: Parameters
    later: Parameters


@dataclass(frozen=True)
class View:
    """Rows as the network sees them, centred and scaled: gradient descent is slow on rows far from 0.

    Args:
        center: Mean row of the source, shape (d,).
        scale: Mean distance of a row from it.
    """

    center: Tensor
    scale: float

    @classmethod
    def of(cls, rows: Tensor, center: Tensor) -> "View":
        """The view in which the mean length of these rows is 1 (or 0, if they are all at the centre)."""
        return cls(center, float((rows - center).norm(dim=1).mean()) or 1.0)

    def __call__(self, rows: Tensor) -> Tensor:
        """The same rows, seen."""
        return (rows - self.center) / self.scale


@dataclass(frozen=True)
class SourceRows:
    """Propagated rows of the training nodes, handed out in random batches.

    Args:
        rows: As the network sees them, shape (training nodes, d).
        labels: Their classes.
        batch: Most rows of a batch.
        chance: Where batches are drawn from.
    """

    rows: Tensor
    labels: Tensor
    batch: int
    chance: torch.Generator

    def draw(self) -> tuple[Tensor, Tensor]:
        """Rows and classes of a batch; all of them if they fit."""
        if len(self.rows) <= self.batch:
            return self.rows, self.labels
        positions = torch.randint(len(self.rows), (self.batch,), generator=self.chance).to(self.rows.device)
        return self.rows[positions], self.labels[positions]


def first_parameters(widths: list[int], chance: torch.Generator) -> Parameters:
    """Gaussian weights whose products keep the length of a row, and biases 0."""
    parameters: list[Tensor] = []
    for inputs, outputs in pairwise(widths):
        parameters.append(torch.randn(inputs, outputs, generator=chance) / outputs**0.5)
        parameters.append(torch.zeros(outputs))
    return tuple(parameters)


def class_scores(rows: Tensor, parameters: Parameters) -> Tensor:
    """The network: linear layers with ReLU between them, (rows, classes)."""
    *inner, last = zip(parameters[::2], parameters[1::2], strict=True)
    for weight, bias in inner:
        rows = F.relu(rows @ weight + bias)
    return rows @ last[0] + last[1]


def loss_gradients(
    rows: Tensor, labels: Tensor, parameters: Parameters, *, differentiable: bool = False
) -> Parameters:
    """Gradients of the mean cross-entropy, one per parameter."""
    if not differentiable:
        parameters = tuple(parameter.detach().requires_grad_() for parameter in parameters)
    loss = F.cross_entropy(class_scores(rows, parameters), labels)
    return torch.autograd.grad(loss, parameters, create_graph=differentiable)


def gradient_distance(ours: Parameters, theirs: Parameters) -> Tensor:
    """``1 - cosine`` of the weights of each output unit, averaged by layer, plus the relative squared error.

    Biases have no direction of their own to match: their gradient is often nearly 0 on balanced data.
    """
    pairs = list(zip(ours, theirs, strict=True))
    directions = [1 - F.cosine_similarity(our, their, dim=0).mean() for our, their in pairs[::2]]
    return torch.stack(directions).mean() + squared_distance(ours, theirs) / squared_length(theirs)


def parameter_distance(ours: Parameters, waypoint: Waypoint) -> Tensor:
    """Squared distance from where the expert got to, relative to how far it went."""
    went = squared_distance(waypoint.parameters, waypoint.later)
    return squared_distance(ours, waypoint.later) / went.clamp(min=_TINY)


def squared_distance(ours: Parameters, theirs: Parameters) -> Tensor:
    """Sum of the squared differences of all entries."""
    return torch.stack([(our - their).square().sum() for our, their in zip(ours, theirs, strict=True)]).sum()


def squared_length(parameters: Parameters) -> Tensor:
    """Sum of the squares of all entries, and never so small that nothing could be divided by it."""
    return torch.stack([parameter.square().sum() for parameter in parameters]).sum().clamp(min=_TINY)


def matching_losses(
    rows: Tensor, labels: Tensor, waypoint: Waypoint, *, steps: int, step_size: float
) -> tuple[Tensor, Tensor]:
    """Both distances of a student that starts at a waypoint and learns from condensed rows.

    Args:
        rows: Condensed rows as the network sees them, (n, d).
        labels: Their classes.
        waypoint: Where the student starts, and what it should do.
        steps: Steps of gradient descent of the student; all of them are differentiated through.
        step_size: Of the student.
    """
    parameters = tuple(parameter.detach().requires_grad_() for parameter in waypoint.parameters)
    gradients = loss_gradients(rows, labels, parameters, differentiable=True)
    of_gradients = gradient_distance(gradients, waypoint.gradients)
    for step in range(steps):
        if step:
            gradients = loss_gradients(rows, labels, parameters, differentiable=True)
        parameters = tuple(
            here - step_size * slope for here, slope in zip(parameters, gradients, strict=True)
        )
    return of_gradients, parameter_distance(parameters, waypoint)


def expert_waypoints(
    source: SourceRows, first: Parameters, *, steps: int, stride: int, step_size: float
) -> Iterator[Waypoint]:
    """Train an expert by gradient descent; a waypoint every ``stride`` steps."""
    here, begin = first, None
    for step in range(steps + 1):
        gradients = loss_gradients(*source.draw(), here)
        if step % stride == 0:
            if begin is not None:
                yield Waypoint(*begin, later=here)
            begin = (here, gradients)
        here = tuple(place - step_size * slope for place, slope in zip(here, gradients, strict=True))
