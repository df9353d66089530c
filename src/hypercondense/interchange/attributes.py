"""Attributes of nodes as dictionaries, which graph libraries keep: both ways.

In: ``label`` is the class, ``split`` the part, ``features`` a row of numbers (or a table of column
and number),``soft_label`` shares of classes; every other attribute is a column of features.
Out: the same names. ``features`` is a row of numpy, or a table without zeros where features are sparse.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hypercondense.hypergraph import UNKNOWN, Hypergraph
from hypercondense.hypergraph.arrays import NO_PART, PARTS
from hypercondense.interchange.assemble import Arrived
from hypercondense.interchange.columns import LABEL, SPLIT, Choices, features_of, labels_of, parts_of
from hypercondense.interchange.facts import Facts, facts_of
from hypercondense.interchange.problems import shown

FEATURES, SOFT_LABEL = "features", "soft_label"
OURS = (LABEL, SPLIT, FEATURES, SOFT_LABEL)  # attributes of nodes that are no columns of features


def put_nodes(arrived: Arrived, rows: Sequence[Mapping[str, Any]], choices: Choices) -> None:
    """Fill in features, labels, soft labels and parts from a dictionary for each node."""
    keys: dict[str, None] = {}
    for row in rows:
        keys.update(dict.fromkeys(row))
    own = [key for key in keys if key not in OURS]
    before = len(arrived.problems.found)
    own = [key for key in own if _is_plain(arrived, rows, key)]
    _put_features(
        arrived,
        {str(key): [row.get(key) for row in rows] for key in own},
        rows if FEATURES in keys else None,
        choices,
    )
    arrived.refused |= {"features"} if len(arrived.problems.found) > before else set()
    labels = [row.get(LABEL) for row in rows] if LABEL in keys else None
    arrived.labels, arrived.label_names = labels_of(labels, len(rows), arrived.facts, arrived.problems)
    if SPLIT in keys:
        arrived.parts = parts_of([row.get(SPLIT) for row in rows], arrived.labels, arrived.problems)
    if SOFT_LABEL in keys:
        arrived.soft_labels = _stacked(arrived, [row.get(SOFT_LABEL) for row in rows], SOFT_LABEL)


def _is_plain(arrived: Arrived, rows: Sequence[Mapping[str, Any]], key: Any) -> bool:
    """Whether an attribute is one number or text for each node; what is several is told."""
    for place, row in enumerate(rows):
        if isinstance(row.get(key), Mapping | list | tuple | set):
            arrived.problems.add(
                f"attribute {str(key)[:40]!r} of node {shown(arrived.nodes[place])} is a "
                f"{type(row[key]).__name__}; one of several numbers must be called {FEATURES!r}"
            )
            return False
    return True


def _put_features(
    arrived: Arrived,
    columns: Mapping[str, Sequence[Any]],
    rows: Sequence[Mapping[str, Any]] | None,
    choices: Choices,
) -> None:
    try:
        made = features_of(columns, choices, arrived.problems, what="attribute")
    except ValueError as error:  # numbers beyond float64
        arrived.problems.add(str(error))
        return
    if rows is None:
        arrived.features, arrived.feature_names = made or (None, None)
        return
    given = [row.get(FEATURES) for row in rows]
    first = next((one for one in given if one is not None), None)
    block = (_sparse if isinstance(first, Mapping) else _stacked)(arrived, given, FEATURES)
    names = None if arrived.facts is None else arrived.facts.feature_names
    if made is None or block is None:
        arrived.features, arrived.feature_names = block, names
        return
    names = names or tuple(f"{FEATURES} {column}" for column in range(block.shape[1]))
    join: Callable[[Any], Any] = sp.hstack if sp.issparse(block) else np.hstack
    arrived.features, arrived.feature_names = join([block, made[0]]), [*names, *made[1]]


def _stacked(arrived: Arrived, given: list[Any], key: str) -> Any:
    """Rows of numbers under each other."""
    rows: list[NDArray[np.float64]] = []
    for place, one in enumerate(given):
        try:
            row = np.asarray(one, np.float64)
        except (TypeError, ValueError):
            row = np.empty((0, 0))
        expected = rows[0].shape if rows else (len(row),) if row.ndim == 1 else ()
        if row.ndim != 1 or row.shape != expected:
            arrived.problems.add(
                f"attribute {key!r} of node {shown(arrived.nodes[place])} must be a row of numbers, as long "
                f"as those of the others; got {shown(one)}"
            )
            return None
        rows.append(row)
    return np.stack(rows)


def _sparse(arrived: Arrived, given: list[Any], key: str) -> Any:
    """Tables of column and number."""
    facts = arrived.facts or Facts()
    names = facts.feature_names
    table: dict[Any, int] = {} if names is None else {name: place for place, name in enumerate(names)}
    rows, columns, values = [], [], []
    for place, one in enumerate(given):
        if one is not None and not isinstance(one, Mapping):
            arrived.problems.add(f"attribute {key!r} of node {shown(arrived.nodes[place])} must be a table")
            return None
        for column, value in (one or {}).items():
            if not isinstance(value, int | float | np.number):
                arrived.problems.add(
                    f"attribute {key!r} of node {shown(arrived.nodes[place])} must be a table of numbers, it "
                    f"has {shown(value)}"
                )
                return None
            number = column if isinstance(column, int) else table.setdefault(column, len(table))
            rows.append(place)
            columns.append(number)
            values.append(float(value))
    width = facts.num_features or max(columns, default=0) + 1
    if columns and not 0 <= min(columns) <= max(columns) < width:
        arrived.problems.add(f"attribute {key!r} has a column beyond the {width} told of")
        return None
    return sp.csr_array((values, (rows, columns)), shape=(len(given), width))


def node_rows(hypergraph: Hypergraph) -> list[dict[str, Any]]:
    """Attributes of every node."""
    rows: list[dict[str, Any]] = [{} for _ in range(hypergraph.num_nodes)]
    add_classes(rows, hypergraph, facts_of(hypergraph), shares=np.copy)
    for row, numbers in zip(rows, _feature_rows(hypergraph), strict=True):
        row[FEATURES] = numbers
    return rows


def add_classes(
    rows: Sequence[dict[str, Any]], hypergraph: Hypergraph, facts: Facts, *, shares: Callable[[Any], Any]
) -> None:
    """Add class, part and shares of classes to nodes that have them; the last as ``shares`` makes them."""
    for row, label in zip(rows, hypergraph.labels.tolist(), strict=True):
        if label != UNKNOWN:
            row[LABEL] = label if facts.classes is None else facts.classes[label]
    if hypergraph.parts is not None:
        for row, part in zip(rows, hypergraph.parts.tolist(), strict=True):
            if part != NO_PART:
                row[SPLIT] = PARTS[part]
    if hypergraph.soft_labels is not None:
        for row, own in zip(rows, hypergraph.soft_labels, strict=True):
            row[SOFT_LABEL] = shares(own)


def _feature_rows(hypergraph: Hypergraph) -> list[Any]:
    if not hypergraph.is_sparse:
        return [row.copy() for row in hypergraph.features]
    matrix = hypergraph.features
    names = hypergraph.feature_names
    columns, values = matrix.indices.tolist(), matrix.data.tolist()
    keys = columns if names is None or len(set(names)) < len(names) else [names[one] for one in columns]
    starts = matrix.indptr.tolist()
    return [dict(zip(keys[start:end], values[start:end], strict=True)) for start, end in pairwise(starts)]
