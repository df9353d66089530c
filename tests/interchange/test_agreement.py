"""Networks of other libraries on what is exported to them: the numbers of ours, with the weights of ours."""

from typing import Any

import numpy as np
import pytest
import torch

import hypercondense as hc
from hypercondense import models
from hypercondense.nn.message_passing import Structure
from interchange.networks import HIDDEN, LIBRARIES, accuracy, exported

#: DHG makes sparse tensors without saying whether they are to be checked; torch warns of the first, and of
#: the first of rows.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Sparse invariant checks:UserWarning"),
    pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta:UserWarning"),
]

#: Weights of memberships in three hyperedges, by what a library sees of them.
WEIGHTS = {"all": [0.5, 2, 3, 4, 0.25], "hyperedge": [2, 2, 2, 0.5, 0.5], "none": None}


def hypergraph(weights: Any) -> hc.Hypergraph:
    return hc.Hypergraph(
        features=np.random.default_rng(0).random((5, 6)).astype(np.float32),
        labels=[0, 1, 2, 0, 1],
        incidence=([0, 1, 2, 2, 3], [0, 0, 0, 1, 1], weights),
        num_hyperedges=2,
    )


def open_library(name: str) -> None:
    if not LIBRARIES[name].is_open:
        pytest.skip(f"{LIBRARIES[name].needs[0]} is not installed; `make peers` runs this where it is")


def give(network: Any, first: torch.Tensor, last: torch.Tensor) -> None:
    """Put the matrices of ours (out, in) into a network of a library, and no bias."""
    for layer, weight in zip(network.layers, (first, last), strict=True):
        if hasattr(layer, "conv_level1_0_to_1"):  # UniGCN has a second matrix
            layer.conv_level1_0_to_1.weight.data = weight.t().clone()
            layer.conv_level2_1_to_0.weight.data = torch.eye(len(weight))
        elif hasattr(layer, "update_func"):
            layer.weight.data = weight.t().clone()
        else:
            own = layer.theta if hasattr(layer, "theta") else layer.lin
            own.weight.data = weight.clone()
            (layer if own.bias is None else own).bias.data.zero_()


@pytest.mark.parametrize("name", LIBRARIES)
def test_with_the_weights_of_ours_a_network_gives_the_scores_of_ours(name: str) -> None:
    open_library(name)
    library = LIBRARIES[name]
    given = hypergraph(WEIGHTS[library.sees])
    with torch.random.fork_rng():
        torch.manual_seed(0)
        ours = models.build(library.like, num_features=6, num_classes=3, hidden=HIDDEN).eval()
        theirs = library.network(6, 3).eval()
    layers = (ours.network if library.like == "hcha" else ours).layers  # type: ignore[union-attr]
    for layer in layers:
        layer.bias.data.zero_()
    give(theirs, layers[0].weight.data, layers[1].weight.data)
    with torch.no_grad():
        wanted = ours(torch.tensor(given.dense_features()), Structure.of(given))
        torch.testing.assert_close(theirs(*exported(library, given)), wanted, atol=1e-5, rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", LIBRARIES)
def test_a_network_of_another_library_scores_like_ours(name: str) -> None:
    open_library(name)
    source = hc.synthetic(num_nodes=200, num_hyperedges=150, num_classes=3, seed=0)
    split = hc.split(source, seed=0)
    options: Any = {"method": "ahgcdd-x", "settings": {"goal.epochs": 5}}
    small = hc.condense(source, split, ratio=0.05, **options).hypergraph
    score = hc.evaluate(small, source, split, model=LIBRARIES[name].like, runs=1)
    found = accuracy(LIBRARIES[name], small, source, split, seed=0, every=50)
    assert found == pytest.approx(score.mean, abs=0.1)
