"""Scores between 0 and 1: accuracy, macro-F1, normalized mutual information, mean average precision."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from hypercondense.hypergraph import Ids

_BLOCK_ENTRIES = 32_000_000  # similarities held at once; about half a gigabyte with their order


def accuracy(labels: Ids, predicted: Ids) -> float:
    """Share of nodes whose class is predicted.

    >>> accuracy(np.array([0, 1, 1]), np.array([0, 1, 0]))
    0.6666666666666666
    """
    return float(np.mean(labels == predicted))


def macro_f1(labels: Ids, predicted: Ids) -> float:
    """Mean of the F1 of the classes that are in ``labels``; a class never predicted counts as 0."""
    from sklearn.metrics import f1_score

    return float(f1_score(labels, predicted, average="macro", labels=np.unique(labels), zero_division=0))


def mutual_information(labels: Ids, clusters: Ids) -> float:
    """Mutual information of classes and clusters over the mean of their entropies (NMI)."""
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(labels, clusters))


def mean_average_precision(embeddings: Tensor, labels: Ids, *, block: int | None = None) -> float:
    """Every node asks for the others by cosine similarity; the right answers are those of its class (MAP).

    The average precision of a query is the mean, over the nodes of its class, of the share of its class among
    the nodes ranked up to there. Queries without another node of their class are left out; a class with no
    query at all gives 0. Rows that are all 0 have similarity 0 to everything. Equal similarities are ranked
    in the order of the nodes.

    Args:
        embeddings: One row per node.
        labels: One class per row.
        block: Queries at once; the default keeps memory to about half a gigabyte whatever the size.
    """
    unit = functional.normalize(embeddings.detach(), dim=1)
    classes = torch.as_tensor(np.array(labels), device=unit.device)
    block = block or max(1, _BLOCK_ENTRIES // max(1, len(classes)))
    precisions = [
        _average_precisions(unit, classes, torch.arange(start, min(start + block, len(classes))))
        for start in range(0, len(classes), block)
    ]
    found = np.concatenate([np.zeros(0), *precisions])
    return float(found.mean()) if len(found) else 0.0


def _average_precisions(unit: Tensor, classes: Tensor, query_ids: Tensor) -> NDArray[np.float64]:
    """Average precision of each query that has something to find."""
    similarity = unit[query_ids] @ unit.t()
    similarity[torch.arange(len(query_ids)), query_ids] = -torch.inf  # a node does not find itself: last
    order = similarity.argsort(dim=1, descending=True, stable=True)[:, :-1]
    right = classes[order] == classes[query_ids][:, None]
    ranks = torch.arange(1, right.shape[1] + 1, device=unit.device)
    precision = right.cumsum(1) / ranks
    wanted = right.sum(1)
    averages = (precision * right).sum(1, dtype=torch.float64)[wanted > 0] / wanted[wanted > 0]
    return np.asarray(averages.cpu().numpy())
