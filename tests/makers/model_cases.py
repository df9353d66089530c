"""Small hypergraphs and dense float64 formulas for the tests of models."""

import numpy as np
import torch

from hypercondense.hypergraph import Hypergraph
from hypercondense.nn import Structure


def small_hypergraph(*, weighted=False, num_features=5, seed=0, sparse=False):
    """Eight nodes, three hyperedges; node 7 is in none, node 6 is alone in one."""
    rng = np.random.default_rng(seed)
    node_ids = [0, 1, 2, 2, 3, 4, 5, 6]
    hyperedge_ids = [0, 0, 0, 1, 1, 1, 1, 2]
    features = rng.normal(size=(8, num_features)).astype(np.float32)
    if sparse:
        import scipy.sparse as sp

        features = sp.csr_array(np.where(rng.random(features.shape) < 0.2, features, 0))
    weights = rng.uniform(0.2, 3.0, 8).astype(np.float32) if weighted else None
    return Hypergraph(
        features=features,
        labels=[0, 1, 2, 0, 1, 2, 0, 1],
        incidence=(node_ids, hyperedge_ids, weights),
        num_hyperedges=3,
    )


def dense_structure(*, weighted=True, seed=0):
    """A float64 structure with an isolated node (7) and an empty hyperedge (3), and its matrix H."""
    rng = np.random.default_rng(seed)
    incidence = np.zeros((8, 4))
    members = [(0, 0), (1, 0), (2, 0), (2, 1), (3, 1), (4, 1), (5, 1), (6, 2)]
    for node, hyperedge in members:
        incidence[node, hyperedge] = rng.uniform(0.2, 3.0) if weighted else 1.0
    return Structure.from_dense(incidence), torch.as_tensor(incidence)


def random_rows(num_rows, width, seed=0):
    """Standard normal float64 rows."""
    return torch.randn(num_rows, width, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def inverse(degree, power=1.0):
    """``degree ** -power``, 0 where the degree is 0."""
    return torch.where(degree > 0, degree.clamp_min(1e-300) ** -power, 0.0)


def symmetric(incidence):
    """``Dv^-1/2 H De^-1 H^T Dv^-1/2`` as a dense matrix."""
    scale = inverse(incidence.sum(1), 0.5)
    return scale[:, None] * (incidence * inverse(incidence.sum(0))) @ incidence.T * scale


def row_normalized(incidence):
    """``Dv^-1 H De^-1 H^T`` as a dense matrix."""
    return inverse(incidence.sum(1))[:, None] * (incidence * inverse(incidence.sum(0))) @ incidence.T


def degree_normalized(incidence):
    """``Dv^-1/2 H Q^-1/2 De^-1 H^T`` as a dense matrix."""
    node_degree, hyperedge_degree = incidence.sum(1), incidence.sum(0)
    mean_degree = inverse(hyperedge_degree) * (incidence.T @ node_degree)
    to_hyperedge = inverse(hyperedge_degree) * inverse(mean_degree, 0.5)
    return inverse(node_degree, 0.5)[:, None] * (incidence * to_hyperedge) @ incidence.T
