"""Spaces of coresets: what the rows of training nodes are in each."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from hypercondense.condensing.baselines.embedding import Diffused, HiddenLayer, Raw
from hypercondense.condensing.job import Job
from hypercondense.condensing.material import Material
from hypercondense.data import synthetic
from hypercondense.diffusion import diffuse, heat_kernel
from hypercondense.hypergraph import Hypergraph, Split, split, split_from_ids
from hypercondense.nn.training import Configuration, Inputs, train


def job_of(source: Hypergraph, parts: Split, seed: int = 0) -> Job:
    return Job(material=Material(source, parts), labels=np.arange(3), seed=seed)


def test_raw_rows_are_those_of_the_training_nodes_and_stay_sparse(source: Hypergraph, parts: Split) -> None:
    rows = Raw().rows(job_of(source, parts))
    np.testing.assert_array_equal(rows, source.dense_features(parts.train_ids))
    sparse = synthetic(num_nodes=80, num_hyperedges=40, num_features=30, feature_density=0.1, num_classes=3)
    ids = split(sparse).train_ids
    rows = Raw().rows(job_of(sparse, split(sparse)))
    assert sp.issparse(rows)
    np.testing.assert_array_equal(rows.toarray(), sparse.dense_features(ids))


@pytest.mark.parametrize("time", [0.5, 3.0])
def test_diffused_rows_are_those_of_the_heat_kernel(source: Hypergraph, parts: Split, time: float) -> None:
    rows = Diffused(time=time).rows(job_of(source, parts))
    np.testing.assert_allclose(rows, diffuse(source, heat_kernel(time))[parts.train_ids], atol=1e-6)


def test_trained_rows_are_what_the_last_layer_of_an_hgnn_reads(source: Hypergraph, parts: Split) -> None:
    """One that saw training labels only, and of whose training the last epoch is kept."""
    rows = HiddenLayer(epochs=4).rows(job_of(source, parts, seed=2))
    alone = split_from_ids(source, train_ids=parts.train_ids, validation_ids=[], test_ids=[])
    inputs = Inputs.of(source)
    model = train(Configuration(model="hgnn", epochs=4), inputs, inputs, alone, seed=2).model
    with torch.no_grad():
        expected = model.embed(inputs.features, inputs.structure)[torch.tensor(parts.train_ids)]
    np.testing.assert_array_equal(rows, expected.numpy())
