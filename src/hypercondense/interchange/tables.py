"""Tables of pandas, Polars and Arrow: one of memberships, one of nodes.

Memberships have columns ``node``, ``hyperedge`` and perhaps ``weight``. Nodes have ``node`` (of pandas the
index will do), perhaps ``label``, ``split`` and ``soft_label:CLASS``; every other column is one of features.
Columns may be called otherwise: then say how.
"""

import json
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from hypercondense.errors import one_line
from hypercondense.hypergraph import Hypergraph
from hypercondense.hypergraph.given import is_frame, texts
from hypercondense.interchange.columns import LABEL, Choices, Missing, Text
from hypercondense.interchange.facts import KEY, Facts, facts_of, lost_without_facts, read_facts
from hypercondense.interchange.problems import Problems, expect, need, tell_lost
from hypercondense.interchange.table_columns import (
    HYPEREDGE,
    NODE,
    Roles,
    columns_of,
    from_columns,
    lost_names,
)
from hypercondense.runtime.arguments import told_arguments


@told_arguments
def from_pandas(
    incidence: Any,
    nodes: Any,
    *,
    node: Hashable = NODE,
    hyperedge: Hashable = HYPEREDGE,
    weight: Hashable | None = None,
    label: Hashable | None = None,
    split: Hashable | None = None,
    features: Sequence[Hashable] | None = None,
    label_names: Sequence[Any] | None = None,
    text: Text = "error",
    missing: Missing = "error",
    name: str | None = None,
) -> Hypergraph:
    """A hypergraph from two tables of pandas, in which nodes and hyperedges may be called anything.

    Args:
        incidence: A row for each node that is in a hyperedge: who is in what.
        nodes: A row per node, in the order the nodes will have.
        node: The column of both tables that names nodes; in ``nodes`` it may be the index.
        hyperedge: The column of ``incidence`` that names hyperedges.
        weight: The column of ``incidence`` with weights; by default ``weight``, if there is one.
        label: The column of ``nodes`` with classes, words or whole numbers; where it is empty, the class is
            unknown. By default ``label``.
        split: The column of ``nodes`` with ``train``, ``validation``, ``test`` or nothing; by default
            ``split``, if there is one. :func:`hypercondense.split` then gives this split.
        features: The columns of ``nodes`` with features; by default all others.
        label_names: Classes in their order; by default in alphabetical order, or in order of value.
        text: What to do with features of texts and categories: ``"one-hot"``, a column of 0 and 1 for each
            value; ``"drop"``, leave them out; or refuse them.
        missing: What to take where a number is missing: ``"zero"``, ``"mean"``; or refuse.
        name: What to call it.

    Raises:
        ConversionError: Every column, row and id that is not as described, at once.

    >>> import pandas
    >>> customers = pandas.DataFrame(
    ...     {"customer": ["ann", "bob", "eve"], "spent": [310.0, 95.5, 120], "kind": ["gold", "basic", None]}
    ... )
    >>> baskets = pandas.DataFrame({"customer": ["ann", "bob", "bob", "eve"], "basket": ["x", "x", "y", "y"]})
    >>> source = from_pandas(baskets, customers, node="customer", hyperedge="basket", label="kind")
    >>> source
    Hypergraph('unnamed', 3 nodes, 2 hyperedges, 4 incidences, 1 features, 2 classes)
    >>> source.label_names, source.labels.tolist(), source.node_names
    (('basic', 'gold'), [1, 0, -1], ('ann', 'bob', 'eve'))
    """
    for what, table in (("incidence", incidence), ("nodes", nodes)):
        if not is_frame(table):
            raise TypeError(f"{what} must be a table of pandas, got a {type(table).__name__}")
    problems = Problems("tables of pandas")
    columns = _of_pandas(nodes, "nodes", problems)
    if node not in columns and _index_names_nodes(nodes.index, node):
        columns = {node: nodes.index.tolist(), **columns}
    return from_columns(
        problems,
        _of_pandas(incidence, "memberships", problems),
        columns,
        roles=Roles(
            node=node, hyperedge=hyperedge, weight=weight, label=label, split=split, features=features
        ),
        choices=Choices(text, missing),
        facts=read_facts(nodes.attrs.get(KEY), "attrs of the table of nodes", problems),
        label_names=problems.add_raised(lambda: texts("label_names", label_names)),
        name=name,
    )


def from_polars(
    incidence: Any, nodes: Any, *, text: Text = "error", missing: Missing = "error", name: str | None = None
) -> Hypergraph:
    """A hypergraph from two tables of Polars with the usual names of columns: see :func:`from_pandas`.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> hc.from_polars(*source.to_polars()).num_nodes
    60
    """
    polars = need("polars", "polars")
    for what, table in (("incidence", incidence), ("nodes", nodes)):
        expect(what, table, polars.DataFrame, "a DataFrame of Polars (of a LazyFrame what collect() gives)")
    return from_columns(
        Problems("tables of Polars"),
        {key: _of_polars(column) for key, column in incidence.to_dict(as_series=True).items()},
        {key: _of_polars(column) for key, column in nodes.to_dict(as_series=True).items()},
        roles=Roles(),
        choices=Choices(text, missing),
        name=name,
    )


def from_arrow(
    incidence: Any, nodes: Any, *, text: Text = "error", missing: Missing = "error", name: str | None = None
) -> Hypergraph:
    """A hypergraph from two tables of Arrow with the usual names of columns: see :func:`from_pandas`.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> hc.from_arrow(*source.to_arrow()).num_nodes
    60
    """
    arrow = need("pyarrow", "arrow")
    for what, table in (("incidence", incidence), ("nodes", nodes)):
        expect(what, table, (arrow.Table, arrow.RecordBatch), "a table of Arrow")
    problems = Problems("tables of Arrow")
    memberships, columns = _of_arrow(incidence, "memberships", problems), _of_arrow(nodes, "nodes", problems)
    if any(column is None for column in (*memberships.values(), *columns.values())):
        problems.raise_any()
    return from_columns(
        problems,
        memberships,
        columns,
        roles=Roles(),
        choices=Choices(text, missing),
        facts=facts_in(nodes.schema.metadata or {}, problems),
        name=name,
    )


def facts_in(metadata: dict[bytes, bytes], problems: Problems) -> Facts | None:
    """What the metadata of the table of nodes tell, or ``None``."""
    told = metadata.get(KEY.encode())
    try:
        given = None if told is None else json.loads(told)
    except (ValueError, RecursionError):
        problems.add(f"{KEY!r} among the metadata of the table of nodes is not JSON")
        return None
    return read_facts(given, "metadata of the table of nodes", problems)


def _index_names_nodes(index: Any, node: Hashable) -> bool:
    """Whether the index has this name, or none but no bare numbers of rows in it."""
    return bool(index.name == node or (index.name is None and type(index).__name__ != "RangeIndex"))


def _of_pandas(frame: Any, of: str, problems: Problems) -> dict[Hashable, Any]:
    """Columns as arrays of numbers where they hold numbers, else as lists."""
    columns: dict[Hashable, Any] = {}
    for place, key in enumerate(frame.columns):
        column = frame.iloc[:, place]
        kind = str(column.dtype).lower()
        if key in columns:
            _add_twice(key, of, problems)
        elif kind.startswith(("int", "uint", "float", "bool")):
            whole = kind.startswith(("int", "uint")) and not column.hasnans
            dtype = None if whole and str(column.dtype) == kind else np.float64
            columns[key] = column.to_numpy(dtype=dtype, **({} if dtype is None else {"na_value": np.nan}))
        elif kind.startswith("sparse"):
            columns[key] = column.to_numpy()
        else:
            columns[key] = column.astype(object).tolist()
    return columns


def _of_polars(column: Any) -> Any:
    return column.to_numpy() if column.dtype.is_numeric() and not column.null_count() else column.to_list()


def _add_twice(key: Hashable, of: str, problems: Problems) -> None:
    problems.add(f"the table of {of} has two columns {str(key)[:40]!r}; rename one")


def _of_arrow(table: Any, of: str, problems: Problems) -> dict[Hashable, Any]:
    kinds = need("pyarrow.types", "arrow")
    columns: dict[Hashable, Any] = {}
    for place, key in enumerate(table.column_names):
        if key in columns:
            _add_twice(key, of, problems)
            continue
        column = table.column(place)
        plain = kinds.is_integer(column.type) or kinds.is_floating(column.type)
        plain = plain and not column.null_count
        try:
            columns[key] = column.to_numpy(zero_copy_only=False) if plain else column.to_pylist()
        except (ValueError, OverflowError) as error:  # no texts, or times that Python has not
            told = f"which Python cannot hold ({one_line(error, longest=60)})"
            problems.add(f"column {key[:40]!r} of the table of {of} has {column.type} values {told}")
            columns[key] = None
    return columns


def to_pandas(hypergraph: Hypergraph) -> tuple[Any, Any]:
    """The table of memberships and that of nodes; ``attrs`` of the latter tell what is in no column."""
    pandas = need("pandas", "pandas")
    incidence, nodes = columns_of(hypergraph)
    if not any(isinstance(one, str) for one in nodes[LABEL]):
        nodes[LABEL] = pandas.array(nodes[LABEL], dtype="Int64")
    table = pandas.DataFrame(nodes)
    table.attrs[KEY] = facts_of(hypergraph).content()
    return pandas.DataFrame(incidence), table


def to_polars(hypergraph: Hypergraph) -> tuple[Any, Any]:
    """The table of memberships and that of nodes; what is in no column is lost, and told."""
    polars = need("polars", "polars")
    incidence, nodes = columns_of(hypergraph)
    tell_lost("a table of Polars", [*lost_names(hypergraph), *lost_without_facts(hypergraph)])
    return polars.DataFrame(incidence), polars.DataFrame(nodes)


def to_arrow(hypergraph: Hypergraph) -> tuple[Any, Any]:
    """The table of memberships and that of nodes, whose metadata tell what is in no column.

    Sparse features are two columns of lists, ``feature_columns`` and ``feature_values``.
    """
    arrow = need("pyarrow", "arrow")
    incidence, nodes = columns_of(hypergraph, lists=True)
    told = {KEY: json.dumps(facts_of(hypergraph).content())}
    return arrow.table(incidence), arrow.table(nodes).replace_schema_metadata(told)
