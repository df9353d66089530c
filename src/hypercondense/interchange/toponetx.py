"""TopoNetX: a coloured hypergraph, whose cells of rank 1 are the hyperedges."""

from typing import Any

from hypercondense.hypergraph import Hypergraph
from hypercondense.interchange.assemble import members_of
from hypercondense.interchange.attributes import node_rows
from hypercondense.interchange.columns import Choices, Missing, Text
from hypercondense.interchange.facts import KEY, facts_of, read_facts
from hypercondense.interchange.graphs import NAME, WEIGHT, from_graph, hyperedge_attributes, own_names
from hypercondense.interchange.ids import ids_of
from hypercondense.interchange.problems import Problems, expect, need

_PLACE = "place"


def from_toponetx(
    given: Any, *, text: Text = "error", missing: Missing = "error", name: str | None = None
) -> Hypergraph:
    """A hypergraph from a ``ColoredHyperGraph`` or a ``CombinatorialComplex``.

    Cells of every rank above 0 are hyperedges; attributes of nodes are read as by :func:`from_xgi`.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> hc.from_toponetx(source.to_toponetx()).num_nodes  # doctest: +SKIP
    60
    """
    toponetx = need("toponetx", "toponetx")
    kinds = (toponetx.ColoredHyperGraph, toponetx.CombinatorialComplex)
    expect("given", given, kinds, "a ColoredHyperGraph or CombinatorialComplex of TopoNetX")
    problems = Problems("a complex of TopoNetX")
    nodes = {}
    for cell, attributes in _cells(given, 0).items():
        (node,) = cell[0]
        nodes[node] = attributes
    if all(own.get(WEIGHT, 1) == 1 for own in nodes.values()):  # TopoNetX gives every node this one
        nodes = {node: {key: own[key] for key in own if key != WEIGHT} for node, own in nodes.items()}
    cells = [
        (f"{rank}:{number}", cell[0], attributes)
        for rank in sorted(set(given.ranks) - {0})
        for number, (cell, attributes) in enumerate(_cells(given, rank).items())
    ]
    if all(isinstance(attributes.get(_PLACE), int) for _, _, attributes in cells):
        cells.sort(key=lambda cell: int(cell[2][_PLACE]))  # TopoNetX puts cells of the same members together
    keys = own_names([cell[0] for cell in cells], [cell[2] for cell in cells], problems)
    hyperedges = {key: cell[1] for key, cell in zip(keys, cells, strict=True)}
    of_hyperedge = {key: cell[2] for key, cell in zip(keys, cells, strict=True)}
    return from_graph(
        problems,
        nodes=nodes,
        hyperedges=hyperedges,
        attributes=of_hyperedge,
        choices=Choices(text, missing),
        facts=read_facts(given.complex.get(KEY), f"complex[{KEY!r}]", problems),
        name=name,
        whole=given.complex,
        used=(NAME, _PLACE),
    )


def _cells(given: Any, rank: int) -> dict[Any, dict[str, Any]]:
    """Cells of a rank, by their members and number, with their attributes; in the order they were added."""
    cells = given._complex_set.hyperedge_dict.get(rank, {})
    found: dict[Any, dict[str, Any]] = {}
    for members, own in cells.items():
        if rank and own and all(isinstance(value, dict) for value in own.values()):
            found |= {(members, number): attributes for number, attributes in own.items()}
        else:
            found[members, 0] = own[0] if isinstance(own.get(0), dict) else own
    return found


def to_toponetx(hypergraph: Hypergraph) -> Any:
    """A ``ColoredHyperGraph`` with hyperedges as cells of rank 1; nothing is lost."""
    toponetx = need("toponetx", "toponetx")
    made = toponetx.ColoredHyperGraph(**{KEY: facts_of(hypergraph).content()})
    nodes = ids_of(hypergraph.node_names, hypergraph.num_nodes)
    for node in nodes:
        made.add_node(node)
    names = ids_of(hypergraph.hyperedge_names, hypergraph.num_hyperedges)
    attributes = hyperedge_attributes(hypergraph, nodes)
    cells = zip(names, members_of(hypergraph), attributes, strict=True)
    for place, (name, own, given) in enumerate(cells):
        made.add_cell([nodes[one] for one in own], rank=1, **{NAME: name, _PLACE: place}, **given)
    for node, row in zip(nodes, node_rows(hypergraph), strict=True):
        made.add_node(node, **row)  # after its cells, because adding a cell forgets attributes of its nodes
    return made
