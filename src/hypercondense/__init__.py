"""Condense a large hypergraph into a tiny synthetic one that trains networks nearly as well.

>>> import hypercondense as hc
>>> source = hc.load("digits")
>>> split = hc.split(source, seed=0)
>>> result = hc.condense(source, split, ratio=0.01, budget=1)
>>> result.hypergraph.num_nodes
18
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hypercondense.version import __version__

if TYPE_CHECKING:
    from hypercondense import nn as models
    from hypercondense.catalogue import AHGCDD, AHGCDDX, condense
    from hypercondense.comparing import compare
    from hypercondense.condensation import Condensation, load_condensed
    from hypercondense.condensing import parts as recipes
    from hypercondense.data import digits, load, save, synthetic
    from hypercondense.data.formats.hif import from_hif
    from hypercondense.estimating import Estimate, estimate
    from hypercondense.evaluation import Score, evaluate
    from hypercondense.evaluation.network import TrainedNetwork, load_network, train
    from hypercondense.evaluation.tuning import tune
    from hypercondense.hypergraph import Hypergraph, Split, split, split_from_ids
    from hypercondense.hypergraph.statistics import statistics
    from hypercondense.interchange import (
        from_arrow,
        from_dhg,
        from_hyperedges,
        from_hypergraphx,
        from_hypernetx,
        from_hypertorch,
        from_networkx,
        from_pandas,
        from_polars,
        from_pyg,
        from_scipy,
        from_topobench,
        from_toponetx,
        from_xgi,
    )

__all__ = [
    "AHGCDD",
    "AHGCDDX",
    "Condensation",
    "Estimate",
    "Hypergraph",
    "Score",
    "Split",
    "TrainedNetwork",
    "__version__",
    "compare",
    "condense",
    "digits",
    "estimate",
    "evaluate",
    "from_arrow",
    "from_dhg",
    "from_hif",
    "from_hyperedges",
    "from_hypergraphx",
    "from_hypernetx",
    "from_hypertorch",
    "from_networkx",
    "from_pandas",
    "from_polars",
    "from_pyg",
    "from_scipy",
    "from_topobench",
    "from_toponetx",
    "from_xgi",
    "load",
    "load_condensed",
    "load_network",
    "models",
    "recipes",
    "save",
    "split",
    "split_from_ids",
    "statistics",
    "synthetic",
    "train",
    "tune",
]

# Imported when first used, so that `hypercondense --version` does not wait for torch.
_HOMES = {
    "catalogue": ("AHGCDD", "AHGCDDX", "condense"),
    "comparing": ("compare",),
    "condensation": ("Condensation", "load_condensed"),
    "data": ("digits", "load", "save", "synthetic"),
    "data.formats.hif": ("from_hif",),
    "estimating": ("Estimate", "estimate"),
    "evaluation": ("Score", "evaluate"),
    "evaluation.network": ("TrainedNetwork", "load_network", "train"),
    "evaluation.tuning": ("tune",),
    "hypergraph": ("Hypergraph", "Split", "split", "split_from_ids"),
    "hypergraph.statistics": ("statistics",),
    "interchange": (
        "from_arrow",
        "from_dhg",
        "from_hyperedges",
        "from_hypergraphx",
        "from_hypernetx",
        "from_hypertorch",
        "from_networkx",
        "from_pandas",
        "from_polars",
        "from_pyg",
        "from_scipy",
        "from_topobench",
        "from_toponetx",
        "from_xgi",
    ),
}
_MODULES = {"models": "nn", "recipes": "condensing.parts"}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value = import_module(f"hypercondense.{_MODULES[name]}")
    elif name in _HOME:
        value = getattr(import_module(f"hypercondense.{_HOME[name]}"), name)
    else:
        raise AttributeError(f"module 'hypercondense' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
