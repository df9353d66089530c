"""What every model is: features and structure in, one row of class scores per node out."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from torch import Tensor, nn

from hypercondense.frozen import Frozen
from hypercondense.nn.message_passing import Receivers, Structure
from hypercondense.nn.sparse import Input


@dataclass(frozen=True, kw_only=True)
class Optimization:
    """How a model is trained unless the caller says otherwise."""

    learning_rate: float = 0.01
    weight_decay: float = 5e-4
    epochs: int = 200


@dataclass(frozen=True, kw_only=True)
class Form(Frozen):
    """Options of a model that suit one kind of data, and how it is trained with them.

    Without ``optimization`` it is trained as the model is by default.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    optimization: Optimization | None = None


class InputLinear(nn.Linear):
    """``X W^T + b`` for dense or sparse X (N, d): a sparse X is never made dense."""

    def forward(self, features: Input) -> Tensor:
        """One row per node, (N, out)."""
        product = features @ self.weight.t()
        return product if self.bias is None else product + self.bias


class Convolutions(NamedTuple):
    """A network that is ``relu(P X W + b)`` in every layer but the last, which has no relu.

    ``walks`` tells whether P is that of random walks, and not the symmetric one.
    """

    layers: Sequence[InputLinear]
    walks: bool = False


class HypergraphNetwork(nn.Module, ABC):
    """A network for nodes of a hypergraph; ``N`` nodes, ``d`` features, ``C`` classes.

    With ``receivers`` it answers for these nodes only, a row for each, and its last layer works less.
    """

    optimization: ClassVar[Optimization] = Optimization()
    #: Raised when defaults change: results of before are then not taken for results of now.
    defaults_version: ClassVar[int] = 1
    #: For different kinds of data. A training tries each and asks the validation nodes.
    forms: ClassVar[tuple[Form, ...]] = (Form(),)

    @property
    def reach(self) -> int | None:
        """How many steps from node to node an answer depends on; ``None`` if on everything."""
        return None

    @property
    def convolutions(self) -> Convolutions | None:
        """What it is where it is nothing but convolutions: such a network can be answered for in blocks."""
        return None

    @abstractmethod
    def embed(self, features: Input, structure: Structure, receivers: Receivers | None = None) -> Tensor:
        """What the last linear map reads, (N, hidden): the embeddings for clustering and retrieval."""

    @abstractmethod
    def forward(self, features: Input, structure: Structure, receivers: Receivers | None = None) -> Tensor:
        """Class scores before the softmax, (N, C)."""


def check_sizes(*, layers: int, hidden: int, dropout: float) -> None:
    """Raise if a size cannot be."""
    if layers < 1 or hidden < 1:
        raise ValueError(f"layers and hidden must be at least 1, got {layers} and {hidden}")
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout must be at least 0 and below 1, got {dropout}")
