"""Hypergraph neural networks on one message-passing core."""

from typing import Any

from hypercondense.errors import ConfigError
from hypercondense.nn.allset import AllSet
from hypercondense.nn.base import HypergraphNetwork, Optimization
from hypercondense.nn.edhnn import EDHNN
from hypercondense.nn.hcha import HCHA
from hypercondense.nn.hgnn import HGNN
from hypercondense.nn.message_passing import Receivers, Structure
from hypercondense.nn.mlp import MLP
from hypercondense.nn.sparse import Input, SparseMatrix, input_features
from hypercondense.nn.unigcnii import UniGCNII

#: In the order of :data:`hypercondense.names.NETWORKS`.
MODELS: dict[str, type[HypergraphNetwork]] = {
    "hgnn": HGNN,
    "hcha": HCHA,
    "unigcnii": UniGCNII,
    "allset": AllSet,
    "edhnn": EDHNN,
    "mlp": MLP,
}


def model_class(name: str) -> type[HypergraphNetwork]:
    """The registered model of this name.

    >>> model_class("hgnn").__name__
    'HGNN'
    """
    if name not in MODELS:
        raise ConfigError(f"unknown model {name!r}; there are {', '.join(MODELS)}")
    return MODELS[name]


def build(name: str, *, num_features: int, num_classes: int, **options: Any) -> HypergraphNetwork:
    """A new model with weights from torch's global generator: call it inside ``rng.seeded``."""
    kind = model_class(name)
    try:
        return kind(num_features=num_features, num_classes=num_classes, **options)
    except TypeError as error:
        raise ConfigError(f"model {name} does not take these options: {options} ({error})") from error


__all__ = [
    "MODELS",
    "HypergraphNetwork",
    "Input",
    "Optimization",
    "Receivers",
    "SparseMatrix",
    "Structure",
    "build",
    "input_features",
    "model_class",
]
