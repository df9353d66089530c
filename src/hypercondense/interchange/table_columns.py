"""What tables of pandas, Polars and Arrow have in common: columns by their names, and what each is for."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from hypercondense.hypergraph import UNKNOWN, Hypergraph
from hypercondense.hypergraph.arrays import NO_PART, PARTS
from hypercondense.interchange.assemble import Arrived, numbered_columns
from hypercondense.interchange.columns import (
    LABEL,
    SPLIT,
    Choices,
    features_of,
    is_missing,
    labels_of,
    parts_of,
)
from hypercondense.interchange.facts import Facts, facts_of
from hypercondense.interchange.ids import ids_of, number_all, numbered
from hypercondense.interchange.problems import Problems, and_more, shown, tell_unused

NODE, HYPEREDGE, WEIGHT = "node", "hyperedge", "weight"
#: Shares of a class, for each a column.
SOFT = "soft_label:"
#: Sparse features: of each node a list of the numbers of columns, and one of what is in them.
PLACES, VALUES = "feature_columns", "feature_values"
_SHOWN = 40  # letters of a name in a message

Columns: TypeAlias = Mapping[Hashable, Any]


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Which column is what; ``None`` is the usual name, where there is a column of that name."""

    node: Hashable = NODE
    hyperedge: Hashable = HYPEREDGE
    weight: Hashable | None = None
    label: Hashable | None = None
    split: Hashable | None = None
    features: Sequence[Hashable] | None = None

    def of_nodes(self, columns: Columns, problems: Problems) -> "Roles":
        """The same with every column of the table of nodes found, or told to be missing."""
        made = {}
        for role, usual in (("label", LABEL), ("split", SPLIT)):
            made[role] = _present(columns, getattr(self, role), usual, "nodes", problems)
        soft = [key for key in columns if str(key).startswith(SOFT)]
        other = (self.node, made["label"], made["split"], PLACES, VALUES, *soft)
        if self.features is None:
            return Roles(node=self.node, features=[key for key in columns if key not in other], **made)
        asked = [self.features] if isinstance(self.features, str) else self.features
        found = [_present(columns, key, key, "nodes", problems) for key in asked]
        return Roles(node=self.node, features=[key for key in found if key is not None], **made)


def _present(
    columns: Columns, asked: Hashable | None, usual: Hashable, of: str, problems: Problems
) -> Hashable | None:
    """The column that was asked for, or the usual one where it is there."""
    if asked is None:
        return usual if usual in columns else None
    if isinstance(asked, Collection) and not isinstance(asked, str | tuple):
        problems.add(f"a column of the table of {of} must be asked for by one name, got {shown(asked)}")
        return None
    if asked in columns:
        return asked
    there = ", ".join(repr(str(key)[:_SHOWN]) for key in list(columns)[:8])
    problems.add(f"the table of {of} has no column {str(asked)[:_SHOWN]!r}; its columns are {there}")
    return None


def from_columns(
    problems: Problems,
    incidence: Columns,
    nodes: Columns,
    *,
    roles: Roles,
    choices: Choices,
    facts: Facts | None = None,
    label_names: Sequence[str] | None = None,
    name: str | None = None,
) -> Hypergraph:
    """A hypergraph from the columns of two tables."""
    weight = _present(incidence, roles.weight, WEIGHT, "memberships", problems)
    own = roles.of_nodes(nodes, problems)
    ids = _ids(nodes, roles.node, "nodes", problems)
    table = None if ids is None else _node_table(ids, problems)
    members = _ids(incidence, roles.node, "memberships", problems)
    owners = _ids(incidence, roles.hyperedge, "memberships", problems)
    if members is not None and owners is not None:
        unused = [key for key in incidence if key not in (roles.node, roles.hyperedge, weight)]
        tell_unused("the table of memberships", (f"column {shown(key)}" for key in unused))
    node_ids, _ = numbered("node", members or (), problems, known=table)
    hyperedge_ids, hyperedges = numbered("hyperedge", owners or (), problems)
    if label_names is not None:
        facts = Facts(**{**_fields(facts), "label_names": tuple(label_names)})
    rows = max(map(len, nodes.values()), default=0)
    arrived = Arrived(
        problems=problems,
        nodes=range(rows) if ids is None or table is None or len(table) < len(ids) else ids,
        hyperedges=list(hyperedges),
        node_ids=node_ids,
        hyperedge_ids=hyperedge_ids,
        weights=None if weight is None else _weights(weight, incidence[weight], problems),
        facts=facts,
        name=name,
        refused={"labels"} if roles.label not in (None, own.label) else set(),
    )
    _put_nodes(arrived, nodes, own, choices)
    return arrived.hypergraph()


def _ids(columns: Columns, column: Hashable, of: str, problems: Problems) -> list[Any] | None:
    """The ids in a column; ``None`` where it is not there or has gaps, which is told."""
    if _present(columns, column, column, of, problems) is None:
        return None
    ids = _listed(columns[column])
    empty = [row for row, one in enumerate(ids) if is_missing(one)]
    if empty:
        name = repr(str(column)[:_SHOWN])
        how = {
            "tables of pandas": f", by dropna(subset=[{name}])",
            "tables of Polars": f", by drop_nulls({name})",
        }
        problems.add(
            f"column {name} of the table of {of} has no value in {len(empty)} rows, the first is row "
            f"{empty[0]}; leave such rows out{how.get(problems.what, '')}"
        )
        return None
    return ids


def _listed(column: Any) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _fields(facts: Facts | None) -> dict[str, Any]:
    return {} if facts is None else {key: getattr(facts, key) for key in Facts.__struct_fields__}


def _node_table(ids: list[Any], problems: Problems) -> dict[Any, int] | None:
    try:
        table = number_all(ids)
    except TypeError:
        numbered("node", ids, problems)
        return None
    if len(table) < len(ids):
        first: dict[Any, int] = {}
        twice = [row for row, one in enumerate(ids) if first.setdefault(one, row) != row]
        again = ids[twice[0]]
        problems.add(
            f"the table of nodes must have a row for each: rows {first[again]} and {twice[0]} are both of "
            f"{shown(again)}{and_more(len(twice), 'are of a node that was there before')}"
        )
    return table


def _weights(column: Hashable, given: Any, problems: Problems) -> Any:
    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError):
        bad = next((one for one in given if not isinstance(one, int | float)), given[0])
        problems.add(f"column {str(column)[:_SHOWN]!r} must hold numbers, got {shown(bad)}")
        return None


def _put_nodes(arrived: Arrived, nodes: Columns, roles: Roles, choices: Choices) -> None:
    size, facts, problems = len(arrived.nodes), arrived.facts, arrived.problems
    raw = None if roles.label is None else list(nodes[roles.label])
    arrived.labels, arrived.label_names = labels_of(raw, size, facts, problems)
    parts = None if roles.split is None else _listed(nodes[roles.split])
    arrived.parts = parts_of(parts, arrived.labels, problems)
    soft = [key for key in nodes if str(key).startswith(SOFT)]
    if soft:
        shares = [_weights(key, nodes[key], problems) for key in soft]
        whole = all(one is not None for one in shares)
        arrived.soft_labels = np.stack(shares, axis=1) if whole else None
    before = len(problems.found)
    if PLACES in nodes and VALUES in nodes:
        arrived.features = _sparse(nodes[PLACES], nodes[VALUES], facts, problems)
        arrived.feature_names = None if facts is None else facts.feature_names
        arrived.refused |= {"features"} if len(problems.found) > before else set()
        return
    columns = {str(key): nodes[key] for key in roles.features or ()}
    arrived.features, arrived.feature_names = features_of(columns, choices, problems) or (None, None)
    arrived.refused |= {"features"} if len(problems.found) > before else set()
    if facts is not None and facts.num_features == len(columns):
        arrived.feature_names = facts.feature_names
    if facts is not None and facts.sparse and arrived.features is not None:
        arrived.features = sp.csr_array(arrived.features)


def _sparse(places: Sequence[Any], values: Sequence[Any], facts: Facts | None, problems: Problems) -> Any:
    """Sparse features from lists of columns and of numbers, for each node."""
    columns = [() if own is None else own for own in places]
    numbers = [() if own is None else own for own in values]
    if not all(hasattr(own, "__len__") and not isinstance(own, str) for own in (*columns, *numbers)):
        problems.add(f"{PLACES!r} must be lists of whole numbers and {VALUES!r} lists of numbers")
        return None
    for row, (own, given) in enumerate(zip(columns, numbers, strict=True)):
        if len(own) != len(given):
            problems.add(f"row {row} has {len(own)} {PLACES!r} and {len(given)} {VALUES!r}")
            return None
    starts = np.cumsum([0, *map(len, columns)], dtype=np.int64)
    try:
        indices = np.array([one for own in columns for one in own], np.int64)
        data = np.array([one for own in numbers for one in own], np.float64)
    except (TypeError, ValueError, OverflowError):
        problems.add(f"{PLACES!r} must be lists of whole numbers and {VALUES!r} lists of numbers")
        return None
    width = int(indices.max(initial=-1)) + 1
    told = None if facts is None else facts.num_features
    if indices.min(initial=0) < 0 or (told is not None and width > told):
        problems.add(f"{PLACES!r} must be columns from 0 to {(told or width) - 1}")
        return None
    return sp.csr_array((data, indices, starts), shape=(len(columns), told or width))


def columns_of(
    hypergraph: Hypergraph, *, lists: bool = False
) -> tuple[dict[Hashable, Any], dict[Hashable, Any]]:
    """The columns of both tables; sparse features as ``lists``, else a column for each."""
    nodes = ids_of(hypergraph.node_names, hypergraph.num_nodes)
    hyperedges = ids_of(hypergraph.hyperedge_names, hypergraph.num_hyperedges)
    members, owners, weights = hypergraph.incidence
    incidence: dict[Hashable, Any] = {NODE: _taken(nodes, members), HYPEREDGE: _taken(hyperedges, owners)}
    if weights is not None:
        incidence[WEIGHT] = weights
    classes = facts_of(hypergraph).classes
    columns: dict[Hashable, Any] = {
        NODE: nodes,
        LABEL: [
            None if label == UNKNOWN else label if classes is None else classes[label]
            for label in hypergraph.labels.tolist()
        ],
    }
    if hypergraph.parts is not None:
        columns[SPLIT] = [None if one == NO_PART else PARTS[one] for one in hypergraph.parts.tolist()]
    if hypergraph.soft_labels is not None:
        for number, shares in enumerate(hypergraph.soft_labels.T):
            columns[f"{SOFT}{number if classes is None else classes[number]}"] = shares
    if lists and hypergraph.is_sparse:
        bounds = hypergraph.features.indptr[1:-1]
        columns[PLACES] = np.split(hypergraph.features.indices, bounds)
        columns[VALUES] = np.split(hypergraph.features.data, bounds)
        return incidence, columns
    dense = hypergraph.dense_features()
    return incidence, columns | dict(zip(feature_columns(hypergraph), dense.T, strict=True))


def _taken(ids: list[Any], places: Any) -> Any:
    if ids == list(range(len(ids))):
        return places
    return [ids[place] for place in places.tolist()]


def feature_columns(
    hypergraph: Hypergraph, *, taken: Collection[str] = (NODE, LABEL, SPLIT, PLACES, VALUES)
) -> list[str]:
    """Names of columns, none twice and none that means something else there."""
    names = hypergraph.feature_names
    if (
        names is None
        or len(set(names)) < len(names)
        or any(not name or name in taken or name.startswith(SOFT) for name in names)
    ):
        return numbered_columns(hypergraph.num_features)
    return list(names)


def lost_names(hypergraph: Hypergraph) -> list[str]:
    """Names of features that cannot be those of columns, or that columns without names have."""
    names = hypergraph.feature_names
    kept = names is None or (list(names) == feature_columns(hypergraph) != numbered_columns(len(names)))
    return [] if kept else ["names of features, which are empty, alike or mean something else"]
