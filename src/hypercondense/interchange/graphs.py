"""What graph libraries have in common: nodes with attributes, hyperedges with members and attributes."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from hypercondense.hypergraph import Hypergraph
from hypercondense.interchange.assemble import Arrived, hyperedge_weights, members_of
from hypercondense.interchange.attributes import put_nodes
from hypercondense.interchange.columns import Choices
from hypercondense.interchange.facts import KEY, Facts
from hypercondense.interchange.ids import number_all, numbered
from hypercondense.interchange.problems import Problems, shown, tell, tell_unused

#: An attribute of a hyperedge: one weight for all its members, or a table of node and weight.
WEIGHT, WEIGHTS = "weight", "weights"
#: Another, where a library has no ids of hyperedges.
NAME = "name"


def from_graph(
    problems: Problems,
    *,
    nodes: Mapping[Any, Mapping[str, Any]],
    hyperedges: Mapping[Any, Iterable[Any]],
    attributes: Mapping[Any, Mapping[str, Any]],
    choices: Choices,
    facts: Facts | None,
    name: str | None,
    whole: Mapping[Any, Any],
    used: Collection[str] = (),
) -> Hypergraph:
    """A hypergraph from nodes with their attributes, members of hyperedges, and attributes of those.

    ``whole`` are attributes of the whole, and ``used`` those of hyperedges that are no weights and are used.
    """
    tell_unused(problems.what, _unused(attributes.values(), whole, (WEIGHT, WEIGHTS, *used)))
    members: list[Any] = []
    owners: list[int] = []
    weights: list[float] = []
    for number, (key, given) in enumerate(hyperedges.items()):
        own = list(given)
        members += own
        owners += [number] * len(own)
        weights += _weights_of(key, own, attributes.get(key, {}), problems)
    node_ids, _ = numbered("node", members, problems, known=number_all(nodes))
    arrived = Arrived(
        problems=problems,
        nodes=list(nodes),
        hyperedges=list(hyperedges),
        node_ids=node_ids,
        hyperedge_ids=owners,
        weights=weights,
        facts=facts,
        name=name,
    )
    put_nodes(arrived, list(nodes.values()), choices)
    return arrived.hypergraph()


def _unused(
    of_hyperedges: Iterable[Mapping[str, Any]], whole: Mapping[Any, Any], used: Collection[str]
) -> Iterator[str]:
    yield from (f"attribute {str(key)[:40]!r} of the whole" for key in whole if key != KEY)
    for own in of_hyperedges:
        yield from (f"attribute {str(key)[:40]!r} of hyperedges" for key in own if key not in used)


def _weights_of(
    key: Any, members: Sequence[Any], attributes: Mapping[str, Any], problems: Problems
) -> list[float]:
    table = attributes.get(WEIGHTS)
    one = attributes.get(WEIGHT, 1.0)
    try:
        if isinstance(table, Mapping):
            return [float(table[node]) for node in members]
        return [float(one)] * len(members)
    except (KeyError, TypeError, ValueError, OverflowError):
        problems.add(f"hyperedge {shown(key)} has weights that do not fit its members: {shown(table or one)}")
        return [1.0] * len(members)


def own_names(keys: Iterable[Any], attributes: Iterable[Mapping[str, Any]], problems: Problems) -> list[Any]:
    """What hyperedges are called among their attributes, or their keys where two have one name."""
    listed, names = list(keys), []
    for key, own in zip(listed, attributes, strict=True):
        name = own.get(NAME)
        if not isinstance(name, Hashable):
            problems.add(f"{NAME!r} of hyperedge {shown(key)} must be a text or a number, got {shown(name)}")
        names.append(name if name is not None and isinstance(name, Hashable) else key)
    if len(set(names)) == len(names):
        return names
    tell(f"some hyperedges have one {NAME!r} in common: none is called by it")
    return listed


def hyperedge_attributes(hypergraph: Hypergraph, nodes: Sequence[Any]) -> list[dict[str, Any]]:
    """Weights of every hyperedge as attributes; nothing where none were given."""
    weights = hypergraph.incidence.weights
    if weights is None:
        return [{} for _ in range(hypergraph.num_hyperedges)]
    common = hyperedge_weights(hypergraph)
    if common is not None:
        return [{WEIGHT: weight} for weight in common.tolist()]
    flat = iter(weights.tolist())
    return [{WEIGHTS: {nodes[one]: next(flat) for one in own}} for own in members_of(hypergraph)]
