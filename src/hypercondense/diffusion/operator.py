"""Apply polynomials of ``P = Dv^-1/2 H De^-1 H^T Dv^-1/2`` of a source without forming P (Eq. 2)."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from hypercondense.diffusion.filters import Kernel, Polynomial
from hypercondense.diffusion.repeats import without_repeats
from hypercondense.diffusion.shards import Factor, Held
from hypercondense.hypergraph import Dense, Hypergraph, Ids


@dataclass(frozen=True, eq=False, kw_only=True)
class Propagation:
    """P of a source as two sparse factors and a diagonal: ``P x = loop * x + to_nodes (to_hyperedges x)``.

    Or that of random walks, ``Dv^-1 H De^-1 H^T = Dv^-1/2 P Dv^1/2``, which takes means over neighbours.

    A singleton hyperedge only adds to the diagonal of P, so self-loops are a vector and cost no product.
    A node in no larger hyperedge has nothing else: the factors leave it out and cover ``active_ids`` only.

    Attributes:
        active_ids: Source node ids in some hyperedge of two or more members, increasing.
        still_ids: The other nodes, increasing.
        to_hyperedges: By rows (larger hyperedges, active nodes), ``De^-1/2 H^T Dv^-1/2``; of walks
            ``De^-1 H^T``.
        to_nodes: By rows (active nodes, larger hyperedges), the transpose; of walks ``Dv^-1 H``.
        loop: Diagonal of P that comes from singleton hyperedges, one entry for every node.
    """

    active_ids: Ids
    still_ids: Ids
    to_hyperedges: Factor
    to_nodes: Factor
    loop: Dense

    @classmethod
    def of(cls, hypergraph: Hypergraph, *, self_loops: bool = True, walks: bool = False) -> "Propagation":
        """P of a hypergraph; by the convention every node without a singleton hyperedge gets one of weight 1.

        >>> hypergraph = Hypergraph(
        ...     features=[[1.0], [3.0], [5.0]], labels=[0, 0, 0], incidence=([0, 1], [0, 0]), num_hyperedges=1
        ... )
        >>> Propagation.of(hypergraph).apply(hypergraph.features).ravel().tolist()
        [1.5, 2.5, 5.0]
        """
        node_ids, hyperedge_ids, weights = hypergraph.incidence
        sizes = np.bincount(hyperedge_ids, minlength=hypergraph.num_hyperedges)
        alone = sizes[hyperedge_ids] == 1
        loop = np.bincount(
            node_ids[alone], None if weights is None else weights[alone], minlength=hypergraph.num_nodes
        ).astype(np.float64)
        if self_loops:
            loop[loop == 0] = 1.0
        larger_ids = np.cumsum(sizes > 1)[hyperedge_ids[~alone]] - 1
        values = np.ones(len(larger_ids)) if weights is None else weights[~alone].astype(np.float64)
        return _normalized(loop, *without_repeats(node_ids[~alone], larger_ids, values), walks=walks)

    def __getstate__(self) -> dict[str, Any]:
        """Without the memory of threads: it is made again where this is sent."""
        return {name: value for name, value in vars(self).items() if name != "_memory"}

    @property
    def num_nodes(self) -> int:
        """Number of source nodes."""
        return len(self.loop)

    def apply(self, x: Dense) -> Dense:
        """``P x`` for a dense matrix with a row for every node."""
        return self.diffuse(x, (0.0, 1.0))

    def diffuse(self, x: Dense, kernel: Kernel, out: Dense | None = None) -> Dense:
        """A polynomial of P times a dense matrix with a row for every node; ``out`` may be ``x`` itself."""
        out = np.empty(x.shape, np.float32) if out is None else out
        self.diffuse_all(x, [kernel], [out])
        return out

    def diffuse_all(self, x: Dense, kernels: Sequence[Kernel], outs: Sequence[Dense]) -> None:
        """Several polynomials of P from one sweep, each with the bits it has alone; powers are shared."""
        polynomials = [Polynomial.of(kernel) for kernel in kernels]
        given = _tensor_over(x)
        kept = self._rows(given, self.still_ids)  # before anything is written: an out may be x
        looped = self.loop[self.still_ids] > 0
        sums = self._sums(self._rows(given, self.active_ids), polynomials)
        for polynomial, out, total in zip(polynomials, outs, sums, strict=True):
            # A node outside the products has nothing but loops: P keeps it, or makes it 0 if it has none.
            values = np.where(looped, np.float32(polynomial.at(1)), np.float32(polynomial.at(0)))
            result = _tensor_over(out)
            _write_rows(result, self.still_ids, kept * torch.from_numpy(values)[:, None])
            _write_rows(result, self.active_ids, total)

    def _sums(self, x: Tensor, polynomials: Sequence[Polynomial]) -> list[Tensor]:
        """The polynomials on active nodes; ``x`` is overwritten."""
        totals = [
            torch.mul(x, float(polynomial.weights[0]), out=self._buffer(f"total {number}", *x.shape))
            for number, polynomial in enumerate(polynomials)
        ]
        for chebyshev, terms in ((True, self._chebyshev), (False, self._powers)):
            here = [
                (polynomial.weights, total)
                for polynomial, total in zip(polynomials, totals, strict=True)
                if polynomial.chebyshev == chebyshev
            ]
            degree = max((len(weights) - 1 for weights, _ in here), default=0)
            for power, term in enumerate(terms(x, degree) if degree else (), start=1):
                for weights, total in here:
                    if power < len(weights) and weights[power] != 0:
                        total.add_(term, alpha=weights[power])
        return totals

    def _powers(self, x: Tensor, degree: int) -> Iterator[Tensor]:
        """``P x .. P^degree x`` in turn, in the memory of ``x``."""
        loop = self._active_loop
        for _ in range(degree):
            product = self._product(x)
            x.mul_(loop).add_(product)
            del product  # before there is another one
            yield x

    def _chebyshev(self, x: Tensor, degree: int) -> Iterator[Tensor]:
        """``T_1 x .. T_degree x`` of ``2 P - 1`` in turn: ``T_(k+1) = (4 P - 2) T_k - T_(k-1)``."""
        loop = self._active_loop
        before = self._buffer("before", *x.shape).zero_()
        now = self._buffer("now", *x.shape).copy_(x)
        for step in range(degree):
            factor = 4.0 if step else 2.0
            product = self._product(now)
            before.neg_().addcmul_(now, factor * loop - factor / 2).add_(product, alpha=factor)
            del product
            before, now = now, before
            yield now

    def _rows(self, given: Tensor, ids: Ids) -> Tensor:
        """A copy of some rows.

        By torch: rows of a block are many short pieces, over which numpy takes several times as long.
        """
        rows = self._buffer("active" if ids is self.active_ids else "still", len(ids), given.shape[1])
        if len(ids) == len(given):  # all of them, increasing
            rows.copy_(given)
        elif len(ids):
            torch.index_select(given.float(), 0, torch.from_numpy(ids), out=rows)
        return rows

    def _buffer(self, name: str, num_rows: int, num_columns: int) -> Tensor:
        """Memory of this thread for one block after the other: new memory is slow to touch the first time.

        It is numpy's: of that type and on the processor, whatever torch's defaults are.
        """
        kept: dict[str, Tensor] = self._memory.__dict__
        if name not in kept or kept[name].shape != (num_rows, num_columns):
            kept.pop(name, None)  # before there is a second one
            kept[name] = torch.from_numpy(np.zeros((num_rows, num_columns), np.float32))
        return kept[name]

    @cached_property
    def _memory(self) -> threading.local:
        return threading.local()

    @property
    def _active_loop(self) -> Tensor:
        return torch.from_numpy(self.loop[self.active_ids])[:, None]

    def _product(self, x: Tensor) -> Tensor:
        return self.to_nodes.times(self.to_hyperedges.times(x))


def _tensor_over(matrix: NDArray[Any]) -> Tensor:
    """The same memory for torch, which does not know read-only matrices: these must not be written to."""
    if not matrix.flags.writeable:
        address = matrix.__array_interface__["data"][0]
        told = {**matrix.__array_interface__, "data": (address, False)}
        matrix = np.asarray(type("Told", (), {"__array_interface__": told, "owner": matrix})())
    return torch.from_numpy(matrix)


def _write_rows(result: Tensor, ids: Ids, rows: Tensor) -> None:
    if len(ids) == len(result):
        result.copy_(rows)
    elif len(ids):
        result.index_copy_(0, torch.from_numpy(ids), rows)


def _normalized(
    loop: NDArray[np.float64],
    node_ids: Ids,
    hyperedge_ids: Ids,
    weights: NDArray[np.float64],
    *,
    walks: bool,
) -> Propagation:
    """Fold the degrees into the incidence of the larger hyperedges and into the loops."""
    num_hyperedges = int(hyperedge_ids[-1]) + 1 if len(hyperedge_ids) else 0  # they are sorted
    degree = loop + np.bincount(node_ids, weights, minlength=len(loop))
    size = np.bincount(hyperedge_ids, weights, minlength=num_hyperedges)
    divisor = size[hyperedge_ids] if walks else np.sqrt(degree[node_ids] * size[hyperedge_ids])
    values = (weights / divisor).astype(np.float32)
    active = np.bincount(node_ids, minlength=len(loop)) > 0
    position = np.cumsum(active) - 1
    # Index types as small as possible: reading the indices is a good part of the time of a product.
    index_type = sp.get_index_dtype(maxval=max(len(values), len(loop)))
    starts = np.append(0, np.cumsum(np.bincount(hyperedge_ids, minlength=num_hyperedges)))
    parts = (values, position[node_ids].astype(index_type), starts.astype(index_type))
    to_hyperedges = sp.csr_array(parts, shape=(num_hyperedges, np.count_nonzero(active)))
    diagonal = np.divide(loop, degree, out=np.zeros_like(loop), where=degree > 0).astype(np.float32)
    to_nodes = to_hyperedges.T.tocsr()
    if walks:
        by_node = np.lexsort((hyperedge_ids, node_ids))  # the order of the transpose
        to_nodes.data = (weights / degree[node_ids])[by_node].astype(np.float32)
    return Propagation(
        active_ids=np.flatnonzero(active),
        still_ids=np.flatnonzero(~active),
        to_hyperedges=Held(to_hyperedges),
        to_nodes=Held(to_nodes),
        loop=diagonal,
    )
