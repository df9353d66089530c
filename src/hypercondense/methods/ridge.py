"""Ridge: condensed rows from which closed-form ridge regression predicts the real training rows.

Ridge regression has a closed form, so its error on the source can be minimized through the solve: no network
is trained while condensing. With condensed rows ``Z'`` (n, d), their one-hot classes ``Y'`` (n, C) and source
rows ``Z`` (m, d):

    ``W = (Z' Z'^T + r I)^-1 Y'``,  prediction ``Z Z'^T W``,  loss between prediction and ``Y``.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from hypercondense.hypergraph import Dense, Hypergraph, Ids
from hypercondense.initialize import STARTS, Start
from hypercondense.methods.ahgcdd import PROPAGATIONS, Propagation
from hypercondense.methods.base import Condenser, Outcome, Task
from hypercondense.methods.options import check_options, choice
from hypercondense.methods.refinement import Rows, State, first_features, spread

_SAMPLE_STREAM = 6
_JITTER_TRIES = 8

#: Loss of predictions (m, C) for one-hot classes (m, C).
Objective: TypeAlias = Callable[[Tensor, Tensor], Tensor]


def squared(predicted: Tensor, classes: Tensor) -> Tensor:
    """Mean over rows of the squared distance to the one-hot class."""
    return (predicted - classes).square().sum(1).mean()


def cross_entropy(predicted: Tensor, classes: Tensor) -> Tensor:
    """Cross-entropy of predictions as logits, ten times sharper: ridge regression predicts within 0 and 1."""
    return F.cross_entropy(10.0 * predicted, classes)


OBJECTIVES: dict[str, Objective] = {"squared": squared, "cross-entropy": cross_entropy}


@dataclass(frozen=True, kw_only=True)
class Ridge(Condenser):
    """Features optimized through closed-form ridge regression; the structure is the identity.

    Args:
        time: Diffusion time of the source rows.
        propagation: ``heat-kernel``, ``vanilla`` or ``none``, as for AHGCDD.
        start: How source rows are aggregated: ``uniform``, ``single`` or ``kmeans``.
        samples_per_node: Rows aggregated per condensed node.
        epochs: Steps of Adam.
        feature_step: Its step, times the standard deviation of the features at the start.
        batch: Source rows a step looks at.
        objective: ``squared`` or ``cross-entropy``.
        strength: ``r`` as a fraction of the mean squared length of the condensed rows.
        snapshots: How many states besides the start are scored by ``select``.
        self_select: Whether, without ``select``, the ridge model itself scores them on the validation nodes.
    """

    name: ClassVar[str] = "ridge"
    empty_structure: ClassVar[str | None] = None

    time: float = 2.0
    propagation: Propagation = choice("heat-kernel", PROPAGATIONS)
    start: Start = choice("kmeans", STARTS)
    samples_per_node: int = 50
    epochs: int = 150
    feature_step: float = 0.05
    batch: int = 2048
    objective: Objective = choice("squared", OBJECTIVES)
    strength: float = 0.01
    snapshots: int = 10
    self_select: bool = True

    def __post_init__(self) -> None:
        check_options(self, at_least={"samples_per_node": 1, "epochs": 0, "batch": 1, "snapshots": 1})
        check_options(self, above={"feature_step": 0, "strength": 0})
        self.propagation(self.time)

    def run(self, task: Task) -> Outcome:
        """Minimize the error of the closed-form model on batches of training rows."""
        diffused = task.diffused(self.propagation(self.time))
        rows = Rows(
            np.asarray(diffused[task.split.train_ids]), task.train_labels, task.device, unit_vectors=False
        )
        first, members = first_features(task, rows, start=self.start, samples=self.samples_per_node)
        classes = F.one_hot(torch.as_tensor(task.labels, device=task.device), task.source.num_classes).to(
            first
        )
        if self.self_select and task.select is None and len(task.split.validation_ids):
            validation = np.asarray(diffused[task.split.validation_ids])
            task = replace(task, select=self._scorer(task, validation, classes))
        step = self.feature_step * spread(first)
        state = State.features_only(task, first, step=step, stream=_SAMPLE_STREAM)
        for _ in state.epochs(self.epochs, self.snapshots):
            positions = _draw(len(rows.labels), self.batch, state.chance)
            wanted = F.one_hot(torch.from_numpy(rows.labels[positions]), task.source.num_classes).to(first)
            predicted = ridge_predict(state.features, classes, rows[positions], strength=self.strength)
            loss = self.objective(predicted, wanted)
            state.update(loss, state.structure(), features=True, error=loss)
        return state.outcome(members)

    def _scorer(self, task: Task, validation: Dense, classes: Tensor) -> Callable[[Hypergraph], float]:
        """Accuracy of the closed-form model on the validation nodes."""
        labels = task.source.labels[task.split.validation_ids]
        rows = torch.from_numpy(validation).to(task.device)

        def score(candidate: Hypergraph) -> float:
            features = torch.tensor(candidate.dense_features(), device=task.device)
            predicted = ridge_predict(features, classes, rows, strength=self.strength)
            return float((predicted.argmax(1).cpu().numpy() == labels).mean())

        return score


def ridge_predict(condensed: Tensor, classes: Tensor, rows: Tensor, *, strength: float) -> Tensor:
    """Predict ``rows`` (m, d) by ridge regression fitted to ``condensed`` (n, d) and ``classes`` (n, C).

    Every row also has a constant entry of the size of a typical feature, which is the bias.

    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> ridge_predict(x, torch.eye(2), x, strength=1e-6).round()
    tensor([[1., 0.],
            [0., 1.]])
    """
    bias = condensed.detach().square().mean().sqrt() * torch.ones_like(condensed[:1, :1])
    condensed, rows = (torch.cat([x, bias.expand(len(x), 1)], dim=1) for x in (condensed, rows))
    kernel = condensed @ condensed.T
    weights = solve_positive(kernel, classes, ridge=strength * kernel.diagonal().mean())
    return rows @ (condensed.T @ weights)


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


def _draw(size: int, batch: int, chance: torch.Generator) -> Ids:
    """Positions of a batch, all different; all of them where there are no more."""
    return np.sort(torch.randperm(size, generator=chance)[:batch].numpy())
