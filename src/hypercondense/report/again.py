"""The command that makes a result again."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from hypercondense.catalogue import METHODS, method_from
from hypercondense.condensation import Condensation
from hypercondense.condensing.settings import as_text, differences
from hypercondense.errors import HypercondenseError
from hypercondense.search.grid import PaperGrid


def repeating(choice: Mapping[str, Any], arguments: Sequence[str]) -> str:
    """The command that makes what a search chose again, to the same bits, without the search.

    >>> repeating({"method": "unrolled", "settings": {"looks": 0}}, ["cora", "--ratio", "0.01"])
    'hypercondense condense cora --ratio 0.01 --method unrolled --set looks=0 --out OUT'
    """
    chosen = choice["settings"].items()
    settings = [part for name, value in chosen for part in ("--set", f"{name}={as_text(value)}")]
    words = [*arguments, "--method", choice["method"], *settings, "--out", "OUT"]
    return shlex.join(["hypercondense", "condense", *words])


def command_of(result: Condensation) -> str | None:
    """The command by which a result can be made again, as its provenance tells it.

    ``None`` where no command says it: a method of a later version, or options that are no longer there.
    """
    made, condensed = result.provenance, result.hypergraph
    chosen = result.choice if result.choice is not None else _as_chosen(made.method, made.settings)
    if chosen is None:
        return None
    words = [made.source_location or made.source_name]
    by_ratio = made.ratio is not None
    words += (
        ["--ratio", str(made.ratio), "--ratio-of", made.ratio_of]
        if by_ratio
        else ["--nodes", str(condensed.num_nodes)]
    )
    words += [] if made.allocate == "proportional" else ["--allocate", made.allocate]
    words += [] if made.metric == "accuracy" else ["--metric", made.metric]
    words += ["--seed", str(made.seed)]
    words += ["--split", "SPLIT.json"] if made.split_seed is None else ["--split-seed", str(made.split_seed)]
    words += [] if made.whole_training else ["--no-whole-training"]
    words += [] if result.scale is None else ["--standardize"]
    words += ["--no-select"] if result.final_validation is None and result.choice is None else []
    return repeating(chosen, words)


def _as_chosen(method: str, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """A method by its name and what was changed."""
    if method not in METHODS:
        return None
    try:
        made: Any = method_from(method, settings)
        recipe = made.base if isinstance(made, PaperGrid) else made
        return {"method": method, "settings": differences(recipe, METHODS[method][1])}
    except (HypercondenseError, TypeError, ValueError, LookupError):
        return None
