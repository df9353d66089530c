"""Counts with known answers."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from hypercondense.hypergraph import Hypergraph
from hypercondense.hypergraph.statistics import homophily, statistics
from makers.format_examples import FEATURES, tiny
from makers.strategies import hypergraphs


def test_statistics_of_a_tiny_hypergraph() -> None:
    facts = statistics(tiny(labels=[0, 1, 1, -1], label_names=["a", "b", "c"]))
    assert facts.num_nodes == 4
    assert facts.num_hyperedges == 2
    assert facts.num_incidences == 5
    assert facts.num_incidences_with_self_loops == 9
    assert facts.num_features == 2
    assert facts.feature_density == 5 / 8
    assert facts.num_classes == 3
    assert facts.num_labelled_nodes == 3
    assert facts.num_isolated_nodes == 0
    assert facts.class_counts == {"a": 1, "b": 2, "c": 0}
    assert (facts.node_degree.smallest, facts.node_degree.largest) == (1, 2)
    assert facts.node_degree.mean == 1.25
    assert (facts.hyperedge_size.smallest, facts.hyperedge_size.median) == (2, 2.5)
    # {0, 1, 2} has 1 of 3 pairs alike; {2, 3} has one labelled member only.
    assert facts.homophily == pytest.approx(1 / 3)


def test_sparse_and_dense_features_have_the_same_density() -> None:
    assert statistics(tiny(features=sp.csr_array(FEATURES))).feature_density == 5 / 8


def test_isolated_nodes_are_counted() -> None:
    assert statistics(tiny(incidence=([0, 1], [0, 0]), num_hyperedges=1)).num_isolated_nodes == 2


def test_a_hypergraph_without_hyperedges_has_statistics() -> None:
    facts = statistics(tiny(incidence=([], []), num_hyperedges=0))
    assert facts.homophily is None
    assert facts.hyperedge_size.largest == 0
    assert facts.num_incidences_with_self_loops == 4


def test_equal_class_names_are_told_apart() -> None:
    assert statistics(tiny(label_names=["a", "a"])).class_counts == {"a": 2, "a (1)": 2}


def test_a_name_that_looks_like_a_numbered_one_loses_no_class() -> None:
    facts = statistics(tiny(labels=[0, 1, 2, 2], label_names=["a", "a (2)", "a"]))
    assert sum(facts.class_counts.values()) == 4


def test_homophily_is_one_where_all_agree_and_zero_where_none_does() -> None:
    assert homophily(tiny(labels=[0, 0, 0, 0])) == 1
    assert homophily(tiny(labels=[0, 1, 2, 3])) == 0


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(hypergraphs())
def test_sums_agree(hypergraph: Hypergraph) -> None:
    facts = statistics(hypergraph)
    assert sum(facts.class_counts.values()) == facts.num_labelled_nodes
    assert facts.node_degree.mean * facts.num_nodes == pytest.approx(facts.num_incidences)
    assert facts.hyperedge_size.mean * facts.num_hyperedges == pytest.approx(facts.num_incidences)
    assert facts.homophily is None or 0 <= facts.homophily <= 1
    assert facts.num_incidences_with_self_loops <= facts.num_incidences + facts.num_nodes
    loops, num_hyperedges = hypergraph.with_self_loops
    sizes = np.bincount(loops.hyperedge_ids, minlength=num_hyperedges)
    assert set(loops.node_ids[sizes[loops.hyperedge_ids] == 1]) == set(range(hypergraph.num_nodes))
