"""HyperNetX: hypergraphs as tables of cells, with properties of nodes."""

from collections.abc import Iterator
from typing import Any

from hypercondense.errors import ConversionError
from hypercondense.hypergraph import Hypergraph
from hypercondense.interchange.assemble import Arrived
from hypercondense.interchange.attributes import FEATURES, SOFT_LABEL, put_nodes
from hypercondense.interchange.columns import Choices, Missing, Text, is_missing
from hypercondense.interchange.facts import lost_without_facts
from hypercondense.interchange.ids import number_all, numbered
from hypercondense.interchange.problems import Problems, expect, need, number_in, tell_lost, tell_unused
from hypercondense.interchange.table_columns import HYPEREDGE, NODE, SOFT, columns_of, lost_names

_PROPERTIES, _WEIGHT = "misc_properties", "weight"


def from_hypernetx(
    given: Any, *, text: Text = "error", missing: Missing = "error", name: str | None = None
) -> Hypergraph:
    """A hypergraph from one of HyperNetX.

    Properties of nodes are read as attributes are by :func:`from_xgi`; the weight of a cell is that of a
    membership, multiplied by the weight of its edge.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> hc.from_hypernetx(source.to_hypernetx()).num_nodes  # doctest: +SKIP
    60
    """
    hypernetx = need("hypernetx", "hypernetx")
    expect("given", given, hypernetx.Hypergraph, "a hypergraph of HyperNetX")
    problems = Problems("a hypergraph of HyperNetX")
    table = given.nodes.dataframe
    rows = dict(zip(table.index.tolist(), table.to_dict("records"), strict=True))
    cells = given.incidences.dataframe
    pairs = list(cells.index)
    hyperedges = number_all(given.edges)
    node_ids, _ = numbered("node", [pair[1] for pair in pairs], problems, known=number_all(rows))
    owners, _ = numbered("hyperedge", [pair[0] for pair in pairs], problems, known=hyperedges)
    of_edge = _numbers("edge", given.edges.dataframe[_WEIGHT].to_dict(), problems)
    of_cell = _numbers("cell", cells[_WEIGHT].to_dict(), problems)
    weights = [of_cell[pair] * of_edge.get(pair[0], 1.0) for pair in pairs]
    arrived = Arrived(
        problems=problems,
        nodes=list(rows),
        hyperedges=list(hyperedges),
        node_ids=node_ids,
        hyperedge_ids=owners,
        weights=weights,
        name=name,
    )
    told = {"edges": given.edges.dataframe, "cells": cells}
    tell_unused("a hypergraph of HyperNetX", (one for of in told for one in _unused(of, told[of])))
    put_nodes(arrived, [_attributes(row) for row in rows.values()], Choices(text, missing))
    return arrived.hypergraph()


def _numbers(what: str, weights: dict[Any, Any], problems: Problems) -> dict[Any, float]:
    """Weights by id; what is no number is told."""
    return {key: number_in(weights, key, 1.0, f"the weights of {what}s", problems) for key in weights}


def _attributes(row: dict[str, Any]) -> dict[str, Any]:
    """Properties in columns of their own and those in one table, without the weight of the node."""
    own = {
        key: value
        for key, value in row.items()
        if key not in (_WEIGHT, _PROPERTIES) and not is_missing(value)
    }
    more = row.get(_PROPERTIES)
    return {**own, **(more if isinstance(more, dict) else {})}


def _unused(of: str, table: Any) -> Iterator[str]:
    """Properties of edges or cells other than weights."""
    for row in table.to_dict("records"):
        yield from (f"property {str(key)[:40]!r} of {of}" for key in _attributes(row))


def to_hypernetx(hypergraph: Hypergraph) -> Any:
    """A hypergraph of HyperNetX with a property of nodes for each feature, the label and the split.

    It drops nodes in no hyperedge; that, and what it has no place for, is told.
    """
    hypernetx = need("hypernetx", "hypernetx")
    pandas = need("pandas", "pandas")
    if not hypergraph.num_incidences:
        raise ConversionError(
            "HyperNetX drops nodes that are in no hyperedge: here that would be all of them"
        )
    incidence, nodes = columns_of(hypergraph)
    order = list(dict.fromkeys(hypergraph.incidence.node_ids.tolist()))
    isolated = hypergraph.num_nodes - len(order)
    lost = [f"{isolated} nodes that are in no hyperedge"] if isolated else []
    lost += [] if order == sorted(order) else ["the order of nodes"]
    soft = [key for key in nodes if str(key).startswith(SOFT)]
    lost += ["soft labels"] if soft else []
    taken = [key for key in nodes if key in (_WEIGHT, _PROPERTIES, FEATURES, SOFT_LABEL)]
    lost += [f"the feature {key!r}, a name that means something else there" for key in taken]
    tell_lost("HyperNetX", [*lost, *lost_names(hypergraph), *lost_without_facts(hypergraph)])
    table = pandas.DataFrame({key: nodes[key] for key in nodes if key not in (*soft, *taken)}, dtype=object)
    return hypernetx.Hypergraph(
        pandas.DataFrame({_WEIGHT: 1.0, **incidence}),
        edge_col=HYPEREDGE,
        node_col=NODE,
        cell_weight_col=_WEIGHT,
        node_properties=table,
    )
