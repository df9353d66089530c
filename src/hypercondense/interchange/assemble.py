"""The one shared intermediate: what came from elsewhere, and the hypergraph that is made of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from hypercondense.errors import ConversionError
from hypercondense.hypergraph import UNKNOWN, Dense, Hypergraph, Ids
from hypercondense.hypergraph.checks import (
    checked_features,
    checked_labels,
    checked_names,
    checked_parts,
    checked_soft_labels,
)
from hypercondense.hypergraph.given import texts
from hypercondense.interchange.facts import Facts
from hypercondense.interchange.ids import names_of
from hypercondense.interchange.problems import Problems, and_more, shown, tell


@dataclass(kw_only=True)
class Arrived:
    """Nodes, hyperedges and memberships with their ids, and what is told of nodes.

    Args:
        problems: What was wrong so far.
        nodes: Ids of nodes in their order.
        hyperedges: Ids of hyperedges in their order; those without members are left out and told of.
        node_ids: The number of the node of each membership.
        hyperedge_ids: And that of its hyperedge.
        weights: One for each membership.
        features: A row for each node; ``None`` is a problem, because networks learn from them.
        labels: A class for each node.
        soft_labels: Shares of classes.
        parts: Parts of a split.
        label_names: Names of classes.
        feature_names: Names of columns.
        facts: What one of our own told about itself.
        name: What to call it.
        notes: For readers.
        refused: ``nodes``, ``features`` or ``labels`` that were there, where the problems tell why they
            cannot be used.
    """

    problems: Problems
    nodes: Sequence[Any]
    hyperedges: Sequence[Any]
    node_ids: Any
    hyperedge_ids: Any
    weights: Any = None
    features: Any = None
    labels: Any = None
    soft_labels: Any = None
    parts: Any = None
    label_names: Sequence[str] | None = None
    feature_names: Sequence[str] | None = None
    facts: Facts | None = None
    name: str | None = None
    notes: list[str] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)

    def hypergraph(self) -> Hypergraph:
        """Check, complete and build it; all problems are raised at once."""
        facts, problems = self.facts or Facts(), self.problems
        node_names = names_of("node", self.nodes, problems)
        if not len(self.nodes) and "nodes" not in self.refused:
            problems.add("there are no nodes")
        if self.features is None and "features" not in self.refused:
            problems.add(
                "nodes have no features, which networks learn from; give a number or more for each node"
            )
        labels = np.full(len(self.nodes), UNKNOWN) if self.labels is None else np.asarray(self.labels)
        unlabelled = not (labels != UNKNOWN).any() and "labels" not in self.refused
        if unlabelled and not self.label_names and not facts.label_names:
            problems.add("no node has a label; at least one is needed, or the names of all classes")
        self._check_memberships()
        hyperedge_names = names_of("hyperedge", self.hyperedges, problems)
        features = self._checked(labels)
        problems.raise_any()
        ids, hyperedge_ids, weights, kept = self._memberships()
        if len(kept) < len(self.hyperedges):
            told = self.hyperedges if hyperedge_names is None else hyperedge_names
            hyperedge_names = names_of("hyperedge", [told[place] for place in kept.tolist()], problems)
        try:
            return Hypergraph(
                features=features,
                labels=labels,
                incidence=(ids, hyperedge_ids, weights),
                num_nodes=len(self.nodes),
                num_hyperedges=len(kept),
                soft_labels=self.soft_labels,
                label_names=self.label_names,
                feature_names=self._feature_names(),
                node_names=node_names,
                hyperedge_names=hyperedge_names,
                parts=self.parts,
                name=self.name or facts.name,
                notes=(*facts.notes, *self.notes),
            )
        except (TypeError, ValueError) as error:
            raise ConversionError(f"{problems.what}: {error}") from error

    def _checked(self, labels: Ids) -> Any:
        """The features; what is wrong with them and with what is told of nodes is one problem each."""
        problems, features, names = self.problems, None, None
        if self.features is not None and "features" not in self.refused:
            features = problems.add_raised(lambda: checked_features(self.features))
        if features is not None:
            width = features.shape[1]
            problems.add_raised(lambda: checked_names("feature", self._feature_names(), width, exact=True))
        if self.label_names is not None:
            names = problems.add_raised(lambda: texts("label names", self.label_names))
        if names is not None:
            largest = int(labels.max(initial=-1)) + 1
            problems.add_raised(lambda: checked_names("label", names, largest, exact=False))
        if "labels" in self.refused or not len(labels):
            return features
        num_nodes, given = len(self.nodes), 0 if names is None else len(names)
        if (labels != UNKNOWN).any():
            problems.add_raised(lambda: checked_labels(labels, num_nodes, given))
        classes = given or int(labels.max()) + 1
        problems.add_raised(lambda: checked_soft_labels(self.soft_labels, num_nodes, classes))
        problems.add_raised(lambda: checked_parts(self.parts, labels))
        return features

    def _feature_names(self) -> Sequence[str] | None:
        names = self.feature_names
        told = self.facts is not None and self.facts.feature_names is not None
        return (
            None if names is not None and not told and list(names) == numbered_columns(len(names)) else names
        )

    def _check_memberships(self) -> None:
        if self.weights is None:
            return
        with np.errstate(over="ignore", under="ignore"):
            weights = np.asarray(self.weights, np.float64).astype(np.float32)
        bad = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
        if len(bad):
            first, given = bad[0], float(self.weights[bad[0]])
            self.problems.add(
                f"weights must be above 0 and finite: {self._membership(first)} is {given:g}"
                f"{and_more(len(bad), 'are not')}"
            )

    def _membership(self, place: int) -> str:
        """A membership by its ids, or by its place where they are among the problems."""
        if len(self.node_ids) > place < len(self.hyperedge_ids):
            node, hyperedge = int(self.node_ids[place]), int(self.hyperedge_ids[place])
            if 0 <= node < len(self.nodes) and 0 <= hyperedge < len(self.hyperedges):
                own = f"node {shown(self.nodes[node])} in hyperedge {shown(self.hyperedges[hyperedge])}"
                return f"that of {own}"
        return f"entry {place}"

    def _memberships(self) -> tuple[Ids, Ids, Dense | None, Ids]:
        """Memberships once each, hyperedges without gaps, and which hyperedges are kept."""
        ids = np.asarray(self.node_ids, np.int64)
        kept, owners = np.unique(np.asarray(self.hyperedge_ids, np.int64), return_inverse=True)
        weights = None if self.weights is None else np.asarray(self.weights)
        _, first = np.unique(owners * max(1, len(self.nodes)) + ids, return_index=True)
        if repeated := len(ids) - len(first):
            place = np.setdiff1d(np.arange(len(ids)), first)[0]
            tell(
                f"{repeated} memberships are there more than once, as node {shown(self.nodes[ids[place]])} "
                f"in hyperedge {shown(self.hyperedges[kept[owners[place]]])}: the first is taken"
            )
            self.notes.append(f"{repeated} repeated members of a hyperedge were dropped")
            ids, owners = ids[first], owners[first]
            weights = None if weights is None else weights[first]
        if empty := len(self.hyperedges) - len(kept):
            # Without a table of all: an object may declare any number.
            place = int(np.flatnonzero(np.append(kept, -1) != np.arange(len(kept) + 1))[0])
            tell(f"{empty} hyperedges have no members and were left out, as {shown(self.hyperedges[place])}")
            self.notes.append(f"{empty} empty hyperedges were dropped")
        told = self.facts is not None and self.facts.weighted
        if weights is not None and not told and (weights == 1).all():
            weights = None
        return ids, owners.astype(np.int64), weights, kept


def numbered_columns(number: int) -> list[str]:
    """What columns of features are called that have no names.

    >>> numbered_columns(2)
    ['x0', 'x1']
    """
    return [f"x{column}" for column in range(number)]


def hyperedge_weights(hypergraph: Hypergraph) -> Dense | None:
    """A weight for each hyperedge where all its members have the same; ``None`` where some differ.

    To networks that is the same: with weights w on all members of a hyperedge, ``H De^-1 H^T`` has w / size.
    """
    weights = hypergraph.incidence.weights
    if weights is None:
        return np.ones(hypergraph.num_hyperedges, np.float32)
    owners = hypergraph.incidence.hyperedge_ids
    _, first = np.unique(owners, return_index=True)
    of_hyperedge = weights[first]
    return of_hyperedge if np.array_equal(of_hyperedge[owners], weights) else None


def members_of(hypergraph: Hypergraph) -> list[list[int]]:
    """The numbers of the nodes of every hyperedge, in order."""
    ids, owners, _ = hypergraph.incidence
    starts = np.searchsorted(owners, np.arange(hypergraph.num_hyperedges + 1)).tolist()
    flat = ids.tolist()
    return [flat[start:end] for start, end in pairwise(starts)]
