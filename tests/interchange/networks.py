"""Networks of other libraries on what is exported to them, trained by the rule that ``evaluate`` has.

The rule: Adam, 200 epochs, two layers of width 128, dropout of a half, cross-entropy against soft labels
where there are some, and the epoch that is best on validation nodes of the source.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

import hypercondense as hc
from hypercondense.diffusion import inverse_power
from hypercondense.errors import ConversionWarning
from hypercondense.interchange.pyg import tensors_of
from hypercondense.nn.looks import VALIDATE_EVERY

HIDDEN, DROPOUT, EPOCHS = 128, 0.5, 200

#: A network of a library, and what it wants beside its weights: features and structure.
Network = Callable[[int, int], nn.Module]
Given = Callable[[hc.Hypergraph], tuple[Any, ...]]


@dataclass(frozen=True)
class Library:
    """A network of another library.

    Args:
        needs: The module without which it cannot be tried.
        network: Makes one from numbers of features and classes.
        given: What it is called with for a hypergraph, which was exported to the library.
        like: Which of our networks it is like.
        sees: Which weights it sees: ``"all"``, one for each ``"hyperedge"``, or ``"none"``.
        alike: Whether it has as many matrices as ours. With others it can have the scores of ours, and learns
            otherwise.
    """

    needs: tuple[str, ...]
    network: Network
    given: Given
    like: str
    sees: str
    alike: bool = True

    @property
    def is_open(self) -> bool:
        """Whether all it needs is installed."""
        return all(find_spec(module) is not None for module in self.needs)


class _Pyg(nn.Module):
    """Two ``HypergraphConv``: by themselves, or by ``convolve``."""

    def __init__(self, num_features: int, num_classes: int, *, alone: bool) -> None:
        from torch_geometric.nn import HypergraphConv

        super().__init__()
        self.layers = nn.ModuleList(
            [HypergraphConv(num_features, HIDDEN), HypergraphConv(HIDDEN, num_classes)]
        )
        self.alone = alone

    def forward(self, x: Tensor, data: Any) -> Tensor:
        first, last = self.layers
        hidden = functional.dropout(self._convolve(first, x, data).relu(), DROPOUT, self.training)
        return self._convolve(last, hidden, data)

    def _convolve(self, layer: Any, x: Tensor, data: Any) -> Tensor:
        from hypercondense.pyg import convolve

        if self.alone:
            return layer(x, data.hyperedge_index, num_edges=data.num_hyperedges)  # type: ignore[no-any-return]
        return convolve(layer, x, data)


def _pyg_given(hypergraph: hc.Hypergraph) -> tuple[Any, ...]:
    data = hypergraph.to_pyg()
    return data.x, data


def _pyg_dense(hypergraph: hc.Hypergraph) -> tuple[Any, ...]:
    """The layer alone takes no sparse features."""
    x, data = _pyg_given(hypergraph)
    return x.to_dense(), data


def _dhg(num_features: int, num_classes: int) -> nn.Module:
    from dhg.models import HGNN

    made: nn.Module = HGNN(num_features, HIDDEN, num_classes, drop_rate=DROPOUT)
    return made


def _dhg_given(hypergraph: hc.Hypergraph) -> tuple[Any, ...]:
    structure, data = hypergraph.to_dhg()
    return data["features"], structure


def _hypertorch(num_features: int, num_classes: int) -> nn.Module:
    from hypertorch.models import HGNN

    made: nn.Module = HGNN(num_features, HIDDEN, num_classes, drop_rate=DROPOUT)
    return made


def _hypertorch_given(hypergraph: hc.Hypergraph) -> tuple[Any, ...]:
    data = hypergraph.to_hypertorch()
    return data.x, data.hyperedge_index


class _Unigcn(nn.Module):
    """Two layers of UniGCN: each has two matrices, and multiplies by an incidence and by its transpose."""

    def __init__(self, num_features: int, num_classes: int) -> None:
        from topomodelx.nn.hypergraph.unigcn_layer import UniGCNLayer

        super().__init__()
        self.layers = nn.ModuleList([UniGCNLayer(num_features, HIDDEN), UniGCNLayer(HIDDEN, num_classes)])

    def forward(self, x: Tensor, incidence: Tensor) -> Tensor:
        first, last = self.layers
        hidden = functional.dropout(first(x, incidence)[0].relu(), DROPOUT, self.training)
        return last(hidden, incidence)[0]  # type: ignore[no-any-return]


class _Convs(nn.Module):
    """Two of TopoModelX's own ``Conv``, with one matrix each, between nodes and hyperedges as in HGNN."""

    def __init__(self, num_features: int, num_classes: int) -> None:
        from topomodelx.base.conv import Conv

        super().__init__()
        self.layers = nn.ModuleList([Conv(num_features, HIDDEN), Conv(HIDDEN, num_classes)])
        self.back = nn.ModuleList(
            Conv(width, width, with_linear_transform=False) for width in (HIDDEN, num_classes)
        )

    def forward(self, x: Tensor, incidence: Tensor) -> Tensor:
        hidden = self.back[0](self.layers[0](x, incidence.transpose(0, 1)), incidence).relu()
        hidden = functional.dropout(hidden, DROPOUT, self.training)
        return self.back[1](self.layers[1](hidden, incidence.transpose(0, 1)), incidence)  # type: ignore[no-any-return]


def _topomodelx_given(hypergraph: hc.Hypergraph) -> tuple[Any, ...]:
    """``Dv^-1/2 H De^-1/2`` with self-loops, so that the layer, which normalizes nothing, has P of HGNN."""
    incidence, number = hypergraph.with_self_loops
    matrix = incidence.matrix(hypergraph.num_nodes, number).tocoo()
    rows, columns = matrix.coords
    of_node = inverse_power(np.bincount(rows, matrix.data, minlength=hypergraph.num_nodes), 0.5)
    of_hyperedge = inverse_power(np.bincount(columns, matrix.data, minlength=number), 0.5)
    values = matrix.data * of_node[rows] * of_hyperedge[columns]
    sparse = torch.sparse_coo_tensor(
        torch.tensor(np.stack([rows, columns]).astype(np.int64)),
        torch.tensor(values, dtype=torch.float32),
        size=matrix.shape,
        check_invariants=True,
    )
    return tensors_of(hypergraph)["x"], sparse.coalesce()


LIBRARIES = {
    "PyG by `convolve`": Library(
        ("torch_geometric",), lambda *sizes: _Pyg(*sizes, alone=False), _pyg_given, "hgnn", "all"
    ),
    "PyG `HypergraphConv` alone": Library(
        ("torch_geometric",), lambda *sizes: _Pyg(*sizes, alone=True), _pyg_dense, "hcha", "none"
    ),
    "DHG `HGNN`": Library(("dhg",), _dhg, _dhg_given, "hgnn", "hyperedge"),
    "HyperTorch `HGNN`": Library(("hypertorch",), _hypertorch, _hypertorch_given, "hgnn", "none"),
    "TopoModelX `Conv`": Library(("topomodelx",), _Convs, _topomodelx_given, "hgnn", "all"),
    "TopoModelX `UniGCN`": Library(("topomodelx",), _Unigcn, _topomodelx_given, "hgnn", "all", alike=False),
}


def exported(library: Library, hypergraph: hc.Hypergraph) -> tuple[Any, ...]:
    """What the library is given; what it cannot hold is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConversionWarning)
        return library.given(hypergraph)


def accuracy(
    library: Library,
    small: hc.Hypergraph,
    source: hc.Hypergraph,
    split: hc.Split,
    *,
    seed: int,
    every: int = VALIDATE_EVERY,
) -> float:
    """Of a network of the library that was trained on ``small``, on test nodes of ``source``.

    Validation nodes are looked at after so many (``every``) epochs, and choose among them.
    """
    given, whole = exported(library, small), exported(library, source)
    targets = torch.tensor(small.labels if small.soft_labels is None else small.soft_labels)
    known = torch.tensor(np.flatnonzero(small.labels >= 0))
    labels = torch.tensor(source.labels)
    validation, test = torch.tensor(split.validation_ids), torch.tensor(split.test_ids)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = library.network(source.num_features, source.num_classes)
        optimizer = torch.optim.Adam(network.parameters(), lr=0.01, weight_decay=5e-4)
        best, score = -1.0, 0.0
        for epoch in range(1, EPOCHS + 1):
            network.train()
            optimizer.zero_grad()
            functional.cross_entropy(network(*given)[known], targets[known]).backward()
            optimizer.step()
            if epoch % every == 0:
                right = _right(network, whole, labels)
                if (chosen := float(right[validation].mean())) > best:
                    best, score = chosen, float(right[test].mean())
    return score


def _right(network: nn.Module, whole: tuple[Any, ...], labels: Tensor) -> Tensor:
    network.eval()
    with torch.no_grad():
        return (network(*whole).argmax(1) == labels).float()
