"""Differentiating through ten steps of training: the derivative written out, and recorded by autograd.

    python benchmarks/steps.py [--rows 222] [--columns 100] [--classes 11] [--hidden 64] [--repeats 30]

Both take turns in one process, on one thread, and medians of processor time are compared.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median

import torch
import torch.nn.functional as F
from torch import Tensor

from hypercondense.nn.learner import Learner
from hypercondense.nn.steps import Training

WINDOW = 10
HOW = Training()


def recorded(learner: Learner, rows: Tensor, targets: Tensor) -> Learner:
    """The learner after ten steps, every operation of which autograd keeps."""
    weights, means, squares = (list(pair) for pair in (learner.weights, learner.means, learner.squares))
    constant = torch.cat([rows, torch.ones_like(rows[:, :1])], dim=1)
    for age in range(learner.age + 1, learner.age + WINDOW + 1):
        first, last = weights
        hidden = constant @ first.T
        kept = torch.rand(hidden.shape) >= HOW.dropout
        slope = (hidden > 0) * kept / (1 - HOW.dropout)
        active = torch.cat([hidden * slope, torch.ones_like(hidden[:, :1])], dim=1)
        error = (F.softmax(active @ last.T, dim=1) - targets) / len(rows)
        for i, found in enumerate((((error @ last[:, :-1]) * slope).T @ constant, error.T @ active)):
            gradient = found + HOW.weight_decay * weights[i]
            means[i] = 0.9 * means[i] + 0.1 * gradient
            squares[i] = 0.999 * squares[i] + 0.001 * gradient.square()
            scale = (squares[i] / (1 - 0.999**age) + 1e-16).sqrt() + 1e-8
            weights[i] = weights[i] - HOW.step / (1 - 0.9**age) * means[i] / scale
    return Learner(
        (weights[0], weights[1]), (means[0], means[1]), (squares[0], squares[1]), learner.age + WINDOW
    )


def written_out(learner: Learner, rows: Tensor, targets: Tensor) -> Learner:
    """The same by the package."""
    return learner.trained(rows, targets, WINDOW, how=HOW, chance=torch.default_generator)


def slope_of(
    way: Callable[[Learner, Tensor, Tensor], Learner], learner: Learner, rows: Tensor, targets: Tensor
) -> Tensor:
    """The gradient of what the learner makes of the rows afterwards."""
    torch.manual_seed(0)
    loss = F.cross_entropy(way(learner, rows, targets)(rows.detach()), targets)
    return torch.autograd.grad(loss, rows)[0]


def main() -> None:
    """Compare both."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, number in (("rows", 222), ("columns", 100), ("classes", 11), ("hidden", 64), ("repeats", 30)):
        parser.add_argument(f"--{name}", type=int, default=number)
    options = parser.parse_args()
    torch.set_num_threads(1)
    chance = torch.Generator().manual_seed(0)
    rows = torch.randn(options.rows, options.columns, generator=chance).requires_grad_()
    classes = torch.randint(options.classes, (options.rows,), generator=chance)
    targets = F.one_hot(classes, options.classes).float()
    learner = Learner.untrained(
        num_features=options.columns,
        num_classes=options.classes,
        hidden=options.hidden,
        chance=chance,
        device="cpu",
    ).trained(rows.detach(), targets, 20, how=HOW, chance=chance)
    times: dict[str, list[float]] = {"recorded": [], "written out": []}
    slopes: dict[str, Tensor] = {}
    for _ in range(options.repeats):
        for name, way in (("recorded", recorded), ("written out", written_out)):
            begin = time.process_time()
            slopes[name] = slope_of(way, learner, rows, targets)
            times[name].append(time.process_time() - begin)
    before, now = (1000 * median(times[name]) for name in ("recorded", "written out"))
    same = "the same bits" if torch.equal(*slopes.values()) else "other bits"
    print(
        f"- {options.rows} rows of {options.columns} columns, {options.classes} classes: recorded "
        f"{before:.1f} ms, written out {now:.1f} ms = **{now / before:.2f} x**, {same}"
    )


if __name__ == "__main__":
    main()
