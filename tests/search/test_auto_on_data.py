"""The search at its true lengths, where other ways to condense fail."""

from pathlib import Path

import numpy as np

from hypercondense import condense
from hypercondense.data import load
from hypercondense.evaluation import evaluate
from hypercondense.hypergraph import Hypergraph, split


def test_hyperedges_of_almost_all_nodes(shared_data: Path) -> None:
    """Convolutions see nearly the same of all nodes; means of what they see suit no other network."""
    zoo = load("zoo", data_dir=shared_data)
    parts = split(zoo, seed=0)
    result = condense(zoo, parts, ratio=0.15)
    models = ("hgnn", "hcha", "unigcnii", "allset", "edhnn")
    scores = [evaluate(result.hypergraph, zoo, parts, model=model, runs=1).mean for model in models]
    assert float(np.mean(scores)) > 0.8, scores


def test_where_structure_misleads_a_budget_finds_raw_features() -> None:
    """Features tell the class; every hyperedge joins one random node of each of four classes."""
    rng = np.random.default_rng(0)
    labels = np.arange(600) % 4
    features = np.eye(4, 8)[labels] * 3 + rng.normal(size=(600, 8))
    members = [rng.choice(np.flatnonzero(labels == label), 900) for label in range(4)]
    misleading = Hypergraph(
        features=features,
        labels=labels,
        incidence=(np.concatenate(members), np.tile(np.arange(900), 4)),
        num_hyperedges=900,
    )
    result = condense(misleading, split(misleading), nodes=12, budget=5)
    assert result.choice is not None and result.choice["settings"]["map.kernel"] == "none"
