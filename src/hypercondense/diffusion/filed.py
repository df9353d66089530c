"""P of a mapped source whose factors are in files: made by streaming, with the bits they have in memory."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hypercondense.diffusion.operator import Propagation
from hypercondense.diffusion.shards import SHARD_BYTES, Filed, Scratch
from hypercondense.files.maps import chunks, release
from hypercondense.hypergraph import Hypergraph

_FEWEST, _MOST = 1 << 20, 1 << 24  # entries that are sorted together
_ENTRY = 64  # bytes that sorting takes for each
_PER_NODE, _PER_HYPEREDGE = 72, 32  # bytes of lists with an entry for each, while factors are made

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
) -> Propagation:
    """P of a source in a file, kept for the next time it is asked for, as long as the source lives.

    Args:
        source: A mapped hypergraph.
        self_loops: As for :meth:`Propagation.of`.
        walks: Too.
        memory: Bytes that making it may take; see :func:`filed_bytes`.
        threads: Shards that are multiplied at once.
        scratch: Folder for the files; the default is that of the system for temporary ones.
    """
    kept = _KEPT.setdefault(source, {})
    if (self_loops, walks) not in kept:
        maker = _Maker(source, Scratch(scratch), self_loops=self_loops, walks=walks)
        kept[self_loops, walks] = maker.made(max(_FEWEST, min(_MOST, memory // (4 * _ENTRY))))
    found = kept[self_loops, walks]
    forth, back = found.to_hyperedges, found.to_nodes
    assert isinstance(forth, Filed) and isinstance(back, Filed)
    return replace(
        found, to_hyperedges=replace(forth, threads=threads), to_nodes=replace(back, threads=threads)
    )


def bytes_to_make(source: Hypergraph) -> int:
    """Bytes that making the factors of a source in files takes at least."""
    lists = _PER_NODE * source.num_nodes + _PER_HYPEREDGE * source.num_hyperedges
    return lists + _FEWEST * _ENTRY


def bytes_to_use(source: Hypergraph, *, threads: int) -> int:
    """Bytes that factors in files take beside what they multiply."""
    return 16 * source.num_nodes + threads * SHARD_BYTES


class _Maker:
    """Reads the incidence a few times; every number is computed as :meth:`Propagation.of` does."""

    def __init__(self, source: Hypergraph, folder: Scratch, *, self_loops: bool, walks: bool) -> None:
        self.source, self.folder, self.walks = source, folder, walks
        sizes = np.zeros(source.num_hyperedges, np.int64)
        for _, hyperedge_ids, _ in self._pieces():
            sizes[hyperedge_ids[0] : hyperedge_ids[-1] + 1] += np.bincount(hyperedge_ids - hyperedge_ids[0])
        self.shared = sizes > 1
        self.lengths = sizes[self.shared]
        self.number = np.cumsum(self.shared) - 1  # of a hyperedge among the larger ones
        del sizes
        self.loop = np.zeros(source.num_nodes)
        inner = np.zeros(source.num_nodes)
        self.size = np.zeros(len(self.lengths))
        self.count = np.zeros(source.num_nodes, np.int64)
        for node_ids, hyperedge_ids, weights in self._pieces():
            larger = self.shared[hyperedge_ids]
            np.add.at(self.loop, node_ids[~larger], weights[~larger])
            np.add.at(inner, node_ids[larger], weights[larger])
            np.add.at(self.count, node_ids[larger], 1)
            np.add.at(self.size, self.number[hyperedge_ids[larger]], weights[larger])
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

    def _pieces(self) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]]:
        """Memberships with their weights, a piece at a time."""
        node_ids, hyperedge_ids, weights = self.source.incidence
        for some in chunks(len(node_ids)):
            own = np.ones(some.stop - some.start) if weights is None else weights[some].astype(np.float64)
            yield np.asarray(node_ids[some]), np.asarray(hyperedge_ids[some]), own
            for array in (node_ids, hyperedge_ids, weights):
                release(array)

    def _larger(self) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]]:
        """The same of larger hyperedges, by their numbers among these."""
        for node_ids, hyperedge_ids, weights in self._pieces():
            larger = self.shared[hyperedge_ids]
            yield node_ids[larger], self.number[hyperedge_ids[larger]], weights[larger]

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
