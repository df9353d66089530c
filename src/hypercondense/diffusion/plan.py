"""How much of a diffusion is in memory at once."""

from dataclasses import dataclass

from hypercondense.diffusion.filed import bytes_to_make, bytes_to_use
from hypercondense.diffusion.filters import Polynomial
from hypercondense.diffusion.operator import Propagation
from hypercondense.diffusion.shards import LISTS, Filed
from hypercondense.errors import ConfigError
from hypercondense.hypergraph import Hypergraph
from hypercondense.runtime.memory import format_size

CHUNK_BYTES = 4 * 2**20  # rows are copied between a panel and a file in pieces of about this size
_WIDTH = 32  # columns of a block: two cache lines of float32
_CACHE = 8 * 2**20  # of a small hypergraph a block has more columns, as long as its buffers fit into this
_SMALL = 64 * 2**20  # buffers up to this size are never worth narrower blocks
_SHARE = 0.1  # beyond that, buffers take at most this share of input and output, or as much as the structure


@dataclass(frozen=True, kw_only=True)
class BlockPlan:
    """Sizes of the pieces.

    Attributes:
        width: Columns of a block, which pass through all powers of P together.
        threads: Blocks worked on at once.
        panel_width: Columns held in memory at once; all of them unless a budget forbids it.
        num_bytes: What this takes in memory, the panel included.
        direct: Whether blocks are cut from the features themselves. If these are in a file, then every
            block reads all of it, and its pages stay in memory as long as the system has room.
    """

    width: int
    threads: int
    panel_width: int
    num_bytes: int
    direct: bool


def fastest_plan(
    source: Hypergraph, propagation: Propagation, polynomial: Polynomial, *, threads: int
) -> BlockPlan:
    """All columns at once, in blocks whose buffers are small beside what is in memory anyway."""
    output = 4 * source.num_nodes * source.num_features
    given = source.features.data.nbytes if source.is_sparse else output
    structure = 40 * source.num_incidences  # the incidence of the source and the two factors of P
    limit = max(_SMALL, int(_SHARE * (given + output)), structure)
    for width, workers in _candidates(source.num_features, threads, _cached_width(propagation, polynomial)):
        buffers = _buffer_bytes(propagation, polynomial, width=width, threads=workers)
        if buffers <= limit:
            break
    return BlockPlan(
        width=width,
        threads=workers,
        panel_width=source.num_features,
        num_bytes=output + buffers,
        direct=not source.is_sparse,
    )


def plan_within(
    memory: int,
    source: Hypergraph,
    propagation: Propagation,
    polynomial: Polynomial,
    *,
    threads: int,
    whole: bool,
    num_columns: int | None = None,
) -> BlockPlan:
    """The largest pieces that fit into ``memory`` bytes; ``whole`` if the result itself must fit.

    ``num_columns`` is for a matrix that is not that of the features. Where the factors of P are in files,
    threads share the rows of a block and not blocks, so that there is one set of buffers only.

    Raises:
        ConfigError: Not even one column at a time fits.
    """
    column, num_columns = 4 * source.num_nodes, num_columns or source.num_features
    beside = 2 * CHUNK_BYTES
    if isinstance(propagation.to_nodes, Filed):
        beside, threads = beside + bytes_to_use(source, threads=propagation.to_nodes.threads), 1
    for width, workers in _candidates(num_columns, threads, _cached_width(propagation, polynomial)):
        fixed = _buffer_bytes(propagation, polynomial, width=width, threads=workers) + beside
        columns = num_columns if whole else min(width * workers, num_columns)
        needed = fixed + columns * column
        if needed <= memory:
            fitting = (memory - fixed) // column
            panel_width = min(num_columns, fitting - fitting % (width * workers) or fitting)
            return BlockPlan(
                width=width,
                threads=workers,
                panel_width=panel_width,
                num_bytes=fixed + panel_width * column,
                direct=False,
            )
    advice = (
        "keep the result in a file by giving a cache folder"
        if whole
        else "nothing smaller than one column is possible"
    )
    raise ConfigError(
        f"diffusing {source.num_nodes} x {num_columns} features needs at least "
        f"{format_size(needed)}, but memory is limited to {format_size(memory)}; allow more, or {advice}"
    )


def least_bytes(source: Hypergraph) -> int:
    """Bytes that diffusing a mapped source into a file takes at least: a column at a time, in one thread."""
    rows = 6 * source.num_nodes + source.num_hyperedges  # of Chebyshev's recurrence, and of the column
    buffers = 4 * (rows + source.num_nodes)
    return max(bytes_to_make(source), bytes_to_use(source, threads=1) + 2 * CHUNK_BYTES + buffers)


def _cached_width(propagation: Propagation, polynomial: Polynomial) -> int:
    """Columns of the widest block that passes through all powers of P without leaving the cache."""
    column = _buffer_bytes(propagation, polynomial, width=1, threads=1)
    return max(1, _CACHE // (_WIDTH * column)) * _WIDTH


def _candidates(num_columns: int, threads: int, widest: int) -> list[tuple[int, int]]:
    """Pairs of block width and threads, from the fastest to the smallest."""
    widest = max(1, min(widest, -(-num_columns // threads)))  # few columns still occupy all threads
    widths = {max(1, widest >> halvings) for halvings in range(widest.bit_length())}
    pairs = {(width, workers) for width in widths for workers in (threads, 1)}
    return sorted(pairs, key=lambda pair: (pair[0] * pair[1], pair[1]), reverse=True)


def _buffer_bytes(propagation: Propagation, polynomial: Polynomial, *, width: int, threads: int) -> int:
    """Bytes of the buffers of :meth:`Propagation.diffuse` and of a product, in every thread."""
    num_hyperedges, num_active = propagation.to_hyperedges.shape
    rows = (5 if polynomial.chebyshev else 3) * propagation.num_nodes + num_hyperedges
    lists = 0 if isinstance(propagation.to_nodes, Filed) else LISTS * max(num_hyperedges, num_active)
    return threads * int(4 * (width * rows + num_active) + lists)
