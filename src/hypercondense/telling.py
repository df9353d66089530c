"""What a result is, in lines for people: the same in Python and on the command line."""

from collections.abc import Mapping
from typing import Any

from hypercondense.hypergraph import Hypergraph

_WITH_HYPEREDGES = "ahgcdd"  # the method among the trials of a search that makes some
#: Trials after which a search has tried it: its place among what `auto` chooses from.
_TRIED_BY = 4
_HOW = f"the method {_WITH_HYPEREDGES} makes hyperedges"


def structure_line(
    hypergraph: Hypergraph, settings: Mapping[str, Any], choice: Mapping[str, Any] | None
) -> str:
    """What the structure of a condensed hypergraph is, why, and how to get another."""
    count, size = hypergraph.num_hyperedges, hypergraph.num_incidences / max(1, hypergraph.num_hyperedges)
    if hypergraph.num_incidences > count:
        return f"{count:,} hyperedges that join {size:.1f} nodes in the mean"
    chosen = choice["settings"] if choice else {}
    if (
        settings.get("structure")
        or chosen.get("structure")
        or (choice or {}).get("method") == _WITH_HYPEREDGES
    ):
        return "self-loops only: hyperedges were learnt, but none came to join two nodes"
    return f"self-loops only: {_why(settings, choice)}; {_gain(choice)}; {_HOW}"


def _why(settings: Mapping[str, Any], choice: Mapping[str, Any] | None) -> str:
    """Why no hyperedge joins two nodes."""
    chosen = choice["settings"] if choice else {}
    maps = [one["map"] for one in (settings, chosen) if isinstance(one.get("map"), Mapping)]
    if not choice and not maps:  # no recipe: nodes that were picked, or averaged
        return "the condensed nodes share none"
    if "none" in [*(one.get("kernel") for one in maps), chosen.get("map.kernel")]:
        return "rows are raw, for diffusing them did not help"
    return "rows carry the structure, which is diffused into them"


def _gain(choice: Mapping[str, Any] | None) -> str:
    """What hyperedges would add, by the trials of a search."""
    trials = (choice or {}).get("trials") or []
    chosen = [one["score"] for one in trials if choice and _is_chosen(one, choice)]
    structured = [one["score"] for one in trials if one["method"] == _WITH_HYPEREDGES]
    if not chosen or not structured:
        search = "a budget" if choice else "the method auto with a budget"
        return f"hyperedges were not tried: {search} of {_TRIED_BY} trials says what they would add"
    gain = 100 * (max(structured) - max(chosen))
    return f"hyperedges would {'add' if gain >= 0 else 'cost'} {abs(gain):.1f} points on validation nodes"


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
