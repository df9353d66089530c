"""hypergraphx: hyperedges are tuples of nodes, so two with the same members are one."""

from typing import Any

from hypercondense.hypergraph import Hypergraph
from hypercondense.interchange.assemble import hyperedge_weights, members_of
from hypercondense.interchange.attributes import node_rows
from hypercondense.interchange.columns import Choices, Missing, Text
from hypercondense.interchange.facts import KEY, facts_of, read_facts
from hypercondense.interchange.graphs import NAME, WEIGHT, WEIGHTS, from_graph, own_names
from hypercondense.interchange.ids import ids_of
from hypercondense.interchange.problems import Problems, need, tell_lost

_OWN = ("weighted", "type")  # what it tells about every hypergraph


def from_hypergraphx(
    given: Any, *, text: Text = "error", missing: Missing = "error", name: str | None = None
) -> Hypergraph:
    """A hypergraph from one of hypergraphx; metadata of nodes are read as by :func:`from_xgi`.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> hc.from_hypergraphx(source.to_hypergraphx()).num_nodes
    60
    """
    hypergraphx = need("hypergraphx", "hypergraphx")
    problems = Problems("a hypergraph of hypergraphx")
    if not isinstance(given, hypergraphx.Hypergraph):
        problems.add(f"it must be undirected and of one time, a Hypergraph; got a {type(given).__name__}")
        problems.raise_any()
    edges, metadata = given.get_edges(metadata=True), given.get_hypergraph_metadata()
    keys = dict(zip(edges, own_names(edges, edges.values(), problems), strict=True))
    return from_graph(
        problems,
        nodes=given.get_nodes(metadata=True),
        hyperedges=dict(zip(keys.values(), edges, strict=True)),
        attributes={keys[edge]: {**data, WEIGHT: given.get_weight(edge)} for edge, data in edges.items()},
        choices=Choices(text, missing),
        facts=read_facts(metadata.get(KEY), f"metadata {KEY!r}", problems),
        name=name,
        whole={key: told for key, told in metadata.items() if key not in _OWN},
        used=(NAME,),
    )


def to_hypergraphx(hypergraph: Hypergraph) -> Any:
    """A hypergraph of hypergraphx; identical hyperedges become one with the sum of weights, which is told."""
    hypergraphx = need("hypergraphx", "hypergraphx")
    common = hyperedge_weights(hypergraph)
    members = [tuple(own) for own in members_of(hypergraph)]
    twice = len(members) - len(set(members))
    lost = [f"{twice} hyperedges with the same members as others"] if twice else []
    if common is None and twice:
        lost.append("their weights, which differ within a hyperedge")
    tell_lost("hypergraphx", lost)
    nodes = ids_of(hypergraph.node_names, hypergraph.num_nodes)
    names = ids_of(hypergraph.hyperedge_names, hypergraph.num_hyperedges)
    made = hypergraphx.Hypergraph(weighted=True, hypergraph_metadata={KEY: facts_of(hypergraph).content()})
    for node, row in zip(nodes, node_rows(hypergraph), strict=True):
        made.add_node(node, metadata=row)
    weights = iter([] if hypergraph.incidence.weights is None else hypergraph.incidence.weights.tolist())
    seen: set[tuple[int, ...]] = set()
    for place, own in enumerate(members):
        table = {nodes[one]: next(weights, 1.0) for one in own}
        metadata: dict[str, Any] = {NAME: names[place]}
        metadata |= {WEIGHTS: table} if common is None and own not in seen else {}
        weight = 1.0 if common is None else float(common[place])
        edge = tuple(nodes[one] for one in own)
        made.add_edge(edge, weight=weight, metadata=None if own in seen else metadata)
        seen.add(own)
    return made
