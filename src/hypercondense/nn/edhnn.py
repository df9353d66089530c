"""ED-HNN: equivariant hypergraph diffusion (Wang et al., 2023)."""

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from hypercondense.nn.base import Form, HypergraphNetwork, InputLinear, Optimization, check_sizes
from hypercondense.nn.message_passing import Layer, Receivers, Structure
from hypercondense.nn.sparse import Input, drop


class EDHNN(HypergraphNetwork):
    """``X0 = relu(X W0 + b0)``, then diffusion steps with shared networks, then a linear map.

        ``m_e = mean over v in e of phi(x_v)``
        ``x_v' = psi((1 - alpha) mean over e of rho(x_v, m_e) + alpha x0_v)``

    phi is ``norm(x) W + b``; rho is ``relu(norm(x_v) A + m_e B + b) C + c``: its answer depends on the
    receiving node, which makes the operator equivariant; psi is ``relu(norm(x) W + b)``; alpha is
    ``residual``; norm is a layer norm, without which so many maps in a row hardly learn. C stands after the
    mean over hyperedges and a norm.

    The other form (``inner_maps=False``) is close to what its authors use on cora, citeseer and co-authors:
    phi and rho pass on what they get, ``rho(x_v, m_e) = m_e``, psi is ``relu(x W + b)``, and alpha is 0. It
    is a convolution, drops no inputs, is wider, for it has fewer maps, and is trained as the other
    convolutions are: with the small steps of the first form it is far from done after 200 epochs.

    Shapes: X (N, d), m (M, hidden), all inner maps (hidden, hidden), last map (hidden, C).
    Incidence weights weigh both means.
    """

    optimization: ClassVar[Optimization] = Optimization(learning_rate=0.001, weight_decay=0.0, epochs=200)
    defaults_version: ClassVar[int] = 4
    forms: ClassVar[tuple[Form, ...]] = (
        Form(options={"inner_maps": True, "residual": 0.5}),
        Form(
            options={"inner_maps": False, "residual": 0.0, "input_dropout": 0.0, "hidden": 256},
            optimization=Optimization(learning_rate=0.01, weight_decay=5e-4, epochs=200),
        ),
    )

    def __init__(
        self,
        *,
        num_features: int,
        num_classes: int,
        hidden: int = 128,
        layers: int = 1,
        dropout: float = 0.5,
        input_dropout: float = 0.5,
        inner_maps: bool = True,
        residual: float = 0.5,
    ) -> None:
        super().__init__()
        check_sizes(layers=layers, hidden=hidden, dropout=dropout)
        check_sizes(layers=layers, hidden=hidden, dropout=input_dropout)
        self.first = InputLinear(num_features, hidden)
        self.message = _Equivariant(hidden) if inner_maps else _Mean()
        norm = [nn.LayerNorm(hidden)] if inner_maps else []
        self.psi = nn.Sequential(*norm, nn.Linear(hidden, hidden), nn.ReLU())
        self.classifier = nn.Linear(hidden, num_classes)
        self.layers, self.residual = layers, residual
        self.dropout, self.input_dropout = dropout, input_dropout

    @property
    def reach(self) -> int | None:
        """A step for every layer."""
        return self.layers

    def embed(self, features: Input, structure: Structure, receivers: Receivers | None = None) -> Tensor:
        """The last hidden layer, (N, hidden)."""
        start = torch.relu(self.first(drop(features, self.input_dropout, training=self.training)))
        x = start
        for number in range(1, self.layers + 1):
            here = (receivers or structure).layer(self.layers - number)
            start = here.own(start)
            x = functional.dropout(x, self.dropout, self.training)
            x = self.psi(torch.lerp(self.message(x, here), start, self.residual))
        return functional.dropout(x, self.dropout, self.training)

    def forward(self, features: Input, structure: Structure, receivers: Receivers | None = None) -> Tensor:
        """Class scores, (N, C)."""
        scores: Tensor = self.classifier(self.embed(features, structure, receivers))
        return scores


class _Mean(nn.Module):
    """The mean of the means of the hyperedges of each node."""

    def forward(self, x: Tensor, structure: Layer) -> Tensor:
        """One row per node, (N, hidden)."""
        return structure.row_normalized(x)


class _Equivariant(nn.Module):
    """``mean over e of rho(x_v, m_e)``."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(hidden)
        self.phi = nn.Linear(hidden, hidden)
        self.rho_node = nn.Linear(hidden, hidden)
        self.rho_hyperedge = nn.Linear(hidden, hidden, bias=False)
        self.rho_out = nn.Sequential(nn.LayerNorm(hidden), nn.Linear(hidden, hidden))

    def forward(self, x: Tensor, structure: Layer) -> Tensor:
        """One row per node, (N, hidden).

        Only the ReLU of rho needs a row per membership: the maps before it act on nodes and on hyperedges,
        and the map after it on the mean.
        """
        x = self.norm(x)
        messages = structure.senders.hyperedge_mean @ self.phi(x)
        pairs = structure.node_of_incidence @ self.rho_node(structure.own(x))
        pairs = pairs + structure.hyperedge_of_incidence @ self.rho_hyperedge(messages)
        result: Tensor = self.rho_out(structure.incidence_mean @ torch.relu(pairs))
        return result
