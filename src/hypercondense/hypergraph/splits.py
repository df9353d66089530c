"""Which nodes are for training, for choosing and for the final score."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hypercondense.hypergraph.arrays import UNKNOWN, Ids
from hypercondense.hypergraph.hypergraph import Hypergraph, digest
from hypercondense.runtime.rng import numpy_generator


@dataclass(frozen=True, eq=False)
class Split:
    """Disjoint source node ids, each sorted. ``seed`` is ``None`` for given ids."""

    train_ids: Ids
    validation_ids: Ids
    test_ids: Ids
    seed: int | None = None
    missing_classes: tuple[int, ...] = ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the three lists of ids."""
        parts = {"train": self.train_ids, "validation": self.validation_ids, "test": self.test_ids}
        return digest(parts, {})


def split(
    source: Hypergraph,
    *,
    seed: int = 0,
    shares: tuple[float, float, float] = (0.5, 0.25, 0.25),
) -> Split:
    """Split the labelled nodes at random by ``shares`` into train, validation and test.

    Args:
        source: The hypergraph; nodes of unknown class are in no part.
        seed: Equal seeds give equal splits on every machine.
        shares: Fractions of the labelled nodes; they must add up to at most 1.

    A class left without training nodes is reported in ``missing_classes`` and is no error.

    >>> from hypercondense.data.synthetic import synthetic
    >>> parts = split(synthetic(num_nodes=100, seed=1), seed=0)
    >>> len(parts.train_ids), len(parts.validation_ids), len(parts.test_ids)
    (50, 25, 25)
    """
    possible = all(share >= 0 for share in shares) and sum(shares) <= 1 + 1e-9  # false for NaN too
    if len(shares) != 3 or not possible or shares[0] == 0:
        raise ValueError(
            f"shares must be three fractions with a positive first and a sum of at most 1, got {shares}"
        )
    known = np.flatnonzero(source.labels != UNKNOWN)
    order = numpy_generator(seed).permutation(known)
    train_size = max(1, round(shares[0] * len(known)))
    validation_end = train_size + round(shares[1] * len(known))
    test_end = len(known) if sum(shares) > 1 - 1e-9 else validation_end + round(shares[2] * len(known))
    return _split(
        source,
        order[:train_size],
        order[train_size:validation_end],
        order[validation_end:test_end],
        seed=seed,
    )


def split_from_ids(
    source: Hypergraph,
    *,
    train_ids: Sequence[int] | Any,
    validation_ids: Sequence[int] | Any,
    test_ids: Sequence[int] | Any,
) -> Split:
    """Use the given node ids, checked: in range, labelled, and in one part only."""
    parts = {"train": train_ids, "validation": validation_ids, "test": test_ids}
    owner = np.full(source.num_nodes, "", dtype=object)
    checked = []
    for part, given in parts.items():
        ids = np.asarray(given)
        if ids.size and ids.dtype.kind not in "iu":
            raise ValueError(f"{part} ids must be whole numbers, got type {ids.dtype}")
        ids = ids.astype(np.int64).reshape(-1)
        for position, node in enumerate(ids):
            if not 0 <= node < source.num_nodes:
                raise ValueError(
                    f"{part} ids must be 0 to {source.num_nodes - 1}: entry {position} is {node}"
                )
            if owner[node]:
                raise ValueError(f"node {node} is given twice, for {owner[node]} and for {part}")
            if source.labels[node] == UNKNOWN:
                raise ValueError(f"node {node}, given for {part}, has no label")
            owner[node] = part
        checked.append(ids)
    train, validation, test = checked
    if len(train) == 0:
        raise ValueError("there are no training ids; at least one is needed")
    return _split(source, train, validation, test, seed=None)


def _split(source: Hypergraph, train_ids: Ids, validation_ids: Ids, test_ids: Ids, seed: int | None) -> Split:
    known = source.labels[source.labels != UNKNOWN]
    missing = np.setdiff1d(known, source.labels[train_ids])
    train_ids, validation_ids, test_ids = (np.sort(ids) for ids in (train_ids, validation_ids, test_ids))
    for ids in (train_ids, validation_ids, test_ids):
        ids.flags.writeable = False
    missing_classes = tuple(int(label) for label in missing)
    return Split(train_ids, validation_ids, test_ids, seed=seed, missing_classes=missing_classes)
