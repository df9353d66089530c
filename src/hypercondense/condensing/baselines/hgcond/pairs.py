"""Pairs of nodes that do or do not share a hyperedge, drawn from the incidences of a source."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hypercondense.frozen import Frozen
from hypercondense.hypergraph import Hypergraph, Ids


@dataclass(frozen=True)
class Pairs(Frozen):
    """A draw: ``b`` anchors, another member of the hyperedge of each, and ``s`` nodes from anywhere.

    Attributes:
        node_ids: Source nodes: ``anchors`` (b,), ``members`` (b,) and ``strangers`` (s,).
        outside: 1 where a stranger is in fact not in the hyperedge of an anchor, else 0, shape (b, s).
    """

    node_ids: Mapping[str, Ids]
    outside: NDArray[np.float32]


@dataclass(frozen=True)
class MembershipSampler:
    """Draws incidences of hyperedges with two or more members, all with the same probability.

    Args:
        source: Where the hyperedges are.
        size: Anchors per draw, ``b``.
        strangers: Nodes that are not members, shared by all anchors of a draw, ``s``.
        rng: Where chance comes from.
    """

    source: Hypergraph
    size: int
    strangers: int
    rng: np.random.Generator

    @cached_property
    def _sizes(self) -> Ids:
        return np.bincount(self.source.incidence.hyperedge_ids, minlength=self.source.num_hyperedges)

    @cached_property
    def _shared(self) -> Ids:
        """Positions of the incidences whose hyperedge has another member."""
        return np.flatnonzero(self._sizes[self.source.incidence.hyperedge_ids] > 1)

    @cached_property
    def _matrix(self) -> Any:
        return self.source.incidence.matrix(self.source.num_nodes, self.source.num_hyperedges)

    def __len__(self) -> int:
        return len(self._shared)

    def draw(self) -> Pairs:
        """One draw; there must be a hyperedge with two members (the length is not 0)."""
        node_ids, hyperedge_ids, _ = self.source.incidence
        positions = self.rng.choice(self._shared, self.size)
        drawn = hyperedge_ids[positions]
        # Incidences are sorted by hyperedge: walk from the anchor to another member, around the end.
        begin = (np.cumsum(self._sizes) - self._sizes)[drawn]
        size = self._sizes[drawn]
        other = begin + (positions - begin + self.rng.integers(1, size)) % size
        strangers = self.rng.integers(self.source.num_nodes, size=self.strangers)
        inside = self._matrix[strangers][:, drawn].toarray().T > 0
        return Pairs(
            {"anchors": node_ids[positions], "members": node_ids[other], "strangers": strangers},
            (~inside).astype(np.float32),
        )
