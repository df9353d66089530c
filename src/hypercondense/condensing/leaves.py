"""What is optimized: condensed features, scores of their classes, the generator of hyperedges."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from hypercondense.condensing.candidate import Candidate
from hypercondense.condensing.generator import follow_gradient
from hypercondense.nn.unfinished import pack_optimizer, unpack_optimizer


class Leaves:
    """The one owner of everything that gradients flow to, and of both optimizers.

    Args:
        features: Condensed features at the start, (n, d).
        generator: Makes the structure from the features; ``None`` for no hyperedges but self-loops.
        structure_step: Step of Adam for the generator.
        label_scores: Scores of the classes, (n, C), whose softmax are the shares of soft classes.
        learns_labels: Whether these scores are optimized together with the features.
    """

    def __init__(
        self,
        features: Tensor,
        *,
        generator: nn.Module | None = None,
        structure_step: float = 1.0,
        label_scores: Tensor | None = None,
        learns_labels: bool = False,
    ) -> None:
        # Fused Adam walks through memory: restored averages must lie as the features do.
        self.features = features.detach().contiguous().requires_grad_()
        self.generator, self.label_scores = generator, None
        self.feature_optimizer = torch.optim.Adam([self.features], lr=1.0, fused=True)
        if label_scores is not None:
            self.label_scores = label_scores.detach().contiguous().requires_grad_(learns_labels)
            if learns_labels:
                self.feature_optimizer.add_param_group({"params": [self.label_scores]})
        learnable = [p for p in self._parameters().values() if p.requires_grad]
        self.structure_optimizer = (
            torch.optim.Adam(learnable, lr=structure_step, fused=True) if learnable else None
        )

    def structure(self) -> Tensor:
        """The generated incidence, shape (nodes, hyperedges), or no hyperedges at all (Eq. 7 to 9)."""
        if self.generator is None:
            return self.features.new_zeros(len(self.features), 0)
        incidence: Tensor = self.generator(self.features)
        return incidence

    def shares(self) -> Tensor | None:
        """The shares of the classes in every node, (n, C), where they are soft."""
        return None if self.label_scores is None else self.label_scores.softmax(1)

    @torch.no_grad()
    def candidate(self, epoch: int, structure: Tensor | None = None) -> Candidate:
        """The present state; the start is a plain one, of allotted classes."""
        return Candidate(
            epoch=epoch,
            features=self.features.detach().clone(),
            structure=self.structure() if structure is None else structure.detach(),
            shares=self.shares() if epoch else None,
        )

    def step(self, loss: Tensor, *, features: bool, feature_step: float, label_step: float) -> None:
        """One step of Adam on the features (and scores of classes), or on the generator."""
        for group, size in zip(self.feature_optimizer.param_groups, (feature_step, label_step), strict=False):
            group["lr"] = size
        optimizer = self.feature_optimizer if features else self.structure_optimizer
        if optimizer is not None:
            # Only whose turn it is needs gradients: the others would be half of the work.
            follow_gradient(loss, optimizer)

    def pack(self) -> dict[str, Tensor]:
        """Named tensors for a checkpoint."""
        tensors = {**self._named(), **pack_optimizer("feature_optimizer", self.feature_optimizer)}
        if self.structure_optimizer is not None:
            tensors |= pack_optimizer("structure_optimizer", self.structure_optimizer)
        return tensors

    def unpack(self, tensors: Mapping[str, Tensor]) -> None:
        """Put back what :meth:`pack` took."""
        with torch.no_grad():
            for name, leaf in self._named().items():
                leaf.copy_(tensors[name])
        unpack_optimizer("feature_optimizer", self.feature_optimizer, tensors)
        if self.structure_optimizer is not None:
            unpack_optimizer("structure_optimizer", self.structure_optimizer, tensors)

    def _parameters(self) -> dict[str, Tensor]:
        return {} if self.generator is None else dict(self.generator.named_parameters())

    def _named(self) -> dict[str, Tensor]:
        leaves = {"features": self.features}
        if self.label_scores is not None:
            leaves["label_scores"] = self.label_scores
        return leaves | {f"generator.{name}": parameter for name, parameter in self._parameters().items()}
