"""Ridge: condensed rows from which closed-form ridge regression predicts the real training rows.

Ridge regression has a closed form, so its error on the source can be minimized through the solve: no network
is trained while condensing. With condensed rows ``Z'`` (n, d), their one-hot classes ``Y'`` (n, C), which may
become soft, and source rows ``Z`` (m, d):

    ``W = (Z' Z'^T + r I)^-1 Y'``,  prediction ``Z Z'^T W``,  loss between prediction and ``Y``.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor

from hypercondense.condensing.ahgcdd import AHGCDD, PROPAGATIONS, Propagation
from hypercondense.condensing.base import Condenser, Outcome, Task
from hypercondense.condensing.options import check_options, choice
from hypercondense.condensing.problem import Map, Problem
from hypercondense.condensing.refinement import Rows, State, first_features, spread
from hypercondense.condensing.starts import STARTS, Start
from hypercondense.diffusion import heat_kernel, identity
from hypercondense.hypergraph import Hypergraph

_SAMPLE_STREAM = 6
_JITTER_TRIES = 8
_OWN_SHARE = (
    0.9  # of the allotted class in soft labels at the start: near one-hot, where gradients still flow
)

#: Loss of predictions (m, C) for one-hot classes (m, C).
Objective: TypeAlias = Callable[[Tensor, Tensor], Tensor]


def squared(predicted: Tensor, classes: Tensor) -> Tensor:
    """Mean over rows of the squared distance to the one-hot class."""
    return (predicted - classes).square().sum(1).mean()


def cross_entropy(predicted: Tensor, classes: Tensor) -> Tensor:
    """Cross-entropy of predictions as logits, ten times sharper: ridge regression predicts within 0 and 1."""
    return F.cross_entropy(10.0 * predicted, classes)


OBJECTIVES: dict[str, Objective] = {"squared": squared, "cross-entropy": cross_entropy}

Also: TypeAlias = Literal["nothing", "raw", "half", "both"]
ALSO: dict[Also, tuple[tuple[float, ...], ...]] = {
    "nothing": (),
    "raw": (identity(),),
    "half": (heat_kernel(1.0),),
    "both": (identity(), heat_kernel(1.0)),
}


@dataclass(frozen=True, kw_only=True)
class Ridge(Condenser):
    """Features optimized through closed-form ridge regression.

    Args:
        time: Diffusion time of the source rows; the power of P where ``propagation`` is ``power``.
        propagation: ``heat-kernel``, ``vanilla``, ``power`` or ``none``, as for AHGCDD.
        also: Rows to be predicted besides: ``raw`` features, such as are diffused ``half`` as long, or
            ``both``. Networks with residual connections see something in between.
        walks: Whether to predict such rows, too, as random walks bring: networks that take means over
            neighbours see these, and where degrees differ much they are others.
        start: How source rows are aggregated: ``uniform``, ``single`` or ``kmeans``.
        samples_per_node: Rows aggregated per condensed node.
        epochs: Steps of Adam.
        feature_step: Its first step, times the standard deviation of the features at the start; it falls to 0
            along half a cosine.
        batch: Source rows a step looks at.
        objective: ``squared`` or ``cross-entropy``.
        strength: ``r`` as a fraction of the mean squared length of the condensed rows.
        soft_labels: Whether condensed nodes have shares of classes, the softmax of scores that begin at 0.9
            for the allotted class and are optimized together with the features. Networks learn from them.
        label_step: Step of these scores, times that of the features in standard deviations; with 0 they stay
            as they begin, which smooths the classes.
        structure: Whether hyperedges are made, and optimized in turns with the features, as in AHGCDD.
        snapshots: How many states besides the start are scored by ``select``.
        self_select: Whether, without ``select``, the ridge model itself scores them on the validation nodes.
    """

    name: ClassVar[str] = "ridge"
    empty_structure: ClassVar[str | None] = None
    one_thread_up_to: ClassVar[int] = 128  # its batches of source rows gain from two sooner than others

    time: float = 2.0
    propagation: Propagation = choice("heat-kernel", PROPAGATIONS)
    also: Also = "nothing"
    walks: bool = False
    start: Start = choice("kmeans", STARTS)
    samples_per_node: int = 100
    epochs: int = 100
    feature_step: float = 0.1
    batch: int = 2048
    objective: Objective = choice("cross-entropy", OBJECTIVES)
    strength: float = 0.05
    soft_labels: bool = False
    label_step: float = 1.0
    structure: bool = False
    snapshots: int = 4
    self_select: bool = True

    def __post_init__(self) -> None:
        check_options(self, at_least={"samples_per_node": 1, "epochs": 0, "batch": 1, "snapshots": 1})
        check_options(self, at_least={"label_step": 0}, above={"feature_step": 0, "strength": 0})
        self.propagation(self.time)

    def run(self, task: Task) -> Outcome:
        """Minimize the error of the closed-form model on batches of training rows."""
        problem = self.problem(task)
        rows = Rows(problem.start_rows, task.train_labels, task.device, unit_vectors=False)
        first, members = first_features(task, rows, start=self.start, samples=self.samples_per_node)
        if self.self_select and task.select is None and len(task.split.validation_ids):
            task = replace(task, select=lambda candidate: self.accuracy(problem, candidate))
        state, scale = self.make_state(task, first), spread(first)
        if self.soft_labels:
            state.learn_labels(first_scores(problem.targets))
        for epoch in state.epochs(self.total_epochs, self.snapshots):
            step = self.relative_step(epoch)
            state.set_steps(scale * step, self.label_step * step)
            structure = state.structure()
            loss = self.loss(problem, state, problem.view(state.features, structure))
            state.update(loss, structure, features=self.updates_features(epoch), error=loss)
        return state.outcome(members)

    @property
    def total_epochs(self) -> int:
        """How many updates there are."""
        return self.epochs

    def problem(self, task: Task) -> Problem:
        """The rows to predict."""
        first = Map(self.propagation(self.time))
        walked = [first._replace(walks=True)] if self.walks else []
        return Problem.of(task, [first, *(Map(coefficients) for coefficients in ALSO[self.also]), *walked])

    def relative_step(self, epoch: int) -> float:
        """Adam's step in standard deviations of the first features."""
        return self.feature_step * falling(epoch / self.epochs)

    def loss(self, problem: Problem, state: State, condensed: Tensor) -> Tensor:
        """Loss of the closed-form model, fitted to ``condensed`` rows (n, d), on a batch of training rows."""
        rows, classes = problem.batch(self.batch, state.chance)
        targets = learnt_targets(problem, state)
        return self.objective(ridge_predict(condensed, targets, rows, strength=self.strength), classes)

    def accuracy(self, problem: Problem, candidate: Hypergraph) -> float:
        """Accuracy on the validation nodes of the closed-form model fitted to a candidate."""
        condensed, targets = problem.view_of(candidate), problem.targets_of(candidate)
        return problem.accuracy(lambda rows: ridge_predict(condensed, targets, rows, strength=self.strength))

    def make_state(self, task: Task, first: Tensor) -> State:
        """What changes from epoch to epoch, with a generator of hyperedges if they are wanted."""
        if self.structure:
            labels = torch.as_tensor(task.labels, device=task.device)
            return self._anchors.make_state(task, first, labels)
        return State.features_only(task, first, step=1.0, stream=_SAMPLE_STREAM)

    def updates_features(self, epoch: int) -> bool:
        """Whose turn it is, the features' or the structure's."""
        return not self.structure or self._anchors.updates_features(epoch)

    @property
    def _anchors(self) -> AHGCDD:
        return AHGCDD(time=self.time, propagation=self.propagation)


def learnt_targets(problem: Problem, state: State) -> Tensor:
    """What a model is fitted to at present, (n, C): the shares of classes, or the one-hot classes."""
    shares = state.shares()
    return problem.targets if shares is None else shares


def first_scores(targets: Tensor) -> Tensor:
    """Scores whose softmax gives 0.9 to the class in one-hot ``targets`` (n, C), the rest equally to others.

    >>> first_scores(torch.eye(3)[:2]).softmax(1)
    tensor([[0.9000, 0.0500, 0.0500],
            [0.0500, 0.9000, 0.0500]])
    """
    others = max(1, targets.shape[1] - 1)
    return targets * math.log(_OWN_SHARE * others / (1 - _OWN_SHARE))


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
    kernel = condensed @ condensed.T + bias
    weights = solve_positive(kernel, classes, ridge=strength * kernel.diagonal().mean())
    # Classes first: the gradient is then a short, wide product, several times faster than a tall, thin one.
    return F.linear(rows, weights.T @ condensed, bias * weights.sum(0))


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
