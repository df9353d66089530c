"""A state of a condensation that may become its result, as tensors, as a hypergraph and in a checkpoint."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from hypercondense.condensing.assembly import condensed_like
from hypercondense.hypergraph import Hypergraph, Ids, Incidence


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """Condensed nodes at some epoch. Without class shares they have their allotted classes only."""

    epoch: int
    features: Tensor
    structure: Tensor  # (nodes, hyperedges), without self-loops
    shares: Tensor | None = None  # (nodes, classes)
    score: float | None = None

    @property
    def is_finite(self) -> bool:
        """Whether there is no NaN and no infinity in it."""
        return all(bool(tensor.isfinite().all()) for tensor in self._tensors().values())

    def hypergraph(self, source: Hypergraph, labels: Ids) -> Hypergraph:
        """The candidate as a hypergraph with the names of its source and these classes.

        Hyperedges without members are left out. If none is left, every node is its own hyperedge.
        """
        incidence = self.structure.detach().cpu().numpy()
        node_ids, columns = np.nonzero(incidence)
        hyperedges, hyperedge_ids = np.unique(columns, return_inverse=True)
        return condensed_like(
            source,
            features=self.features.detach().cpu().numpy(),
            labels=labels,
            soft_labels=None if self.shares is None else self.shares.detach().cpu().numpy(),
            incidence=Incidence(node_ids, hyperedge_ids, incidence[node_ids, columns]),
            num_hyperedges=len(hyperedges),
        )

    def pack(self, role: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Named tensors and facts for a checkpoint."""
        facts = {"epoch": self.epoch, "score": self.score}
        return {f"{role}.{part}": tensor for part, tensor in self._tensors().items()}, facts

    @classmethod
    def unpack(
        cls, role: str, tensors: Mapping[str, Tensor], facts: Mapping[str, Any], *, like: Tensor
    ) -> "Candidate":
        """What :meth:`pack` took, of the type and on the device of ``like``."""
        names = {part: f"{role}.{part}" for part in ("features", "structure", "shares")}
        found = {part: tensors[name].to(like) for part, name in names.items() if name in tensors}
        return cls(epoch=facts["epoch"], score=facts["score"], **found)

    def _tensors(self) -> dict[str, Tensor]:
        tensors = {"features": self.features, "structure": self.structure}
        return tensors if self.shares is None else {**tensors, "shares": self.shares}
