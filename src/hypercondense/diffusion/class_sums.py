"""Sums of feature rows by class."""

import numpy as np
import torch
from numpy.typing import NDArray

from hypercondense.diffusion.mapped import SelectedRows
from hypercondense.hypergraph import UNKNOWN, Dense, Ids

_ENTRIES = 2**18  # converted to float64 at a time, so that they are still in cache when they are added


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
    sums = torch.zeros(num_classes, features.shape[1], dtype=torch.float64)
    num_rows = max(1, _ENTRIES // max(1, features.shape[1]))
    for start in range(0, len(features), num_rows):
        block_labels = labels[start : start + num_rows]
        known = np.flatnonzero(block_labels != UNKNOWN)
        rows = features[start : start + num_rows].astype(np.float64)[known]
        # Not a product with one-hot classes: the threads of numpy's products wait for each other.
        sums.index_add_(0, torch.from_numpy(block_labels[known]), torch.from_numpy(rows))
    return sums.numpy()
