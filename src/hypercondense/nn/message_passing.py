"""The structure of a hypergraph as every model uses it: messages from nodes to hyperedges and back.

H is the incidence matrix (nodes, hyperedges) with its weights, ``dv`` the weighted degrees of nodes (row
sums), ``de`` those of hyperedges (column sums). A node in no hyperedge and a hyperedge without nodes receive
zeros, and gradients stay finite there.
"""

import weakref
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from hypercondense.diffusion import inverse_power
from hypercondense.hypergraph import Hypergraph
from hypercondense.nn.sparse import SparseMatrix

SOFTMAX_RANGE = 60.0  # exp(-60) is still a normal float32 number, and weighs nothing


@dataclass(frozen=True, eq=False)
class Structure:
    """Weighted incidence, and the operators made from it when a model first asks for them.

    Args:
        matrix: H as ``scipy.sparse.csr_array`` of shape (nodes, hyperedges).
        device: Where the operators live.
        dtype: Their number type; float64 for checking formulas.
        known_degree: ``dv`` of a structure that was cut out of a larger one, whose nodes had more hyperedges.
    """

    matrix: Any
    device: torch.device | str = "cpu"
    dtype: torch.dtype = torch.float32
    known_degree: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        hypergraph: Hypergraph,
        *,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
        self_loops: bool = True,
    ) -> "Structure":
        """The structure of a hypergraph, in which every node has a singleton hyperedge (``self_loops``).

        >>> triangle = Hypergraph(features=[[1.0]] * 3, labels=[0, 1, 1], incidence=([0, 1], [0, 0]),
        ...                       num_hyperedges=1)
        >>> Structure.of(triangle).num_hyperedges, Structure.of(triangle, self_loops=False).num_hyperedges
        (4, 1)
        """
        incidence, num_hyperedges = hypergraph.incidence, hypergraph.num_hyperedges
        if self_loops:
            incidence, num_hyperedges = hypergraph.with_self_loops
        return cls(incidence.matrix(hypergraph.num_nodes, num_hyperedges), device=device, dtype=dtype)

    @classmethod
    def from_dense(cls, incidence: Any, *, device: torch.device | str = "cpu") -> "Structure":
        """The structure of a dense matrix (nodes, hyperedges), taken as it is: self-loops are not added."""
        if isinstance(incidence, Tensor):
            incidence = incidence.detach().cpu().numpy()
        matrix = sp.csr_array(np.asarray(incidence))
        if not (np.isfinite(matrix.data) & (matrix.data > 0)).all():
            raise ValueError("incidence weights must be finite and positive, and 0 where there is none")
        dtype = torch.float64 if matrix.dtype == np.float64 else torch.float32
        return cls(matrix, device=device, dtype=dtype)

    def layer(self, following: int) -> "Structure":
        """Where a layer works that so many follow: everywhere. :class:`Receivers` have another answer."""
        return self

    @property
    def senders(self) -> "Structure":
        """What nodes send by: all of it. :class:`Receivers` have another answer."""
        return self

    def own(self, rows: Tensor) -> Tensor:
        """Of one row per node those of the nodes that receive: all of them."""
        return rows

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return int(self.matrix.shape[0])

    @property
    def num_hyperedges(self) -> int:
        """Number of hyperedges, self-loops included."""
        return int(self.matrix.shape[1])

    @cached_property
    def node_degree(self) -> NDArray[np.float64]:
        """``dv``: the sum of the weights of each node, shape (nodes,)."""
        if self.known_degree is not None:
            return self.known_degree
        return np.asarray(self.matrix.sum(1, dtype=np.float64)).reshape(-1)

    @cached_property
    def hyperedge_degree(self) -> NDArray[np.float64]:
        """``de``: the sum of the weights of each hyperedge, shape (hyperedges,)."""
        return np.asarray(self.matrix.sum(0, dtype=np.float64)).reshape(-1)

    @cached_property
    def incidence(self) -> SparseMatrix:
        """H: ``incidence @ x`` sums weighted hyperedge messages at nodes."""
        return self._sparse(self.matrix)

    @cached_property
    def hyperedge_mean(self) -> SparseMatrix:
        """``De^-1 H^T``: the weighted mean of the nodes of each hyperedge."""
        return self._sparse(_scaled(self.matrix.T, inverse_power(self.hyperedge_degree, 1.0)))

    @cached_property
    def node_mean(self) -> SparseMatrix:
        """``Dv^-1 H``: the weighted mean of the hyperedges of each node."""
        return self._sparse(_scaled(self.matrix, inverse_power(self.node_degree, 1.0)))

    @cached_property
    def symmetric(self) -> "LinearMap":
        """``Dv^-1/2 H De^-1 H^T Dv^-1/2``."""
        to_node = inverse_power(self.node_degree, 0.5)
        return self.propagation(to_node, inverse_power(self.hyperedge_degree, 1.0), to_node)

    @cached_property
    def row_normalized(self) -> "LinearMap":
        """``Dv^-1 H De^-1 H^T``: every node receives the mean of the means of its hyperedges."""
        ones = np.ones(self.num_nodes)
        return self.propagation(
            inverse_power(self.node_degree, 1.0), inverse_power(self.hyperedge_degree, 1.0), ones
        )

    @cached_property
    def degree_normalized(self) -> "LinearMap":
        """``Dv^-1/2 H Q^-1/2 De^-1 H^T`` with Q the mean degree of the nodes of each hyperedge."""
        mean = inverse_power(self.hyperedge_degree, 1.0)
        mean_degree = mean * (self.matrix.T @ self.node_degree)
        to_hyperedge = mean * inverse_power(mean_degree, 0.5)
        return self.propagation(inverse_power(self.node_degree, 0.5), to_hyperedge, np.ones(self.num_nodes))

    def propagation(
        self, out: NDArray[np.float64], hyperedge: NDArray[np.float64], into: NDArray[np.float64]
    ) -> "LinearMap":
        """``diag(out) H diag(hyperedge) H^T diag(into)`` without forming it.

        A hyperedge with one node only gives back what that node sent: all of them together are a diagonal.
        """
        sizes = np.bincount(self.matrix.indices, minlength=self.num_hyperedges)
        alone = self.matrix[:, np.flatnonzero(sizes == 1)]
        shared = self.matrix[:, np.flatnonzero(sizes > 1)]
        loops = alone.multiply(alone) @ hyperedge[sizes == 1]
        return LinearMap(
            to_hyperedges=self._sparse(_scaled(_scaled(shared, into).T, hyperedge[sizes > 1])),
            to_nodes=self._sparse(_scaled(shared, out)),
            diagonal=self._tensor(out * loops * into)[:, None],
        )

    @cached_property
    def incidence_weights(self) -> Tensor:
        """The weight of each membership, sorted by node then hyperedge, shape (incidences,)."""
        return self._tensor(self.matrix.data)

    @cached_property
    def node_of_incidence(self) -> SparseMatrix:
        """(incidences, nodes): ``@ x`` copies to each membership the row of its node; its transpose sums."""
        counts = np.diff(self.matrix.indptr)
        return self._selection(np.repeat(np.arange(self.num_nodes), counts), self.num_nodes)

    @cached_property
    def hyperedge_of_incidence(self) -> SparseMatrix:
        """(incidences, hyperedges): ``@ x`` copies to each membership the row of its hyperedge."""
        return self._selection(self.matrix.indices, self.num_hyperedges)

    @cached_property
    def incidence_mean(self) -> SparseMatrix:
        """(nodes, incidences): ``@ x`` is the weighted mean of the rows of the memberships of each node."""
        size = (self.num_nodes, self.matrix.nnz)
        matrix = sp.csr_array((self.matrix.data, np.arange(self.matrix.nnz), self.matrix.indptr), shape=size)
        return self._sparse(_scaled(matrix, inverse_power(self.node_degree, 1.0)))

    def softmax_over_hyperedges(self, scores: Tensor) -> Tensor:
        """Softmax of one score per membership over the hyperedges of each node, with weights as counts.

        ``w_ve exp(s_ve) / sum_f w_vf exp(s_vf)``, shapes (incidences, heads). A score further below the
        largest than ``SOFTMAX_RANGE`` counts as that far below: no share is 0, so none can be lost.
        """
        node_ids = self.node_of_incidence.by_row.columns.long()[:, None].expand_as(scores)
        lowest = scores.new_full((self.num_nodes, scores.shape[1]), -torch.inf)
        peak = lowest.scatter_reduce(0, node_ids, scores.detach(), "amax").gather(0, node_ids)
        shares = self.incidence_weights[:, None] * (scores - peak).clamp_min(-SOFTMAX_RANGE).exp()
        totals = self.node_of_incidence.transposed_times(shares)
        return shares / (self.node_of_incidence @ totals)

    def _selection(self, ids: NDArray[Any], size: int) -> SparseMatrix:
        ones = np.ones(len(ids), np.float32)
        matrix = sp.csr_array((ones, ids, np.arange(len(ids) + 1)), shape=(len(ids), size))
        return self._sparse(matrix)

    def _sparse(self, matrix: Any) -> SparseMatrix:
        return SparseMatrix.of(matrix, device=self.device, dtype=self.dtype)

    def _tensor(self, array: Any) -> Tensor:
        return torch.as_tensor(np.array(array), dtype=self.dtype, device=self.device)


class Receivers:
    """Some nodes of a structure, for a last layer that has to answer for these only.

    Whoever asks makes it once and keeps it: operators are cut out of the structure when a model first asks.
    ``before`` are the receivers of the layer before, if that too has to answer for some nodes only: for those
    of ``structure``, which is then a part that has been cut out.
    """

    def __init__(self, structure: Structure, node_ids: Tensor, *, before: "Receivers | None" = None) -> None:
        if node_ids.ndim != 1 or node_ids.dtype not in (torch.int32, torch.int64):
            raise ValueError(
                f"node_ids must be a list of whole numbers, got {tuple(node_ids.shape)} {node_ids.dtype}"
            )
        if len(node_ids) and not 0 <= int(node_ids.min()) <= int(node_ids.max()) < structure.num_nodes:
            raise ValueError(f"node_ids must be at least 0 and below {structure.num_nodes}")
        if before is not None and len(before.node_ids) != structure.num_nodes:
            raise ValueError(
                f"the layer before answers for {len(before.node_ids)} nodes, not for {structure.num_nodes}"
            )
        self.structure = structure
        self.before: Receivers | None = before
        self.node_ids: Tensor = node_ids.clone().to(structure.device)

    def layer(self, following: int) -> "Layer":
        """Where a layer works that so many follow: here if none does, else where those before receive."""
        if following == 0:
            return self
        return self.structure if self.before is None else self.before.layer(following - 1)

    def own(self, rows: Tensor) -> Tensor:
        """Of one row per node of the structure those of these nodes."""
        return rows[self.node_ids]

    @cached_property
    def symmetric(self) -> "LinearMap":
        """``Dv^-1/2 H De^-1 H^T Dv^-1/2``, the rows of these nodes."""
        return self.structure.symmetric.towards(self.node_ids)

    @cached_property
    def row_normalized(self) -> "LinearMap":
        """``Dv^-1 H De^-1 H^T``, the rows of these nodes."""
        return self.structure.row_normalized.towards(self.node_ids)

    @cached_property
    def degree_normalized(self) -> "LinearMap":
        """``Dv^-1/2 H Q^-1/2 De^-1 H^T``, the rows of these nodes."""
        return self.structure.degree_normalized.towards(self.node_ids)

    @cached_property
    def senders(self) -> Structure:
        """All nodes, and the hyperedges that these nodes are in."""
        return replace(
            self.structure, matrix=self.structure.matrix[:, self._hyperedge_ids], known_degree=None
        )

    @property
    def incidence(self) -> SparseMatrix:
        """The rows of H of these nodes, with the hyperedges of ``senders``."""
        return self._rows.incidence

    @property
    def node_mean(self) -> SparseMatrix:
        """The weighted mean of the hyperedges of each of these nodes."""
        return self._rows.node_mean

    @property
    def incidence_mean(self) -> SparseMatrix:
        """The weighted mean of rows of memberships, for each of these nodes."""
        return self._rows.incidence_mean

    @property
    def node_of_incidence(self) -> SparseMatrix:
        """Copies to each membership of these nodes the row of its node, of ``own`` rows."""
        return self._rows.node_of_incidence

    @property
    def hyperedge_of_incidence(self) -> SparseMatrix:
        """Copies to each membership of these nodes the row of its hyperedge."""
        return self._rows.hyperedge_of_incidence

    @cached_property
    def _cut(self) -> Any:
        return self.structure.matrix[self.node_ids.cpu().numpy()]

    @cached_property
    def _hyperedge_ids(self) -> NDArray[Any]:
        return np.unique(self._cut.indices)

    @cached_property
    def _rows(self) -> Structure:
        """Rows of H; complete, so means over the hyperedges of a node are right, and no others."""
        return replace(self.structure, matrix=self._cut[:, self._hyperedge_ids], known_degree=None)


#: Where a layer works: everywhere, or for some nodes.
Layer: TypeAlias = Structure | Receivers


@dataclass(frozen=True, eq=False)
class LinearMap:
    """A linear map of node rows through hyperedges: ``to_nodes @ to_hyperedges @ x + diagonal * x``."""

    to_hyperedges: SparseMatrix
    to_nodes: SparseMatrix
    diagonal: Tensor
    node_ids: Tensor | None = None  # nodes that receive, where these are not all

    def towards(self, node_ids: Tensor) -> "LinearMap":
        """The rows of some nodes, by those hyperedges only that they are in."""
        to_nodes = self.to_nodes.to_scipy()[node_ids.cpu().numpy()]
        used = np.unique(to_nodes.indices)
        device, dtype = self.diagonal.device, self.diagonal.dtype
        return LinearMap(
            to_hyperedges=SparseMatrix.of(self.to_hyperedges.to_scipy()[used], device=device, dtype=dtype),
            to_nodes=SparseMatrix.of(to_nodes[:, used], device=device, dtype=dtype),
            diagonal=self.diagonal[node_ids],
            node_ids=node_ids,
        )

    def of_constant(self, x: Tensor) -> Tensor:
        """Apply it to rows that stay as they are, such as features of a source; kept for the next time."""
        kept: tuple[Any, int, Tensor] | None = self.__dict__.get("_kept")
        if kept is None or kept[0]() is not x or kept[1] != x._version:
            kept = weakref.ref(x), x._version, self(x.detach())
            self.__dict__["_kept"] = kept
        return kept[2]

    def __getstate__(self) -> dict[str, Any]:
        """Without what is kept: another process makes its own."""
        return {name: value for name, value in self.__dict__.items() if name != "_kept"}

    def __call__(self, x: Tensor) -> Tensor:
        """Apply it to one row per node; differentiable, and nothing per hyperedge is kept for backward."""
        result: Tensor = _Propagate.apply(x, self)  # type: ignore[no-untyped-call]
        return result


class _Propagate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, way: LinearMap) -> Tensor:
        ctx.way = way
        received = way.to_nodes.by_row.times(way.to_hyperedges.by_row.times(x))
        return received.addcmul_(way.diagonal, x if way.node_ids is None else x[way.node_ids])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        way: LinearMap = ctx.way
        sent = way.to_hyperedges.by_column.times(way.to_nodes.by_column.times(gradient))
        kept = way.diagonal * gradient
        return sent.add_(kept) if way.node_ids is None else sent.index_add_(0, way.node_ids, kept), None


def _scaled(matrix: Any, rows: NDArray[np.float64]) -> Any:
    """``diag(rows) matrix`` in float64."""
    return sp.diags_array(rows) @ sp.csr_array(matrix).astype(np.float64)
