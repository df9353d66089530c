"""A hypergraph from two tables in memory, as pandas has them: of nodes, and of who is in what."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from hypercondense.data.formats.text import encode_labels
from hypercondense.hypergraph import UNKNOWN, Hypergraph, Ids
from hypercondense.hypergraph.given import is_frame, texts
from hypercondense.hypergraph.names import unless_numbers
from hypercondense.runtime.arguments import told_arguments

_SHOWN = 40  # letters of a name in a message


@told_arguments
def from_tables(
    nodes: Any,
    memberships: Any,
    *,
    node: Hashable,
    hyperedge: Hashable,
    label: Hashable | None = None,
    features: Sequence[Hashable] | None = None,
    weight: Hashable | None = None,
    label_names: Sequence[Any] | None = None,
    name: str = "unnamed",
) -> Hypergraph:
    """A hypergraph from two tables of pandas, in which nodes and hyperedges may be called anything.

    Args:
        nodes: A row per node, in the order the nodes will have.
        memberships: A row for each node that is in a hyperedge: who is in what.
        node: The column of both tables that names nodes; in ``nodes`` it may be the index.
        hyperedge: The column of ``memberships`` that names hyperedges.
        label: The column of ``nodes`` with classes, words or whole numbers; where it is empty, the class is
            unknown. ``None`` where no class is known: then give ``label_names``.
        features: The columns of ``nodes`` with features; by default all but ``node`` and ``label``.
        weight: The column of ``memberships`` with weights, if there is one.
        label_names: Classes in their order; by default in alphabetical order, or in order of value.
        name: What to call it in tables.

    >>> import pandas
    >>> customers = pandas.DataFrame(
    ...     {"customer": ["ann", "bob", "eve"], "spent": [310.0, 95.5, 120], "kind": ["gold", "basic", None]}
    ... )
    >>> baskets = pandas.DataFrame({"customer": ["ann", "bob", "bob", "eve"], "basket": ["x", "x", "y", "y"]})
    >>> source = from_tables(customers, baskets, node="customer", hyperedge="basket", label="kind")
    >>> source
    Hypergraph('unnamed', 3 nodes, 2 hyperedges, 4 incidences, 1 features, 2 classes)
    >>> source.label_names, source.labels.tolist(), source.node_names
    (('basic', 'gold'), [1, 0, -1], ('ann', 'bob', 'eve'))
    """
    for what, table in (("nodes", nodes), ("memberships", memberships)):
        if not is_frame(table):
            raise TypeError(f"{what} must be a table of pandas, got a {type(table).__name__}")
    called = _node_column(nodes, node)
    first = _places("nodes", "node", called)
    members = _named("memberships", node, _column("memberships", memberships, node))
    owners = _named("memberships", hyperedge, _column("memberships", memberships, hyperedge))
    hyperedges = {owner: place for place, owner in enumerate(dict.fromkeys(owners))}
    node_ids = _known(members, first, node)
    hyperedge_ids = np.fromiter(map(hyperedges.__getitem__, owners), np.int64, len(owners))
    _check_once(node_ids * len(hyperedges) + hyperedge_ids, members, owners)
    weights = () if weight is None else (_column("memberships", memberships, weight).to_numpy(),)
    labels, classes = _classes(nodes, label, texts("label_names", label_names))
    chosen = [one for one in nodes.columns if one not in (node, label)] if features is None else [*features]
    for column in chosen:
        _column("nodes", nodes, column)
    return Hypergraph(
        features=nodes[chosen],
        labels=labels,
        incidence=(node_ids, hyperedge_ids, *weights),
        num_hyperedges=len(hyperedges),
        label_names=classes,
        node_names=unless_numbers(called),
        hyperedge_names=unless_numbers(list(hyperedges)),
        name=name,
    )


def _column(what: str, table: Any, column: Hashable) -> Any:
    if column not in table.columns:
        there = ", ".join(repr(str(one)[:_SHOWN]) for one in table.columns[:20])
        raise ValueError(f"{what} has no column {str(column)[:_SHOWN]!r}; its columns are {there}")
    values = table[column]
    if values.ndim != 1:
        raise ValueError(f"{what} has two columns {str(column)[:_SHOWN]!r}; rename one")
    return values


def _node_column(nodes: Any, node: Hashable) -> list[str]:
    """What nodes are called: a column, or the index where that has this name or none but names in it."""
    index = nodes.index
    is_index = index.name == node or (index.name is None and str(index.dtype) in ("object", "str", "string"))
    if node not in nodes.columns and is_index:
        return _named("nodes", node, index.to_series())
    return _named("nodes", node, _column("nodes", nodes, node))


def _named(what: str, column: Hashable, values: Any) -> list[str]:
    """A column of names as texts; whole numbers that became decimal ones are whole again."""
    empty = np.flatnonzero(np.asarray(values.isna()))
    if len(empty):
        raise ValueError(
            f"column {str(column)[:_SHOWN]!r} of {what} has no value in row {empty[0]}; leave such rows out, "
            f"by {what}.dropna(subset=[{str(column)[:_SHOWN]!r}])"
        )
    return [_text(value) for value in values.tolist()]


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _places(what: str, kind: str, names: Sequence[str]) -> dict[str, int]:
    places: dict[str, int] = {}
    for row, name in enumerate(names):
        if places.setdefault(name, row) != row:
            raise ValueError(
                f"{what} must have a row for each {kind}: rows {places[name]} and {row} are both of "
                f"{name[:_SHOWN]!r}"
            )
    return places


def _known(members: Sequence[str], places: dict[str, int], node: Hashable) -> Ids:
    ids = np.fromiter((places.get(member, UNKNOWN) for member in members), np.int64, len(members))
    unknown = np.flatnonzero(ids == UNKNOWN)
    if len(unknown):
        column = f"[{str(node)[:_SHOWN]!r}]"
        raise ValueError(
            f"{len(unknown)} rows of memberships are of nodes that the table of nodes has not, the first is "
            f"{members[unknown[0]][:_SHOWN]!r} in row {unknown[0]}; leave them out, by "
            f"memberships[memberships{column}.isin(nodes{column})]"
        )
    return ids


def _check_once(numbers: Ids, members: Sequence[str], owners: Sequence[str]) -> None:
    _, first = np.unique(numbers, return_index=True)
    if len(first) == len(numbers):
        return
    row = int(np.setdiff1d(np.arange(len(numbers)), first)[0])
    raise ValueError(
        f"row {row} of memberships says again that {members[row][:_SHOWN]!r} is in {owners[row][:_SHOWN]!r} "
        f"({len(numbers) - len(first)} such rows); leave them out, by memberships.drop_duplicates()"
    )


def _classes(nodes: Any, label: Hashable | None, names: list[str] | None) -> tuple[Ids, Sequence[str] | None]:
    """Classes of nodes, and what they are called."""
    if label is None:
        if names is None:
            raise ValueError("give label, the column of nodes with classes, or label_names if none is known")
        return np.full(len(nodes), UNKNOWN), names
    values = _column("nodes", nodes, label)
    raw = [
        "" if empty else _text(value).strip()
        for value, empty in zip(values.tolist(), values.isna().tolist(), strict=True)
    ]
    labels, found = encode_labels(raw)
    if names is None:
        return labels, found
    places = {one: place for place, one in enumerate(names)}
    other = [one for one in found if one not in places]
    if other:
        raise ValueError(f"a node has the class {other[0][:_SHOWN]!r}, which is not among label_names")
    return np.array([*(places[one] for one in found), UNKNOWN])[labels], names
