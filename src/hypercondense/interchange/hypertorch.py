"""HyperTorch: ``HData`` for classifying nodes."""

from typing import Any

import numpy as np

from hypercondense.hypergraph import Hypergraph
from hypercondense.interchange.assemble import hyperedge_weights
from hypercondense.interchange.problems import Problems, expect, need, tell_lost
from hypercondense.interchange.pyg import tensors_of
from hypercondense.interchange.tensors import from_store

_TASK = "node-classification"


def from_hypertorch(given: Any, *, name: str | None = None) -> Hypergraph:
    """A hypergraph from an ``HData`` whose ``y`` are classes of nodes, -1 where unknown.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> hc.from_hypertorch(source.to_hypertorch()).num_nodes  # doctest: +SKIP
    60
    """
    types = need("hypertorch.types", "hypertorch")
    expect("given", given, types.HData, "an HData of HyperTorch")
    problems = Problems("an HData of HyperTorch", {"hyperedge_weight": "hyperedge_weights"})
    if str(given.task) != _TASK:
        problems.add(f"its task must be {_TASK}, so that y are classes of nodes; got {given.task}")
    problems.raise_any()
    index = given.hyperedge_index.detach().cpu().numpy()
    store = {
        "x": given.x,
        "y": given.y,
        "hyperedge_index": index,
        "num_nodes": given.num_nodes,
        "num_hyperedges": given.num_hyperedges,
        "hyperedge_weight": given.hyperedge_weights,
        "hyperedge_attr": given.hyperedge_attr,
    }
    return from_store(store, problems, name=name)


def to_hypertorch(hypergraph: Hypergraph, *, self_loops: bool = True) -> Any:
    """An ``HData`` on the CPU. It has no names, no split and no soft labels; what is lost is told.

    Its networks do not look at weights of hyperedges, which it holds. Self-loops are hyperedges like others.
    """
    import torch

    types = need("hypertorch.types", "hypertorch")
    data = tensors_of(hypergraph)
    common = hyperedge_weights(hypergraph)
    lost = {
        "weights that differ within a hyperedge": True if common is None else None,
        "names of nodes": hypergraph.node_names,
        "names of hyperedges": hypergraph.hyperedge_names,
        "names of classes": hypergraph.label_names,
        "names of features": hypergraph.feature_names,
        "soft labels": hypergraph.soft_labels,
        "the split": hypergraph.parts,
        "that features are sparse": hypergraph.is_sparse or None,
        "the notes": hypergraph.notes or None,
        "which hyperedges are self-loops": True if self_loops else None,
    }
    tell_lost("HyperTorch", (what for what, there in lost.items() if there is not None))
    incidence, number = hypergraph.incidence, hypergraph.num_hyperedges
    if self_loops:
        incidence, number = hypergraph.with_self_loops
    weights = np.ones(number, np.float32)
    if common is not None:
        weights[: len(common)] = common
    return types.HData(
        x=data["x"].to_dense(),
        hyperedge_index=torch.tensor(np.stack([incidence.node_ids, incidence.hyperedge_ids])),
        hyperedge_weights=torch.tensor(weights),
        num_nodes=hypergraph.num_nodes,
        num_hyperedges=number,
        y=data["y"],
        task=_TASK,
    )
