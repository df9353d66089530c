"""Lists and tables of hyperedges with any ids, as Python has them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hypercondense.hypergraph import Hypergraph
from hypercondense.hypergraph.given import is_frame
from hypercondense.interchange.assemble import Arrived, members_of
from hypercondense.interchange.attributes import node_rows, put_nodes
from hypercondense.interchange.columns import LABEL, Choices, Missing, Text
from hypercondense.interchange.facts import lost_without_facts
from hypercondense.interchange.ids import ids_of, number_all, numbered
from hypercondense.interchange.problems import Problems, expect, number_in, shown, tell_lost


def from_hyperedges(
    hyperedges: Iterable[Any] | Mapping[Any, Any],
    features: Mapping[Any, Any] | Iterable[Any],
    labels: Mapping[Any, Any] | Iterable[Any],
    *,
    split: Mapping[Any, str] | Iterable[str | None] | None = None,
    text: Text = "error",
    missing: Missing = "error",
    name: str | None = None,
) -> Hypergraph:
    """A hypergraph from sets, lists or tuples of node ids, which may be anything hashable.

    Args:
        hyperedges: Collections of nodes; a table has a name for each. A member that is a table of node and
            weight has weights.
        features: For every node a row of numbers, or a table of column and value. These are the nodes. An
            array or a list is of nodes that are called 0, 1, 2 and so on.
        labels: The class of those nodes whose class is known; of a list or an array also -1, None or NaN.
        split: ``"train"``, ``"validation"`` or ``"test"`` of some nodes.
        text: As in :func:`from_pandas`, for tables of column and value.
        missing: As in :func:`from_pandas`.
        name: What to call it.

    >>> from_hyperedges([{"ann", "bob"}, {"bob", "eve"}],
    ...                 {"ann": [1.0], "bob": [2.0], "eve": [3.0]}, {"ann": "physics", "bob": "law"})
    Hypergraph('unnamed', 3 nodes, 2 hyperedges, 4 incidences, 1 features, 2 classes)
    """
    expect("hyperedges", hyperedges, Iterable, "collections of nodes, or a table of them")
    for what, one in (("features", features), ("labels", labels), ("split", () if split is None else split)):
        expect(what, one, Iterable, "a table by id, or a list or an array with an entry for each node")
    problems = Problems("hyperedges")
    given = _by_place(hyperedges)
    features, labels = _by_place(features), _by_place(labels)
    split = None if split is None else _by_place(split)
    table = number_all(features)
    members, owners, weights = _memberships(given, problems)
    node_ids, _ = numbered("node", members, problems, known=table)
    _check_known("labels", labels, table, problems)
    _check_known("the split", split or {}, table, problems)
    arrived = Arrived(
        problems=problems,
        nodes=list(table),
        hyperedges=list(given),
        node_ids=node_ids,
        hyperedge_ids=owners,
        weights=weights,
        name=name,
    )
    put_nodes(arrived, [_row(node, features, labels, split) for node in table], Choices(text, missing))
    return arrived.hypergraph()


def _by_place(given: Any) -> dict[Any, Any]:
    """A table as it is, those of pandas by their index; of anything else each entry by its place."""
    if is_frame(given) and hasattr(given, "index"):
        return dict(zip(given.index.tolist(), given.to_dict("records"), strict=True))
    if hasattr(given, "index") and hasattr(given, "items"):
        return dict(given.items())
    given = given.detach().cpu().numpy() if hasattr(given, "detach") else given
    return dict(given) if isinstance(given, Mapping) else dict(enumerate(given))


def _memberships(
    given: Mapping[Any, Any], problems: Problems
) -> tuple[list[Any], list[int], list[float] | None]:
    members: list[Any] = []
    owners: list[int] = []
    weights: list[float] = []
    weighted = False
    for number, (key, listed) in enumerate(given.items()):
        nodes = listed.tolist() if hasattr(listed, "tolist") else listed  # entries of tensors are tensors
        if isinstance(nodes, str | bytes) or not isinstance(nodes, Iterable):
            problems.add(f"hyperedge {shown(key)} must be a collection of nodes, got {shown(nodes)}")
            continue
        own = list(dict.fromkeys(nodes)) if isinstance(nodes, set | frozenset | Mapping) else list(nodes)
        members += sorted(own, key=str) if isinstance(nodes, set | frozenset) else own
        owners += [number] * len(own)
        weighted = weighted or isinstance(nodes, Mapping)
        if isinstance(nodes, Mapping):
            where = f"hyperedge {shown(key)}"
            weights += [number_in(nodes, node, 1.0, where, problems) for node in own]
        else:
            weights += [1.0] * len(own)
    return members, owners, weights if weighted else None


def _check_known(what: str, given: Mapping[Any, Any], table: dict[Any, int], problems: Problems) -> None:
    if unknown := [node for node in given if node not in table]:
        problems.add(f"{what} name {len(unknown)} nodes without features, the first is {shown(unknown[0])}")


def _row(
    node: Any, features: Mapping[Any, Any], labels: Mapping[Any, Any], split: Mapping[Any, str] | None
) -> dict[str, Any]:
    own = features[node]
    row: dict[str, Any] = dict(own) if isinstance(own, Mapping) else {"features": own}
    if node in labels:
        row[LABEL] = labels[node]
    if split is not None and node in split:
        row["split"] = split[node]
    return row


def to_hyperedges(
    hypergraph: Hypergraph,
) -> tuple[dict[Any, Any], dict[Any, Any], dict[Any, Any]]:
    """Hyperedges (lists of nodes, or tables of node and weight), features, and known labels, by id."""
    lost = ["soft labels"] if hypergraph.soft_labels is not None else []
    lost += ["the split"] if hypergraph.parts is not None else []
    lost += ["names of features"] if hypergraph.feature_names is not None else []
    tell_lost("a list of hyperedges", [*lost, *lost_without_facts(hypergraph)])
    nodes: Sequence[Any] = ids_of(hypergraph.node_names, hypergraph.num_nodes)
    names = ids_of(hypergraph.hyperedge_names, hypergraph.num_hyperedges)
    weights = hypergraph.incidence.weights
    flat = iter([] if weights is None else weights.tolist())
    hyperedges = {
        name: [nodes[one] for one in own] if weights is None else {nodes[one]: next(flat) for one in own}
        for name, own in zip(names, members_of(hypergraph), strict=True)
    }
    rows = node_rows(hypergraph)
    dense = hypergraph.dense_features()
    features = {node: dense[place] for place, node in enumerate(nodes)}
    labels = {node: row[LABEL] for node, row in zip(nodes, rows, strict=True) if LABEL in row}
    return hyperedges, features, labels
