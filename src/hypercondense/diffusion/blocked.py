"""The diffusion of a source in column blocks that stay in cache, within a memory budget.

Columns diffuse independently. A block of them passes through all powers of P before the next is touched,
so the matrix is read and written once, whatever K is; blocks are shared out over threads.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch

from hypercondense.diffusion.elsewhere import diffuse_on
from hypercondense.diffusion.filed import bytes_to_make, filed_propagation
from hypercondense.diffusion.filters import Kernel, Polynomial
from hypercondense.diffusion.mapped import new_map, open_map
from hypercondense.diffusion.operator import Propagation
from hypercondense.diffusion.plan import CHUNK_BYTES, BlockPlan, fastest_plan, plan_within
from hypercondense.diffusion.shards import workers
from hypercondense.errors import CondensationError, ConfigError
from hypercondense.files.maps import release
from hypercondense.files.storage import replaced_file
from hypercondense.hypergraph import Dense, Features, Hypergraph, Ids
from hypercondense.runtime.engine import Engine
from hypercondense.runtime.memory import available_bytes, format_size, give_back
from hypercondense.runtime.progress import Progress, silent


def diffuse(
    source: Hypergraph,
    kernel: Kernel,
    *,
    self_loops: bool = True,
    walks: bool = False,
    memory: int | None = None,
    out: Path | None = None,
    node_ids: Ids | None = None,
    features: Dense | None = None,
    scratch: Path | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
    progress: Progress = silent,
) -> Dense:
    """A polynomial of P times all features of a source (Eq. 4), as float32 (nodes, features).

    The result has the same bits whatever the memory, the file and the number of threads.

    Args:
        source: Its features may be sparse, dense or memory-mapped.
        kernel: The polynomial, for example from :func:`heat_kernel`, or ``w_0 .. w_K`` of ``sum_k w_k P^k``.
        self_loops: Whether every node without a singleton hyperedge gets one (the convention).
        walks: Whether P is that of random walks, which takes means over neighbours, and not symmetric.
        memory: Bytes this may take. The factors of P of a mapped source are then in files, and a shard of
            them is part of it; those of a source in memory come beside it. Without ``out`` the result is
            part of it. The default is as much as is fast.
        out: A ``.npy`` file for the result, which is then a read-only memory map. It appears when whole.
        node_ids: Nodes whose rows are returned, in memory; all other rows then live no longer than their
            block of columns. The default is all nodes.
        features: What is diffused instead of the features of the source, with a row for every node.
        scratch: Folder for files that are needed meanwhile.
        threads: The default is the number torch is set to.
        engine: One of other machines does all blocks there; the default is this machine.
        progress: Told the number of finished columns.

    Raises:
        ConfigError: ``memory`` is less than what one column needs.
        CondensationError: The machine has not enough memory.

    >>> source = Hypergraph(
    ...     features=[[1.0], [3.0], [5.0]], labels=[0, 0, 0], incidence=([0, 1], [0, 0]), num_hyperedges=1
    ... )
    >>> diffuse(source, (0.0, 1.0)).ravel().tolist()
    [1.5, 2.5, 5.0]
    """
    polynomial = Polynomial.of(kernel)
    threads = torch.get_num_threads() if threads is None else threads
    if threads < 1:
        raise ValueError(f"threads must be at least 1, got {threads}")
    if node_ids is not None and out is not None:
        raise ValueError("node_ids cannot be combined with out; diffuse all nodes, then take the rows")
    if engine is not None and engine.remote:
        kind = {"self_loops": self_loops, "walks": walks}
        return diffuse_on(
            engine,
            source,
            polynomial,
            kind=kind,
            out=out,
            node_ids=node_ids,
            features=features,
            progress=progress,
        )
    given = source.features if features is None else features
    if memory is None:
        propagation = Propagation.of(source, self_loops=self_loops, walks=walks)
        plan = fastest_plan(source, propagation, polynomial, threads=threads)
    else:
        propagation = _within(
            memory, source, self_loops=self_loops, walks=walks, threads=threads, scratch=scratch
        )
        rows = 0 if node_ids is None else 4 * len(node_ids) * given.shape[1]
        plan = plan_within(
            memory - rows,
            source,
            propagation,
            polynomial,
            threads=threads,
            whole=out is None and node_ids is None,
            num_columns=given.shape[1],
        )
    if out is None and node_ids is None:
        _check_room(source, plan)
    work = _Work(given, propagation, polynomial, plan, progress)
    try:
        if node_ids is not None:
            return work.rows(node_ids) if memory is None else work.rows_in_panels(node_ids)
        return work.in_memory() if out is None else work.to_file(out, panels=memory is not None)
    except MemoryError as error:
        raise CondensationError(
            f"diffusing {source.num_nodes} x {source.num_features} features needs "
            f"{format_size(plan.num_bytes)} of memory, more than there is; give a memory, or a smaller one"
        ) from error


def _within(
    memory: int, source: Hypergraph, *, self_loops: bool, walks: bool, threads: int, scratch: Path | None
) -> Propagation:
    """P for a budget: of a mapped source with factors in files."""
    if not source.is_mapped:
        return Propagation.of(source, self_loops=self_loops, walks=walks)
    if (needed := bytes_to_make(source)) > memory:
        raise ConfigError(
            f"the factors of P of {source.num_nodes} nodes and {source.num_incidences} memberships need at "
            f"least {format_size(needed)} while they are made, and {format_size(max(0, memory))} are left; "
            "allow more with --memory"
        )
    made = filed_propagation(
        source, self_loops=self_loops, walks=walks, memory=memory, threads=threads, scratch=scratch
    )
    give_back()  # of what making it took
    return made


def _check_room(source: Hypergraph, plan: BlockPlan) -> None:
    """Refuse before it begins what the machine has no room for; the system would kill the process later."""
    room = available_bytes()
    if room is not None and plan.num_bytes > room:
        raise CondensationError(
            f"diffusing {source.num_nodes} x {source.num_features} features needs "
            f"{format_size(plan.num_bytes)} of memory, and {format_size(room)} are free; set --memory"
        )


def row_chunks(features: Features, chunk_bytes: int = CHUNK_BYTES) -> Iterator[slice]:
    """Consecutive rows of about ``chunk_bytes``, at least one row at a time."""
    num_rows, num_columns = features.shape
    if sp.issparse(features):
        ends = np.arange(0, features.nnz, max(1, chunk_bytes // 8))
        starts = np.unique(np.searchsorted(features.indptr, ends, side="right") - 1)
    else:
        starts = np.arange(0, num_rows, max(1, chunk_bytes // (4 * num_columns)))
    bounds = [0, *starts[starts > 0].tolist(), num_rows]
    yield from (slice(start, stop) for start, stop in pairwise(bounds))


@dataclass(frozen=True)
class _Work:
    features: Features
    propagation: Propagation
    polynomial: Polynomial
    plan: BlockPlan
    progress: Progress

    def in_memory(self) -> Dense:
        result = np.empty(self.features.shape, np.float32)
        self._at_once(result)
        return result

    def rows(self, node_ids: Ids) -> Dense:
        if self.polynomial.degree == 0:  # nothing moves
            kept = self.features[node_ids]
            result: Dense = kept.toarray() if sp.issparse(kept) else np.asarray(kept, np.float32)
            result *= np.float32(self.polynomial.at(1))
            return result
        by_column = self.features.tocsc() if sp.issparse(self.features) else self.features
        result = np.empty((len(node_ids), self.features.shape[1]), np.float32)
        wanted, ids = torch.from_numpy(result), torch.from_numpy(np.array(node_ids, np.int64))

        def diffuse_block(columns: slice) -> None:
            block = by_column[:, columns]
            block = block.toarray(order="C") if sp.issparse(block) else block
            diffused = torch.from_numpy(self.propagation.diffuse(block, self.polynomial))
            # By torch: rows of a block are many short pieces, over which numpy takes several times as long.
            wanted[:, columns] = diffused.index_select(0, ids)

        self._share_out(diffuse_block, self.features.shape[1])
        return result

    def rows_in_panels(self, node_ids: Ids) -> Dense:
        """Some rows, while no more than a panel of columns is in memory."""
        result = np.empty((len(node_ids), self.features.shape[1]), np.float32)

        def take(panel: Dense, columns: slice) -> None:
            result[:, columns] = panel.take(node_ids, axis=0)

        self._by_panel(take)
        return result

    def to_file(self, out: Path, *, panels: bool) -> Dense:
        with replaced_file(out) as draft:
            result = new_map(draft, self.features.shape)
            if panels:
                self._in_panels(result)
            else:
                self._at_once(result)
            result.flush()
        return open_map(out)

    def _at_once(self, result: Dense) -> None:
        if not self.plan.direct:
            self._read(result, 0)
        self._blocks(self.features if self.plan.direct else result, result, 0)

    def _in_panels(self, result: Dense) -> None:
        def write(panel: Dense, columns: slice) -> None:
            for rows in row_chunks(result):
                result[rows, columns] = panel[rows]
                release(result)

        self._by_panel(write)

    def _by_panel(self, use: Callable[[Dense, slice], None]) -> None:
        """Diffused columns in turns: a file is read and written much faster in long pieces of its rows.

        Whoever uses a panel must not keep it: there is room for one.
        """
        num_rows, num_columns = self.features.shape
        for start in range(0, num_columns, self.plan.panel_width):
            stop = min(start + self.plan.panel_width, num_columns)
            panel = np.empty((num_rows, stop - start), np.float32)
            self._read(panel, start)
            self._blocks(panel, panel, start)
            use(panel, slice(start, stop))
            del panel  # before the next one is made
            give_back()

    def _read(self, panel: Dense, start: int) -> None:
        """Fill ``panel`` with the columns of the features from ``start`` on."""
        stop = start + panel.shape[1]
        for rows in row_chunks(self.features):
            if sp.issparse(self.features):
                _csr_rows(self.features, rows)[:, start:stop].toarray(out=np.asarray(panel[rows]))
            else:
                panel[rows] = self.features[rows, start:stop]
                release(self.features)

    def _blocks(self, given: Dense, result: Dense, before: int) -> None:
        """Diffuse all columns of ``given`` into ``result``, which may be the same matrix."""

        def diffuse_block(columns: slice) -> None:
            self.propagation.diffuse(given[:, columns], self.polynomial, out=result[:, columns])

        self._share_out(diffuse_block, given.shape[1], before)

    def _share_out(self, work: Callable[[slice], None], num_columns: int, before: int = 0) -> None:
        """Call ``work`` with every block of columns, several at once; ``before`` are already done."""
        starts = range(0, num_columns, self.plan.width)
        blocks = [slice(start, min(start + self.plan.width, num_columns)) for start in starts]
        with workers(self.plan.threads) as share:
            for block, _ in zip(blocks, share(work, blocks), strict=True):
                self.progress("diffuse", before + block.stop, self.features.shape[1])


def _csr_rows(matrix: sp.csr_array, rows: slice) -> sp.csr_array:
    """Some rows of a CSR matrix without a copy; slicing would convert all its indices to one type."""
    first, last = matrix.indptr[rows.start], matrix.indptr[rows.stop]
    row_starts = matrix.indptr[rows.start : rows.stop + 1] - first
    parts = (matrix.data[first:last], matrix.indices[first:last], row_starts.astype(np.int32))
    return sp.csr_array(parts, shape=(rows.stop - rows.start, matrix.shape[1]))
