"""Calls that go wrong tell which argument is meant."""

import difflib
import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

#: What the same thing is called elsewhere.
_ELSEWHERE = {
    "n": "nodes",
    "num_nodes": "nodes",
    "n_nodes": "nodes",
    "size": "nodes",
    "budget_seconds": "budget",
    "rate": "ratio",
    "reduction_rate": "ratio",
    "random_state": "seed",
    "epochs": "settings",
    "options": "settings",
    "params": "settings",
    "n_jobs": "workers",
    "num_workers": "workers",
    "network": "model",
    "graph": "source",
    "hypergraph": "source",
    "data": "source",
    "standardize": "scale",
    "normalize": "scale",
    "verbose": "progress",
    "repeats": "runs",
    "train_mask": "train_ids",
    "val_ids": "validation_ids",
    "val_mask": "validation_ids",
    "test_mask": "test_ids",
    "x": "features",
    "X": "features",
    "y": "labels",
    "edge_index": "incidence",
    "hyperedge_index": "incidence",
    "hyperedges": "incidence",
    "edges": "incidence",
}


def told_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """A function whose wrong calls say which arguments there are, and which was probably meant.

    >>> @told_arguments
    ... def paint(house, *, colour): ...
    >>> paint(1, color="red")
    Traceback (most recent call last):
    TypeError: paint() has no argument 'color'; did you mean colour? There are house, colour
    """
    signature = inspect.signature(function)

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            name = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
            raise TypeError(_explained(name, signature, args, kwargs, error)) from None
        return function(*args, **kwargs)

    return called


def _explained(
    name: str, signature: inspect.Signature, args: object, kwargs: object, error: TypeError
) -> str:
    assert isinstance(args, tuple) and isinstance(kwargs, dict)
    parameters = signature.parameters
    listed = ", ".join(one for one in parameters if one != "self")
    for given in kwargs:
        if given not in parameters:
            close = difflib.get_close_matches(given, parameters, n=1, cutoff=0.6)
            meant = (
                [close[0]] if close else [_ELSEWHERE[given]] if _ELSEWHERE.get(given) in parameters else []
            )
            hint = f"; did you mean {meant[0]}?" if meant else "."
            return f"{name}() has no argument {given!r}{hint} There are {listed}"
    in_order = [one.name for one in parameters.values() if one.kind is one.POSITIONAL_OR_KEYWORD]
    if len(args) > len(in_order):
        by_name = [one for one in parameters if one not in in_order]
        return (
            f"{name}() takes {', '.join(in_order)} in this order and everything else by name, as "
            f"{by_name[0]}=...; there are {', '.join(by_name)}"
        )
    return f"{name}(): {error}; it takes {listed}"


def must_be(what: str, given: object, kind: type, *, like: str) -> None:
    """Raise if an argument is of another type, as where two were exchanged."""
    if not isinstance(given, kind):
        raise TypeError(f"{what} must be a {kind.__name__}, got a {type(given).__name__}; call it as {like}")


def must_be_flags(**given: object) -> None:
    """Raise if one of these is neither true nor false: every text that is not empty would count as true."""
    for name, value in given.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name} must be True or False, got {value!r:.40}")
