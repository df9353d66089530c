"""PyTorch Geometric: ``Data`` with ``hyperedge_index``, and ``HyperGraphData``, which says ``edge_index``."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from hypercondense.hypergraph import Hypergraph
from hypercondense.hypergraph.arrays import Dense, Incidence
from hypercondense.hypergraph.scaling import Scale
from hypercondense.interchange.facts import KEY, facts_of
from hypercondense.interchange.problems import Problems, expect, need
from hypercondense.interchange.tensors import MASKS, NAMES, SELF_LOOPS, from_store


def from_pyg(data: Any, *, split: int | None = None, name: str | None = None) -> Hypergraph:
    """A hypergraph from a ``Data`` or ``HyperGraphData`` of PyG.

    Args:
        data: ``x`` and ``y`` (-1 where unknown), ``hyperedge_index`` with nodes above hyperedges; perhaps
            ``incidence_weight`` (one for each of its columns), ``hyperedge_weight``, ``y_soft``, and masks,
            which become the split that :func:`hypercondense.split` gives. Tensors may be on any device.
        split: Which column of masks is meant, where they have several.
        name: What to call it.

    The number of nodes is the number of rows of ``x``: PyG guesses it from the largest id, and is wrong where
    the last nodes are in no hyperedge.

    Raises:
        ConversionError: Everything that does not fit, by the name of the attribute, at once.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> hc.from_pyg(source.to_pyg()).num_nodes
    60
    """
    kinds: Any = need("torch_geometric.data.data", "pyg")
    expect("data", data, kinds.BaseData, "a Data or HyperGraphData of PyG")
    problems, store = Problems("PyG data"), data.to_dict()
    if isinstance(data, kinds.Data) and "hyperedge_index" in store and "ptr" in store:
        problems.add(
            "it is a batch, in which PyG counts hyperedges as if they were nodes; give one of its data"
        )
    if type(data).__name__ == "HyperGraphData" and store.get("hyperedge_index") is None:
        store["hyperedge_index"] = store.pop("edge_index", None)
    return from_store(store, problems, split=split, name=name)


def to_pyg(
    hypergraph: Hypergraph,
    *,
    self_loops: bool = True,
    kind: Literal["Data", "HyperGraphData"] = "Data",
    scale: Scale | None = None,
) -> Any:
    """The hypergraph as an object of PyG, on the CPU.

    ``hyperedge_index`` is what ``HypergraphConv`` wants; of a ``HyperGraphData`` it is called ``edge_index``.
    ``incidence_weight`` has a weight for each of its columns. ``num_nodes`` and ``num_hyperedges`` are set,
    never guessed. Every node without a singleton hyperedge has one more of weight 1, as our networks have it;
    ``is_self_loop`` tells these hyperedges from those given. Soft labels are ``y_soft``, the split is masks.
    Where features are scaled, so must be those of real nodes: subtract ``scale_mean``, divide by
    ``scale_deviation``. :func:`hypercondense.pyg.convolve` makes a ``HypergraphConv`` use all of it.
    """
    import torch

    of_graphs = need("torch_geometric.data", "pyg")
    of_hypergraphs = need("torch_geometric.data.hypergraph_data", "pyg")
    incidence, num_hyperedges, weights = incidence_with_loops(hypergraph, self_loops=self_loops)
    index = torch.tensor(np.stack([incidence.node_ids, incidence.hyperedge_ids]))
    made = (of_graphs.Data if kind == "Data" else of_hypergraphs.HyperGraphData)(
        num_nodes=hypergraph.num_nodes,
        num_hyperedges=num_hyperedges,
        **{"edge_index" if kind == "HyperGraphData" else "hyperedge_index": index},
        incidence_weight=torch.tensor(weights),
    )
    made[SELF_LOOPS] = torch.arange(num_hyperedges) >= hypergraph.num_hyperedges
    for key, value in {**tensors_of(hypergraph), **_scale(scale)}.items():
        made[key] = value
    return made


def incidence_with_loops(hypergraph: Hypergraph, *, self_loops: bool) -> tuple[Incidence, int, Dense]:
    """Memberships and the number of hyperedges, perhaps with those of the self-loops, and all weights."""
    incidence, number = hypergraph.incidence, hypergraph.num_hyperedges
    if self_loops:
        incidence, number = hypergraph.with_self_loops
    weights = incidence.weights
    return incidence, number, np.ones(incidence.num_incidences, np.float32) if weights is None else weights


def _scale(scale: Scale | None) -> dict[str, Any]:
    import torch

    if scale is None:
        return {}
    return {
        "scale_mean": torch.tensor(scale.means)[None],
        "scale_deviation": torch.tensor(scale.deviations)[None],
    }


def _features(hypergraph: Hypergraph) -> Any:
    import torch

    if not hypergraph.is_sparse:
        return torch.tensor(hypergraph.dense_features())
    matrix = hypergraph.features
    rows = np.repeat(np.arange(hypergraph.num_nodes), np.diff(matrix.indptr))
    indices = torch.tensor(np.stack([rows, matrix.indices.astype(np.int64)]))
    return torch.sparse_coo_tensor(
        indices, torch.tensor(matrix.data), size=matrix.shape, check_invariants=False
    ).coalesce()


def tensors_of(hypergraph: Hypergraph) -> dict[str, Any]:
    """All but the structure, by the names :func:`to_pyg` has for it."""
    import torch

    more: dict[str, Any] = {"x": _features(hypergraph), "y": torch.tensor(hypergraph.labels)}
    if hypergraph.soft_labels is not None:
        more["y_soft"] = torch.tensor(hypergraph.soft_labels)
    if hypergraph.parts is not None:
        more |= {key: torch.tensor(hypergraph.parts == number) for number, key in enumerate(MASKS)}
    for key in NAMES:
        names: Sequence[str] | None = getattr(hypergraph, key)
        more |= {} if names is None else {key: list(names)}
    return {**more, KEY: facts_of(hypergraph).content()}
