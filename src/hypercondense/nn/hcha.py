"""HCHA: row-normalized hypergraph convolution, with attention as an option (Bai, Zhang and Torr, 2021)."""

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from hypercondense.nn.base import Convolutions, HypergraphNetwork, InputLinear, Optimization
from hypercondense.nn.hgnn import HGNN
from hypercondense.nn.message_passing import Layer, LinearMap, Receivers, Structure
from hypercondense.nn.sparse import Input

_SLOPE = 0.2  # of the leaky ReLU on attention scores


class HCHA(HypergraphNetwork):
    """``X' = relu(Dv^-1 H De^-1 H^T X W + b)`` in every layer but the last.

    With ``attention`` H is replaced by ``A_ve = softmax over e of leaky(a . x_v W + c . x_e W)``, where
    ``x_e`` is the mean of the nodes of e; degrees are then those of A: ``X' = relu(A Be^-1 A^T X W + b)``.

    Shapes: X (N, d), W of the layers (d, hidden) .. (hidden, C), a and c (width,), A (N, M).
    Incidence weights are the entries of H; with attention they multiply the terms of the softmax.
    """

    optimization: ClassVar[Optimization] = Optimization(learning_rate=0.01, weight_decay=5e-4, epochs=200)

    def __init__(
        self,
        *,
        num_features: int,
        num_classes: int,
        hidden: int = 128,
        layers: int = 2,
        dropout: float = 0.5,
        attention: bool = False,
    ) -> None:
        super().__init__()
        kind = _Attentive if attention else _RowNormalized
        self.network = kind(
            num_features=num_features, num_classes=num_classes, hidden=hidden, layers=layers, dropout=dropout
        )

    @property
    def reach(self) -> int | None:
        """A step for every layer; everything with attention, which looks at all hyperedges of neighbours."""
        return self.network.reach

    @property
    def convolutions(self) -> Convolutions | None:
        """By the P of random walks; with attention it is none."""
        return self.network.convolutions

    def embed(self, features: Input, structure: Structure, receivers: Receivers | None = None) -> Tensor:
        """The last hidden layer, propagated once more; with attention as it is, (N, hidden)."""
        return self.network.embed(features, structure, receivers)

    def forward(self, features: Input, structure: Structure, receivers: Receivers | None = None) -> Tensor:
        """Class scores, (N, C)."""
        scores: Tensor = self.network(features, structure, receivers)
        return scores


class _RowNormalized(HGNN):
    """HGNN with another P."""

    @property
    def convolutions(self) -> Convolutions | None:
        own = super().convolutions
        return own and own._replace(walks=True)

    def propagation(self, structure: Layer) -> LinearMap:
        return structure.row_normalized


class _Attentive(HGNN):
    """HGNN whose layers look at what they propagate."""

    def __init__(
        self, *, num_features: int, num_classes: int, hidden: int, layers: int, dropout: float
    ) -> None:
        super().__init__(
            num_features=num_features, num_classes=num_classes, hidden=hidden, layers=layers, dropout=dropout
        )
        widths = [*[hidden] * (layers - 1), num_classes]
        self.attentions = nn.ModuleList(_Attention(width) for width in widths)

    @property
    def reach(self) -> int | None:
        return None

    @property
    def convolutions(self) -> Convolutions | None:
        return None

    def embed(self, features: Input, structure: Structure, receivers: Receivers | None = None) -> Tensor:
        x = features
        for layer, attention in zip(self.layers[:-1], self.attentions, strict=False):
            received = torch.relu(_attend(x, layer, attention, structure))
            x = functional.dropout(received, self.dropout, self.training)
        assert isinstance(x, Tensor)
        return (receivers or structure).own(x)

    def forward(self, features: Input, structure: Structure, receivers: Receivers | None = None) -> Tensor:
        hidden = self.embed(features, structure)
        # All nodes share what a hyperedge has to give, so all are needed.
        received = _attend(hidden, self.layers[-1], self.attentions[-1], structure)
        return (receivers or structure).own(received)


class _Attention(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.of_node = nn.Linear(width, 1, bias=False)
        self.of_hyperedge = nn.Linear(width, 1, bias=False)

    def forward(self, x: Tensor, structure: Structure) -> Tensor:
        """A as one value per membership, (incidences, 1)."""
        of_hyperedge = self.of_hyperedge(structure.hyperedge_mean @ x)
        scores = structure.node_of_incidence @ self.of_node(x)
        scores = scores + structure.hyperedge_of_incidence @ of_hyperedge
        return structure.softmax_over_hyperedges(functional.leaky_relu(scores, _SLOPE))


def _attend(features: Input, linear: nn.Module, attention: nn.Module, structure: Structure) -> Tensor:
    """``A Be^-1 A^T X W + b``."""
    assert isinstance(linear, InputLinear)
    x = features @ linear.weight.t()
    shares = attention(x, structure)
    totals = structure.hyperedge_of_incidence.transposed_times(shares)
    sums = structure.hyperedge_of_incidence.transposed_times(shares * (structure.node_of_incidence @ x))
    means = sums / totals.clamp_min(torch.finfo(totals.dtype).tiny)
    received = shares * (structure.hyperedge_of_incidence @ means)
    return structure.node_of_incidence.transposed_times(received) + linear.bias
