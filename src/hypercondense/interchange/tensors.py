"""Tensors by the names PyG has for them, as several libraries keep them, become a hypergraph."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hypercondense.hypergraph import UNKNOWN, Hypergraph
from hypercondense.hypergraph.arrays import NO_PART
from hypercondense.interchange.assemble import Arrived
from hypercondense.interchange.columns import without_unlabelled
from hypercondense.interchange.facts import KEY, read_facts
from hypercondense.interchange.problems import Problems, shown, tell_lost

#: Its parts of a split.
MASKS = ("train_mask", "val_mask", "test_mask")
NAMES = ("node_names", "hyperedge_names")
#: Which hyperedges of an object were added as self-loops, so that they can be told from those given.
SELF_LOOPS = "is_self_loop"
_LARGEST_ID = 2**60
#: In place of what is there and cannot be used, which was told.
TOLD: Any = object()
_USED = {
    *("x", "y", "y_soft", "hyperedge_index", "edge_index", "incidence_weight", "hyperedge_weight"),
    *("num_nodes", "num_hyperedges", "scale_mean", "scale_deviation"),
    *(SELF_LOOPS, KEY, *MASKS, *NAMES),
}


def from_store(
    store: Mapping[str, Any], problems: Problems, *, split: int | None = None, name: str | None = None
) -> Hypergraph:
    """A hypergraph from tensors by the names :func:`to_pyg` has for them."""
    store = check_values(store, problems)
    features = _given(store, "x", problems)
    index = _index(store, problems)
    labels = _labels(store, problems)
    num_nodes = None if features is None else int(features.shape[0])
    wrong = _check_sizes(store, index, labels, num_nodes, problems)
    facts = read_facts(_there(store, KEY), f"data.{KEY}", problems)
    parts = _parts(store, labels, split, problems)
    weights = None if index is None else _weights(store, index, problems)
    kept = None if index is None else _kept(store, index, problems)
    node_names, hyperedge_names = (_names(store, key, problems) for key in NAMES)
    num_hyperedges = count_in(store, "num_hyperedges", problems)
    if index is None or not _is_sound(index, num_nodes, num_hyperedges, kept):  # which was told
        index, weights, kept, hyperedge_names = np.zeros((2, 0), np.int64), None, None, None
    num_hyperedges = num_hyperedges or int(index[1].max(initial=-1)) + 1
    if kept is not None:
        index, weights, num_hyperedges = _without_loops(kept, index, weights)
    if hyperedge_names is not None and len(hyperedge_names) != num_hyperedges:
        told = f"{problems.of('hyperedge_names')} has {len(hyperedge_names)} entries"
        problems.add(f"{told}, but there are {num_hyperedges} hyperedges")
        hyperedge_names = None
    unused = sorted(key for key, value in store.items() if key not in _USED and value is not None)
    if not problems.found:
        tell_lost("a hypergraph of ours", (f"the attribute {key!r}" for key in unused))
    rows = num_nodes if num_nodes is not None else 0 if labels is None else len(labels)
    return Arrived(
        problems=problems,
        nodes=range(rows) if node_names is None or "node_names" in wrong else node_names,
        hyperedges=range(num_hyperedges) if hyperedge_names is None else hyperedge_names,
        node_ids=index[0],
        hyperedge_ids=index[1],
        weights=weights,
        features=features,
        labels=None if "y" in wrong else labels,
        soft_labels=None if "y_soft" in wrong else _soft_labels(store),
        parts=None if "y" in wrong else parts,
        label_names=None if facts is None else facts.label_names,
        feature_names=None if facts is None else facts.feature_names,
        facts=facts,
        name=name,
        refused={
            *(("features", "nodes") if features is None else ()),
            *(("labels",) if labels is None or "y" in wrong else ()),
        },
    ).hypergraph()


def _is_sound(index: Any, num_nodes: int | None, num_hyperedges: int | None, kept: Any) -> bool:
    """Whether every id of a membership is one of a node and of a hyperedge."""
    nodes, hyperedges = index.max(1, initial=-1).tolist()
    sizes = [size for size in (num_hyperedges, None if kept is None else len(kept)) if size is not None]
    least = index.min(initial=0) >= 0 and num_nodes is not None
    return bool(least and nodes < (num_nodes or 0) and all(hyperedges < size for size in sizes))


def check_values(store: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    """The same with :data:`TOLD` where tensors have a shape only, which is told by their names."""
    checked = dict(store)
    for key, value in store.items():
        if getattr(value, "is_meta", False):
            problems.add(
                f"{key!r} is on the device 'meta', where tensors have no values; give it with values"
            )
            checked[key] = TOLD
    return checked


def _there(store: Mapping[str, Any], key: str) -> Any:
    """What is there by its name, and can be used."""
    value = store.get(key)
    return None if value is TOLD else value


def _numpy(value: Any) -> Any:
    """The values on the CPU, in a type that numpy has."""
    if not hasattr(value, "detach"):
        return np.asarray(value)
    value = value.detach().cpu()
    if str(getattr(value, "layout", "torch.strided")) != "torch.strided":
        value = value.to_dense()
    return (value.float() if str(getattr(value, "dtype", "")) == "torch.bfloat16" else value).numpy()


def _numbers(store: Mapping[str, Any], key: str, problems: Problems) -> Any:
    """All numbers of a tensor in one row; ``None`` where it is not there, or is none, which is told."""
    value = _there(store, key)
    if value is None:
        return None
    try:
        return _numpy(value).astype(np.float64).reshape(-1)
    except (TypeError, ValueError):
        problems.add(f"{problems.of(key)} must be a tensor of numbers, got {shown(value)}")
        return None


def _names(store: Mapping[str, Any], key: str, problems: Problems) -> Any:
    given = _there(store, key)
    given = given.tolist() if hasattr(given, "tolist") else given  # a tensor's entries are tensors
    if given is None or (isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)):
        return None if given is None else list(given)
    problems.add(f"{problems.of(key)} must be a list with a name for each, got {shown(given)}")
    return None


def count_in(store: Mapping[str, Any], key: str, problems: Problems) -> int | None:
    """A whole number by its name, if it is there."""
    given = _there(store, key)
    if given is None:
        return None
    try:
        if (number := int(given)) >= 0:
            return number
        problems.add(f"{problems.of(key)} must be 0 or more, got {number}")
        return None
    except (TypeError, ValueError, OverflowError, RuntimeError):
        problems.add(f"{problems.of(key)} must be a whole number, got {shown(given)}")
        return None


def _soft_labels(store: Mapping[str, Any]) -> Any:
    given = _there(store, "y_soft")
    return None if given is None else _numpy(given)


def _given(store: Mapping[str, Any], key: str, problems: Problems) -> Any:
    value = store.get(key)
    if value is TOLD:
        return None
    if value is None:
        there = sorted(own for own, given in store.items() if given is not None and given is not TOLD)
        problems.add(f"it has no {problems.of(key)}; its attributes are {', '.join(there)[:120]}")
    elif getattr(value, "ndim", None) != 2:
        shape = getattr(value, "shape", None)
        came = f"a {type(value).__name__}" if shape is None else f"shape {tuple(shape)}"
        problems.add(f"{problems.of(key)} must be a tensor with a row per node, got {came}")
    else:
        return value.float() if str(getattr(value, "dtype", "")) == "torch.bfloat16" else value
    return None


def _index(store: Mapping[str, Any], problems: Problems) -> Any:
    key = "hyperedge_index"
    value = store.get(key)
    if value is TOLD:
        return None
    if value is None:
        hint = ""
        if store.get("incidence_hyperedges") is not None:
            hint = (
                ": its incidence_hyperedges are those of TopoBench, which hypercondense.from_topobench reads"
            )
        elif store.get("edge_index") is not None:
            hint = ": its edge_index is that of a graph; if nodes stand above hyperedges in it, rename it"
        problems.add(f"it has no {problems.of(key)}{hint}")
        return None
    index = _numpy(value)
    if index.ndim != 2 or index.shape[0] != 2 or index.dtype.kind not in "iu":
        came = f"{index.dtype} of shape {index.shape}"
        problems.add(f"{problems.of(key)} must be two rows of whole numbers, got {came}")
        return None
    if index.size and index.min() < 0:
        problems.add(f"{problems.of(key)} has an id below 0: {int(index.min())}")
    if index.size and index.max() > _LARGEST_ID:
        problems.add(f"{problems.of(key)} has the id {int(index.max())}, which nobody can count to")
    return index.astype(np.int64)


def _labels(store: Mapping[str, Any], problems: Problems) -> Any:
    own = problems.of("y")
    if store.get("y") is None:
        problems.add(f"it has no {own}, the class of every node")
    if _there(store, "y") is None:
        return None
    labels = _numpy(store["y"])
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        shape = labels.shape
        problems.add(f"{own} must be a class for each node, got shape {shape}; shares belong in 'y_soft'")
        return None
    wrong = _no_classes(labels)
    if wrong is not None:
        problems.add(f"{own} {wrong}")
        return None
    if labels.dtype.kind == "f":
        labels = np.where(np.isnan(labels), UNKNOWN, labels)
    labels = labels.astype(np.int64)
    if (labels < UNKNOWN).any():
        node = int((labels < UNKNOWN).argmax())
        problems.add(
            f"{own} of node {node} is {labels[node]}; it must be {UNKNOWN} where the class is unknown"
        )
    return np.maximum(labels, UNKNOWN)


def _no_classes(labels: Any) -> str | None:
    """Why these are no classes; NaN is an unknown one."""
    known = labels[~np.isnan(labels)] if labels.dtype.kind == "f" else labels
    whole = labels.dtype.kind in "iub" or (labels.dtype.kind == "f" and np.isfinite(known).all())
    if not whole or not np.array_equal(known, np.floor(known)):
        return f"must hold whole numbers, got {labels.dtype}"
    if known.size and not -_LARGEST_ID < known.min() <= known.max() < _LARGEST_ID:
        return f"has a class that nobody can count to, among {known.min():g} to {known.max():g}"
    return None


def _check_sizes(
    store: Mapping[str, Any], index: Any, labels: Any, num_nodes: int | None, problems: Problems
) -> set[str]:
    """What has an entry for each node, or names one, against the rows of ``x``; gives what does not fit."""
    own = problems.of("hyperedge_index")
    told = count_in(store, "num_hyperedges", problems)
    if told is not None and index is not None and index[1].max(initial=-1) >= told:
        count = problems.of("num_hyperedges")
        problems.add(f"{own} has hyperedge {index[1].max()}, but {count} is {told}")
    if num_nodes is None:
        return set()
    rows = f"but {problems.of('x')} has {num_nodes} rows"
    told = count_in(store, "num_nodes", problems)
    if told is not None and told != num_nodes:
        problems.add(f"{problems.of('num_nodes')} is {told}, {rows}")
    if index is not None and index[0].max(initial=-1) >= num_nodes:
        problems.add(f"{own} has node {index[0].max()}, {rows}")
    keys = [key for key in (*MASKS, "y_soft", "node_names") if _there(store, key) is not None]
    sizes = {**({} if labels is None else {"y": len(labels)}), **{key: _size(store[key]) for key in keys}}
    wrong = {key: size for key, size in sizes.items() if size is not None and size != num_nodes}
    for key, size in wrong.items():
        problems.add(f"{problems.of(key)} has {size} entries, {rows}")
    return {*wrong}


def _size(value: Any) -> int | None:
    shape = getattr(value, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) else 0
    return len(value) if hasattr(value, "__len__") else None


def _parts(store: Mapping[str, Any], labels: Any, split: int | None, problems: Problems) -> Any:
    """Parts by masks; a node in two of them is a problem."""
    masks = {key: mask for key in MASKS if (mask := _mask(store, key, problems)) is not None}
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
    return None if problems.found else without_unlabelled(parts, labels)


def _mask(store: Mapping[str, Any], key: str, problems: Problems) -> Any:
    """Whether each node is in a part; ids of nodes are told from it."""
    value = _there(store, key)
    if value is None:
        return None
    mask = _numpy(value)
    if mask.dtype.kind != "b" and not (mask.dtype.kind in "iuf" and ((mask == 0) | (mask == 1)).all()):
        problems.add(
            f"{problems.of(key)} must be true or false for each node, got {mask.dtype}: are these ids?"
        )
        return None
    return mask.astype(bool)


def _weights(store: Mapping[str, Any], index: Any, problems: Problems) -> Any:
    """Of memberships; a weight of a hyperedge is that of all its members, which is the same to networks."""
    weights = _numbers(store, "incidence_weight", problems)
    owners = _numbers(store, "hyperedge_weight", problems)
    if weights is None and owners is None:
        return None
    made = np.ones(index.shape[1]) if weights is None else weights
    if len(made) != index.shape[1]:
        own = problems.of("incidence_weight")
        problems.add(f"{own} has {len(made)} entries for {index.shape[1]} memberships")
        made = np.ones(index.shape[1])
    if owners is not None:
        if index.size and not 0 <= index[1].min() <= index[1].max() < len(owners):
            own, of = problems.of("hyperedge_weight"), problems.of("hyperedge_index")
            problems.add(f"{own} has {len(owners)} entries, too few for {of}")
        else:
            made = made * owners[index[1]]
    return made


def _kept(store: Mapping[str, Any], index: Any, problems: Problems) -> Any:
    """Which hyperedges are no self-loops that :func:`to_pyg` added; ``None`` where it is not told."""
    loops = _there(store, SELF_LOOPS)
    if loops is None:
        return None
    kept = ~_numpy(loops).astype(bool).reshape(-1)
    if index[1].max(initial=-1) >= len(kept):
        problems.add(f"{SELF_LOOPS!r} has {len(kept)} entries, too few for {problems.of('hyperedge_index')}")
    return kept


def _without_loops(kept: Any, index: Any, weights: Any) -> tuple[Any, Any, int]:
    """Memberships without the self-loops that :func:`to_pyg` added."""
    mask = kept[index[1]]
    numbers = np.cumsum(kept) - 1
    index = np.stack([index[0][mask], numbers[index[1][mask]]])
    weights = None if weights is None else weights[mask]
    return index, weights, int(kept.sum())
