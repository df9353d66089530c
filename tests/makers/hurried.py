"""Code of documents and examples, run as it stands but for how long things take."""

import re
from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import pytest
import torch

import hypercondense
from hypercondense.nn.training import Configuration

_EPOCHS = 20
_TRANSFORM = re.compile(r"\bCondense\((?=ratio=)")


def run_hurried(code: str, names: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Run Python and return its names.

    ``more`` are arguments of :func:`hypercondense.condense` where it does not name a method; networks are
    trained for a few epochs; figures are drawn and not shown.
    """
    names = {"__name__": "__main__"} if names is None else names
    told = ", ".join(f"{name}={value!r}" for name, value in more.items())
    code = _TRANSFORM.sub(f"Condense({told}, ", code)
    with pytest.MonkeyPatch.context() as patch, torch.random.fork_rng():
        patch.setattr(hypercondense, "condense", _by_default(hypercondense.condense, more))
        for name in ("evaluate", "train"):
            patch.setattr(hypercondense, name, _briefly(getattr(hypercondense, name)))
        patch.setattr(plt, "show", lambda: plt.close("all"))
        plt.switch_backend("Agg")
        exec(compile(code, "code", "exec"), names)
    return names


def _by_default(condense: Callable[..., Any], more: dict[str, Any]) -> Callable[..., Any]:
    return lambda *given, **options: condense(*given, **({} if "method" in options else more), **options)


def _briefly(function: Callable[..., Any]) -> Callable[..., Any]:
    def brief(*given: Any, model: Any = "hgnn", **options: Any) -> Any:
        chosen = Configuration(model=model, epochs=_EPOCHS) if isinstance(model, str) else model
        return function(*given, model=chosen, **options)

    return brief
