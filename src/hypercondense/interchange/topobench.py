"""TopoBench: a ``Data`` of PyG whose structure is a sparse incidence matrix, and whose masks are ids."""

from typing import Any

import numpy as np

from hypercondense.hypergraph import Hypergraph
from hypercondense.hypergraph.arrays import PARTS
from hypercondense.interchange.problems import Problems, expect, need
from hypercondense.interchange.pyg import incidence_with_loops, tensors_of
from hypercondense.interchange.tensors import MASKS, SELF_LOOPS, TOLD, check_values, from_store

_INCIDENCE = "incidence_hyperedges"
#: What its loaders put beside, and what can be told from the rest.
_COUNTS = ("x_0", "edge_index", "edge_attr", "n_x", "num_class", "x_hyperedges", "shape")


def from_topobench(data: Any, *, name: str | None = None) -> Hypergraph:
    """A hypergraph from a ``Data`` as data sets of TopoBench have it.

    Args:
        data: ``x`` or ``x_0``, ``y``, and ``incidence_hyperedges``, a sparse matrix of nodes x hyperedges
            with weights of memberships. Masks are ids of nodes, or have an entry for each.
        name: What to call it.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> hc.from_topobench(source.to_topobench()).num_nodes
    60
    """
    kinds: Any = need("torch_geometric.data", "pyg")
    expect("data", data, kinds.Data, "a Data of PyG, as TopoBench has them")
    problems = Problems(
        "a Data of TopoBench", {"hyperedge_index": _INCIDENCE, "incidence_weight": _INCIDENCE}
    )
    store = check_values(data.to_dict(), problems)
    if store.get("x") is None:
        store["x"] = store.get("x_0")
    matrix = store.pop(_INCIDENCE, None)
    nodes = len(store["x"]) if getattr(store["x"], "ndim", 0) else None
    if matrix is TOLD or getattr(matrix, "ndim", 0) != 2:
        if matrix is not TOLD:
            problems.add(f"it must have {_INCIDENCE!r}, a matrix of nodes x hyperedges")
        store["hyperedge_index"] = TOLD
    else:
        matrix = matrix.detach().cpu().to_sparse_coo().coalesce()
        if nodes not in (None, matrix.shape[0]):
            problems.add(f"{_INCIDENCE!r} has {matrix.shape[0]} rows, but 'x' has {nodes}")
        store |= {"hyperedge_index": matrix.indices(), "incidence_weight": matrix.values()}
        store |= {"num_hyperedges": matrix.shape[1]}
        nodes = nodes or matrix.shape[0]
    for key in MASKS:
        if store.get(key) is not None and nodes is not None:
            store[key] = _mask(key, store[key], nodes, problems)
    return from_store({key: store[key] for key in store if key not in _COUNTS}, problems, name=name)


def _mask(key: str, given: Any, num_nodes: int, problems: Problems) -> Any:
    """An entry for each node, of a mask or of ids."""
    if given is TOLD:
        return TOLD
    ids = np.asarray(given.detach().cpu() if hasattr(given, "detach") else given)
    if ids.dtype.kind == "b":
        return ids
    if (
        ids.ndim != 1
        or ids.dtype.kind not in "iu"
        or (ids.size and not 0 <= ids.min() <= ids.max() < num_nodes)
    ):
        problems.add(f"{key!r} must be ids of nodes from 0 to {num_nodes - 1}, or have an entry for each")
        return TOLD
    mask = np.zeros(num_nodes, bool)
    mask[ids] = True
    return mask


def to_topobench(hypergraph: Hypergraph, *, self_loops: bool = True) -> Any:
    """A ``Data`` of PyG with the names TopoBench has, on the CPU; what else there is stands beside them."""
    import torch

    kinds = need("torch_geometric.data", "pyg")
    incidence, number, weights = incidence_with_loops(hypergraph, self_loops=self_loops)
    index = torch.tensor(np.stack([incidence.node_ids, incidence.hyperedge_ids]))
    size = (hypergraph.num_nodes, number)
    data = tensors_of(hypergraph)
    made = kinds.Data(num_nodes=hypergraph.num_nodes, num_hyperedges=number, edge_index=index)
    made[_INCIDENCE] = torch.sparse_coo_tensor(
        index, torch.tensor(weights), size=size, check_invariants=True
    ).coalesce()
    made[SELF_LOOPS] = torch.arange(number) >= hypergraph.num_hyperedges
    made.x_0, made.n_x, made.num_class = data["x"], hypergraph.num_nodes, hypergraph.num_classes
    for part, key in enumerate(MASKS[: len(PARTS)]):
        if key in data:
            data[key] = torch.tensor(np.flatnonzero(hypergraph.parts == part))
    for key, value in data.items():
        made[key] = value
    return made
