"""Apply ``P = Dv^-1/2 H De^-1 H^T Dv^-1/2`` to a matrix without forming P (Eq. 2).

Twice: differentiable, for the small dense incidence of a condensed hypergraph, and fast, for the source.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from hypercondense.diffusion.filters import checked_coefficients
from hypercondense.hypergraph import Dense, Hypergraph, Ids

_SPECIAL, _SPECIAL_UP_TO = 4, 24  # multiples of one up to the other are widths with code of their own


Degrees = TypeVar("Degrees", Tensor, NDArray[np.float64])


def inverse_power(degree: Degrees, power: float) -> Degrees:
    """``degree ** -power``, and 0 where the degree is 0: an isolated node receives nothing.

    >>> inverse_power(torch.tensor([4.0, 0.0]), 0.5)
    tensor([0.5000, 0.0000])
    """
    positive = degree > 0
    # 1 in place of 0 keeps the gradient finite: autograd also visits what is then multiplied by 0.
    return positive * (degree + ~positive) ** -power


def _or_one(degree: Tensor) -> Tensor:
    """``degree``, and 1 where it is 0: what is divided by it is 0 anyway."""
    return torch.where(degree > 0, degree, 1.0)


def propagate(x: Tensor, incidence: Tensor) -> Tensor:
    """Apply P to ``x`` (nodes, features), with ``incidence`` dense and weighted (nodes, hyperedges) (Eq. 2).

    Degrees are sums of weights. Gradients reach both arguments and are finite for empty hyperedges and
    isolated nodes.

    >>> propagate(torch.tensor([[1.0], [3.0]]), torch.ones(2, 1))  # one hyperedge over all: the mean
    tensor([[2.],
            [2.]])
    """
    return diffuse_dense(x, incidence, (0.0, 1.0))


def diffuse_dense(
    x: Tensor, incidence: Tensor, coefficients: Sequence[float], *, self_loops: bool = False
) -> Tensor:
    """``sum_k w_k P^k x`` for a small dense incidence (Eq. 4 and 10).

    Args:
        x: Node features (nodes, features).
        incidence: Weights at least 0 (nodes, hyperedges); gradients flow to both.
        coefficients: ``w_0 .. w_K``, for example from :func:`heat_kernel`.
        self_loops: Whether every node also has a hyperedge of its own, of weight 1; it is then a diagonal.
    """
    *lower, highest = checked_coefficients(coefficients)
    degree = incidence.sum(1, keepdim=True)
    scale = (degree + 1).rsqrt() if self_loops else inverse_power(degree, 0.5)
    shares = incidence / _or_one(incidence.sum(0))
    if len(x) < x.shape[1]:  # fewer nodes than features: the small square matrix is cheaper to raise
        loops = float(self_loops) * torch.eye(len(x), dtype=x.dtype, device=x.device)
        square = scale * torch.addmm(loops, shares, incidence.T) * scale.T
        return matrix_polynomial(square, coefficients) @ x
    to_node, to_hyperedge = scale * incidence, (scale * shares).T
    loop = scale.square() if self_loops else 0.0
    result = highest * x
    for coefficient in reversed(lower):
        result = coefficient * x + loop * result + to_node @ (to_hyperedge @ result)
    return result


def matrix_polynomial(square: Tensor, coefficients: Sequence[float]) -> Tensor:
    """``sum_k w_k A^k`` of a square matrix A with about ``2 sqrt(K)`` products, not K (Paterson, Stockmeyer).

    With ``B = A^s`` it is a polynomial in B whose coefficients are polynomials in A of degree below ``s``.

    >>> matrix_polynomial(torch.tensor([[2.0]]), (1.0, 1.0, 1.0, 1.0, 1.0))
    tensor([[31.]])
    """
    size = math.isqrt(len(coefficients))  # s
    powers = [torch.eye(len(square), dtype=square.dtype, device=square.device), square]
    while len(powers) <= size:
        powers.append(powers[-1] @ square)
    padded = [*coefficients, *[0.0] * (-len(coefficients) % size)]
    weights = torch.tensor(padded, dtype=square.dtype, device=square.device).reshape(-1, size)
    blocks = weights @ torch.stack(powers[:size]).flatten(1)  # all of them in one small product
    result: Tensor
    *lower, result = blocks.view(-1, *square.shape).unbind()
    for block in reversed(lower):
        result = torch.addmm(block, powers[size], result)
    return result


@dataclass(frozen=True, eq=False, kw_only=True)
class Propagation:
    """P of a source as two sparse factors and a diagonal: ``P x = loop * x + to_nodes (to_hyperedges x)``.

    Or that of random walks, ``Dv^-1 H De^-1 H^T = Dv^-1/2 P Dv^1/2``, which takes means over neighbours.

    A singleton hyperedge only adds to the diagonal of P, so self-loops are a vector and cost no product.
    A node in no larger hyperedge has nothing else: the factors leave it out and cover ``active_ids`` only.

    Attributes:
        active_ids: Source node ids in some hyperedge of two or more members, increasing.
        still_ids: The other nodes, increasing.
        to_hyperedges: CSR (larger hyperedges, active nodes), ``De^-1/2 H^T Dv^-1/2``; of walks ``De^-1 H^T``.
        to_nodes: CSR (active nodes, larger hyperedges), the transpose; of walks ``Dv^-1 H``.
        loop: Diagonal of P that comes from singleton hyperedges, one entry for every node.
        tensors: ``to_hyperedges`` and ``to_nodes`` as torch CSR tensors, which share their memory.
    """

    active_ids: Ids
    still_ids: Ids
    to_hyperedges: Any
    to_nodes: Any
    loop: Dense
    tensors: tuple[Tensor, Tensor]

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
        return _normalized(loop, node_ids[~alone], larger_ids, values, walks=walks)

    @property
    def num_nodes(self) -> int:
        """Number of source nodes."""
        return len(self.loop)

    def apply(self, x: Dense) -> Dense:
        """``P x`` for a dense matrix with a row for every node."""
        return self.diffuse(x, (0.0, 1.0))

    def diffuse(self, x: Dense, coefficients: Sequence[float], out: Dense | None = None) -> Dense:
        """``sum_k w_k P^k x`` for a dense matrix with a row for every node; ``out`` may be ``x`` itself."""
        coefficients = checked_coefficients(coefficients)
        out = np.empty(x.shape, np.float32) if out is None else out
        # A node outside the products has nothing but loops: P keeps it, or makes it 0 if it has none.
        kept, lost = np.float32(sum(coefficients)), np.float32(coefficients[0])
        out[self.still_ids] = x[self.still_ids] * np.where(self.loop[self.still_ids] > 0, kept, lost)[:, None]
        if len(self.still_ids) == 0:
            out[:] = self._horner(np.require(x, np.float32, ["C", "W"]), coefficients)
        elif len(self.active_ids):
            out[self.active_ids] = self._horner(x[self.active_ids], coefficients)
        return out

    def _horner(self, x: Dense, coefficients: Sequence[float]) -> Dense:
        """Horner's rule on the active nodes: ``result = w_k x + P result``, from the highest power down."""
        to_hyperedges, to_nodes = self.tensors
        *lower, highest = coefficients
        num_columns = x.shape[1]
        if num_columns < (width := product_width(num_columns)):
            x = np.pad(x, ((0, 0), (0, width - num_columns)))
        result: Dense = x * np.float32(highest)
        # numpy owns the buffers, torch multiplies in place: its CSR product is the fastest at hand.
        at_nodes = torch.from_numpy(result)
        at_hyperedges = torch.from_numpy(np.zeros((to_nodes.shape[1], x.shape[1]), np.float32))
        loop = torch.from_numpy(self.loop[self.active_ids])[:, None]
        for coefficient in reversed(lower):
            torch.addmm(at_hyperedges, to_hyperedges, at_nodes, beta=0, out=at_hyperedges)
            at_nodes.mul_(loop).add_(torch.from_numpy(x), alpha=coefficient)
            torch.addmm(at_nodes, to_nodes, at_hyperedges, out=at_nodes)
        return result[:, :num_columns]


def product_width(num_columns: int) -> int:
    """Columns that so many are multiplied as: on some processors a few widths are added up differently.

    There the library behind torch has other code for 4, 8, .. 24 columns, and bits would depend on how a
    matrix is cut into blocks. A column more avoids it.

    >>> product_width(7), product_width(8), product_width(64)
    (7, 9, 64)
    """
    return num_columns + (num_columns <= _SPECIAL_UP_TO and num_columns % _SPECIAL == 0)


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
        to_hyperedges=to_hyperedges,
        to_nodes=to_nodes,
        loop=diagonal,
        tensors=(_torch_csr(to_hyperedges), _torch_csr(to_nodes)),
    )


def _torch_csr(matrix: Any) -> Tensor:
    starts, indices, values = (
        torch.from_numpy(part) for part in (matrix.indptr, matrix.indices, matrix.data)
    )
    with warnings.catch_warnings():
        # torch calls its CSR layout beta; only its construction and addmm are used, both tested here.
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(starts, indices, values, matrix.shape, check_invariants=True)
