"""Dual-level discrimination: coarse between class prototypes, fine between samples (Eq. 11 and 12)."""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from hypercondense.hypergraph import Ids


def class_prototypes(features: Tensor, labels: Tensor, num_classes: int) -> Tensor:
    """Sum the features of each class, ``C = Y^T X`` (Eq. 11). Both inputs have one row per node."""
    return features.new_zeros(num_classes, features.shape[1]).index_add(0, labels, features)


def lengths(rows: Tensor) -> Tensor:
    """Length of each row, never quite 0, shape (rows, 1).

    Dividing a similarity by it costs less than dividing the rows, forwards and backwards.
    """
    length: Tensor = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
    return length.clamp(min=1e-12)


def coarse_loss(
    source_prototypes: Tensor, condensed_prototypes: Tensor, *, average_others: bool = False
) -> Tensor:
    """Distance of matching prototypes plus similarity of others, divided by the number of classes (Eq. 11).

    Paper: the sum over classes and pairs; dividing by the number of classes keeps its weight against the
    fine loss, which is a mean over nodes, the same for 3 and for 60 classes.

    Args:
        source_prototypes: Shape (classes, features).
        condensed_prototypes: Of the same shape.
        average_others: Whether the similarity to other classes is their mean. Paper: the sum, so that with 11
            classes keeping away weighs ten times as much as matching.

    >>> float(coarse_loss(torch.eye(3), 5 * torch.eye(3)))
    0.0
    """
    similarity = (
        F.normalize(source_prototypes, dim=1) @ condensed_prototypes.T / lengths(condensed_prototypes).T
    )
    others = 1 / max(1, len(similarity) - 1) if average_others else 1.0
    signs = torch.full_like(similarity, others, requires_grad=False).fill_diagonal_(-1.0)
    return 1 + (signs * similarity).sum() / len(similarity)  # 1 - similarity where they match


def fine_loss(
    condensed: Tensor, positives: Tensor, negatives: Tensor, *, temperature: float | Tensor = 1.0
) -> Tensor:
    """Mean over condensed nodes of the loss of telling a positive from negatives (Eq. 12).

    ``-log(exp(s_p) / (exp(s_p) + sum_q exp(s_q)))`` with ``s_j = <condensed_i, source_j> / temperature``.

    Args:
        condensed: Diffused condensed features, shape (n, d).
        positives: One source row of the same class for each, shape (n, d).
        negatives: Source rows of other classes for each, shape (n, negatives, d).
        temperature: Paper: 1, on features as they are. With one for each node, shape (n, 1), it can also hold
            the length of the condensed row, so that directions are compared.

    >>> n, negatives, d = 4, 3, 2
    >>> loss = fine_loss(torch.zeros(n, d), torch.ones(n, d), torch.ones(n, negatives, d))
    >>> round(float(loss.exp()), 4)  # nothing is known: one of 1 + negatives
    4.0
    """
    return fine_losses(condensed, positives, negatives, temperature=temperature).mean()


def fine_losses(
    condensed: Tensor, positives: Tensor, negatives: Tensor, *, temperature: float | Tensor = 1.0
) -> Tensor:
    """The fine loss of each condensed node, ``l_i`` in the paper, shape (n,)."""
    positive = torch.linalg.vecdot(condensed, positives)[:, None]  # (n, 1)
    negative = (condensed[:, None] @ negatives.mT)[:, 0]  # (n, negatives)
    scores = torch.cat([positive, negative], dim=1) / temperature
    return -scores.log_softmax(1)[:, 0]


@dataclass(frozen=True)
class PairSampler:
    """Draws, for each condensed node, one source row of its class and some of other classes.

    ``order`` lists row positions sorted by class, so a class is a slice and a draw needs no search:
    a uniform number within the slice is a positive, one outside of it a negative.
    """

    order: Ids
    first: Ids  # (n,) where the slice of each condensed node's class begins
    count: Ids  # (n,) how long it is
    negatives: int

    @classmethod
    def of(cls, row_labels: Ids, condensed_labels: Ids, negatives: int) -> "PairSampler":
        """Prepare for rows of classes ``row_labels``; every condensed class must be among them."""
        order = np.argsort(row_labels, kind="stable")
        first = np.searchsorted(row_labels[order], condensed_labels, side="left")
        last = np.searchsorted(row_labels[order], condensed_labels, side="right")
        if (first == last).any():
            missing = condensed_labels[np.argmax(first == last)]
            raise ValueError(f"class {missing} of a condensed node has no source row")
        return cls(order, first, last - first, negatives)

    def draw(self, generator: torch.Generator) -> tuple[Ids, Ids]:
        """Row positions of positives, shape (n,), and negatives, shape (n, negatives).

        Paper: negatives are a subset; here they are drawn with replacement, the same but for repeats, which
        also works when there are fewer of them than asked for. With one class there are no negatives.
        """
        size = len(self.first)
        outside = len(self.order) - self.count
        draws = torch.rand(size, 1 + self.negatives, generator=generator, dtype=torch.float64).numpy()
        positives = self.first + (draws[:, 0] * self.count).astype(np.int64)
        if self.negatives == 0 or not outside.all():
            return self.order[positives], np.empty((size, 0), np.int64)
        negatives = (draws[:, 1:] * outside[:, None]).astype(np.int64)
        negatives += np.where(negatives >= self.first[:, None], self.count[:, None], 0)
        return self.order[positives], self.order[negatives]
