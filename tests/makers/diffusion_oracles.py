"""Small hypergraphs and the diffusion of their features in dense float64, for the tests of the diffusion."""

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from hypercondense.diffusion import Polynomial
from hypercondense.hypergraph import Hypergraph


def hypergraph_of(incidence, features=None, *, sparse=False):
    """A hypergraph with this dense weighted incidence (nodes, hyperedges), none of them empty."""
    incidence = np.asarray(incidence, np.float32)
    node_ids, hyperedge_ids = np.nonzero(incidence)
    features = np.eye(len(incidence), dtype=np.float32) if features is None else np.asarray(features)
    return Hypergraph(
        features=sp.csr_array(features) if sparse else features,
        labels=np.zeros(len(incidence), np.int64),
        incidence=(node_ids, hyperedge_ids, incidence[node_ids, hyperedge_ids]),
        num_hyperedges=incidence.shape[1],
    )


def dense_propagation(incidence):
    """P as a dense float64 matrix, straight from its definition."""
    incidence = np.asarray(incidence, np.float64)
    with np.errstate(divide="ignore"):
        node = np.where(incidence.sum(1) > 0, incidence.sum(1) ** -0.5, 0.0)
        hyperedge = np.where(incidence.sum(0) > 0, 1 / incidence.sum(0), 0.0)
    scaled = node[:, None] * incidence
    return scaled * hyperedge @ scaled.T


def with_self_loops(source):
    """The dense incidence that ``Hypergraph.with_self_loops`` describes."""
    incidence, num_hyperedges = source.with_self_loops
    return incidence.matrix(source.num_nodes, num_hyperedges).toarray()


def dense_diffusion(source, kernel):
    """A polynomial of the dense P times the features, by its eigenvalues; self-loops by the convention."""
    values, vectors = np.linalg.eigh(dense_propagation(with_self_loops(source)))
    polynomial = Polynomial.of(kernel)
    filtered = np.array([polynomial.at(value) for value in values])
    return vectors @ (filtered[:, None] * (vectors.T @ source.dense_features().astype(np.float64)))


def random_incidence(seed, *, num_nodes=12, num_hyperedges=8, density=0.3, weighted=True):
    """Random weights; every hyperedge has a member, some nodes may have none."""
    rng = np.random.default_rng(seed)
    incidence = (rng.random((num_nodes, num_hyperedges)) < density).astype(np.float32)
    incidence[rng.integers(num_nodes, size=num_hyperedges), np.arange(num_hyperedges)] = 1
    return incidence * rng.uniform(0.2, 3.0, incidence.shape).astype(np.float32) if weighted else incidence


@st.composite
def sources(draw):
    """Hypergraphs of every small shape: singletons, isolated nodes, no hyperedges at all, sparse features."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    num_nodes, num_features = draw(st.integers(1, 14)), draw(st.integers(1, 40))
    features = rng.standard_normal((num_nodes, num_features)).astype(np.float32)
    incidence = random_incidence(
        rng.integers(2**32),
        num_nodes=num_nodes,
        num_hyperedges=draw(st.integers(0, 10)),
        density=draw(st.sampled_from([0.0, 0.1, 0.4, 1.0])),
        weighted=draw(st.booleans()),
    )
    return hypergraph_of(incidence, features * (rng.random(features.shape) < 0.5), sparse=draw(st.booleans()))
