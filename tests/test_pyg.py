"""PyG's layer, transform and data set against what our own networks do."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.data.hypergraph_data import HyperGraphData
from torch_geometric.nn import HypergraphConv
from torch_geometric.transforms import RandomNodeSplit

import hypercondense as hc
from hypercondense.condensation import Condensation
from hypercondense.errors import ConversionError, FormatError
from hypercondense.hypergraph.scaling import Scale
from hypercondense.interchange import to_pyg
from hypercondense.nn.message_passing import Structure
from hypercondense.pyg import Condense, CondensedDataset, convolve, prepare


def weighted(weights: Any = (0.5, 2.0, 1.0, 4.0, 0.25)) -> hc.Hypergraph:
    """Six nodes, the last in no hyperedge, one with a singleton of its own."""
    return hc.Hypergraph(
        features=np.random.default_rng(0).random((6, 3)).astype(np.float32),
        labels=[0, 1, 2, 0, 1, 0],
        incidence=([0, 1, 1, 2, 4], [0, 0, 1, 1, 2], weights),
        num_hyperedges=3,
    )


def plain(hypergraph: hc.Hypergraph) -> Any:
    """As a user of PyG has it: no sizes, no self-loops, no names of ours."""
    incidence = hypergraph.incidence
    index = torch.tensor(np.stack([incidence.node_ids, incidence.hyperedge_ids]))
    data = Data(
        x=torch.tensor(hypergraph.dense_features()), y=torch.tensor(hypergraph.labels), hyperedge_index=index
    )
    if incidence.weights is not None:
        data.incidence_weight = torch.tensor(incidence.weights)
    return data


@pytest.fixture
def layer() -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        made = HypergraphConv(3, 4)
        torch.nn.init.normal_(made.bias)
    return made


def expected(hypergraph: hc.Hypergraph, layer: Any, *, rows: bool) -> torch.Tensor:
    structure = Structure.of(hypergraph)
    propagation = structure.row_normalized if rows else structure.symmetric
    return propagation(torch.tensor(hypergraph.dense_features()) @ layer.lin.weight.t()) + layer.bias


@pytest.mark.parametrize("normalize", ["symmetric", "rows"])
@pytest.mark.parametrize("weights", [None, (0.5, 2.0, 1.0, 4.0, 0.25)])
def test_a_layer_sees_what_our_networks_see(layer: Any, normalize: Any, weights: Any) -> None:
    hypergraph = weighted(weights)
    wanted = expected(hypergraph, layer, rows=normalize == "rows")
    data = hypergraph.to_pyg()
    torch.testing.assert_close(convolve(layer, data.x, data, normalize=normalize), wanted)
    torch.testing.assert_close(convolve(layer, data.x.to_sparse(), data, normalize=normalize), wanted)
    ready = prepare(plain(hypergraph), like=data)
    torch.testing.assert_close(convolve(layer, ready.x, ready, normalize=normalize), wanted)


def test_the_layer_alone_is_our_row_normalization_where_no_weight_differs(layer: Any) -> None:
    hypergraph = weighted(None)
    data = hypergraph.to_pyg()
    alone = layer(data.x, data.hyperedge_index, num_edges=data.num_hyperedges)
    torch.testing.assert_close(alone, expected(hypergraph, layer, rows=True))


def test_the_layer_alone_has_weights_of_hyperedges_in_its_degrees_only(layer: Any) -> None:
    """Why the documentation says not to use its ``hyperedge_weight``; should PyG mend it, this fails."""
    hypergraph = weighted((2.0, 2.0, 0.5, 0.5, 3.0))
    data = hypergraph.to_pyg()
    weights = torch.tensor([2.0, 0.5, 3.0, *[1.0] * (data.num_hyperedges - 3)])
    alone = layer(data.x, data.hyperedge_index, weights)
    assert not torch.allclose(alone, expected(hypergraph, layer, rows=True), atol=0.01)


def test_what_is_prepared_is_the_same_hypergraph_and_what_came_is_not_changed() -> None:
    hypergraph = weighted()
    data = plain(hypergraph)
    data.hyperedge_weight = torch.ones(3)
    before = {key: value.clone() for key, value in data.to_dict().items()}
    ready = prepare(data, like=hypergraph.to_pyg())
    assert hc.from_pyg(ready) == hypergraph and ready.num_nodes == 6
    assert prepare(ready, like=ready).hyperedge_index is ready.hyperedge_index
    assert before.keys() == data.to_dict().keys()
    assert all(torch.equal(before[key], data[key]) for key in before)
    with pytest.raises(ValueError, match="must have a hyperedge_index"):
        prepare(Data(x=torch.ones(2, 1)), like=ready)


def test_features_are_scaled_once_as_those_of_the_condensed_nodes_are() -> None:
    hypergraph = weighted()
    scale = Scale(np.array([1, 2, 3], np.float32), np.array([2, 2, 4], np.float32))
    small = to_pyg(hypergraph, scale=scale)
    ready = prepare(plain(hypergraph), like=small)
    wanted = (hypergraph.dense_features() - scale.means) / scale.deviations
    np.testing.assert_allclose(ready.x, wanted, rtol=1e-6)
    assert torch.equal(prepare(ready, like=small).x, ready.x)


def test_layers_and_names_that_cannot_be_meant_are_refused(layer: Any) -> None:
    data = weighted().to_pyg()
    with pytest.raises(ValueError, match="without attention"):
        convolve(HypergraphConv(3, 4, use_attention=True), data.x, data)
    with pytest.raises(ValueError, match="'symmetric' or 'rows', got 'columns'"):
        convolve(layer, data.x, data, normalize="columns")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must have a hyperedge_index"):
        convolve(layer, data.x, Data(x=data.x))


def masked(**changes: Any) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        source = hc.synthetic(num_nodes=120, num_hyperedges=80, num_classes=3, seed=0)
        return RandomNodeSplit(num_val=30, num_test=30)(source.to_pyg(**changes))


@pytest.mark.parametrize("kind", ["Data", "HyperGraphData"])
def test_the_transform_condenses_a_copy_by_the_masks(kind: Any) -> None:
    data = masked(kind=kind)
    small = Condense(ratio=0.05, method="ahgcdd-x", settings={"goal.epochs": 2})(data)
    assert type(small) is (HyperGraphData if kind == "HyperGraphData" else Data)
    assert small.num_nodes == 6 == int(small.train_mask.sum()) and data.num_nodes == 120
    source = hc.from_pyg(data)
    options: Any = {"method": "ahgcdd-x", "settings": {"goal.epochs": 2}}
    result = hc.condense(source, hc.split(source), ratio=0.05, **options)
    assert hc.from_pyg(small).digest == result.hypergraph.digest
    assert small.incidence_weight.shape == (small.hyperedge_index.shape[1],) if kind == "Data" else True


def test_the_transform_reads_no_label_of_a_test_node() -> None:
    data, other = masked(), masked()
    other.y = torch.where(other.test_mask, (other.y + 1) % 3, other.y)
    transform = Condense(ratio=0.05, method="ahgcdd-x", settings={"goal.epochs": 2})
    assert hc.from_pyg(transform(data)) == hc.from_pyg(transform(other))


def test_the_transform_prints_its_options_and_refuses_data_without_masks() -> None:
    assert repr(Condense(ratio=0.1, seed=3, column=1)) == "Condense(ratio=0.1, seed=3, column=1)"
    with pytest.raises(ConversionError, match=r"no 'train_mask'.*RandomNodeSplit"):
        Condense(ratio=0.1)(plain(weighted()))


def test_a_condensed_folder_is_a_data_set(tmp_path: Path) -> None:
    source = hc.synthetic(num_nodes=120, num_hyperedges=80, num_classes=3, seed=0)
    options: Any = {"method": "ridge", "settings": {"goal.closed_form.epochs": 2}}
    result: Condensation = hc.condense(source, ratio=0.05, scale="standard", **options)
    result.save(tmp_path / "small")
    before = sorted(path.name for path in (tmp_path / "small").iterdir())

    def marked(data: Any) -> Any:
        data.mark = 7
        return data

    dataset = CondensedDataset(tmp_path / "small", pre_transform=marked)
    assert len(dataset) == 1 and dataset.num_classes == 3 and dataset.num_features == source.num_features
    assert dataset[0].mark == 7 and bool(dataset[0].train_mask.all())
    assert hc.from_pyg(CondensedDataset(tmp_path / "small", kind="HyperGraphData")[0]).num_nodes == 6
    assert torch.equal(dataset[0].scale_mean[0], torch.tensor(result.scale.means))  # type: ignore[union-attr]
    assert sorted(path.name for path in (tmp_path / "small").iterdir()) == before
    with pytest.raises(FormatError, match="is not a condensed hypergraph"):
        CondensedDataset(tmp_path)
