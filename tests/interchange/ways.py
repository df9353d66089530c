"""Every way out of a hypergraph and back again, for tests of all of them."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypercondense import interchange
from hypercondense.errors import ConversionError, ConversionWarning
from hypercondense.hypergraph import Hypergraph
from hypercondense.hypergraph.names import unless_numbers


@dataclass(frozen=True)
class Way:
    """There and back; ``needs`` is the module without which it cannot be tested."""

    there: Callable[[Hypergraph], Any]
    back: Callable[[Any], Hypergraph]
    needs: str

    @property
    def is_open(self) -> bool:
        """Whether the library is installed."""
        return find_spec(self.needs) is not None


def _pyg_kind(hypergraph: Hypergraph) -> Any:
    return interchange.to_pyg(hypergraph, kind="HyperGraphData")


def _hypertorch(hypergraph: Hypergraph) -> Any:
    return interchange.to_hypertorch(hypergraph, self_loops=False)  # they could not be told from others


WAYS = {
    "PyG `Data`": Way(interchange.to_pyg, interchange.from_pyg, "torch_geometric"),
    "PyG `HyperGraphData`": Way(_pyg_kind, interchange.from_pyg, "torch_geometric"),
    "DHG": Way(interchange.to_dhg, lambda made: interchange.from_dhg(*made), "dhg"),
    "XGI": Way(interchange.to_xgi, interchange.from_xgi, "xgi"),
    "HyperNetX": Way(interchange.to_hypernetx, interchange.from_hypernetx, "hypernetx"),
    "hypergraphx": Way(interchange.to_hypergraphx, interchange.from_hypergraphx, "hypergraphx"),
    "HyperTorch": Way(_hypertorch, interchange.from_hypertorch, "hypertorch"),
    "TopoNetX": Way(interchange.to_toponetx, interchange.from_toponetx, "toponetx"),
    "TopoBench `Data`": Way(interchange.to_topobench, interchange.from_topobench, "torch_geometric"),
    "networkx": Way(interchange.to_networkx, interchange.from_networkx, "networkx"),
    "pandas": Way(interchange.to_pandas, lambda made: interchange.from_pandas(*made), "pandas"),
    "Polars": Way(interchange.to_polars, lambda made: interchange.from_polars(*made), "polars"),
    "Arrow": Way(interchange.to_arrow, lambda made: interchange.from_arrow(*made), "pyarrow"),
    "scipy": Way(interchange.to_scipy, lambda made: interchange.from_scipy(*made), "scipy"),
    "hyperedges": Way(interchange.to_hyperedges, lambda made: interchange.from_hyperedges(*made), "numpy"),
}


def plain(**changes: Any) -> Hypergraph:
    """Four nodes in two hyperedges, with nothing that a library could lose, and then ``changes``."""
    options: dict[str, Any] = {
        "features": np.array([[1, 0], [0, 1], [1, 1], [0.5, 0.25]], np.float32),
        "labels": [0, 1, 1, 0],
        "incidence": ([0, 1, 2, 2, 3], [0, 0, 0, 1, 1]),
        "num_hyperedges": 2,
    }
    return Hypergraph(**(options | changes))


#: One thing at a time that a library may lose.
ASPECTS: dict[str, Hypergraph] = {
    "ids of nodes": plain(node_names=["ann", "bob", "eve", "7"]),
    "ids of hyperedges": plain(hyperedge_names=["club", "team"]),
    "weights of hyperedges": plain(incidence=([0, 1, 2, 2, 3], [0, 0, 0, 1, 1], [2, 2, 2, 0.5, 0.5])),
    "weights of memberships": plain(incidence=([0, 1, 2, 2, 3], [0, 0, 0, 1, 1], [1, 2, 3, 4, 5])),
    "features": plain(),
    "sparse features": plain(features=sp.csr_array(np.eye(4, 5, dtype=np.float32))),
    "names of features": plain(feature_names=["wide", "tall"]),
    "labels": plain(labels=[0, 2, 1, 0]),
    "unknown labels": plain(labels=[0, -1, 1, -1]),
    "names of classes": plain(label_names=["cat", "dog"]),
    "soft labels": plain(soft_labels=np.array([[0.75, 0.25], [0.5, 0.5], [0, 1], [1, 0]], np.float32)),
    "split": plain(parts=[0, 1, 2, -1]),
    "isolated nodes": plain(incidence=([0, 1], [0, 0]), num_hyperedges=1),
    "identical hyperedges": plain(incidence=([0, 1, 0, 1, 2, 3], [0, 0, 1, 1, 2, 2]), num_hyperedges=3),
    "notes": plain(notes=["made by hand"]),
}


def same(one: Hypergraph | None, other: Hypergraph) -> bool:
    """Equal with names, parts and notes; names that are the numbers of their places say nothing."""
    return (
        one is not None
        and one.digest == other.digest
        and one.notes == other.notes
        and np.array_equal(one.parts, other.parts)  # type: ignore[arg-type]
        and unless_numbers(one.node_names or ()) == unless_numbers(other.node_names or ())
        and unless_numbers(one.hyperedge_names or ()) == unless_numbers(other.hyperedge_names or ())
    )


def gone(way: Way, given: Hypergraph) -> tuple[Hypergraph | None, list[str]]:
    """What comes back, and what was told to be lost; nothing comes back where that was too much."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            there = way.there(given)
        except ConversionError as error:
            return None, [str(error)]
        told = [str(one.message) for one in caught if issubclass(one.category, ConversionWarning)]
        try:
            return way.back(there), told
        except ConversionError:
            if told:
                return None, told
            raise


def row(name: str) -> str:
    """The line of a library in the table of docs/interchange.md."""
    survives = (same(gone(WAYS[name], given)[0], given) for given in ASPECTS.values())
    return f"| {name} | " + " | ".join("yes" if one else "told" for one in survives) + " |"


if __name__ == "__main__":  # the whole table, where all libraries are installed: `make peers`
    print("| | " + " | ".join(ASPECTS) + " |", "|---|" + ":-:|" * len(ASPECTS), sep="\n")  # noqa: T201
    print(*(row(name) for name in WAYS if WAYS[name].is_open), sep="\n")  # noqa: T201
