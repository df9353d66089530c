"""Scores between 0 and 1: accuracy, macro-F1, normalized mutual information, mean average precision."""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from hypercondense.hypergraph import Dense, Ids
from hypercondense.nn.scoring import score_of

_BLOCK_ENTRIES = 32_000_000  # similarities held at once


def accuracy(labels: Ids, predicted: Ids) -> float:
    """Share of nodes whose class is predicted.

    >>> accuracy(np.array([0, 1, 1]), np.array([0, 1, 0]))
    0.6666666666666666
    """
    return float(np.mean(labels == predicted))


def macro_f1(labels: Ids, predicted: Ids) -> float:
    """Mean of the F1 of the classes that are in ``labels``; a class never predicted counts as 0."""
    return score_of(torch.as_tensor(predicted.copy()), torch.as_tensor(labels.copy()), "macro-f1")


def calibration_error(labels: Ids, shares: Dense, *, bins: int = 15) -> float:
    """Expected calibration error: how far the surety of predictions is from how often they are right.

    Predictions are put into ``bins`` by the share of the predicted class; the mean over nodes of the
    difference between accuracy and mean share of their bin. 0 is perfect.

    >>> calibration_error(np.array([0, 0, 0, 1]), np.array([[0.75, 0.25]] * 4))
    0.0
    """
    surety, right = shares.max(1).astype(np.float64), shares.argmax(1) == labels
    place = np.minimum((surety * bins).astype(int), bins - 1)
    gaps = np.bincount(place, right - surety, minlength=bins)
    return float(np.abs(gaps).sum() / len(labels))


def mutual_information(labels: Ids, clusters: Ids) -> float:
    """Mutual information of classes and clusters over the mean of their entropies (NMI)."""
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(labels, clusters))


def mean_average_precision(embeddings: Tensor, labels: Ids, *, block: int | None = None) -> float:
    """Every node asks for the others by cosine similarity; the right answers are those of its class (MAP).

    The average precision of a query is the mean, over the other nodes of its class, of the share of its class
    among the nodes that are at least as similar. Queries without another node of their class are left out; if
    there are no others the result is 0. Rows that are all 0 have similarity 0 to everything.

    Args:
        embeddings: One row per node.
        labels: One class per row.
        block: Queries whose similarities are computed at once; the default keeps these to 128 MB.
    """
    by_class = np.argsort(labels, kind="stable")
    rows = embeddings.detach()[torch.as_tensor(by_class)]
    unit = functional.normalize(rows if rows.dtype == torch.float64 else rows.float(), dim=1)
    sizes = np.unique(np.asarray(labels), return_counts=True)[1]
    ends = np.repeat(np.cumsum(sizes), sizes)  # of the class of each row
    starts = ends - np.repeat(sizes, sizes)
    # Equal rows have one column, for rounding depends on the place: so they are equally similar to a query.
    distinct, column = torch.unique(unit, dim=0, return_inverse=True)
    columns = column.cpu().numpy()
    block = block or max(1, _BLOCK_ENTRIES // max(1, len(distinct)))
    found = []
    for start in range(0, len(unit), block):
        similarities = (unit[start : start + block] @ distinct.t()).cpu().numpy()
        for query, similarity in enumerate(similarities, start):
            own = slice(starts[query], ends[query])
            if own.stop - own.start > 1:
                found.append(_average_precision(similarity[columns], query, own))
    return float(np.mean(found)) if found else 0.0


def _average_precision(similarity: Dense, query: int, own: slice) -> float:
    """Of one query; ``own`` are the nodes of its class.

    Ranks come from sorted similarities: sorting numbers is much faster than sorting nodes by them.
    """
    similarity[query] = -np.inf  # a node does not find itself: below all others
    of_class, of_all = np.sort(similarity[own]), np.sort(similarity)
    wanted = of_class[1:]
    right = len(of_class) - of_class.searchsorted(wanted)
    return float(np.mean(right / (len(of_all) - of_all.searchsorted(wanted))))
