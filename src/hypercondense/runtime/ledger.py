"""What a result cost, all of it, beside one training on everything."""

import math
from collections.abc import Iterator, Mapping

from hypercondense.runtime.clock import TOTAL
from hypercondense.runtime.memory import format_size
from hypercondense.typed import NotNegative, Value, Whole

#: Which stages of the clock each kind of work is made of. Looks of an optimization lie within its stage.
_KINDS = {
    "diffusion": ("diffuse",),
    "starts": ("start", "warm up", "linker", "choose"),
    "teachers": ("teach", "embed", "experts"),
    "optimization": ("optimize",),
    "looks": ("select", "confirm", "retention"),
    "reference": ("reference",),
}
#: What is no part of the cost.
_BESIDE = {"guard": "guard", "loading": "load"}


class Extent(Value):
    """How large a hypergraph is.

    Args:
        nodes: Number of nodes.
        hyperedges: Number of hyperedges.
        incidences: Number of memberships, without self-loops.
        bytes: Of its arrays in memory.
    """

    nodes: Whole
    hyperedges: Whole
    incidences: Whole
    bytes: Whole


class Ledger(Value):
    """What a result cost.

    Args:
        seconds: By kind of work, over all trials of a search: ``diffusion``, ``starts``, ``teachers`` (who
            are trained on everything to learn from them), ``optimization``, ``looks`` (validation nodes are
            asked), ``reference`` (trainings on everything that a size is compared with), ``search`` (what
            else a search did) or ``other``, all of these as ``total``; and beside it the ``guard``, and
            ``loading`` of libraries, which any training needs.
        peak_memory_mb: The most memory the process had.
        result: Size of the condensed hypergraph.
        source: Size of the source.
        whole_trainings: How many networks were trained on everything; 0 where none ever was.
        whole_seconds: Of one training of HGNN on everything; ``None`` if it is not known.
        measured: Whether it was measured; otherwise it is an estimate from a few epochs.
        share: ``total`` of the seconds over ``whole_seconds``.
    """

    seconds: Mapping[str, NotNegative]
    peak_memory_mb: NotNegative
    result: Extent
    source: Extent
    whole_trainings: Whole = 0
    whole_seconds: NotNegative | None = None
    measured: bool = False
    share: NotNegative | None = None

    def lines(self) -> Iterator[tuple[str, str]]:
        """The same for people, in a few lines with a name each."""
        total = f"{self.seconds[TOTAL]:.1f} s"
        if self.share is not None and self.whole_seconds is not None:
            how = "measured" if self.measured else "estimated"
            total += f" = {self.share:.2g} of one training on everything ({how} {self.whole_seconds:.3g} s)"
        yield "cost", total
        if self.share is not None and self.share >= 1:
            yield "worth it", self._for_what(self.share)
        within = [name for name in self.seconds if name != TOTAL and name not in _BESIDE]
        for title, names in (("of which", within), ("besides", list(_BESIDE))):
            told = {name: self.seconds[name] for name in names if self.seconds.get(name, 0.0) >= 0.05}
            if told:
                yield title, ", ".join(f"{name} {value:.1f} s" for name, value in told.items())
        trained = f"{self.whole_trainings} trainings" if self.whole_trainings else "none"
        yield "trained on everything", trained
        sizes = f"{format_size(self.result.bytes)} instead of {format_size(self.source.bytes)}"
        yield "size and memory", f"{sizes}, {self.peak_memory_mb:,.0f} MB of memory at most"

    @staticmethod
    def _for_what(share: float) -> str:
        """What a result is for that cost more than one training on everything."""
        return (
            f"not to save one training: from about {math.floor(share) + 1} trainings on, "
            "or to share, to teach, or where the source cannot be kept"
        )


def by_kind(stages: Mapping[str, float], *, searched: bool) -> dict[str, float]:
    """Seconds of stages of the clock as seconds of kinds of work.

    >>> by_kind({"total": 5.0, "optimize": 3.0, "select": 1.0, "guard": 0.5}, searched=False)
    {'optimization': 2.0, 'looks': 1.0, 'other': 2.0, 'total': 5.0, 'guard': 0.5}
    """
    found = {kind: sum(stages.get(stage, 0.0) for stage in names) for kind, names in _KINDS.items()}
    found["optimization"] = max(0.0, found["optimization"] - stages.get("select", 0.0))
    total = stages.get(TOTAL, 0.0)
    rest = {"search" if searched else "other": max(0.0, total - sum(found.values()))}
    beside = {name: stages[stage] for name, stage in _BESIDE.items() if stage in stages}
    return {**{kind: value for kind, value in found.items() if value}, **rest, TOTAL: total, **beside}
