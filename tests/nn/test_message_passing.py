"""The message-passing core against dense matrices."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hypercondense.nn import SparseMatrix, Structure, input_features
from hypercondense.nn.sparse import drop
from makers.model_cases import (
    degree_normalized,
    dense_structure,
    inverse,
    random_rows,
    row_normalized,
    small_hypergraph,
    symmetric,
)

incidences = arrays(
    np.float64,
    st.tuples(st.integers(1, 7), st.integers(0, 6)),
    elements=st.one_of(st.just(0.0), st.floats(0.125, 4.0)),
)


@settings(deadline=None, max_examples=60)
@given(incidences)
def test_propagations_equal_dense_products_with_their_gradients(incidence):
    structure, dense = Structure.from_dense(incidence), torch.as_tensor(incidence)
    oracles = {
        "symmetric": symmetric(dense),
        "row_normalized": row_normalized(dense),
        "degree_normalized": degree_normalized(dense),
    }
    for name, matrix in oracles.items():
        x = random_rows(len(incidence), 3).requires_grad_()
        ours = getattr(structure, name)(x)
        torch.testing.assert_close(ours, matrix @ x, msg=name)
        sent = random_rows(len(incidence), 3, seed=1)
        (gradient,) = torch.autograd.grad(ours, x, sent)
        torch.testing.assert_close(gradient, matrix.T @ sent, msg=name)


@settings(deadline=None, max_examples=60)
@given(incidences)
def test_sums_and_means_equal_dense_products(incidence):
    structure, dense = Structure.from_dense(incidence), torch.as_tensor(incidence)
    of_nodes, of_hyperedges = random_rows(dense.shape[0], 2), random_rows(dense.shape[1], 2)
    torch.testing.assert_close(structure.incidence @ of_hyperedges, dense @ of_hyperedges)
    torch.testing.assert_close(structure.incidence.transposed_times(of_nodes), dense.T @ of_nodes)
    torch.testing.assert_close(
        structure.hyperedge_mean @ of_nodes, inverse(dense.sum(0))[:, None] * (dense.T @ of_nodes)
    )
    torch.testing.assert_close(
        structure.node_mean @ of_hyperedges, inverse(dense.sum(1))[:, None] * (dense @ of_hyperedges)
    )


def test_messages_per_membership_collect_to_the_same_mean():
    structure, _ = dense_structure()
    messages = random_rows(structure.num_hyperedges, 3)
    collected = structure.incidence_mean @ (structure.hyperedge_of_incidence @ messages)
    torch.testing.assert_close(collected, structure.node_mean @ messages)


@pytest.mark.parametrize("way", ["product", "transposed", "symmetric"])
def test_gradients_agree_with_finite_differences(way):
    structure, _ = dense_structure()
    maps = {
        "product": structure.node_mean.transposed_times,
        "transposed": lambda x: structure.hyperedge_mean @ x,
        "symmetric": structure.symmetric,
    }
    x = random_rows(structure.num_nodes, 2).requires_grad_()
    assert torch.autograd.gradcheck(maps[way], (x,))


def test_softmax_over_hyperedges_equals_the_formula_and_survives_large_scores():
    structure, dense = dense_structure()
    node_ids, hyperedge_ids = structure.matrix.nonzero()
    scores = 1000 * random_rows(structure.matrix.nnz, 1)
    shares = structure.softmax_over_hyperedges(scores)
    expected = torch.zeros_like(dense)
    expected[node_ids, hyperedge_ids] = scores[:, 0]
    expected = torch.where(dense > 0, expected + dense.clamp_min(1e-300).log(), -torch.inf).softmax(1)
    torch.testing.assert_close(shares[:, 0], expected[node_ids, hyperedge_ids])


def test_every_node_has_a_self_loop_unless_told_otherwise():
    hypergraph = small_hypergraph()
    assert Structure.of(hypergraph).num_hyperedges == 3 + 7  # node 6 is alone in a hyperedge already
    assert Structure.of(hypergraph, self_loops=False).num_hyperedges == 3
    assert (Structure.of(hypergraph).node_degree > 0).all()


def test_identity_incidence_propagates_nothing():
    structure = Structure.from_dense(np.eye(4))
    x = random_rows(4, 3)
    for name in ("symmetric", "row_normalized", "degree_normalized"):
        torch.testing.assert_close(getattr(structure, name)(x), x)


def test_one_hyperedge_over_all_nodes_averages():
    structure = Structure.from_dense(np.ones((4, 1)))
    x = random_rows(4, 3)
    torch.testing.assert_close(structure.symmetric(x), x.mean(0).expand(4, 3))


def test_a_dense_incidence_with_negative_weights_is_refused():
    with pytest.raises(ValueError, match="finite and positive"):
        Structure.from_dense([[1.0, -1.0]])


def test_a_sparse_matrix_without_entries_gives_zeros():
    matrix = SparseMatrix.of(sp.csr_array((3, 4)))
    assert torch.equal(matrix @ torch.ones(4, 2), torch.zeros(3, 2))
    assert torch.equal(matrix.transposed_times(torch.ones(3, 2)), torch.zeros(4, 2))


def test_features_stay_sparse_only_where_that_is_cheaper():
    sparse = small_hypergraph(sparse=True, num_features=40)
    assert isinstance(input_features(sparse), SparseMatrix)
    torch.testing.assert_close(
        input_features(sparse) @ torch.eye(40), torch.as_tensor(sparse.dense_features().copy())
    )
    assert isinstance(input_features(small_hypergraph()), torch.Tensor)


def test_dropout_on_sparse_features_keeps_both_orders_alike():
    features = input_features(small_hypergraph(sparse=True, num_features=40))
    torch.manual_seed(0)
    dropped = drop(features, 0.5, training=True)
    dense = dropped @ torch.eye(40)
    torch.testing.assert_close(dropped.transposed_times(torch.eye(8)), dense.T)
    whole = features @ torch.eye(40)
    assert torch.isin(dense, torch.cat([whole.flatten() * 2, torch.zeros(1)])).all()
    assert 0 < (dense != 0).sum() < (whole != 0).sum()
    assert drop(features, 0.5, training=False) is features
