"""What a result is, in lines for people: the same in Python and on the command line."""

from collections.abc import Mapping
from typing import Any

from hypercondense.hypergraph import Hypergraph

_WITH_HYPEREDGES = "ahgcdd"  # the method among the trials of a search that makes some
_HOW = f"for hyperedges use the method {_WITH_HYPEREDGES}, or structure=anchors"


def structure_line(
    hypergraph: Hypergraph, settings: Mapping[str, Any], choice: Mapping[str, Any] | None
) -> str:
    """What the structure of a condensed hypergraph is, why, and how to get another."""
    count, size = hypergraph.num_hyperedges, hypergraph.num_incidences / max(1, hypergraph.num_hyperedges)
    if hypergraph.num_incidences > count:
        return f"{count:,} hyperedges that join {size:.1f} nodes in the mean"
    if _is_raw(settings, choice):
        why = "rows are raw, for diffusing them did not help"
    else:
        why = "rows carry the structure, which is diffused into them"
    return f"self-loops only: {why}; {_gain(choice)}; {_HOW}"


def _is_raw(settings: Mapping[str, Any], choice: Mapping[str, Any] | None) -> bool:
    """Whether rows were not diffused."""
    chosen = choice["settings"] if choice else {}
    maps = [settings.get("map"), chosen.get("map")]
    kernels = [one.get("kernel") for one in maps if isinstance(one, Mapping)] + [chosen.get("map.kernel")]
    return "none" in kernels


def _gain(choice: Mapping[str, Any] | None) -> str:
    """What hyperedges would add, by the trials of a search."""
    trials = (choice or {}).get("trials") or []
    chosen = [one["score"] for one in trials if choice and _is_chosen(one, choice)]
    structured = [one["score"] for one in trials if one["method"] == _WITH_HYPEREDGES]
    if not chosen or not structured:
        return "hyperedges were not tried" + (", as a larger budget does" if trials else "")
    gain = 100 * (max(structured) - max(chosen))
    return f"hyperedges would {'add' if gain >= 0 else 'cost'} {abs(gain):.1f} points"


def _is_chosen(trial: Mapping[str, Any], choice: Mapping[str, Any]) -> bool:
    return bool(trial["method"] == choice["method"] and trial["settings"] == choice["settings"])


def aligned(facts: Mapping[str, Any]) -> str:
    """Names and values, a line for each.

    >>> print(aligned({"a": 1, "long": 2}))
    a     1
    long  2
    """
    width = max(map(len, facts))
    return "\n".join(f"{name:<{width}}  {value}" for name, value in facts.items())
