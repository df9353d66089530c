"""UniGCNII: deep convolution with initial residual and identity mapping (Huang and Yang, 2021)."""

import math
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from hypercondense.nn.base import Form, HypergraphNetwork, InputLinear, Optimization, check_sizes
from hypercondense.nn.message_passing import Receivers, Structure
from hypercondense.nn.sparse import Input, drop


class UniGCNII(HypergraphNetwork):
    """``X0 = relu(X W0 + b0)``, then ``X' = relu((1 - beta_l) Y + beta_l Y W_l)``, then a linear map.

    ``Y = (1 - alpha) Dv^-1/2 H Q^-1/2 De^-1 H^T X + alpha X0`` with Q the mean degree of the nodes of each
    hyperedge, alpha ``residual``, and ``beta_l = log(identity / l + 1)`` in layer l.

    The other form is wider and nearer to plain means over neighbours: smaller alpha and beta, less dropout.
    It suits nodes whose own features are mostly noise.

    Shapes: X (N, d), W0 (d, hidden), W_l (hidden, hidden), last map (hidden, C).
    Incidence weights enter H and all degrees: means over a hyperedge are weighted means.
    """

    optimization: ClassVar[Optimization] = Optimization(learning_rate=0.01, weight_decay=5e-4, epochs=200)
    defaults_version: ClassVar[int] = 3
    forms: ClassVar[tuple[Form, ...]] = (
        Form(options={"residual": 0.1, "identity": 0.5}),
        Form(options={"residual": 0.03, "identity": 0.1, "hidden": 256, "dropout": 0.2}),
    )

    def __init__(
        self,
        *,
        num_features: int,
        num_classes: int,
        hidden: int = 128,
        layers: int = 2,
        dropout: float = 0.5,
        input_dropout: float = 0.0,
        residual: float = 0.1,
        identity: float = 0.5,
    ) -> None:
        super().__init__()
        check_sizes(layers=layers, hidden=hidden, dropout=dropout)
        check_sizes(layers=layers, hidden=hidden, dropout=input_dropout)
        self.first = InputLinear(num_features, hidden)
        self.layers = nn.ModuleList(nn.Linear(hidden, hidden, bias=False) for _ in range(layers))
        self.classifier = nn.Linear(hidden, num_classes)
        self.dropout, self.input_dropout = dropout, input_dropout
        self.residual, self.identity = residual, identity

    @property
    def reach(self) -> int | None:
        """A step for every layer."""
        return len(self.layers)

    def embed(self, features: Input, structure: Structure, receivers: Receivers | None = None) -> Tensor:
        """The last hidden layer, (N, hidden)."""
        start = torch.relu(self.first(drop(features, self.input_dropout, training=self.training)))
        x = start
        for number, layer in enumerate(self.layers, start=1):
            x = functional.dropout(x, self.dropout, self.training)
            here = (receivers or structure).layer(len(self.layers) - number)
            start = here.own(start)
            mixed = torch.lerp(here.degree_normalized(x), start, self.residual)
            x = torch.relu(torch.lerp(mixed, layer(mixed), math.log(self.identity / number + 1)))
        return functional.dropout(x, self.dropout, self.training)

    def forward(self, features: Input, structure: Structure, receivers: Receivers | None = None) -> Tensor:
        """Class scores, (N, C)."""
        scores: Tensor = self.classifier(self.embed(features, structure, receivers))
        return scores
