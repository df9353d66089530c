"""What some nodes of a source can see through a network, cut out of it once and used by many looks."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hypercondense.nn.base import HypergraphNetwork
from hypercondense.nn.message_passing import Receivers, Structure
from hypercondense.nn.sparse import Input, SparseMatrix

_WORTH = 0.5  # features are cut out where at most this share of their rows is seen


@dataclass(frozen=True, eq=False)
class CutOut:
    """The rows, hyperedges and nodes that the answers for some nodes depend on.

    The last layer works for these nodes, the layer before it for what they can see in one step, and so on.
    Degrees are those of the whole structure, so answers are those of the whole.
    """

    features: Input
    structure: Structure
    receivers: Receivers | None

    def __call__(self, model: HypergraphNetwork) -> Tensor:
        """Class scores of the nodes, in their order."""
        scores: Tensor = model(self.features, self.structure, self.receivers)
        return scores


def cut_out(features: Input, structure: Structure, node_ids: Tensor, *, reach: int | None) -> CutOut:
    """What nodes can see in ``reach`` steps from node to node, or everything where that is ``None``."""
    if reach is None:
        return CutOut(features, structure, Receivers(structure, node_ids))
    if reach == 0:
        return CutOut(_rows(features, node_ids.cpu().numpy()), structure, None)
    asked = node_ids.cpu().numpy()
    steps: list[tuple[NDArray[Any], Structure]] = []  # from the last layer to the first: who receives by what
    for _ in range(reach):
        part, seen = _around(structure, asked)
        steps.append((np.searchsorted(seen, asked), part))
        last, asked = asked, seen
    if len(asked) > _WORTH * structure.num_nodes:  # a copy of nearly everything would only take memory
        steps[-1] = last, structure
    else:
        features = _rows(features, asked)
    receivers: Receivers | None = None
    for places, part in reversed(steps):
        receivers = Receivers(part, torch.as_tensor(places, dtype=torch.int64), before=receivers)
    return CutOut(features, steps[-1][1], receivers)


def _around(structure: Structure, node_ids: NDArray[Any]) -> tuple[Structure, NDArray[Any]]:
    """The hyperedges of some nodes with all their members, and the ids of these and of the nodes, increasing.

    Other hyperedges of the members are missing, so degrees are told.
    """
    matrix = structure.matrix
    hyperedge_ids = np.unique(matrix[node_ids].indices)
    chosen = np.zeros(structure.num_hyperedges)
    chosen[hyperedge_ids] = 1
    seen = np.union1d(np.flatnonzero(matrix @ chosen > 0), node_ids)
    part = replace(structure, matrix=matrix[seen][:, hyperedge_ids], known_degree=structure.node_degree[seen])
    return part, seen


def _rows(features: Input, node_ids: NDArray[Any]) -> Input:
    if isinstance(features, Tensor):
        return features[torch.as_tensor(node_ids, device=features.device)]
    values = features.by_row.values
    return SparseMatrix.of(features.to_scipy()[node_ids], device=values.device, dtype=values.dtype)
