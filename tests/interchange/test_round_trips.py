"""Through every library and back: equal, or what is lost was told."""

from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from torch_geometric.data import Data

from hypercondense import interchange
from hypercondense.errors import ConversionError
from hypercondense.hypergraph import Hypergraph
from interchange.ways import ASPECTS, WAYS, gone, row, same
from makers.strategies import hypergraphs

ROOT = Path(__file__).parents[2]


def open_way(name: str) -> None:
    if not WAYS[name].is_open:
        pytest.skip(f"{WAYS[name].needs} is not installed; `make peers` runs this where it is")


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("aspect", ASPECTS)
def test_what_does_not_come_back_is_told(name: str, aspect: str) -> None:
    open_way(name)
    back, told = gone(WAYS[name], ASPECTS[aspect])
    assert same(back, ASPECTS[aspect]) or told


@pytest.mark.parametrize("name", WAYS)
def test_the_document_tells_what_survives(name: str) -> None:
    open_way(name)
    assert row(name) in (ROOT / "docs" / "interchange.md").read_text("utf-8").splitlines()


@pytest.mark.parametrize("name", WAYS)
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(hypergraph=hypergraphs(with_parts=True))
def test_any_hypergraph_comes_back_or_the_loss_is_told(name: str, hypergraph: Hypergraph) -> None:
    open_way(name)
    back, told = gone(WAYS[name], hypergraph)
    assert same(back, hypergraph) or told


def test_data_of_topobench_are_read_as_its_loaders_make_them() -> None:
    index = torch.tensor([[0, 1, 1, 2], [0, 0, 1, 1]])
    matrix = torch.sparse_coo_tensor(index, torch.ones(4), size=(4, 2), check_invariants=True)
    x, y = torch.eye(4), torch.tensor([0, 1, 0, 1])
    data = Data(x=x, x_0=x, y=y, edge_index=index, incidence_hyperedges=matrix, num_class=2, n_x=4)
    data.train_mask, data.val_mask, data.test_mask = (torch.tensor(ids) for ids in ([2, 0], [1], [3]))
    source = interchange.from_topobench(data)
    assert source.num_nodes == 4 and source.num_hyperedges == 2 and source.incidence.weights is None
    assert source.parts is not None and source.parts.tolist() == [0, 1, 0, 2]
    with pytest.raises(ConversionError, match="incidence_hyperedges are those of TopoBench"):
        interchange.from_pyg(Data(x=x, y=y, incidence_hyperedges=matrix))
    data.train_mask, data.incidence_hyperedges = torch.tensor([9]), torch.eye(3)
    with pytest.raises(ConversionError, match=r"'incidence_hyperedges' has 3 rows.*'train_mask' must be ids"):
        interchange.from_topobench(data)
    made = source.to_topobench()
    assert made.incidence_hyperedges.shape == (4, 6) and made.train_mask.tolist() == [0, 2]
