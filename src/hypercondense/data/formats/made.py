"""What is told of a condensed hypergraph in formats that have a place for it."""

from typing import Any

import msgspec

from hypercondense.condensation import Condensation
from hypercondense.hypergraph import Hypergraph
from hypercondense.interchange.facts import Facts, facts_of
from hypercondense.typed import content_of


def hypergraph_in(given: Hypergraph | Condensation) -> Hypergraph:
    """The hypergraph itself, or that of a result."""
    return given.hypergraph if isinstance(given, Condensation) else given


def facts_with(given: Hypergraph | Condensation) -> Facts:
    """What is told beside a hypergraph, and of a result also how it was made."""
    facts = facts_of(hypergraph_in(given))
    if not isinstance(given, Condensation):
        return facts
    scale = given.scale
    return msgspec.structs.replace(
        facts,
        provenance=story_of(given),
        scale=None if scale is None else (tuple(scale.means.tolist()), tuple(scale.deviations.tolist())),
    )


def story_of(result: Condensation) -> dict[str, Any]:
    """How a result was made, what it cost and what it warns of, JSON-ready."""
    return {
        **content_of(result.provenance),
        "start_validation": result.start_validation,
        "final_validation": result.final_validation,
        "warnings": list(result.warnings),
        "ledger": content_of(result.ledger),
    }
