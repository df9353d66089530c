"""PyTorch Geometric: ``Data`` with ``hyperedge_index``, and ``HyperGraphData``, which says ``edge_index``."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from hypercondense.hypergraph import UNKNOWN, Hypergraph
from hypercondense.hypergraph.arrays import NO_PART, Dense, Incidence
from hypercondense.hypergraph.scaling import Scale
from hypercondense.interchange.assemble import Arrived
from hypercondense.interchange.columns import without_unlabelled
from hypercondense.interchange.facts import facts_of, read_facts
from hypercondense.interchange.problems import Problems, expect, need, tell_lost

#: Its parts of a split.
MASKS = ("train_mask", "val_mask", "test_mask")
_NAMES = ("node_names", "hyperedge_names")
#: Which hyperedges of an object were added as self-loops, so that they can be told from those given.
SELF_LOOPS = "is_self_loop"
_FACTS = "hypercondense"
_LARGEST_ID = 2**60
_USED = {
    *("x", "y", "y_soft", "hyperedge_index", "edge_index", "incidence_weight", "hyperedge_weight"),
    *("num_nodes", "num_hyperedges", "scale_mean", "scale_deviation"),
    *(SELF_LOOPS, _FACTS, *MASKS, *_NAMES),
}


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
    store = data.to_dict()
    if type(data).__name__ == "HyperGraphData" and store.get("hyperedge_index") is None:
        store["hyperedge_index"] = store.pop("edge_index", None)
    return from_pyg_store(store, Problems("PyG data"), split=split, name=name)


def from_pyg_store(
    store: dict[str, Any], problems: Problems, *, split: int | None = None, name: str | None = None
) -> Hypergraph:
    """A hypergraph from tensors by the names :func:`to_pyg` has for them."""
    check_values(store, problems)
    features = _given(store, "x", problems)
    num_nodes = None if features is None else int(features.shape[0])
    index = _index(store, problems)
    labels = _labels(store, problems)
    _check_sizes(store, index, labels, num_nodes, problems)
    facts = read_facts(store.get(_FACTS), f"data.{_FACTS}")
    parts = _parts(store, labels, split, problems)
    weights = None if index is None else _weights(store, index, problems)
    kept = None if index is None else _kept(store, index, problems)
    problems.raise_any()
    unused = sorted(key for key, value in store.items() if key not in _USED and value is not None)
    tell_lost("a hypergraph of ours", (f"the attribute {key!r}" for key in unused))
    num_hyperedges = int(store.get("num_hyperedges") or (index[1].max(initial=-1) + 1))
    if kept is not None:
        index, weights, num_hyperedges = _without_loops(kept, index, weights)
    return Arrived(
        problems=problems,
        nodes=_names(store, "node_names") or range(num_nodes or 0),
        hyperedges=_names(store, "hyperedge_names") or range(num_hyperedges),
        node_ids=index[0],
        hyperedge_ids=index[1],
        weights=weights,
        features=features,
        labels=labels,
        soft_labels=_soft_labels(store),
        parts=parts,
        label_names=None if facts is None else facts.label_names,
        feature_names=None if facts is None else facts.feature_names,
        facts=facts,
        name=name,
    ).hypergraph()


def check_values(store: Mapping[str, Any], problems: Problems) -> None:
    """Raise where tensors have a shape only, by the names they were given by."""
    for key, value in store.items():
        if getattr(value, "is_meta", False):
            problems.add(
                f"{key!r} is on the device 'meta', where tensors have no values; give it with values"
            )
    problems.raise_any()


def _numpy(value: Any) -> Any:
    """The values on the CPU, in a type that numpy has."""
    if not hasattr(value, "detach"):
        return np.asarray(value)
    value = value.detach().cpu()
    return (value.float() if str(getattr(value, "dtype", "")) == "torch.bfloat16" else value).numpy()


def _names(store: dict[str, Any], key: str) -> Any:
    given = store.get(key)
    return None if given is None else list(given)


def _soft_labels(store: dict[str, Any]) -> Any:
    given = store.get("y_soft")
    return None if given is None else _numpy(given)


def _given(store: dict[str, Any], key: str, problems: Problems) -> Any:
    value = store.get(key)
    if value is None:
        problems.add(f"it has no {key!r}; its attributes are {', '.join(sorted(store))[:120]}")
    elif getattr(value, "ndim", None) != 2:
        problems.add(f"{key!r} must have a row per node, got shape {tuple(getattr(value, 'shape', ()))}")
    else:
        return value.float() if str(getattr(value, "dtype", "")) == "torch.bfloat16" else value
    return None


def _index(store: dict[str, Any], problems: Problems) -> Any:
    key = "hyperedge_index"
    value = store.get(key)
    if value is None:
        hint = ""
        if store.get("incidence_hyperedges") is not None:
            hint = (
                ": its incidence_hyperedges are those of TopoBench, which hypercondense.from_topobench reads"
            )
        elif store.get("edge_index") is not None:
            hint = ": its edge_index is that of a graph; if nodes stand above hyperedges in it, rename it"
        problems.add(f"it has no 'hyperedge_index'{hint}")
        return None
    index = _numpy(value)
    if index.ndim != 2 or index.shape[0] != 2 or index.dtype.kind not in "iu":
        problems.add(f"{key!r} must be two rows of whole numbers, got {index.dtype} of shape {index.shape}")
        return None
    if index.size and index.min() < 0:
        problems.add(f"{key!r} has an id below 0: {int(index.min())}")
    if index.size and index.max() > _LARGEST_ID:
        problems.add(f"{key!r} has the id {int(index.max())}, which nobody can count to")
    return index.astype(np.int64)


def _labels(store: dict[str, Any], problems: Problems) -> Any:
    if store.get("y") is None:
        problems.add("it has no 'y', the class of every node")
        return None
    labels = _numpy(store["y"])
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        problems.add(
            f"'y' must be a class for each node, got shape {labels.shape}; shares belong in 'y_soft'"
        )
        return None
    known = labels[~np.isnan(labels)] if labels.dtype.kind == "f" else labels
    whole = labels.dtype.kind in "iub" or (labels.dtype.kind == "f" and np.isfinite(known).all())
    if not whole or not np.array_equal(known, np.floor(known)):
        problems.add(f"'y' must hold whole numbers, got {labels.dtype}")
        return None
    if labels.dtype.kind == "f":
        labels = np.where(np.isnan(labels), UNKNOWN, labels)
    labels = labels.astype(np.int64)
    if (labels < UNKNOWN).any():
        node = int((labels < UNKNOWN).argmax())
        problems.add(f"'y' of node {node} is {labels[node]}; it must be {UNKNOWN} where the class is unknown")
    return labels


def _check_sizes(
    store: dict[str, Any], index: Any, labels: Any, num_nodes: int | None, problems: Problems
) -> None:
    """Everything that has an entry for each node, or names one, against the rows of ``x``."""
    told = store.get("num_hyperedges")
    if told is not None and index is not None and index[1].max(initial=-1) >= int(told):
        problems.add(f"'hyperedge_index' has hyperedge {index[1].max()}, but 'num_hyperedges' is {int(told)}")
    if num_nodes is None:
        return
    rows = f"but 'x' has {num_nodes} rows"
    told = store.get("num_nodes")
    if told is not None and int(told) != num_nodes:
        problems.add(f"'num_nodes' is {int(told)}, {rows}")
    if index is not None and index[0].max(initial=-1) >= num_nodes:
        problems.add(f"'hyperedge_index' has node {index[0].max()}, {rows}")
    sizes = {key: _size(store[key]) for key in (*MASKS, "y_soft", "node_names") if store.get(key) is not None}
    for key, size in {**({} if labels is None else {"y": len(labels)}), **sizes}.items():
        if size != num_nodes:
            problems.add(f"{key!r} has {size} entries, {rows}")


def _size(value: Any) -> int:
    shape = getattr(value, "shape", None)
    return len(value) if shape is None else int(shape[0]) if len(shape) else 0


def _parts(store: dict[str, Any], labels: Any, split: int | None, problems: Problems) -> Any:
    """Parts by masks; a node in two of them is a problem."""
    masks = {key: _numpy(store[key]).astype(bool) for key in MASKS if store.get(key) is not None}
    for key, mask in masks.items():
        columns = mask.shape[1] if mask.ndim == 2 else 0
        if columns and split is None:
            problems.add(f"{key!r} has {columns} columns, a split each; choose one with split=0")
        elif columns and not 0 <= split < columns:  # type: ignore[operator]
            problems.add(f"split must be from 0 to {columns - 1}, which {key!r} has, got {split}")
        elif columns:
            masks[key] = mask[:, split]
    if labels is None:
        return None
    parts = np.full(len(labels), NO_PART, np.int8)
    for key, mask in masks.items():
        if mask.shape != labels.shape:
            continue  # told already
        if (twice := np.flatnonzero(mask & (parts != NO_PART))).size:
            problems.add(f"node {twice[0]} is in {key!r} and in another mask")
        parts[mask] = MASKS.index(key)
    return without_unlabelled(parts, labels)


def _weights(store: dict[str, Any], index: Any, problems: Problems) -> Any:
    """Of memberships; a weight of a hyperedge is that of all its members, which is the same to networks."""
    weights, of_hyperedge = store.get("incidence_weight"), store.get("hyperedge_weight")
    if weights is None and of_hyperedge is None:
        return None
    made = np.ones(index.shape[1]) if weights is None else _numpy(weights).astype(np.float64).reshape(-1)
    if len(made) != index.shape[1]:
        problems.add(f"'incidence_weight' has {len(made)} entries for {index.shape[1]} memberships")
        made = np.ones(index.shape[1])
    if of_hyperedge is not None:
        owners = _numpy(of_hyperedge).astype(np.float64).reshape(-1)
        if index.size and not 0 <= index[1].min() <= index[1].max() < len(owners):
            problems.add(f"'hyperedge_weight' has {len(owners)} entries, too few for 'hyperedge_index'")
        else:
            made = made * owners[index[1]]
    return made


def _kept(store: dict[str, Any], index: Any, problems: Problems) -> Any:
    """Which hyperedges are no self-loops that :func:`to_pyg` added; ``None`` where it is not told."""
    loops = store.get(SELF_LOOPS)
    if loops is None:
        return None
    kept = ~_numpy(loops).astype(bool).reshape(-1)
    if index[1].max(initial=-1) >= len(kept):
        problems.add(f"{SELF_LOOPS!r} has {len(kept)} entries, too few for 'hyperedge_index'")
    return kept


def _without_loops(kept: Any, index: Any, weights: Any) -> tuple[Any, Any, int]:
    """Memberships without the self-loops that :func:`to_pyg` added."""
    mask = kept[index[1]]
    numbers = np.cumsum(kept) - 1
    index = np.stack([index[0][mask], numbers[index[1][mask]]])
    weights = None if weights is None else weights[mask]
    return index, weights, int(kept.sum())


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
    for key in _NAMES:
        names: Sequence[str] | None = getattr(hypergraph, key)
        more |= {} if names is None else {key: list(names)}
    return {**more, _FACTS: facts_of(hypergraph).content()}
