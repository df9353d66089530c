"""networkx: a bipartite graph, nodes on one side (``bipartite=0``) and hyperedges on the other (``1``)."""

from typing import Any

import numpy as np

from hypercondense.hypergraph import Hypergraph
from hypercondense.interchange.assemble import Arrived
from hypercondense.interchange.attributes import node_rows, put_nodes
from hypercondense.interchange.columns import Choices, Missing, Text
from hypercondense.interchange.facts import KEY, facts_of, read_facts
from hypercondense.interchange.ids import ids_of, number_all, numbered
from hypercondense.interchange.problems import Problems, expect, need, number_in, shown, tell_unused

_SIDE, _WEIGHT = "bipartite", "weight"


def from_networkx(
    graph: Any, *, text: Text = "error", missing: Missing = "error", name: str | None = None
) -> Hypergraph:
    """A hypergraph from a bipartite graph whose vertices say ``bipartite=0`` (nodes) or ``1`` (hyperedges).

    Attributes of nodes are read as by :func:`from_xgi`; ``weight`` of an edge is that of a membership.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> hc.from_networkx(source.to_networkx()).num_nodes
    60
    """
    networkx = need("networkx", "networkx")
    expect("graph", graph, networkx.Graph, "a graph of networkx")
    problems = Problems("a graph of networkx")
    if graph.is_directed():
        problems.add("it is directed; give graph.to_undirected()")
    sides = {vertex: _side(given) for vertex, given in graph.nodes(data=_SIDE)}
    for vertex, side in sides.items():
        if side is None:
            problems.add(f"vertex {shown(vertex)} must have bipartite=0 (node) or 1 (hyperedge)")
    nodes = number_all(vertex for vertex, side in sides.items() if side == 0)
    pairs: list[tuple[Any, Any, float]] = []
    unused = {f"attribute {str(key)[:40]!r} of the graph" for key in graph.graph if key != KEY}
    for one, other, attributes in graph.edges(data=True):
        node, hyperedge = (one, other) if sides[one] == 0 else (other, one)
        where = f"edge {shown(one)} - {shown(other)}"
        weight = number_in(attributes, _WEIGHT, 1.0, where, problems)
        if {sides[one], sides[other]} == {0, 1}:
            pairs.append((node, hyperedge, weight))
        else:
            problems.add(f"{where} must be between a node and a hyperedge")
        unused |= {f"attribute {str(key)[:40]!r} of edges" for key in attributes if key != _WEIGHT}
    hyperedges = [vertex for vertex, side in sides.items() if side == 1]
    node_ids, _ = numbered("node", [pair[0] for pair in pairs], problems, known=nodes)
    known = number_all(hyperedges)
    owners, _ = numbered("hyperedge", [pair[1] for pair in pairs], problems, known=known)
    arrived = Arrived(
        problems=problems,
        nodes=[_own(vertex) for vertex in nodes],
        hyperedges=[_own(vertex) for vertex in hyperedges],
        node_ids=node_ids,
        hyperedge_ids=owners,
        weights=[pair[2] for pair in pairs],
        facts=read_facts(graph.graph.get(KEY), f"graph.graph[{KEY!r}]", problems),
        name=name,
    )
    rows = [{key: value for key, value in graph.nodes[one].items() if key != _SIDE} for one in nodes]
    for one in hyperedges:
        unused |= {f"attribute {str(key)[:40]!r} of hyperedges" for key in graph.nodes[one] if key != _SIDE}
    tell_unused("a graph of networkx", sorted(unused))
    put_nodes(arrived, rows, Choices(text, missing))
    return arrived.hypergraph()


def _side(given: Any) -> int | None:
    """0, 1, or ``None`` for anything else."""
    return int(given) if isinstance(given, int | float | np.number) and given in (0, 1) else None


def _own(vertex: Any) -> Any:
    """The id in a vertex of ours, ``("node", id)``: nodes and hyperedges may be called alike."""
    if isinstance(vertex, tuple) and len(vertex) == 2 and vertex[0] in ("node", "hyperedge"):
        return vertex[1]
    return vertex


def to_networkx(hypergraph: Hypergraph) -> Any:
    """A bipartite graph of vertices ``("node", id)`` and ``("hyperedge", id)``; nothing is lost."""
    networkx = need("networkx", "networkx")
    graph = networkx.Graph(**{KEY: facts_of(hypergraph).content()})
    nodes = [("node", one) for one in ids_of(hypergraph.node_names, hypergraph.num_nodes)]
    hyperedges = [("hyperedge", one) for one in ids_of(hypergraph.hyperedge_names, hypergraph.num_hyperedges)]
    for vertex, row in zip(nodes, node_rows(hypergraph), strict=True):
        graph.add_node(vertex, **{_SIDE: 0}, **row)
    graph.add_nodes_from(hyperedges, **{_SIDE: 1})
    members, owners, weights = hypergraph.incidence
    given = [1.0] * len(members) if weights is None else weights.tolist()
    for node, hyperedge, weight in zip(members.tolist(), owners.tolist(), given, strict=True):
        attributes = {} if weights is None else {_WEIGHT: weight}
        graph.add_edge(nodes[node], hyperedges[hyperedge], **attributes)
    return graph
