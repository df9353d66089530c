"""Which nodes are for training, for choosing and for the final score."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hypercondense.frozen import Frozen
from hypercondense.hypergraph.arrays import PARTS, UNKNOWN, Ids
from hypercondense.hypergraph.given import seed_number
from hypercondense.hypergraph.hypergraph import Hypergraph, digest
from hypercondense.runtime.arguments import must_be, told_arguments
from hypercondense.runtime.rng import numpy_generator

_SHARES = (0.5, 0.25, 0.25)


@dataclass(frozen=True, eq=False, repr=False)
class Split(Frozen):
    """Disjoint source node ids, each sorted. ``seed`` is ``None`` for given ids. Equal parts, equal split.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> hc.split(source, seed=0)
    Split(30 train, 15 validation, 15 test, seed 0)
    """

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

    def __repr__(self) -> str:
        sizes = f"{len(self.train_ids):,} train, {len(self.validation_ids):,} validation, "
        missing = f", no training node of class {self.missing_classes}" if self.missing_classes else ""
        by = "given ids" if self.seed is None else f"seed {self.seed}"
        return f"Split({sizes}{len(self.test_ids):,} test, {by}{missing})"

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Split) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)


@told_arguments
def split(
    source: Hypergraph,
    *,
    seed: int | None = None,
    shares: tuple[float, float, float] | None = None,
) -> Split:
    """The split a source came with; else, or with a seed, one at random into train, validation and test.

    Args:
        source: The hypergraph; nodes of unknown class are in no part.
        seed: Equal seeds give equal splits on every machine. The default is the split that came with the
            source (``Hypergraph.parts``: masks of PyG, a column of a table), and 0 where none did.
        shares: Fractions of the labelled nodes; they must add up to at most 1. The default is half, and a
            quarter twice.

    A class left without training nodes is reported in ``missing_classes`` and is no error.

    >>> from hypercondense.data.synthetic import synthetic
    >>> parts = split(synthetic(num_nodes=100, seed=1), seed=0)
    >>> len(parts.train_ids), len(parts.validation_ids), len(parts.test_ids)
    (50, 25, 25)
    """
    must_be("source", source, Hypergraph, like="split(source, seed=0)")
    if seed is None and shares is None and source.parts is not None:
        train, validation, test = (np.flatnonzero(source.parts == part) for part in range(len(PARTS)))
        return _split(source, train, validation, test, seed=None)
    seed, shares = 0 if seed is None else seed_number(seed), _SHARES if shares is None else shares
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


@told_arguments
def split_from_ids(
    source: Hypergraph,
    *,
    train_ids: Sequence[int] | Sequence[str] | Any,
    validation_ids: Sequence[int] | Sequence[str] | Any,
    test_ids: Sequence[int] | Sequence[str] | Any,
) -> Split:
    """Use the given nodes, checked: they exist, are labelled, and are in one part only.

    Each part is a list of node ids, a boolean mask with an entry per node, or names of nodes where they
    have names.

    >>> from hypercondense.data.synthetic import synthetic
    >>> source = synthetic(num_nodes=100, seed=1)
    >>> first = np.arange(100) < 60
    >>> split_from_ids(source, train_ids=first, validation_ids=range(60, 80), test_ids=range(80, 100))
    Split(60 train, 20 validation, 20 test, given ids)
    """
    must_be("source", source, Hypergraph, like="split_from_ids(source, train_ids=..., ...)")
    parts = {"train": train_ids, "validation": validation_ids, "test": test_ids}
    owner = np.full(source.num_nodes, "", dtype=object)
    checked = []
    for part, given in parts.items():
        ids = _ids(source, part, given)
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


def _ids(source: Hypergraph, part: str, given: Any) -> Ids:
    """Node ids of one part that was given as ids, as a mask or as names."""
    values = np.asarray(given.detach().cpu() if hasattr(given, "detach") else given)
    if values.ndim != 1:
        raise ValueError(f"{part} ids must be a flat list, got shape {values.shape}")
    if values.dtype.kind == "b" and values.size:
        if len(values) != source.num_nodes:
            raise ValueError(
                f"a mask needs an entry for each of the {source.num_nodes} nodes; that for {part} has "
                f"{len(values)}"
            )
        return np.flatnonzero(values)
    if len(values) == source.num_nodes > 2 and np.isin(values, (0, 1)).all():
        raise ValueError(
            f"{part} ids are 0 and 1 only, like a mask; give booleans for one: mask.astype(bool)"
        )
    if values.dtype.kind in "UO" and values.size and source.node_names is not None:
        return source.node_ids(values.tolist())
    if values.size and values.dtype.kind not in "iu":
        raise ValueError(f"{part} ids must be whole numbers, got type {values.dtype}")
    return values.astype(np.int64)


def _split(source: Hypergraph, train_ids: Ids, validation_ids: Ids, test_ids: Ids, seed: int | None) -> Split:
    known = source.labels[source.labels != UNKNOWN]
    missing = np.setdiff1d(known, source.labels[train_ids])
    train_ids, validation_ids, test_ids = (np.sort(ids) for ids in (train_ids, validation_ids, test_ids))
    for ids in (train_ids, validation_ids, test_ids):
        ids.flags.writeable = False
    missing_classes = tuple(int(label) for label in missing)
    return Split(train_ids, validation_ids, test_ids, seed=seed, missing_classes=missing_classes)
