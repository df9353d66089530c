"""The one data type: a checked, frozen hypergraph with node features and labels."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

Ids: TypeAlias = NDArray[np.int64]
Dense: TypeAlias = NDArray[np.float32]
Features: TypeAlias = Any  # Dense (perhaps memory-mapped) or scipy.sparse.csr_array, both float32

UNKNOWN = -1  # the label of a node whose class is not known
_CHECK_ROWS = 65_536  # features are checked this many rows at a time, so that a memory map stays on disk


class Incidence(NamedTuple):
    """Which node is in which hyperedge, one entry per membership; weights ``None`` means all 1."""

    node_ids: Ids
    hyperedge_ids: Ids
    weights: Dense | None = None

    @property
    def num_incidences(self) -> int:
        """Number of memberships."""
        return len(self.node_ids)

    def matrix(self, num_nodes: int, num_hyperedges: int) -> Any:
        """The incidence matrix H as ``scipy.sparse.csr_array`` of shape (nodes, hyperedges), float32."""
        weights = np.ones(self.num_incidences, np.float32) if self.weights is None else self.weights
        shape = (num_nodes, num_hyperedges)
        return sp.csr_array((weights, (self.node_ids, self.hyperedge_ids)), shape=shape)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Hypergraph:
    """Nodes with features and labels, and weighted hyperedges over them.

    Everything is checked at construction and cannot be changed afterwards. Arrays are kept as read-only
    views: a large feature matrix, or one that is memory-mapped, is not copied.

    Args:
        features: One row per node. Dense, or sparse (scipy or torch) and then kept sparse.
        labels: One class per node, ``-1`` where it is unknown. Classes are ``0 .. num_classes - 1``.
        incidence: ``(node ids, hyperedge ids)`` or ``(node ids, hyperedge ids, weights)``, one entry per
            membership. Stored sorted by hyperedge, then node, so the order it comes in does not matter.
        num_hyperedges: Declared, never guessed from the largest id.
        num_nodes: Declared number of nodes; the default is the number of rows of ``features``.
        label_names: One name per class; classes without nodes may be named too.
        feature_names: One name per column.
        name: What to call it in tables. Not part of the content and not of the digest.
        notes: What a reader of results must know, e.g. that features were made from labels.

    >>> hypergraph = Hypergraph(
    ...     features=[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],
    ...     labels=[0, 1, -1],
    ...     incidence=([0, 1, 1, 2], [0, 0, 1, 1]),
    ...     num_hyperedges=2,
    ... )
    >>> hypergraph
    Hypergraph('unnamed', 3 nodes, 2 hyperedges, 4 incidences, 2 features, 2 classes)
    """

    features: Features
    labels: Ids
    incidence: Incidence
    num_nodes: int
    num_hyperedges: int
    label_names: tuple[str, ...] | None
    feature_names: tuple[str, ...] | None
    name: str
    notes: tuple[str, ...]

    def __init__(
        self,
        *,
        features: Any,
        labels: ArrayLike,
        incidence: Sequence[Any],
        num_hyperedges: int,
        num_nodes: int | None = None,
        label_names: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        name: str = "unnamed",
        notes: Sequence[str] = (),
    ) -> None:
        features = _checked_features(features)
        num_nodes = features.shape[0] if num_nodes is None else int(num_nodes)
        if features.shape[0] != num_nodes:
            raise ValueError(f"features have {features.shape[0]} rows but num_nodes is {num_nodes}")
        labels = _checked_labels(labels, num_nodes)
        store = object.__setattr__  # the instance is frozen for everybody else
        store(self, "features", features)
        store(self, "labels", labels)
        store(self, "incidence", _checked_incidence(incidence, num_nodes, int(num_hyperedges)))
        store(self, "num_nodes", num_nodes)
        store(self, "num_hyperedges", int(num_hyperedges))
        store(self, "label_names", _checked_names("label", label_names, int(labels.max()) + 1, exact=False))
        store(self, "feature_names", _checked_names("feature", feature_names, features.shape[1], exact=True))
        store(self, "name", str(name))
        store(self, "notes", tuple(str(note) for note in notes))

    def __repr__(self) -> str:
        return (
            f"Hypergraph({self.name!r}, {self.num_nodes} nodes, {self.num_hyperedges} hyperedges, "
            f"{self.num_incidences} incidences, {self.num_features} features, {self.num_classes} classes)"
        )

    @property
    def num_features(self) -> int:
        """Number of feature columns."""
        return int(self.features.shape[1])

    @property
    def num_incidences(self) -> int:
        """Number of (node, hyperedge) memberships, without added self-loops."""
        return self.incidence.num_incidences

    @property
    def num_classes(self) -> int:
        """Number of classes: as many as are named, else one more than the largest label."""
        return len(self.label_names) if self.label_names is not None else int(self.labels.max()) + 1

    @property
    def is_sparse(self) -> bool:
        """Whether the features are stored sparse."""
        return bool(sp.issparse(self.features))

    def dense_features(self, node_ids: Ids | slice = slice(None)) -> Dense:
        """The features of some nodes as a dense float32 matrix."""
        rows = self.features[node_ids]
        return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float32)

    @cached_property
    def with_self_loops(self) -> tuple[Incidence, int]:
        """The incidence in which every node has a singleton hyperedge, and its number of hyperedges.

        A node that is alone in some hyperedge already has one; every other node gets a new hyperedge of
        weight 1, numbered after the given ones in the order of the nodes.
        """
        node_ids, hyperedge_ids, weights = self.incidence
        sizes = np.bincount(hyperedge_ids, minlength=self.num_hyperedges)
        needs_loop = np.ones(self.num_nodes, bool)
        needs_loop[node_ids[sizes[hyperedge_ids] == 1]] = False
        loop_node_ids = np.flatnonzero(needs_loop)
        loop_hyperedge_ids = self.num_hyperedges + np.arange(len(loop_node_ids))
        if weights is not None:
            weights = np.concatenate([weights, np.ones(len(loop_node_ids), np.float32)])
        completed = Incidence(
            _read_only(np.concatenate([node_ids, loop_node_ids])),
            _read_only(np.concatenate([hyperedge_ids, loop_hyperedge_ids])),
            None if weights is None else _read_only(weights),
        )
        return completed, self.num_hyperedges + len(loop_node_ids)

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The content as named arrays and JSON-ready facts; :meth:`from_arrays` is the inverse."""
        arrays: dict[str, NDArray[Any]] = {
            "labels": self.labels,
            "incidence.node_ids": self.incidence.node_ids,
            "incidence.hyperedge_ids": self.incidence.hyperedge_ids,
        }
        if self.incidence.weights is not None:
            arrays["incidence.weights"] = self.incidence.weights
        if self.is_sparse:
            arrays["features.values"] = self.features.data
            arrays["features.columns"] = self.features.indices
            arrays["features.row_starts"] = self.features.indptr
        else:
            arrays["features"] = self.features
        facts = {
            "num_nodes": self.num_nodes,
            "num_hyperedges": self.num_hyperedges,
            "num_features": self.num_features,
            "label_names": self.label_names and list(self.label_names),
            "feature_names": self.feature_names and list(self.feature_names),
        }
        return arrays, facts

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        facts: Mapping[str, Any],
        *,
        name: str = "unnamed",
        notes: Sequence[str] = (),
    ) -> "Hypergraph":
        """Build and check a hypergraph from what :meth:`to_arrays` returned."""
        features: Any = arrays.get("features")
        if features is None:
            parts = tuple(arrays[f"features.{part}"] for part in ("values", "columns", "row_starts"))
            features = csr_from_parts(*parts, shape=(facts["num_nodes"], facts["num_features"]))
        return cls(
            features=features,
            labels=arrays["labels"],
            incidence=(
                arrays["incidence.node_ids"],
                arrays["incidence.hyperedge_ids"],
                arrays.get("incidence.weights"),
            ),
            num_nodes=facts["num_nodes"],
            num_hyperedges=facts["num_hyperedges"],
            label_names=facts.get("label_names"),
            feature_names=facts.get("feature_names"),
            name=name,
            notes=notes,
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content: features (dense and sparse differ), labels, incidence, sizes and names."""
        return digest(*self.to_arrays())


def csr_from_parts(values: Any, columns: Any, row_starts: Any, *, shape: Sequence[Any]) -> Any:
    """A ``scipy.sparse.csr_array`` whose parts may come from anywhere: every index is checked first.

    Scipy trusts the parts and reads outside of them if they are wrong.
    """
    columns, row_starts = _integers("columns", columns), _integers("row starts", row_starts)
    num_rows, num_columns = (int(size) for size in shape)
    if len(row_starts) != num_rows + 1 or row_starts[0] != 0 or row_starts[-1] != len(columns):
        raise ValueError(
            f"row starts must be {num_rows + 1} numbers from 0 to {len(columns)}, "
            f"got {len(row_starts)} from {row_starts[:1]} to {row_starts[-1:]}"
        )
    falling = np.flatnonzero(np.diff(row_starts) < 0)
    if len(falling):
        raise ValueError(f"row starts must not fall: they do after row {falling[0]}")
    bad = np.flatnonzero((columns < 0) | (columns >= num_columns))
    if len(bad):
        raise ValueError(f"columns must be 0 to {num_columns - 1}: entry {bad[0]} is {columns[bad[0]]}")
    values = np.asarray(values)
    if values.shape != columns.shape:
        raise ValueError(f"{len(columns)} columns but values of shape {values.shape}")
    return sp.csr_array((values, columns, row_starts), shape=(num_rows, num_columns))


def digest(arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> str:
    """SHA-256 over named arrays (name, type, shape, bytes) and JSON-ready facts, in order of name."""
    total = hashlib.sha256(json.dumps(facts, sort_keys=True, ensure_ascii=False).encode())
    for key in sorted(arrays):
        array = arrays[key]
        total.update(f"\0{key}\0{array.dtype.str}\0{array.shape}\0".encode())
        for start in range(0, len(array), _CHECK_ROWS):
            total.update(np.ascontiguousarray(array[start : start + _CHECK_ROWS]).view(np.uint8).data)
    return total.hexdigest()


def _read_only(array: Any) -> Any:
    view = array.view()
    view.flags.writeable = False
    return view


def _to_numpy(value: Any) -> Any:
    """Numpy or scipy form of ``value``; torch tensors (dense or sparse) are brought to the CPU."""
    import torch

    if not isinstance(value, torch.Tensor):
        return value
    value = value.detach().cpu()
    if value.layout == torch.strided:
        return value.numpy()
    coo = value.to_sparse_coo().coalesce()
    rows, columns = coo.indices().numpy()
    return sp.coo_array((coo.values().numpy(), (rows, columns)), shape=tuple(value.shape))


def _checked_features(features: Any) -> Features:
    features = _to_numpy(features)
    if sp.issparse(features):
        return _checked_sparse(features)
    matrix = features if isinstance(features, np.ndarray) else np.asarray(features)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ValueError(
            f"features must be a matrix with a row per node and at least one column, got shape {matrix.shape}"
        )
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"features must be real numbers, got type {matrix.dtype}")
    for start in range(0, len(matrix), _CHECK_ROWS):
        # Checked before the conversion: a number too large for float32 is named as it was given.
        block = matrix[start : start + _CHECK_ROWS]
        with np.errstate(over="ignore"):
            bad = np.argwhere(~np.isfinite(block.astype(np.float32, copy=False)))
        if len(bad):
            row, column = bad[0]
            raise ValueError(
                f"features must be finite float32 numbers: node {start + row}, column {column} "
                f"is {block[row, column]}"
            )
    return _read_only(matrix.astype(np.float32, copy=False))


def _checked_sparse(features: Any) -> Any:
    if features.ndim != 2 or features.shape[1] == 0:
        raise ValueError(f"features must be a matrix with at least one column, got shape {features.shape}")
    if features.dtype.kind not in "fiub":
        raise ValueError(f"features must be real numbers, got type {features.dtype}")
    if features.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(f"features must have fewer than 2**31 columns, got {features.shape[1]}")
    if features.format in ("csr", "csc"):
        # Scipy reads outside of the arrays if an index is wrong. Its check may exchange the arrays of what
        # it checks, so that is a wrapper of ours.
        wrapper = sp.csr_array if features.format == "csr" else sp.csc_array
        wrapper(features).check_format(full_check=True)
    with np.errstate(over="ignore"):
        matrix = sp.csr_array(features).astype(np.float32, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if len(bad):
        row = np.searchsorted(matrix.indptr, bad[0], side="right") - 1
        raise ValueError(
            f"features must be finite float32 numbers: node {row}, column {matrix.indices[bad[0]]} "
            f"is {matrix.data[bad[0]]}"
        )
    # One index type whatever came in: otherwise equal content could have two digests.
    shape = matrix.shape
    parts = (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int64))
    for part in parts:
        part.flags.writeable = False
    matrix = sp.csr_array(shape, dtype=np.float32)
    matrix.data, matrix.indices, matrix.indptr = parts
    return matrix


def _integers(what: str, values: Any) -> Ids:
    """``values`` as int64; numbers that are not whole are named with their place."""
    array = np.asarray(_to_numpy(values))
    if array.ndim != 1:
        raise ValueError(f"{what} must be a flat list, got shape {array.shape}")
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            bad = np.flatnonzero(~np.isfinite(array) | (array != np.floor(array)) | (np.abs(array) >= 2**53))
        if len(bad):
            raise ValueError(f"{what} must be whole numbers: entry {bad[0]} is {array[bad[0]]}")
    elif array.dtype.kind not in "iu":
        raise ValueError(f"{what} must be whole numbers, got type {array.dtype} (entry 0 is {array[0]!r})")
    elif array.dtype.kind == "u" and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{what} must fit in 63 bits: entry {int(array.argmax())} is {array.max()}")
    return array.astype(np.int64)


def _checked_labels(given: Any, num_nodes: int) -> Ids:
    labels = _integers("labels", given)
    if len(labels) != num_nodes:
        raise ValueError(f"{len(labels)} labels for {num_nodes} nodes; give -1 for an unknown label")
    negative = np.flatnonzero(labels < UNKNOWN)
    if len(negative):
        raise ValueError(
            f"labels must be -1 (unknown) or at least 0: node {negative[0]} has {labels[negative[0]]}"
        )
    if not (labels != UNKNOWN).any():
        raise ValueError(f"none of the {num_nodes} nodes has a label; at least one is needed")
    if labels.max() >= max(num_nodes, 2):
        node = int(labels.argmax())
        raise ValueError(
            f"labels must be numbered from 0 without large gaps: node {node} has {labels[node]}, "
            f"but there are only {num_nodes} nodes"
        )
    labels.flags.writeable = False
    return labels


def _checked_incidence(incidence: Sequence[Any], num_nodes: int, num_hyperedges: int) -> Incidence:
    if num_hyperedges < 0:
        raise ValueError(f"num_hyperedges must be at least 0, got {num_hyperedges}")
    parts: Iterator[Any] = iter(incidence)
    node_ids = _integers("node ids", next(parts))
    hyperedge_ids = _integers("hyperedge ids", next(parts))
    weights = next(parts, None)
    if len(node_ids) != len(hyperedge_ids):
        raise ValueError(f"{len(node_ids)} node ids but {len(hyperedge_ids)} hyperedge ids")
    for what, ids, size in (("node", node_ids, num_nodes), ("hyperedge", hyperedge_ids, num_hyperedges)):
        bad = np.flatnonzero((ids < 0) | (ids >= size))
        if len(bad):
            raise ValueError(
                f"{what} ids must be 0 to {size - 1}: incidence {bad[0]} has {what} {ids[bad[0]]}"
            )
    if num_nodes * num_hyperedges < 2**62:
        # One number per membership; the stable sort is quick on memberships that are in order.
        order = np.argsort(hyperedge_ids * num_nodes + node_ids, kind="stable")
    else:
        order = np.lexsort((node_ids, hyperedge_ids))
    node_ids, hyperedge_ids = node_ids[order], hyperedge_ids[order]
    same = np.flatnonzero((np.diff(node_ids) == 0) & (np.diff(hyperedge_ids) == 0))
    if len(same):
        first = same[0]
        raise ValueError(
            f"duplicate incidence: node {node_ids[first]} is in hyperedge {hyperedge_ids[first]} twice "
            f"(entries {order[first]} and {order[first + 1]})"
        )
    # Without a table of the declared size: a file may declare any number.
    present = hyperedge_ids[np.diff(hyperedge_ids, prepend=-1) != 0]
    if len(present) != num_hyperedges:
        first_empty = np.flatnonzero(np.append(present, -1) != np.arange(len(present) + 1))[0]
        raise ValueError(
            f"{num_hyperedges - len(present)} of {num_hyperedges} hyperedges are empty, the first is "
            f"hyperedge {first_empty}; leave empty hyperedges out and number the rest from 0"
        )
    if weights is not None:
        weights = _read_only(_checked_weights(weights, len(order))[order])
    return Incidence(_read_only(node_ids), _read_only(hyperedge_ids), weights)


def _checked_weights(given: Any, num_incidences: int) -> Dense:
    weights: Dense = np.asarray(_to_numpy(given), dtype=np.float32)
    if weights.shape != (num_incidences,):
        raise ValueError(f"weights have shape {weights.shape} but there are {num_incidences} incidences")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if len(bad):
        raise ValueError(f"weights must be positive and finite: incidence {bad[0]} has {weights[bad[0]]}")
    return weights


def _checked_names(
    what: str, names: Sequence[str] | None, size: int, *, exact: bool
) -> tuple[str, ...] | None:
    if names is None:
        return None
    if len(names) < size or (exact and len(names) != size):
        raise ValueError(f"{len(names)} {what} names for {size} {what}s")
    return tuple(str(name) for name in names)
