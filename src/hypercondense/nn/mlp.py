"""MLP: the structure-blind reference."""

from itertools import pairwise
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from hypercondense.nn.base import HypergraphNetwork, InputLinear, Optimization, check_sizes
from hypercondense.nn.message_passing import Receivers, Structure
from hypercondense.nn.sparse import Input


class MLP(HypergraphNetwork):
    """``X' = relu(X W + b)`` in every layer, then a linear map to the classes.

    Shapes: X (N, d), W of the layers (d, hidden), (hidden, hidden) .. (hidden, C).
    It uses no incidence and so no incidence weights: what it scores needs no structure.
    """

    optimization: ClassVar[Optimization] = Optimization(learning_rate=0.01, weight_decay=5e-4, epochs=200)

    def __init__(
        self, *, num_features: int, num_classes: int, hidden: int = 128, layers: int = 2, dropout: float = 0.5
    ) -> None:
        super().__init__()
        check_sizes(layers=layers - 1, hidden=hidden, dropout=dropout)
        widths = [num_features, *[hidden] * (layers - 1)]
        self.layers = nn.ModuleList(InputLinear(width, following) for width, following in pairwise(widths))
        self.classifier = nn.Linear(hidden, num_classes)
        self.dropout = dropout

    @property
    def reach(self) -> int | None:
        """A node sees itself alone."""
        return 0

    def embed(self, features: Input, structure: Structure, receivers: Receivers | None = None) -> Tensor:
        """The last hidden layer, (N, hidden)."""
        x = features
        for layer in self.layers:
            x = functional.dropout(torch.relu(layer(x)), self.dropout, self.training)
        assert isinstance(x, Tensor)
        return x if receivers is None else receivers.own(x)

    def forward(self, features: Input, structure: Structure, receivers: Receivers | None = None) -> Tensor:
        """Class scores, (N, C)."""
        scores: Tensor = self.classifier(self.embed(features, structure, receivers))
        return scores
