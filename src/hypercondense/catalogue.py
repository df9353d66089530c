"""Every way to condense, by name."""

from collections.abc import Mapping
from typing import Any

from hypercondense.condensation import Condensation
from hypercondense.condensing import (
    AHGCDD,
    AHGCDDX,
    HGCPA,
    Bundled,
    Condenser,
    Herding,
    HGCond,
    HGCondNHL,
    KCenter,
    Random,
    Ridge,
    Unrolled,
)
from hypercondense.condensing.options import configure
from hypercondense.condensing.taught import Taught
from hypercondense.errors import ConfigError
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.search import Auto

METHODS: dict[str, type[Condenser]] = {
    method.name: method
    for method in (
        Auto,
        Ridge,
        Unrolled,
        Taught,
        Bundled,
        AHGCDD,
        AHGCDDX,
        Random,
        Herding,
        KCenter,
        HGCPA,
        HGCondNHL,
        HGCond,
    )
}
DEFAULT = Auto.name


def make_method(name: str = DEFAULT, settings: Mapping[str, Any] | None = None) -> Condenser:
    """The method of a name with its options, which may be text.

    >>> make_method("ahgcdd-x", {"epochs": "50"}).epochs
    50
    """
    if name not in METHODS:
        hint = ""
        if name == "whole":
            hint = " (whole is what they are compared with: evaluate --whole, or compare --methods ...,whole)"
        raise ConfigError(f"unknown method {name!r}; the methods are {', '.join(METHODS)}{hint}")
    return configure(METHODS[name], settings or {})


def condense(
    source: Hypergraph,
    split: Split,
    *,
    method: str = DEFAULT,
    settings: Mapping[str, Any] | None = None,
    **how: Any,
) -> Condensation:
    """Condense with the method of a name; ``how`` is what :meth:`Condenser.condense` takes.

    >>> from hypercondense.data import synthetic

    >>> from hypercondense.hypergraph import split
    >>> source = synthetic(num_nodes=200, seed=0)
    >>> result = condense(source, split(source), ratio=0.05, settings={"budget": "1"})
    >>> result.hypergraph.num_nodes
    10
    """
    return make_method(method, settings).condense(source, split, **how)
