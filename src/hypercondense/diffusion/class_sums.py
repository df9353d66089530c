"""Sums of feature rows by class."""

import numpy as np
from numpy.typing import NDArray

from hypercondense.diffusion.mapped import SelectedRows
from hypercondense.hypergraph import UNKNOWN, Dense, Ids

_ROWS = 4096  # rows converted to float64 at a time


def class_sums(features: Dense | SelectedRows, labels: Ids, num_classes: int) -> NDArray[np.float64]:
    """Sum of the rows of each class, ``Y^T X`` (classes, features); rows labelled -1 are left out.

    Sums are accumulated in float64, a few rows at a time, so a memory-mapped matrix stays on disk.

    >>> class_sums(np.array([[1.0], [2.0], [4.0]], np.float32), np.array([1, 1, -1]), 2)
    array([[0.],
           [3.]])
    """
    if len(features) != len(labels):
        raise ValueError(f"features have {len(features)} rows but there are {len(labels)} labels")
    if len(labels) and (labels.min() < UNKNOWN or labels.max() >= num_classes):
        raise ValueError(f"labels must be -1 to {num_classes - 1}, got {labels.min()} to {labels.max()}")
    sums = np.zeros((num_classes, features.shape[1]))
    for start in range(0, len(features), _ROWS):
        block_labels = labels[start : start + _ROWS]
        members = block_labels == np.arange(num_classes)[:, None]  # (class, row)
        sums += members.astype(np.float64) @ features[start : start + _ROWS].astype(np.float64)
    return sums
