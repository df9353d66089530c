"""P of a mapped source whose factors are in files: made by streaming, with the bits they have in memory."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hypercondense.diffusion.operator import Propagation
from hypercondense.diffusion.repeats import chances, likely_repeats, sums_of
from hypercondense.diffusion.shards import SHARD_BYTES, SHARD_ENTRIES, Filed, Scratch
from hypercondense.files.maps import chunks, release
from hypercondense.hypergraph import Hypergraph
from hypercondense.hypergraph.streamed import hyperedge_sizes

_FEWEST, _MOST = 1 << 20, 1 << 24  # entries that are sorted together
_ENTRY = 64  # bytes that sorting takes for each
_PER_NODE, _PER_HYPEREDGE = 72, 32  # bytes of lists with an entry for each, while factors are made
_REPEATS_NODE, _REPEATS_HYPEREDGE = 8, 80  # the same, while repeated hyperedges are looked for
_Piece: TypeAlias = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]

#: By source, as long as it lives, and by self-loops and walks. Equal sources share theirs.
_KEPT: WeakKeyDictionary[Hypergraph, dict[tuple[bool, bool], Propagation]] = WeakKeyDictionary()


def filed_propagation(
    source: Hypergraph,
    *,
    self_loops: bool = True,
    walks: bool = False,
    memory: int,
    threads: int = 1,
    scratch: Path | None = None,
    entries: int | None = None,
) -> Propagation:
    """P of a source in a file, kept for the next time it is asked for, as long as the source lives.

    Args:
        source: A mapped hypergraph.
        self_loops: As for :meth:`Propagation.of`.
        walks: Too.
        memory: Bytes that making it may take; see :func:`filed_bytes`.
        threads: Shards that are multiplied at once.
        scratch: Folder for the files; the default is that of the system for temporary ones.
        entries: That are sorted, read and multiplied together; the default follows from ``memory``.
    """
    kept = _KEPT.setdefault(source, {})
    if (self_loops, walks) not in kept:
        maker = _Maker(source, Scratch(scratch), self_loops=self_loops, walks=walks)
        kept[self_loops, walks] = maker.made(entries or max(_FEWEST, min(_MOST, memory // (4 * _ENTRY))))
    found = kept[self_loops, walks]
    forth, back = found.to_hyperedges, found.to_nodes
    assert isinstance(forth, Filed) and isinstance(back, Filed)
    forth, back = (replace(one, threads=threads, together=entries or SHARD_ENTRIES) for one in (forth, back))
    return replace(found, to_hyperedges=forth, to_nodes=back)


def bytes_to_make(source: Hypergraph) -> int:
    """Bytes that making the factors of a source in files takes at least."""
    lists = _PER_NODE * source.num_nodes + _PER_HYPEREDGE * source.num_hyperedges
    repeats = _REPEATS_NODE * source.num_nodes + _REPEATS_HYPEREDGE * source.num_hyperedges
    return max(lists, repeats) + _FEWEST * _ENTRY


def bytes_to_use(source: Hypergraph, *, threads: int) -> int:
    """Bytes that factors in files take beside what they multiply."""
    return 16 * source.num_nodes + threads * SHARD_BYTES


class _Maker:
    """Reads the incidence a few times; every number is computed as :meth:`Propagation.of` does."""

    def __init__(self, source: Hypergraph, folder: Scratch, *, self_loops: bool, walks: bool) -> None:
        self.source, self.folder, self.walks = source, folder, walks
        sizes = hyperedge_sizes(source.incidence.hyperedge_ids, source.num_hyperedges)
        self.alone = sizes == 1
        self.shared = sizes > 1
        self.number = np.cumsum(self.shared) - 1  # of a hyperedge among the larger ones
        self.times: NDArray[np.float64] | None = None  # how often each of these is there
        if (like := self._repeats(sizes)) is not None:
            is_first = like == np.arange(len(like))
            self.shared[self.shared] = is_first
            self.number = np.cumsum(self.shared) - 1
            self.times = np.bincount(like, minlength=len(like))[is_first].astype(np.float64)
        self.lengths = sizes[self.shared]
        del sizes
        self.loop = np.zeros(source.num_nodes)
        inner = np.zeros(source.num_nodes)
        self.size = np.zeros(len(self.lengths))
        self.count = np.zeros(source.num_nodes, np.int64)
        for piece in self._pieces():
            node_ids, hyperedge_ids, weights = piece
            alone = self.alone[hyperedge_ids]
            np.add.at(self.loop, node_ids[alone], weights[alone])
            node_ids, numbers, weights = self._larger_of(piece)
            np.add.at(inner, node_ids, weights)
            np.add.at(self.count, node_ids, 1)
            np.add.at(self.size, numbers, weights)
        if self_loops:
            self.loop[self.loop == 0] = 1.0
        self.degree = self.loop + inner

    def made(self, together: int) -> Propagation:
        """Write both factors; so many entries are sorted at once."""
        active = self.count > 0
        active_ids = np.flatnonzero(active)
        self.position = np.cumsum(active) - 1
        shape = (len(self.lengths), len(active_ids))
        index_type = sp.get_index_dtype(maxval=max(*shape, 1))
        forth = Filed(self.folder, "to_hyperedges", shape, index_type)
        back = Filed(self.folder, "to_nodes", shape[::-1], index_type)
        self._write_forth(forth)
        self._write_back(back, together)
        diagonal = np.divide(self.loop, self.degree, out=np.zeros_like(self.loop), where=self.degree > 0)
        return Propagation(
            active_ids=active_ids,
            still_ids=np.flatnonzero(~active),
            to_hyperedges=forth,
            to_nodes=back,
            loop=diagonal.astype(np.float32),
        )

    def _repeats(self, sizes: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Which of the larger hyperedges each repeats, as :func:`without_repeats` finds them."""
        lengths = sizes[self.shared]
        sums, of_node = np.zeros(len(lengths), np.uint64), chances(self.source.num_nodes)
        for piece in self._pieces():
            node_ids, numbers, weights = self._larger_of(piece)
            if len(numbers):
                starts = np.flatnonzero(np.diff(numbers, prepend=-1))
                sums[numbers[starts]] += sums_of(of_node, node_ids, weights, starts)
        del of_node
        like = likely_repeats(lengths, sums)
        if like is None:
            return None
        starts = (np.cumsum(sizes) - sizes)[self.shared]
        away = starts[like] - starts  # from a membership to the one that it repeats
        nodes, _, given = self.source.incidence
        place = 0
        for node_ids, hyperedge_ids, _ in self._pieces():
            larger = np.flatnonzero(self.shared[hyperedge_ids])
            own = place + larger
            other = own + away[self.number[hyperedge_ids[larger]]]
            same = (nodes[own] == nodes[other]).all()
            if not (same and (given is None or (given[own] == given[other]).all())):
                return None
            place += len(node_ids)
        return like

    def _pieces(self) -> Iterator[_Piece]:
        """Memberships with their weights, a piece at a time."""
        node_ids, hyperedge_ids, weights = self.source.incidence
        for some in chunks(len(node_ids)):
            own = np.ones(some.stop - some.start) if weights is None else weights[some].astype(np.float64)
            yield np.asarray(node_ids[some]), np.asarray(hyperedge_ids[some]), own
            for array in (node_ids, hyperedge_ids, weights):
                release(array)

    def _larger(self) -> Iterator[_Piece]:
        """The same of larger hyperedges, by their numbers among these."""
        return map(self._larger_of, self._pieces())

    def _larger_of(self, piece: _Piece) -> _Piece:
        node_ids, hyperedge_ids, weights = piece
        larger = self.shared[hyperedge_ids]
        numbers, weights = self.number[hyperedge_ids[larger]], weights[larger]
        return node_ids[larger], numbers, weights if self.times is None else weights * self.times[numbers]

    def _write_forth(self, factor: Filed) -> None:
        _write_starts(factor, self.lengths)
        with factor.file("columns").open("wb") as columns, factor.file("values").open("wb") as values:
            for node_ids, hyperedge_ids, weights in self._larger():
                self.position[node_ids].astype(factor.index_type).tofile(columns)
                self._forth(node_ids, hyperedge_ids, weights).tofile(values)

    def _forth(self, node_ids: Any, hyperedge_ids: Any, weights: Any) -> NDArray[np.float32]:
        size = self.size[hyperedge_ids]
        divisor = size if self.walks else np.sqrt(self.degree[node_ids] * size)
        return np.asarray((weights / divisor).astype(np.float32))

    def _write_back(self, factor: Filed, together: int) -> None:
        """Entries by node, then hyperedge: those of as many nodes as fit are picked and sorted in turn."""
        _write_starts(factor, self.count[self.count > 0])
        ends = np.cumsum(self.count)
        begin, size = 0, len(ends)
        with factor.file("columns").open("wb") as columns, factor.file("values").open("wb") as values:
            while begin < size:
                before = int(ends[begin - 1]) if begin else 0
                end = max(begin + 1, int(np.searchsorted(ends, before + together, side="right")))
                hyperedges, own = self._by_node(begin, end, factor.index_type)
                hyperedges.tofile(columns)
                own.tofile(values)
                begin = end

    def _by_node(self, begin: int, end: int, index_type: Any) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """Hyperedges and values of the entries of nodes from ``begin`` to ``end``."""
        total = int(self.count[begin:end].sum())
        nodes, hyperedges = np.empty(total, index_type), np.empty(total, index_type)
        values, place = np.empty(total, np.float32), 0
        for node_ids, hyperedge_ids, weights in self._larger():
            own = np.flatnonzero((node_ids >= begin) & (node_ids < end))
            into = slice(place, place + len(own))
            nodes[into], hyperedges[into] = node_ids[own] - begin, hyperedge_ids[own]
            values[into] = (
                (weights[own] / self.degree[node_ids[own]]).astype(np.float32)
                if self.walks
                else self._forth(node_ids[own], hyperedge_ids[own], weights[own])
            )
            place = into.stop
        # Entries come in the order of hyperedges, and counting keeps it within a node.
        shape = (end - begin, len(self.lengths))
        by_node = sp.coo_array((values, (nodes, hyperedges)), shape=shape).tocsr()
        return by_node.indices.astype(index_type, copy=False), by_node.data


def _write_starts(factor: Filed, lengths: NDArray[np.int64]) -> None:
    with factor.file("starts").open("wb") as file:
        np.zeros(1, np.int64).tofile(file)
        np.cumsum(lengths).tofile(file)
