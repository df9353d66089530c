"""The one data type: a checked, frozen hypergraph with node features and labels."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from hypercondense.files.maps import chunks, release
from hypercondense.hypergraph.arrays import UNKNOWN, UNNAMED, Dense, Features, Ids, Incidence, Parts
from hypercondense.hypergraph.checks import (
    BLOCK_ROWS,
    checked_features,
    checked_incidence,
    checked_labels,
    checked_names,
    checked_parts,
    checked_soft_labels,
    checked_text,
    csr_from_parts,
    read_only,
)
from hypercondense.hypergraph.given import check_rows_alike, frame_names, is_frame, texts, whole_number
from hypercondense.hypergraph.names import (
    Names,
    StoredNames,
    checked_own_names,
    from_text_arrays,
    ids_of,
    is_beside_content,
    to_text_arrays,
)
from hypercondense.hypergraph.outward import Outward
from hypercondense.markup import fact_table
from hypercondense.runtime.arguments import told_arguments

__all__ = ["UNKNOWN", "Dense", "Features", "Hypergraph", "Ids", "Incidence", "digest"]


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Hypergraph(Outward):
    """Nodes with features and labels, and weighted hyperedges over them.

    Everything is checked at construction and cannot be changed through this object afterwards. Dense float32
    features may be large or memory-mapped and are kept as a read-only view: the caller's array is not
    copied, so do not write to it. All other arrays are copies. Two with the same content and the same names
    of nodes and hyperedges are equal.

    Args:
        features: One row per node. Dense, or sparse (scipy or torch) and then kept sparse. Of a table of
            pandas the columns name the features and the index names the nodes, unless names are given.
        labels: One class per node, ``-1`` where it is unknown. Classes are ``0 .. num_classes - 1``.
        incidence: ``(node ids, hyperedge ids)`` or ``(node ids, hyperedge ids, weights)``, one entry per
            membership. Stored sorted by hyperedge, then node, so the order it comes in does not matter.
        num_hyperedges: Declared, never guessed from the largest id.
        num_nodes: Declared number of nodes; the default is the number of rows of ``features``.
        soft_labels: Shares of the classes, a row per node and a column per class; every row adds up to 1.
            What networks learn from instead of ``labels``, which stay the class a node was allotted.
        label_names: One name per class; classes without nodes may be named too.
        feature_names: One name per column.
        node_names: What nodes are called, no two alike. Not part of the digest: a source whose nodes are
            called otherwise is the same source.
        hyperedge_names: The same for hyperedges.
        parts: For every node the part of a split that came with the data: 0 for training, 1 for validation,
            2 for test, -1 for none. :func:`split` uses it. Not part of the digest.
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
    soft_labels: Dense | None
    incidence: Incidence
    num_nodes: int
    num_hyperedges: int
    label_names: tuple[str, ...] | None
    feature_names: tuple[str, ...] | None
    node_names: Names | None
    hyperedge_names: Names | None
    parts: Parts | None
    name: str
    notes: tuple[str, ...]

    @told_arguments
    def __init__(
        self,
        *,
        features: Any,
        labels: ArrayLike,
        incidence: Sequence[Any],
        num_hyperedges: int,
        num_nodes: int | None = None,
        soft_labels: Any = None,
        label_names: Iterable[Any] | None = None,
        feature_names: Iterable[Any] | None = None,
        node_names: Iterable[Any] | None = None,
        hyperedge_names: Iterable[Any] | None = None,
        parts: Any = None,
        name: str = UNNAMED,
        notes: Sequence[str] = (),
    ) -> None:
        if is_frame(features):
            columns, rows = frame_names(features)
            feature_names = columns if feature_names is None else feature_names
            node_names = rows if node_names is None else node_names
            check_rows_alike(features, labels)
        features = checked_features(features)
        num_nodes = features.shape[0] if num_nodes is None else whole_number("num_nodes", num_nodes)
        num_hyperedges = whole_number("num_hyperedges", num_hyperedges)
        label_names = texts("label names", label_names)
        if features.shape[0] != num_nodes:
            raise ValueError(f"features have {features.shape[0]} rows but num_nodes is {num_nodes}")
        labels = checked_labels(labels, num_nodes, 0 if label_names is None else len(label_names))
        store = object.__setattr__  # the instance is frozen for everybody else
        store(self, "features", features)
        store(self, "labels", labels)
        store(self, "incidence", checked_incidence(incidence, num_nodes, num_hyperedges))
        store(self, "num_nodes", num_nodes)
        store(self, "num_hyperedges", num_hyperedges)
        store(self, "label_names", checked_names("label", label_names, int(labels.max()) + 1, exact=False))
        store(self, "feature_names", checked_names("feature", feature_names, features.shape[1], exact=True))
        store(self, "node_names", checked_own_names("node", node_names, num_nodes))
        store(self, "hyperedge_names", checked_own_names("hyperedge", hyperedge_names, num_hyperedges))
        store(self, "soft_labels", checked_soft_labels(soft_labels, num_nodes, self.num_classes))
        store(self, "parts", checked_parts(parts, labels))
        store(self, "name", checked_text("the name", name))
        given_notes = (notes,) if isinstance(notes, str) else notes
        store(self, "notes", tuple(checked_text("a note", note) for note in given_notes))

    @classmethod
    def opened(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        facts: Mapping[str, Any],
        *,
        digest: str,
        name: str,
        notes: Sequence[str],
        again: tuple[Callable[..., "Hypergraph"], Any],
    ) -> "Hypergraph":
        """A hypergraph whose arrays stay in their file; they have been checked, and nothing is looked at.

        Args:
            arrays: As :meth:`to_arrays` names them; ids may have 32 bits.
            facts: Sizes and names.
            digest: Of the content, as it was computed when the file was checked.
            name: What to call it.
            notes: What a reader of results must know.
            again: A function and its argument that open the same file: other processes get these instead of
                the content.
        """
        self = object.__new__(cls)
        given = {
            **{key: facts[key] for key in ("num_nodes", "num_hyperedges")},
            **{key: facts[key] and tuple(facts[key]) for key in ("label_names", "feature_names")},
            "features": arrays["features"],
            "labels": arrays["labels"],
            "soft_labels": None,
            "incidence": Incidence(
                arrays["incidence.node_ids"],
                arrays["incidence.hyperedge_ids"],
                arrays.get("incidence.weights"),
            ),
            "node_names": StoredNames.of("node_names", arrays),
            "hyperedge_names": StoredNames.of("hyperedge_names", arrays),
            "parts": arrays.get("parts"),
            "name": checked_text("the name", name),
            "notes": tuple(checked_text("a note", note) for note in notes),
            "digest": digest,
            "_again": again,
        }
        vars(self).update(given)
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        again = vars(self).get("_again")
        return super().__reduce_ex__(protocol) if again is None else (_reopened, (*again, self.name))

    @property
    def is_mapped(self) -> bool:
        """Whether the arrays are in a file and not in memory."""
        return "_again" in vars(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hypergraph):
            return NotImplemented
        return self is other or (
            self.digest == other.digest
            and self.node_names == other.node_names
            and self.hyperedge_names == other.hyperedge_names
            and np.array_equal(self._parts_or_none(), other._parts_or_none())
        )

    def _parts_or_none(self) -> NDArray[Any]:
        return np.empty(0) if self.parts is None else self.parts

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return (
            f"Hypergraph({self.name!r}, {self.num_nodes} nodes, {self.num_hyperedges} hyperedges, "
            f"{self.num_incidences} incidences, {self.num_features} features, {self.num_classes} classes"
            f"{'' if self.soft_labels is None else ', soft labels'})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        facts = {
            "nodes": f"{self.num_nodes:,}",
            "hyperedges": f"{self.num_hyperedges:,}",
            "memberships": f"{self.num_incidences:,}",
            "features": f"{self.num_features:,}{', sparse' * self.is_sparse}",
            "classes": f"{self.num_classes:,}{'' if self.soft_labels is None else ', soft labels'}",
            "labelled nodes": f"{int((self.labels != UNKNOWN).sum()):,}",
        }
        notes = {f"note {number}": note for number, note in enumerate(self.notes, start=1)}
        return fact_table(self.name, facts | notes)

    @property
    def num_features(self) -> int:
        """Number of feature columns."""
        return int(self.features.shape[1])

    @property
    def num_incidences(self) -> int:
        """Number of (node, hyperedge) memberships, without added self-loops."""
        return self.incidence.num_incidences

    @cached_property
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
            read_only(np.concatenate([node_ids, loop_node_ids])),
            read_only(np.concatenate([hyperedge_ids, loop_hyperedge_ids])),
            None if weights is None else read_only(weights),
        )
        return completed, self.num_hyperedges + len(loop_node_ids)

    def node_ids(self, names: Sequence[Any]) -> Ids:
        """The numbers of nodes given by name; by number, perhaps as text, where nodes have no names.

        Raises:
            ValueError: One does not exist.
        """
        return ids_of("node", names, self.node_names, self.num_nodes)

    def node_name(self, node_id: int) -> str:
        """What a node is called: its name, or its number where it has none."""
        return str(node_id) if self.node_names is None else self.node_names[node_id]

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The content as named arrays and JSON-ready facts; :meth:`from_arrays` is the inverse."""
        arrays: dict[str, NDArray[Any]] = {
            "labels": self.labels,
            "incidence.node_ids": self.incidence.node_ids,
            "incidence.hyperedge_ids": self.incidence.hyperedge_ids,
        }
        if self.incidence.weights is not None:
            arrays["incidence.weights"] = self.incidence.weights
        if self.soft_labels is not None:
            arrays["soft_labels"] = self.soft_labels
        if self.is_sparse:
            arrays["features.values"] = self.features.data
            arrays["features.columns"] = self.features.indices
            arrays["features.row_starts"] = self.features.indptr
        else:
            arrays["features"] = self.features
        arrays |= {} if self.parts is None else {"parts": self.parts}
        arrays |= to_text_arrays("node_names", self.node_names)
        arrays |= to_text_arrays("hyperedge_names", self.hyperedge_names)
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
        name: str = UNNAMED,
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
            soft_labels=arrays.get("soft_labels"),
            incidence=(
                arrays["incidence.node_ids"],
                arrays["incidence.hyperedge_ids"],
                arrays.get("incidence.weights"),
            ),
            num_nodes=facts["num_nodes"],
            num_hyperedges=facts["num_hyperedges"],
            label_names=facts.get("label_names"),
            feature_names=facts.get("feature_names"),
            node_names=from_text_arrays("node_names", arrays),
            hyperedge_names=from_text_arrays("hyperedge_names", arrays),
            parts=arrays.get("parts"),
            name=name,
            notes=notes,
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content: features (dense and sparse differ), labels, incidence, sizes and names.

        Soft labels count where there are any. What nodes and hyperedges are called does not, nor do parts.
        """
        arrays, facts = self.to_arrays()
        return content_digest(arrays, facts)


def content_digest(arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> str:
    """The digest of a hypergraph of these arrays; ids of 32 bits count as they would with 64."""
    counted = {key: array for key, array in arrays.items() if not is_beside_content(key)}
    return digest(counted, facts, long=("incidence.node_ids", "incidence.hyperedge_ids"))


def _reopened(opener: Callable[..., Hypergraph], place: Any, name: str) -> Hypergraph:
    return opener(place, name=name)


def digest(arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any], *, long: Sequence[str] = ()) -> str:
    """SHA-256 over named arrays (name, type, shape, bytes) and JSON-ready facts, in order of name.

    Those named in ``long`` are taken as numbers of 64 bits, whatever they have.
    """
    total = hashlib.sha256(json.dumps(facts, sort_keys=True, ensure_ascii=False).encode())
    for key in sorted(arrays):
        array = arrays[key]
        kind = np.dtype(np.int64) if key in long else array.dtype
        total.update(f"\0{key}\0{kind.str}\0{array.shape}\0".encode())
        for rows in chunks(len(array), BLOCK_ROWS):
            total.update(np.ascontiguousarray(array[rows], kind).view(np.uint8).data)
            release(array)
    return total.hexdigest()
