"""XGI: hypergraphs with attributes of nodes, hyperedges and the whole."""

from typing import Any

from hypercondense.hypergraph import Hypergraph
from hypercondense.interchange.assemble import members_of
from hypercondense.interchange.attributes import node_rows
from hypercondense.interchange.columns import Choices, Missing, Text
from hypercondense.interchange.facts import KEY, facts_of, read_facts
from hypercondense.interchange.graphs import from_graph, hyperedge_attributes
from hypercondense.interchange.ids import ids_of
from hypercondense.interchange.problems import Problems, expect, need


def from_xgi(
    given: Any, *, text: Text = "error", missing: Missing = "error", name: str | None = None
) -> Hypergraph:
    """A hypergraph from one of XGI.

    Args:
        given: Of each node the attribute ``label`` is the class, where it is known, ``split`` perhaps
            ``train``, ``validation`` or ``test``, ``features`` a row of numbers, and every other attribute
            one more feature. ``weight`` of a hyperedge is that of all its members; ``weights`` a table of
            node and weight.
        text: As in :func:`from_pandas`.
        missing: As in :func:`from_pandas`.
        name: What to call it.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> hc.from_xgi(source.to_xgi()).num_nodes
    60
    """
    xgi = need("xgi", "xgi")
    expect("given", given, (xgi.Hypergraph, xgi.DiHypergraph), "a hypergraph of XGI")
    problems = Problems("a hypergraph of XGI")
    if isinstance(given, xgi.DiHypergraph):
        problems.add("it is directed; give an undirected one")
        problems.raise_any()
    told = given._net_attr.get(KEY)
    return from_graph(
        problems,
        nodes={node: given.nodes[node] for node in given.nodes},
        hyperedges=given.edges.members(dtype=dict),
        attributes={edge: given.edges[edge] for edge in given.edges},
        choices=Choices(text, missing),
        facts=read_facts(told, f"H[{KEY!r}]", problems),
        name=name,
        whole=given._net_attr,
    )


def to_xgi(hypergraph: Hypergraph) -> Any:
    """A hypergraph of XGI; nothing is lost: what it has no place for is an attribute."""
    xgi = need("xgi", "xgi")
    made = xgi.Hypergraph()
    made[KEY] = facts_of(hypergraph).content()
    nodes = ids_of(hypergraph.node_names, hypergraph.num_nodes)
    made.add_nodes_from(list(zip(nodes, node_rows(hypergraph), strict=True)))
    names = ids_of(hypergraph.hyperedge_names, hypergraph.num_hyperedges)
    attributes = hyperedge_attributes(hypergraph, nodes)
    for name, own, given in zip(names, members_of(hypergraph), attributes, strict=True):
        made.add_edge([nodes[one] for one in own], idx=name, **given)
    return made
