"""The ledger of a result."""

from hypercondense.condensing.material import Material
from hypercondense.hypergraph import Hypergraph
from hypercondense.nn.whole_training import estimated_seconds
from hypercondense.runtime.clock import TOTAL
from hypercondense.runtime.ledger import Extent, Ledger, by_kind

_LONGEST, _PART, _ANYHOW = 2.0, 0.05, 0.05  # seconds an estimate may take: at most, of the work, in any case


def ledger_of(condensed: Hypergraph, material: Material, *, searched: bool, peak_memory_mb: float) -> Ledger:
    """What was spent on a material to make ``condensed``, beside one training on everything.

    That is measured where HGNN was trained on everything, and otherwise estimated, which costs a little that
    is not counted: nobody needs it for the result.
    """
    seconds = by_kind(material.clock.seconds, searched=searched)
    measured = material.whole_seconds is not None
    whole = material.whole_seconds if measured else _estimated(material, seconds[TOTAL])
    return Ledger(
        seconds=seconds,
        peak_memory_mb=peak_memory_mb,
        result=extent_of(condensed),
        source=extent_of(material.source),
        whole_trainings=material.whole_trainings,
        whole_seconds=whole,
        measured=measured,
        share=seconds[TOTAL] / whole if whole else None,
    )


def extent_of(hypergraph: Hypergraph) -> Extent:
    """How large it is."""
    arrays, _ = hypergraph.to_arrays()
    return Extent(
        nodes=hypergraph.num_nodes,
        hyperedges=hypergraph.num_hyperedges,
        incidences=hypergraph.num_incidences,
        bytes=sum(array.nbytes for array in arrays.values()),
    )


def _estimated(material: Material, work: float) -> float | None:
    """Seconds of one training of HGNN on everything; nothing is known where the source may not fit."""
    if material.source.is_mapped or (material.memory is not None and not material.has_inputs):
        return None
    if material.estimate is None:
        at_most = min(_LONGEST, max(_ANYHOW, _PART * work))
        material.estimate = estimated_seconds(material.inputs, material.split, at_most=at_most)
    return material.estimate
