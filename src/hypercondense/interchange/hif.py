"""HIF, the Hypergraph Interchange Format, as dictionaries: both ways.

In HyperTorch's reading: of a node ``attrs.label`` is the class and every other numeric attribute a feature,
0 where a node lacks it; ``weight`` of a hyperedge, or of its ``attrs``, is that of all its members; and
``metadata.label_map`` numbers the classes. Ours for what that lacks: a node without ``label`` is of unknown
class, ``split`` is its part, ``soft_label`` its shares of the classes, and ``metadata.hypercondense`` tells
the rest, with provenance.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from hypercondense.hypergraph import Hypergraph
from hypercondense.interchange.assemble import Arrived, hyperedge_weights
from hypercondense.interchange.attributes import OURS, add_classes
from hypercondense.interchange.columns import Choices
from hypercondense.interchange.facts import KEY, Facts, facts_of, read_facts
from hypercondense.interchange.hif_content import Edge, Hif, Incidence, Node
from hypercondense.interchange.hif_nodes import put_hif_nodes
from hypercondense.interchange.ids import ids_of, number_all, numbered
from hypercondense.interchange.problems import Problems, and_more, shown, tell, tell_unused
from hypercondense.interchange.table_columns import feature_columns

_WEIGHT = "weight"
_LABEL_MAP = "label_map"


def hypergraph_of(
    content: Hif, choices: Choices, name: str | None = None, *, otherwise: str | None = None
) -> Hypergraph:
    """A hypergraph from what a HIF file holds.

    Args:
        content: What it holds.
        choices: What to do with attributes that are no numbers, or not there.
        name: What to call it.
        otherwise: What to call it where neither ``name`` nor the file says.

    Raises:
        ConversionError: It is valid HIF that networks cannot learn from; the text has every reason.
    """
    problems = Problems("this is valid HIF, but nothing to condense")
    _check_undirected(content, problems)
    metadata = {} if content.metadata is UNSET else content.metadata
    facts = read_facts(metadata.get(KEY), f"metadata.{KEY}", problems) or _of_label_map(metadata, problems)
    nodes = _listed(() if content.nodes is UNSET else content.nodes, "node", problems)
    edges = _listed(() if content.edges is UNSET else content.edges, "edge", problems)
    node_table = number_all([*nodes, *(one.node for one in content.incidences)])
    edge_table = number_all([*edges, *(one.edge for one in content.incidences)])
    members, _ = numbered("node", [one.node for one in content.incidences], problems, known=node_table)
    owners, _ = numbered("hyperedge", [one.edge for one in content.incidences], problems, known=edge_table)
    arrived = Arrived(
        problems=problems,
        nodes=list(node_table),
        hyperedges=list(edge_table),
        node_ids=members,
        hyperedge_ids=owners,
        weights=_weights(content.incidences, edges, problems),
        facts=facts,
        name=name or (None if KEY in metadata else _name(metadata) or otherwise),
    )
    put_hif_nodes(arrived, [nodes.get(one, {}) for one in node_table], choices)
    tell_unused("this HIF", _unused(content, edges, metadata))
    return arrived.hypergraph()


def _name(metadata: Mapping[str, Any]) -> str | None:
    given = metadata.get("name")
    return given if isinstance(given, str) and given else None


def _check_undirected(content: Hif, problems: Problems) -> None:
    if content.network_type == "directed":
        problems.add("its network-type is 'directed'; only undirected hypergraphs are condensed")
        return
    place = next((place for place, one in enumerate(content.incidences) if one.direction is not UNSET), None)
    if place is not None:
        problems.add(
            f"incidence {place} has a direction; only undirected hypergraphs are condensed, so leave it out"
        )
    if content.network_type == "asc":
        tell("an abstract simplicial complex ('asc') is read as its hyperedges as they are listed")


def _of_label_map(metadata: Mapping[str, Any], problems: Problems) -> Facts | None:
    """Classes in the order of ``metadata.label_map``, which HyperTorch writes."""
    given = metadata.get(_LABEL_MAP)
    if given is None:
        return None
    numbers: list[Any] = list(given.values()) if isinstance(given, Mapping) else [None]
    if any(type(one) is not int for one in numbers) or sorted(numbers) != list(range(len(numbers))):
        problems.add(f"metadata.{_LABEL_MAP} must be a table of classes and their numbers from 0")
        return None
    names = sorted(given, key=given.__getitem__)
    if names == [str(number) for number in range(len(names))]:
        return Facts(num_classes=len(names))
    return Facts(num_classes=len(names), label_names=tuple(names))


def _listed(records: Iterable[Node | Edge], key: str, problems: Problems) -> dict[Any, dict[str, Any]]:
    """Attributes by id, the weight of a record among those of hyperedges; one listed twice must agree."""
    found: dict[Any, dict[str, Any]] = {}
    for record in records:
        given = getattr(record, key)
        attributes = {} if record.attrs is UNSET else record.attrs
        if isinstance(record, Edge) and record.weight is not UNSET:
            own = attributes.get(_WEIGHT, record.weight)
            if own != record.weight:
                problems.add(f"edge {shown(given)} has two weights, {record.weight:g} and {shown(own)}")
            attributes = {**attributes, _WEIGHT: record.weight}
        if given in found:
            before = found[given]
            for name in before.keys() & attributes.keys():
                if before[name] != attributes[name]:
                    problems.add(f"{key} {shown(given)} is listed twice with two values of {name[:40]!r}")
            attributes = before | attributes
        found[given] = attributes
    return found


def _weights(
    incidences: Sequence[Incidence], edges: Mapping[Any, Mapping[str, Any]], problems: Problems
) -> NDArray[np.float64]:
    """That of a membership, or of its hyperedge where it has none or 1."""
    weights = np.array([1.0 if one.weight is UNSET else one.weight for one in incidences], np.float64)
    given = {edge: _number(edge, row[_WEIGHT], problems) for edge, row in edges.items() if _WEIGHT in row}
    if not given:
        return weights
    of_edges = np.array([given.get(one.edge, 1.0) for one in incidences], np.float64)
    both = np.flatnonzero((weights != 1) & (of_edges != 1) & (weights != of_edges))
    if len(both):
        one = incidences[both[0]]
        problems.add(
            f"node {shown(one.node)} has a weight in edge {shown(one.edge)}, which has another one "
            f"itself{and_more(len(both), 'do')}; leave one of them out"
        )
    return np.where(weights != 1, weights, of_edges)


def _number(edge: Any, given: Any, problems: Problems) -> float:
    if isinstance(given, int | float) and not isinstance(given, bool) and abs(given) < 2.0**1000:
        return float(given)
    problems.add(f"attribute {_WEIGHT!r} of edge {shown(edge)} must be a number, got {shown(given)}")
    return 1.0


def _unused(
    content: Hif, edges: Mapping[Any, Mapping[str, Any]], metadata: Mapping[str, Any]
) -> Iterator[str]:
    """What is there and has no place in a hypergraph of ours."""
    yield from (f"metadata {key[:40]!r}" for key in metadata if key not in (KEY, _LABEL_MAP, "name"))
    for row in edges.values():
        yield from (f"attribute {key[:40]!r} of edges" for key in row if key != _WEIGHT)
    for one in content.incidences:
        if one.attrs is not UNSET:
            yield from (f"attribute {key[:40]!r} of incidences" for key in one.attrs)
    nodes = () if content.nodes is UNSET else content.nodes
    if any(one.weight is not UNSET and one.weight != 1 for one in nodes):
        yield "weights of nodes"


def content_of_hypergraph(hypergraph: Hypergraph, facts: Facts | None = None) -> dict[str, Any]:
    """What a HIF file of a hypergraph holds; nothing is lost.

    Args:
        hypergraph: Any.
        facts: What is told beside it under ``metadata.hypercondense``; by default all that is needed.
    """
    facts = facts or facts_of(hypergraph)
    nodes = ids_of(hypergraph.node_names, hypergraph.num_nodes)
    edges = ids_of(hypergraph.hyperedge_names, hypergraph.num_hyperedges)
    members, owners, weights = hypergraph.incidence
    incidences: list[dict[str, Any]] = [
        {"edge": edges[owner], "node": nodes[node]}
        for node, owner in zip(members.tolist(), owners.tolist(), strict=True)
    ]
    records: list[dict[str, Any]] = [{"edge": edge} for edge in edges]
    common = None if weights is None else hyperedge_weights(hypergraph)
    if common is not None:
        for record, weight in zip(records, short_numbers(common), strict=True):
            record |= {_WEIGHT: weight, "attrs": {_WEIGHT: weight}}  # the standard's place, and HyperTorch's
    elif weights is not None:
        for incidence, weight in zip(incidences, short_numbers(weights), strict=True):
            incidence[_WEIGHT] = weight
    rows = _feature_rows(hypergraph)
    add_classes(rows, hypergraph, facts, shares=short_numbers)
    classes = facts.classes or [str(number) for number in range(hypergraph.num_classes)]
    return {
        "network-type": "undirected",
        "metadata": {
            _LABEL_MAP: {name: number for number, name in enumerate(classes)},
            KEY: facts.content(),
        },
        "nodes": [{"node": node, "attrs": row} for node, row in zip(nodes, rows, strict=True)],
        "edges": records,
        "incidences": incidences,
    }


def _feature_rows(hypergraph: Hypergraph) -> list[dict[str, Any]]:
    """A number for each feature; of sparse ones the first node has all, which tells their order."""
    names = feature_columns(hypergraph, taken=OURS)
    if not hypergraph.is_sparse:
        flat = short_numbers(hypergraph.features.reshape(-1))
        width = len(names)
        return [
            dict(zip(names, flat[start : start + width], strict=True)) for start in range(0, len(flat), width)
        ]
    matrix = hypergraph.features
    keys = [names[column] for column in matrix.indices.tolist()]
    values, starts = short_numbers(matrix.data), matrix.indptr.tolist()
    rows = [dict(zip(keys[start:end], values[start:end], strict=True)) for start, end in pairwise(starts)]
    return [dict.fromkeys(names, 0) | rows[0], *rows[1:]]


def short_numbers(numbers: NDArray[np.float32]) -> list[Any]:
    """Numbers of 32 bits as those of JSON with the fewest digits that tell them from all others.

    >>> short_numbers(np.array([0.1, 2.0], np.float32)), short_numbers(np.array([1, 0], np.float32))
    ([0.1, 2.0], [1, 0])
    """
    given = np.ascontiguousarray(numbers, np.float32)
    whole = np.abs(given) < 2**24
    if whole.all() and (given == np.trunc(given)).all() and not np.signbit(given[given == 0]).any():
        return [*given.astype(np.int64).tolist()]
    bits, places = np.unique(given.view(np.uint32), return_inverse=True)
    short = bits.view(np.float32).astype(np.str_).astype(np.float64)
    return [*short[places].tolist()]


def encoded(content: Mapping[str, Any]) -> bytes:
    """As JSON, in one line.

    Raises:
        ValueError: A name has half of a letter in it.
    """
    return msgspec.json.encode(content)
