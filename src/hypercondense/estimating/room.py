"""Memory and disk that work on a source takes, from sizes."""

from hypercondense.hypergraph import Hypergraph
from hypercondense.runtime.memory import resident_bytes
from hypercondense.search.costs import Sizes

_STRUCTURE = 40  # bytes of an incidence in the two factors of P while they are made
_TENSORS = 48  # bytes of an incidence, with those of self-loops, in the tensors of a network
_HIDDEN = 3 * 4 * 128  # bytes of a node while a network of the usual width looks at it
_RESULT = 2_000_000  # bytes of a manifest and of the rest of a result, at most


def condensing_bytes(
    source: Hypergraph, sizes: Sizes, *, working: int, maps: int, cached: bool, taught: bool = False
) -> int:
    """The most memory of ``condense``, as this process is now, with the source."""
    matrix = 4 * sizes.nodes * sizes.features
    rows = 4 * (sizes.training + sizes.validation) * sizes.features * maps
    rows += matrix * maps if taught else 0  # teachers speak of all nodes
    diffusing = _STRUCTURE * source.num_incidences + matrix + (matrix if cached else 0)
    judging = _inputs(source, sizes) + _HIDDEN * sizes.nodes
    return resident_bytes() + working + rows + max(diffusing, judging)


def evaluating_bytes(source: Hypergraph, sizes: Sizes, *, working: int) -> int:
    """The most memory of ``evaluate``."""
    return resident_bytes() + working + _inputs(source, sizes) + _HIDDEN * sizes.nodes


def disk_bytes(sizes: Sizes, *, maps: int) -> int:
    """What ``condense`` writes: diffused features for as many maps, and the result."""
    result = 4 * sizes.condensed * (sizes.features + sizes.classes) + 8 * sizes.training
    return 4 * sizes.nodes * sizes.features * maps + result + _RESULT


def _inputs(source: Hypergraph, sizes: Sizes) -> int:
    given = 12 * sizes.entries if source.is_sparse else 4 * sizes.nodes * sizes.features
    return int(given + _TENSORS * sizes.incidences)
