"""DHG: a structure, and a dictionary of tensors as its own data sets have them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hypercondense.hypergraph import Hypergraph
from hypercondense.interchange.assemble import hyperedge_weights
from hypercondense.interchange.problems import Problems, expect, need, tell_lost, tell_unused
from hypercondense.interchange.pyg import tensors_of
from hypercondense.interchange.tensors import TOLD, check_values, count_in, from_store

_SELF_LOOPS = "num_self_loops"
_CALLED = {"x": "features", "y": "labels", "num_nodes": "num_v", "hyperedge_index": "e"}


def from_dhg(structure: Any, data: Mapping[str, Any], *, name: str | None = None) -> Hypergraph:
    """A hypergraph from a ``dhg.Hypergraph`` and its data.

    Args:
        structure: On any device; weights of hyperedges become those of all their members.
        data: ``features`` and ``labels`` (-1 where unknown), perhaps ``train_mask``, ``val_mask`` and
            ``test_mask``.
        name: What to call it.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> hc.from_dhg(*source.to_dhg()).num_nodes  # doctest: +SKIP
    60
    """
    dhg = need("dhg", "dhg")
    expect("structure", structure, dhg.Hypergraph, "a hypergraph of DHG")
    expect("data", data, Mapping, "a table of tensors, with features and labels")
    problems = Problems("a hypergraph of DHG", _CALLED)
    data = check_values(data, problems)
    for key in ("features", "labels"):
        if data.get(key) is None:
            there = ", ".join(str(own) for own, value in data.items() if value is not None)
            problems.add(f"its data have no {key!r}; they have {there[:80]}")
            data[key] = TOLD
    if any(weight != 1 for weight in structure.v_weight):
        tell_unused("a hypergraph of DHG", ["weights of nodes"])
    members, weights = structure.e
    loops = count_in(data, _SELF_LOOPS, problems) or 0
    if not 0 <= loops <= len(members):
        problems.add(f"{_SELF_LOOPS!r} is {loops}, but there are {len(members)} hyperedges")
        loops = 0
    kept = len(members) - loops
    members, weights = members[:kept], weights[:kept]
    sizes = [len(own) for own in members]
    index = np.stack([np.array([one for own in members for one in own]), np.repeat(np.arange(kept), sizes)])
    store = {**data, "x": data.get("features"), "y": data.get("labels"), "num_nodes": structure.num_v}
    store |= {"hyperedge_index": index.astype(np.int64), "num_hyperedges": kept}
    store |= {"incidence_weight": np.repeat(np.asarray(weights, np.float64), sizes)}
    own = (*(key for key in store if key not in ("features", "labels", _SELF_LOOPS)),)
    return from_store({key: store[key] for key in own}, problems, name=name)


def to_dhg(hypergraph: Hypergraph, *, self_loops: bool = True) -> tuple[Any, dict[str, Any]]:
    """A ``dhg.Hypergraph`` on the CPU, and its data: features, labels, masks and what else there is.

    DHG makes one of identical hyperedges; their weights are added up, which is the same to its networks. It
    has one weight for a hyperedge: where members have different ones, they are lost, and told.
    """
    dhg = need("dhg", "dhg")
    common = hyperedge_weights(hypergraph)
    incidence, number = hypergraph.with_self_loops if self_loops else (hypergraph.incidence, None)
    number = hypergraph.num_hyperedges if number is None else number
    starts = np.searchsorted(incidence.hyperedge_ids, np.arange(number + 1))
    members = [own.tolist() for own in np.split(incidence.node_ids, starts[1:-1])] if number else []
    weights = np.ones(number) if common is None else np.append(common, np.ones(number - len(common)))
    twice = len(members) - len({tuple(own) for own in members})
    lost = ["weights that differ within a hyperedge"] if common is None else []
    lost += [f"{twice} hyperedges with the same members as others (weights are added up)"] if twice else []
    lost += [] if hypergraph.hyperedge_names is None else ["names of hyperedges"]
    tell_lost("DHG", lost)
    made = dhg.Hypergraph(hypergraph.num_nodes, members, weights.tolist(), merge_op="sum")
    data = tensors_of(hypergraph)
    data.pop("hyperedge_names", None)
    data["features"], data["labels"] = data.pop("x"), data.pop("y")
    return made, {**data, _SELF_LOOPS: number - hypergraph.num_hyperedges}
