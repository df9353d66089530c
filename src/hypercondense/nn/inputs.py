"""A hypergraph as tensors, with what is cut out of it for looks, and what scores tell."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from hypercondense.hypergraph import UNKNOWN, Hypergraph
from hypercondense.nn.base import HypergraphNetwork
from hypercondense.nn.cutout import CutOut, cut_out
from hypercondense.nn.message_passing import Structure
from hypercondense.nn.sparse import Input, input_features


def told_classes(scores: Tensor) -> Tensor:
    """The class with the largest score for each row, (N,), and none where a score is not a number.

    The largest of scores that are not numbers would be the first: a training that diverged would be right
    about every node of class 0.

    >>> told_classes(torch.tensor([[0.0, 2.0], [torch.nan, torch.nan]]))
    tensor([ 1, -1])
    """
    return scores.argmax(1).masked_fill(scores.isnan().any(1), UNKNOWN)


@dataclass(frozen=True, eq=False)
class Inputs:
    """A hypergraph as tensors: prepared once, used by many trainings."""

    features: Input
    structure: Structure
    labels: Tensor
    num_classes: int
    soft_labels: Tensor | None = None

    @classmethod
    def of(cls, hypergraph: Hypergraph, *, device: torch.device | str = "cpu") -> "Inputs":
        """Copy a hypergraph to a device, with a self-loop at every node."""
        soft = hypergraph.soft_labels
        return cls(
            features=input_features(hypergraph, device=device),
            structure=Structure.of(hypergraph, device=device),
            labels=torch.as_tensor(hypergraph.labels.copy(), device=device),
            num_classes=hypergraph.num_classes,
            soft_labels=None if soft is None else torch.as_tensor(soft.copy(), device=device),
        )

    @property
    def num_features(self) -> int:
        """Number of feature columns."""
        return int(self.features.shape[1])

    @cached_property
    def _cut_outs(self) -> dict[tuple[int | None, bytes], CutOut]:
        """Those made so far."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """Without them: another process makes its own."""
        return {name: value for name, value in self.__dict__.items() if name != "_cut_outs"}

    @torch.no_grad()
    def scores(self, model: HypergraphNetwork, node_ids: Tensor) -> Tensor:
        """Class scores of some nodes, (nodes, C)."""
        scores: Tensor = model(self.features, self.structure)[node_ids]
        return scores

    @torch.no_grad()
    def embeddings(self, model: HypergraphNetwork, node_ids: Tensor) -> Tensor:
        """What the last linear map reads of some nodes, (nodes, hidden)."""
        return model.embed(self.features, self.structure)[node_ids]

    def seen_by(self, node_ids: Tensor, reach: int | None) -> Callable[[HypergraphNetwork], Tensor]:
        """What these nodes can see in ``reach`` steps: cut out once, for all trainings and networks."""
        key = reach, node_ids.cpu().numpy().tobytes()
        if key not in self._cut_outs:
            self._cut_outs[key] = cut_out(self.features, self.structure, node_ids, reach=reach)
        return self._cut_outs[key]
