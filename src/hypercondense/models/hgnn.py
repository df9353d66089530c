"""HGNN: convolution with the symmetric hypergraph Laplacian (Feng et al., 2019)."""

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from hypercondense.models.base import HypergraphNetwork, InputLinear, Optimization, check_sizes
from hypercondense.models.message_passing import Propagation, Structure
from hypercondense.models.sparse import Input


class HGNN(HypergraphNetwork):
    """``X' = relu(P X W + b)`` in every layer but the last, with ``P = Dv^-1/2 H De^-1 H^T Dv^-1/2``.

    Shapes: X (N, d), W of the layers (d, hidden), (hidden, hidden) .. (hidden, C).
    Incidence weights enter H and both degrees, so weights all doubled change nothing.
    """

    optimization: ClassVar[Optimization] = Optimization(learning_rate=0.01, weight_decay=5e-4, epochs=200)

    def __init__(
        self, *, num_features: int, num_classes: int, hidden: int = 128, layers: int = 2, dropout: float = 0.5
    ) -> None:
        super().__init__()
        check_sizes(layers=layers, hidden=hidden, dropout=dropout)
        widths = [num_features, *[hidden] * (layers - 1), num_classes]
        self.layers = nn.ModuleList(
            InputLinear(width, next_width) for width, next_width in zip(widths, widths[1:], strict=False)
        )
        self.dropout = dropout

    def embed(self, features: Input, structure: Structure) -> Tensor:
        """``P`` times the last hidden layer, (N, hidden)."""
        hidden = self._hidden(features, structure)
        if not isinstance(hidden, Tensor):
            raise ValueError("a model of one layer has no hidden layer to embed with; use layers=2 or more")
        return structure.symmetric(hidden)

    def forward(self, features: Input, structure: Structure) -> Tensor:
        """Class scores, (N, C)."""
        return convolve(self._hidden(features, structure), self.layers[-1], structure.symmetric)

    def _hidden(self, features: Input, structure: Structure) -> Input:
        x = features
        for layer in list(self.layers)[:-1]:
            received = torch.relu(convolve(x, layer, structure.symmetric))
            x = functional.dropout(received, self.dropout, self.training)
        return x


def convolve(features: Input, linear: nn.Module, propagation: Propagation) -> Tensor:
    """``P X W + b``, multiplied in the cheaper order."""
    weight: Tensor = linear.weight  # type: ignore[assignment]
    if isinstance(features, Tensor):
        # P is applied to d columns, or to the outputs and, in the backward pass, once more to their gradient.
        # If X needs a gradient both orders go through P twice.
        passes = 1 if features.requires_grad else 2
        if features.shape[1] <= passes * weight.shape[0]:
            return propagation(features) @ weight.t() + linear.bias
    return propagation(features @ weight.t()) + linear.bias
