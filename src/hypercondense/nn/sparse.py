"""Constant sparse matrices that multiply dense ones fast, forwards and backwards."""

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from hypercondense.diffusion.compressed import Compressed
from hypercondense.hypergraph import Hypergraph

_DENSE_SHARE = 0.25  # with more non-zeros than this a dense product is faster


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A constant matrix stored by rows and by columns.

    ``matrix @ dense`` is differentiable in ``dense``: its gradient is the product with the transpose,
    which is stored too, so nothing is scattered and equal input gives equal bits.
    """

    shape: tuple[int, int]
    by_row: Compressed
    by_column: Compressed
    column_order: Tensor  # by_column.values == by_row.values[column_order]

    @classmethod
    def of(
        cls, matrix: Any, *, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
    ) -> "SparseMatrix":
        """Copy a scipy sparse matrix."""
        rows = sp.csr_array(matrix)
        numbered = sp.csr_array((np.arange(rows.nnz), rows.indices, rows.indptr), shape=rows.shape)
        columns = numbered.tocsc()
        order = np.asarray(columns.data, dtype=np.int64)
        values = torch.as_tensor(np.array(rows.data), dtype=dtype, device=device)
        order_there = torch.as_tensor(order, device=device)
        return cls(
            shape=(rows.shape[0], rows.shape[1]),
            by_row=Compressed(_ids(rows.indptr, device), _ids(rows.indices, device), values),
            by_column=Compressed(
                _ids(columns.indptr, device), _ids(columns.indices, device), values[order_there]
            ),
            column_order=order_there,
        )

    def __matmul__(self, dense: Tensor) -> Tensor:
        product: Tensor = _Product.apply(dense, self.by_row, self.by_column)  # type: ignore[no-untyped-call]
        return product

    def transposed_times(self, dense: Tensor) -> Tensor:
        """The transpose of this matrix times ``dense``, differentiable too."""
        product: Tensor = _Product.apply(dense, self.by_column, self.by_row)  # type: ignore[no-untyped-call]
        return product

    def to_scipy(self) -> Any:
        """The same as ``scipy.sparse.csr_array``."""
        starts, columns, values = (part.cpu().numpy() for part in self.by_row)
        return sp.csr_array((values, columns, starts), shape=self.shape)

    def dropout(self, share: float) -> "SparseMatrix":
        """The same matrix with a random share of its entries 0 and the rest scaled up to make up for it."""
        values = functional.dropout(self.by_row.values, share)
        return replace(
            self,
            by_row=self.by_row._replace(values=values),
            by_column=self.by_column._replace(values=values[self.column_order]),
        )


Input: TypeAlias = Tensor | SparseMatrix


def input_features(
    hypergraph: Hypergraph, *, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
) -> Input:
    """The features as the first layer of a model wants them: sparse if few entries are non-zero."""
    features = hypergraph.features
    if hypergraph.is_sparse and features.nnz <= _DENSE_SHARE * features.shape[0] * features.shape[1]:
        return SparseMatrix.of(features, device=device, dtype=dtype)
    dense = np.array(hypergraph.dense_features())  # torch wants an array it could write to
    return torch.as_tensor(dense, dtype=dtype, device=device)


def drop(features: Input, share: float, *, training: bool) -> Input:
    """Dropout on dense or sparse features; entries that are 0 stay 0 either way."""
    if isinstance(features, Tensor):
        return functional.dropout(features, share, training)
    return features.dropout(share) if training and share > 0 else features


def _ids(array: Any, device: torch.device | str) -> Tensor:
    fits = len(array) == 0 or array.max() < 2**31
    return torch.as_tensor(np.array(array, dtype=np.int32 if fits else np.int64), device=device)


class _Product(torch.autograd.Function):
    """A product whose backward pass is the product with the transpose."""

    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: Compressed, transpose: Compressed) -> Tensor:
        ctx.transpose = transpose
        return matrix.times(dense)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return ctx.transpose.times(gradient), None, None
