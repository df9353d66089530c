"""What a trained network is asked to do with nodes of the source.

All three look at test nodes only, unless told otherwise. Nodes the network learned from flatter clustering
and retrieval, because their embeddings were pulled together by their labels.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from hypercondense.errors import ConfigError
from hypercondense.evaluation.metrics import (
    accuracy,
    calibration_error,
    macro_f1,
    mean_average_precision,
    mutual_information,
)
from hypercondense.hypergraph import Ids
from hypercondense.nn import HypergraphNetwork
from hypercondense.nn.training import Inputs, told_classes

RESTARTS = 10  # of k-means; the clustering with the lowest inertia counts, which needs no labels


@dataclass(frozen=True)
class Outcome:
    """The score of one run.

    For classification only: ``macro_f1``, ``calibration`` (its expected error) and ``predicted``, the class
    that every scored node was given, -1 for none.
    """

    value: float
    macro_f1: float | None = None
    calibration: float | None = None
    predicted: tuple[int, ...] = ()


@dataclass(frozen=True)
class Task:
    """A task and the name of what it measures."""

    name: str
    metric: str
    score: Callable[[HypergraphNetwork, Inputs, Ids, int], Outcome]


@torch.no_grad()
def classify(model: HypergraphNetwork, source: Inputs, node_ids: Ids, seed: int) -> Outcome:
    """Accuracy, macro-F1 and calibration of the predicted classes. ``seed`` is not used here."""
    rows = torch.as_tensor(node_ids.copy(), device=source.labels.device)
    scores = source.scores(model, rows)
    predicted = told_classes(scores).cpu().numpy()
    labels = source.labels[rows].cpu().numpy()
    shares = torch.softmax(scores, 1).cpu().numpy()
    sure = calibration_error(labels, shares) if np.isfinite(shares).all() else None
    told = tuple(predicted.tolist())
    return Outcome(accuracy(labels, predicted), macro_f1(labels, predicted), sure, told)


def cluster(model: HypergraphNetwork, source: Inputs, node_ids: Ids, seed: int) -> Outcome:
    """NMI of the classes and k-means on the embeddings, with as many clusters as classes are there."""
    from sklearn.cluster import KMeans

    embeddings, labels = _embeddings(model, source, node_ids)
    num_clusters = min(len(np.unique(labels)), len(labels))
    rows = embeddings.double().cpu().numpy()
    # scikit-learn warns if fewer rows differ than there are clusters: a network may say one thing of all.
    num_clusters = min(num_clusters, len(np.unique(rows, axis=0)))
    means = KMeans(num_clusters, n_init=RESTARTS, random_state=seed % 2**32)
    return Outcome(mutual_information(labels, means.fit_predict(rows)))


def retrieve(model: HypergraphNetwork, source: Inputs, node_ids: Ids, seed: int) -> Outcome:
    """MAP of finding the other nodes of the same class by cosine similarity. ``seed`` is not used."""
    embeddings, labels = _embeddings(model, source, node_ids)
    return Outcome(mean_average_precision(embeddings, labels))


TASKS: dict[str, Task] = {
    "classify": Task("classify", "accuracy", classify),
    "cluster": Task("cluster", "nmi", cluster),
    "retrieve": Task("retrieve", "map", retrieve),
}


def task_named(name: str) -> Task:
    """The registered task of this name.

    >>> task_named("cluster").metric
    'nmi'
    """
    if name not in TASKS:
        raise ConfigError(f"unknown task {name!r}; there are {', '.join(TASKS)}")
    return TASKS[name]


@torch.no_grad()
def _embeddings(model: HypergraphNetwork, source: Inputs, node_ids: Ids) -> tuple[Tensor, Ids]:
    rows = torch.as_tensor(node_ids.copy(), device=source.labels.device)
    embeddings = source.embeddings(model, rows)
    return embeddings, source.labels[rows].cpu().numpy()
