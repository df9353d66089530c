"""The arrays a hypergraph is made of."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Ids: TypeAlias = NDArray[np.int64]
Dense: TypeAlias = NDArray[np.float32]
Parts: TypeAlias = NDArray[np.int8]
Features: TypeAlias = Any  # Dense (perhaps memory-mapped) or scipy.sparse.csr_array, both float32

UNKNOWN = -1  # the label of a node whose class is not known
UNNAMED = "unnamed"  # what a hypergraph is called that was given no name
#: Parts of a split by their numbers.
PARTS = ("train", "validation", "test")
NO_PART = -1  # of a node that is in none


class Incidence(NamedTuple):
    """Which node is in which hyperedge, one entry per membership; weights ``None`` means all 1."""

    node_ids: Ids
    hyperedge_ids: Ids
    weights: Dense | None = None

    @property
    def num_incidences(self) -> int:
        """Number of memberships."""
        return len(self.node_ids)

    def matrix(self, num_nodes: int, num_hyperedges: int) -> Any:
        """The incidence matrix H as ``scipy.sparse.csr_array`` of shape (nodes, hyperedges), float32."""
        weights = np.ones(self.num_incidences, np.float32) if self.weights is None else self.weights
        shape = (num_nodes, num_hyperedges)
        return sp.csr_array((weights, (self.node_ids, self.hyperedge_ids)), shape=shape)
