"""For users of PyTorch Geometric: condensing as a transform, results as a data set, layers that see weights.

Nothing else imports this module, because it needs PyG: ``pip install 'hypercondense[pyg]'``.
"""

from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from hypercondense.catalogue import condense
from hypercondense.condensation import Condensation, load_condensed
from hypercondense.errors import ConversionError
from hypercondense.hypergraph import UNKNOWN, split
from hypercondense.interchange import from_pyg, to_pyg
from hypercondense.interchange.problems import need
from hypercondense.interchange.tensors import SELF_LOOPS

_transforms: Any = need("torch_geometric.transforms", "pyg")
_data: Any = need("torch_geometric.data", "pyg")

__all__ = ["Condense", "CondensedDataset", "convolve", "prepare"]


class Condense(_transforms.BaseTransform):  # type: ignore[misc]
    """A transform that gives a condensed hypergraph for a ``Data`` or ``HyperGraphData``.

    What comes in is not changed. What comes out is of the same kind and on the same device: ``x``, ``y``,
    perhaps ``y_soft``, structure with self-loops, weights, and a ``train_mask`` of all its nodes. Nodes for
    training and for choosing are told by the masks of what comes in; labels of others are not read. It is
    heavy work: as ``pre_transform`` of a data set it is done once.

    Args:
        ratio: Condensed nodes / all nodes.
        column: Which column of masks is meant, where they have several.
        options: All other arguments of :func:`hypercondense.condense`, such as ``method`` and ``seed``.

    >>> from torch_geometric.transforms import Compose, RandomNodeSplit
    >>> from hypercondense.data import synthetic
    >>> data = RandomNodeSplit(num_val=50, num_test=50)(synthetic(num_nodes=200, seed=0).to_pyg())
    >>> small = Condense(ratio=0.05, method="ahgcdd-x")(data)
    >>> small.num_nodes, int(small.train_mask.sum()), data.num_nodes
    (10, 10, 200)
    """

    def __init__(self, *, ratio: float | None = None, column: int | None = None, **options: Any) -> None:
        self.column = column
        self.options = {**({} if ratio is None else {"ratio": ratio}), **options}

    def forward(self, data: Any) -> Any:
        """The condensed hypergraph."""
        if data.to_dict().get("train_mask") is None:
            raise ConversionError(
                "PyG data: it has no 'train_mask', so that the labels of all nodes would be read, those of "
                "test nodes too; make masks first, as torch_geometric.transforms.RandomNodeSplit does"
            )
        source = from_pyg(data, split=self.column)
        result = condense(source, split(source), **self.options)
        kind: Any = "HyperGraphData" if type(data).__name__ == "HyperGraphData" else "Data"
        return _for_training(result, kind).to(data.x.device)

    def __repr__(self) -> str:
        options = {**self.options, **({} if self.column is None else {"column": self.column})}
        return f"Condense({', '.join(f'{name}={value!r}' for name, value in options.items())})"


class CondensedDataset(_data.InMemoryDataset):  # type: ignore[misc]
    """What :meth:`Condensation.save` or ``hypercondense condense`` wrote, as a data set of one ``Data``.

    PyG keeps what it has processed as a pickle, which goes stale and can run code. A condensed folder is
    small and read in milliseconds, so nothing is written.

    Args:
        folder: The condensed folder.
        transform: Applied whenever the data are asked for.
        pre_transform: Applied once, now.
        kind: ``"Data"`` or ``"HyperGraphData"``.
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        transform: Callable[[Any], Any] | None = None,
        pre_transform: Callable[[Any], Any] | None = None,
        kind: Literal["Data", "HyperGraphData"] = "Data",
    ) -> None:
        super().__init__(None, transform, pre_transform)
        self.condensation: Condensation = load_condensed(folder)
        data = _for_training(self.condensation, kind)
        self.data, self.slices = self.collate([data if pre_transform is None else pre_transform(data)])

    @property
    def num_classes(self) -> int:
        """That of the source: PyG would count those that have a condensed node."""
        return self.condensation.hypergraph.num_classes


def _for_training(result: Condensation, kind: Literal["Data", "HyperGraphData"]) -> Any:
    data = to_pyg(result.hypergraph, kind=kind, scale=result.scale)
    data.train_mask = data.y != UNKNOWN
    return data


def prepare(data: Any, like: Any) -> Any:
    """A copy of ``data`` as networks must see it that were trained on ``like``, a condensed ``Data``.

    Every node without a singleton hyperedge gets one of weight 1, weights are those of memberships, and ``x``
    is scaled if that of ``like`` is. What was prepared before is not prepared again.
    """
    made, store = copy(data), data.to_dict()
    key = "hyperedge_index" if store.get("hyperedge_index") is not None else "edge_index"
    if store.get(key) is None:
        raise ValueError("data must have a hyperedge_index, with nodes above hyperedges")
    if store.get(SELF_LOOPS) is None:
        index, number = store[key], _num_hyperedges(store, store[key])
        sizes = torch.bincount(index[1], minlength=number)
        alone = torch.ones(data.x.shape[0], dtype=torch.bool, device=index.device)
        alone[index[0][sizes[index[1]] == 1]] = False
        nodes = alone.nonzero().flatten()
        loops = torch.stack([nodes, torch.arange(number, number + len(nodes), device=index.device)])
        ones = torch.ones(index.shape[1] + len(nodes), device=index.device)
        ones[: index.shape[1]] = _of_memberships(store, index, ones)
        made[key], made.incidence_weight = torch.cat([index, loops], 1), ones
        made.num_nodes, made.num_hyperedges = data.x.shape[0], number + len(nodes)
        made[SELF_LOOPS] = torch.arange(number + len(nodes), device=index.device) >= number
        if "hyperedge_weight" in made:
            del made.hyperedge_weight
    if "scale_mean" in like and "scale_mean" not in made:
        made.scale_mean, made.scale_deviation = like.scale_mean, like.scale_deviation
        dense = data.x.to_dense()
        made.x = (dense - like.scale_mean.to(dense)) / like.scale_deviation.to(dense)
    return made


def convolve(
    layer: Any, x: Tensor, data: Any, *, normalize: Literal["symmetric", "rows"] = "symmetric"
) -> Tensor:
    """What a ``HypergraphConv`` gives if it sees what our networks see: ``P x W + b``.

    With weights of memberships in H and in both degrees, ``P = Dv^-1/2 H De^-1 H^T Dv^-1/2`` as in our HGNN,
    or by ``rows`` ``Dv^-1 H De^-1 H^T`` as in our HCHA. Called by itself the layer does the latter without
    weights of memberships, and with its ``hyperedge_weight`` in Dv only, not in the sum.

    Args:
        layer: A ``HypergraphConv`` without attention; its weights and its way of passing messages are used.
        x: A row for each node, dense or sparse.
        data: From :meth:`Condensation.to_pyg`, :class:`Condense`, ``hypergraph.to_pyg()`` or :func:`prepare`,
            on one device with ``layer``. Of any other ``Data`` weights that are not told are 1, and there are
            no self-loops.
        normalize: Which P.
    """
    if layer.use_attention:
        raise ValueError("layer must be without attention, which has weights of its own; call it by itself")
    if normalize not in ("symmetric", "rows"):
        raise ValueError(f"normalize must be 'symmetric' or 'rows', got {normalize!r}")
    store = data.to_dict()
    index = store.get("hyperedge_index", store.get("edge_index"))
    if index is None:
        raise ValueError("data must have a hyperedge_index, as hypergraph.to_pyg() gives it")
    projected = x @ layer.lin.weight.t()  # (nodes, out)
    weights = _of_memberships(store, index, projected)
    num_nodes, num_hyperedges = x.shape[0], _num_hyperedges(store, index)
    of_node = _inverse_sums(weights, index[0], num_nodes)
    of_hyperedge = _inverse_sums(weights, index[1], num_hyperedges)
    if normalize == "symmetric":
        of_node = of_node.sqrt()
        projected = projected * of_node[:, None]
    alpha = weights[:, None]  # one head
    at_hyperedges = layer.propagate(
        index, x=projected, norm=of_hyperedge, alpha=alpha, size=(num_nodes, num_hyperedges)
    )
    received = layer.propagate(
        index.flip([0]), x=at_hyperedges, norm=of_node, alpha=alpha, size=(num_hyperedges, num_nodes)
    )
    made: Tensor = received.view(num_nodes, -1)
    return made if layer.bias is None else made + layer.bias


def _of_memberships(store: dict[str, Any], index: Tensor, like: Tensor) -> Tensor:
    """A weight for each column of the index; one of a hyperedge is that of all its members."""
    made = like.new_ones(index.shape[1])
    if store.get("incidence_weight") is not None:
        made = made * store["incidence_weight"].to(like)
    if store.get("hyperedge_weight") is not None:
        made = made * store["hyperedge_weight"].to(like)[index[1]]
    return made


def _num_hyperedges(store: dict[str, Any], index: Tensor) -> int:
    told = store.get("num_hyperedges")
    return int(told) if told is not None else int(index[1].max()) + 1 if index.numel() else 0


def _inverse_sums(weights: Tensor, owners: Tensor, number: int) -> Tensor:
    """``1 / sum`` of the weights of each owner, and 0 where it has none."""
    sums = weights.new_zeros(number).index_add_(0, owners, weights)
    return torch.where(sums > 0, 1 / sums, 0.0)
