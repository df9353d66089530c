"""HGNN: convolution with the symmetric hypergraph Laplacian (Feng et al., 2019)."""

from itertools import pairwise
from typing import ClassVar

from torch import Tensor, nn
from torch.nn import functional

from hypercondense.nn.base import Convolutions, HypergraphNetwork, InputLinear, Optimization, check_sizes
from hypercondense.nn.message_passing import Layer, LinearMap, Receivers, Structure
from hypercondense.nn.sparse import Input


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
        check_sizes(layers=layers - 1, hidden=hidden, dropout=dropout)
        widths = [num_features, *[hidden] * (layers - 1), num_classes]
        self.layers = nn.ModuleList(InputLinear(width, following) for width, following in pairwise(widths))
        self.dropout = dropout

    @property
    def reach(self) -> int | None:
        """A step for every layer."""
        return len(self.layers)

    @property
    def convolutions(self) -> Convolutions | None:
        """By P."""
        return Convolutions([layer for layer in self.layers if isinstance(layer, InputLinear)])

    def propagation(self, structure: Layer) -> LinearMap:
        """P."""
        return structure.symmetric

    def embed(self, features: Input, structure: Structure, receivers: Receivers | None = None) -> Tensor:
        """P times the last hidden layer, (N, hidden)."""
        return self.propagation(receivers or structure)(self._hidden(features, receivers or structure))

    def forward(self, features: Input, structure: Structure, receivers: Receivers | None = None) -> Tensor:
        """Class scores, (N, C)."""
        last = self.propagation(receivers or structure)
        return convolve(self._hidden(features, receivers or structure), self.layers[-1], last)

    def _hidden(self, features: Input, last: Layer) -> Tensor:
        x = features
        for following, layer in zip(range(len(self.layers) - 1, 0, -1), self.layers, strict=False):
            received = convolve(x, layer, self.propagation(last.layer(following)), constant=x is features)
            x = functional.dropout(received.relu_(), self.dropout, self.training)
        assert isinstance(x, Tensor)
        return x


def convolve(features: Input, linear: nn.Module, propagation: LinearMap, *, constant: bool = False) -> Tensor:
    """``P X W + b``, multiplied in the cheaper order; ``constant`` if X is the same the next time.

    What follows may be done in place: of a large source new memory takes as long to touch as the sums.
    """
    assert isinstance(linear, InputLinear)
    weight, bias = linear.weight, linear.bias
    if isinstance(features, Tensor):
        # A constant X goes through P once; X W goes through P once more with its gradient.
        passes = 1 if features.requires_grad else 2
        if features.shape[1] <= passes * weight.shape[0]:
            keep = constant and not features.requires_grad
            propagated = propagation.of_constant(features) if keep else propagation(features)
            return (propagated @ weight.t()).add_(bias)
    return propagation(features @ weight.t()).add_(bias)
