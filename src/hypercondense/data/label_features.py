"""Features made from labels, for data that is published without features."""

from typing import Any

import numpy as np

from hypercondense.hypergraph import UNKNOWN, Dense
from hypercondense.runtime.rng import numpy_generator

_STREAM = 1  # splits draw from stream 0 of the same seed
#: How the note about such features begins.
DERIVED = "the features are derived from the labels"


def label_features(labels: Any, *, width: int = 100, noise: float = 0.6, seed: int = 0) -> Dense:
    """One-hot labels padded to ``width`` columns, plus Gaussian noise; shape (nodes, width), float32.

    A node of unknown label gets noise only. These features leak the labels: whoever shows results on them
    must say so (:func:`label_features_note`).

    >>> label_features([1, 0, -1], width=3, noise=0.0).astype(int).tolist()
    [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    """
    labels = np.asarray(labels, dtype=np.int64)
    num_classes = int(labels.max(initial=UNKNOWN)) + 1
    if width < max(num_classes, 1):
        raise ValueError(f"width {width} is too small for {num_classes} classes; use at least {num_classes}")
    if not (np.isfinite(noise) and noise >= 0):
        raise ValueError(f"noise must be a finite number of at least 0, got {noise}")
    features = numpy_generator(seed, _STREAM).standard_normal((len(labels), width), dtype=np.float32)
    features *= np.float32(noise)
    known = np.flatnonzero(labels != UNKNOWN)
    features[known, labels[known]] += 1
    return features


def label_features_note(*, width: int, noise: float, seed: int) -> str:
    """The sentence that must go with such features."""
    return (
        f"{DERIVED}: one-hot label padded to {width} columns "
        f"plus Gaussian noise of standard deviation {noise:g} (seed {seed})"
    )
