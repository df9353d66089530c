"""Scores between 0 and 1: accuracy, macro-F1, normalized mutual information, mean average precision."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from hypercondense.hypergraph import Ids

_BLOCK_ENTRIES = 32_000_000  # similarities held at once; about half a gigabyte with what is sorted


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

    The average precision of a query is the mean, over the other nodes of its class, of the share of its class
    among the nodes that are at least as similar. Queries without another node of their class are left out; a
    class with no query at all gives 0. Rows that are all 0 have similarity 0 to everything.

    Args:
        embeddings: One row per node.
        labels: One class per row.
        block: Queries at once; the default keeps memory to about half a gigabyte whatever the size.
    """
    by_class = np.argsort(labels, kind="stable")
    unit = functional.normalize(embeddings.detach()[torch.as_tensor(by_class)], dim=1)
    sizes = np.unique(np.asarray(labels), return_counts=True)[1].tolist()
    block = block or max(1, _BLOCK_ENTRIES // max(1, len(unit)))
    found = [np.zeros(0)]
    for start, size in zip(np.cumsum([0, *sizes]).tolist(), sizes, strict=False):
        own = slice(start, start + size)
        first_queries = range(own.start, own.stop, block) if size > 1 else ()
        found += [_average_precisions(unit, slice(q, min(q + block, own.stop)), own) for q in first_queries]
    precisions = np.concatenate(found)
    return float(precisions.mean()) if len(precisions) else 0.0


def _average_precisions(unit: Tensor, queries: slice, own: slice) -> NDArray[np.float64]:
    """Average precision of each query; ``own`` are the rows of its class.

    Ranks come from sorted similarities, and nothing is ranked by itself: sorting numbers is much faster than
    sorting rows by them.
    """
    similarity = unit[queries] @ unit.t()
    similarity.diagonal(queries.start).fill_(-torch.inf)  # a node does not find itself: below all others
    of_class = _sorted_rows(similarity[:, own])
    of_all = _sorted_rows(similarity)
    wanted = of_class[:, 1:].contiguous()
    precision = _at_least(of_class, wanted) / _at_least(of_all, wanted).double()
    return np.asarray(precision.mean(1).cpu().numpy())


# On a CPU numpy sorts several times as fast as torch, and finds faster what is sorted itself.


def _sorted_rows(rows: Tensor) -> Tensor:
    """Every row in ascending order."""
    if rows.device.type == "cpu":
        return torch.from_numpy(np.sort(rows.numpy(), axis=1))
    return rows.contiguous().sort(dim=1).values


def _at_least(rows: Tensor, wanted: Tensor) -> Tensor:
    """How many entries of each row, which is sorted, are at least each of those ``wanted`` in it."""
    if rows.device.type != "cpu":
        return rows.shape[1] - torch.searchsorted(rows, wanted)
    pairs = zip(rows.numpy(), wanted.numpy(), strict=True)
    return rows.shape[1] - torch.from_numpy(np.stack([row.searchsorted(values) for row, values in pairs]))
