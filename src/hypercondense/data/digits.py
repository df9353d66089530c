"""The embedded real data: handwritten digits that share a hyperedge with those that look alike."""

from typing import Any

import numpy as np

from hypercondense.hypergraph import Hypergraph, Ids


def digits(*, neighbours: int = 5) -> Hypergraph:
    """The 1,797 digits of scikit-learn; hyperedge ``i`` is image ``i`` with its nearest ``neighbours``.

    Pixels are scaled to 0..1. Distances are Euclidean and exact, and of equally near images the one with the
    smaller id comes first, so every machine gives the same bits. Two images whose hyperedges have the same
    members keep one each: hyperedge ``i`` always belongs to image ``i``.

    >>> digits(neighbours=3)
    Hypergraph('digits', 1797 nodes, 1797 hyperedges, 7188 incidences, 64 features, 10 classes)
    """
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    num_nodes = len(pixels)
    if not 1 <= neighbours < num_nodes:
        raise ValueError(f"neighbours must be 1 to {num_nodes - 1}, got {neighbours}")
    members = _nearest(pixels, neighbours)
    return Hypergraph(
        features=(pixels / 16).astype(np.float32),
        labels=labels,
        incidence=(members.reshape(-1), np.repeat(np.arange(num_nodes), neighbours + 1)),
        num_hyperedges=num_nodes,
        label_names=[str(digit) for digit in range(10)],
        name="digits",
    )


def _nearest(points: Any, neighbours: int) -> Ids:
    """Ids of each point and its nearest, shape (points, neighbours + 1). Pixels are whole numbers."""
    # Whole numbers far below 2**53 add up without rounding, so equal distances are equal and ties are exact.
    norms = (points**2).sum(1)
    distances = norms[:, None] + norms[None, :] - 2 * points @ points.T
    np.fill_diagonal(distances, -1)  # an image comes first even if another looks exactly like it
    return np.argsort(distances, axis=1, kind="stable")[:, : neighbours + 1]
