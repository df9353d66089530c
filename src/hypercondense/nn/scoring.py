"""What predictions are worth, by the metric that is searched and chosen for."""

import torch
from torch import Tensor

from hypercondense.errors import ConfigError
from hypercondense.names import METRICS, Metric


def check_metric(metric: str) -> None:
    """Refuse a metric that there is not, before the long work."""
    if metric not in METRICS:
        raise ConfigError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}")


def score_of(told: Tensor, labels: Tensor, metric: Metric = "accuracy") -> float:
    """Score of the classes ``told`` (N,) against ``labels`` (N,), between 0 and 1.

    Macro-F1 is the mean F1 of the classes that are in ``labels``; one that is never told counts as 0.

    >>> told, labels = torch.tensor([0, 0, 0, 1]), torch.tensor([0, 0, 1, 1])
    >>> score_of(told, labels), round(score_of(told, labels, "macro-f1"), 4)
    (0.75, 0.7333)
    """
    if metric == "accuracy":
        return float((told == labels).double().mean())
    f1, _ = _f1_of_classes(told, labels)
    return float(f1.mean())


def contributions(told: Tensor, labels: Tensor, metric: Metric = "accuracy") -> Tensor:
    """What every node contributes to the score, (N,): their mean is the score, and their spread its error.

    With accuracy it is whether a node is right. Macro-F1 is no mean over nodes; its contributions are those
    of its linear approximation: the variance of the score is that of their mean (the delta method).

    >>> told, labels = torch.tensor([0, 0, 0, 1]), torch.tensor([0, 0, 1, 1])
    >>> contributions(told, labels).tolist()
    [1.0, 1.0, 0.0, 1.0]
    """
    if metric == "accuracy":
        return (told == labels).double()
    f1, sizes = _f1_of_classes(told, labels)
    place = torch.full((int(max(told.max(), labels.max())) + 2,), -1, device=labels.device)
    place[torch.unique(labels)] = torch.arange(len(f1), device=labels.device)
    own, other = place[labels], place[told]  # told -1, no class, is found at the end: nowhere
    # A node counts in 2 TP and in TP + FN of the class it has, and in TP + FP of the class it is told.
    effect = ((told == labels).double() * 2 - f1[own]) / sizes[own]
    known = other >= 0
    effect[known] -= f1[other[known]] / sizes[other[known]]
    return f1.mean() + len(labels) * effect / len(f1)


def _f1_of_classes(told: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """F1 of every class in ``labels``, in order, and what its numerator is divided by."""
    classes: Tensor = torch.unique(labels)
    right = labels[told == labels]
    number = int(labels.max()) + 1
    true, said, hits = (
        torch.bincount(some[(some >= 0) & (some < number)], minlength=number)[classes].double()
        for some in (labels, told, right)
    )
    return 2 * hits / (true + said), true + said
