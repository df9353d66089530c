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


def command_of(
    result: Condensation,
    *,
    source: str | None = None,
    split: Sequence[str] | None = None,
    beside: Sequence[str] = (),
) -> str | None:
    """The command by which a result can be made again, without the search that may have chosen it.

    ``None`` where no command says it: a method of a later version, or options that are no longer there.

    Args:
        result: What was made; its provenance tells most.
        source: What to load the source by; the default is what the result knows.
        split: The options that give its split; the default is its seed, or a file to be written.
        beside: Options that no manifest has, such as a folder of data and a device.
    """
    made, condensed = result.provenance, result.hypergraph
    chosen = result.choice if result.choice is not None else _as_chosen(made.method, made.settings)
    if chosen is None:
        return None
    words = [source or made.source_location or made.source_name, *beside]
    by_ratio = made.ratio is not None
    words += (
        ["--ratio", str(made.ratio), "--ratio-of", made.ratio_of]
        if by_ratio
        else ["--nodes", str(condensed.num_nodes)]
    )
    words += [] if made.allocate == "proportional" else ["--allocate", made.allocate]
    words += [] if made.metric == "accuracy" else ["--metric", made.metric]
    words += ["--seed", str(made.seed)]
    if split is None:
        by_seed = made.split_seed is not None
        split = ["--split-seed", str(made.split_seed)] if by_seed else ["--split", "SPLIT.json"]
    words += split
    words += [] if made.whole_training else ["--no-whole-training"]
    words += [] if result.scale is None else ["--standardize"]
    words += ["--no-select"] if result.final_validation is None else []
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
