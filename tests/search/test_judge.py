"""The judge of a search: a small network, written out again with dense matrices."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from hypercondense.condensing.job import Job
from hypercondense.condensing.maps import Map
from hypercondense.condensing.material import Material
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.run import condense_by
from hypercondense.condensing.starts import Means
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.nn.learner import averaged_learner
from hypercondense.nn.steps import Training
from hypercondense.runtime.rng import Stream, generator
from hypercondense.search.judge import Judge

HIDDEN, STEPS = 64, 200


def judge_of(source: Hypergraph, parts: Split) -> Judge:
    return Judge.of(Job(material=Material(source, parts), labels=np.arange(3)))


def start(source: Hypergraph, parts: Split, rows_map: Map) -> Hypergraph:
    recipe = Recipe(map=rows_map, start=Means(samples=5), goal=None, looks=0)
    return condense_by(recipe, source, parts, nodes=9, select=False).hypergraph


def variant(source: Hypergraph, **changes: Any) -> Hypergraph:
    given = {
        "features": source.features,
        "labels": source.labels,
        "incidence": source.incidence,
        "num_hyperedges": source.num_hyperedges,
    }
    return Hypergraph(**{**given, **changes})


def operator_matrix(source: Hypergraph) -> Any:
    """``Dv^-1/2 H De^-1 H^T Dv^-1/2`` with self-loops, as a dense matrix."""
    incidence, num_hyperedges = source.with_self_loops
    h = incidence.matrix(source.num_nodes, num_hyperedges).toarray().astype(float)
    root = h.sum(1) ** -0.5
    return root[:, None] * (h / h.sum(0)) @ h.T * root


def expected(source: Hypergraph, parts: Split, candidate: Hypergraph, convolution: Any) -> list[bool]:
    """A learner of the candidate, which has no hyperedges, applied with a convolution before each layer."""
    learner = averaged_learner(
        torch.tensor(candidate.dense_features()),
        F.one_hot(torch.tensor(candidate.labels), 3).float(),
        how=Training(hidden=HIDDEN),
        chance=generator(0, Stream.SEARCH_JUDGE),
        steps=STEPS,
    )
    (first, last), once = learner.weights, torch.tensor(convolution, dtype=torch.float32)
    hidden = torch.relu(once @ torch.tensor(source.dense_features()) @ first[:, :-1].T + first[:, -1])
    told = (once @ hidden @ last[:, :-1].T + last[:, -1]).argmax(1).numpy()
    right: list[bool] = (told == source.labels)[parts.validation_ids].tolist()
    return right


def test_candidates_of_diffused_rows_are_judged_by_an_hgnn_with_the_weights_of_a_learner(
    source: Hypergraph, parts: Split
) -> None:
    candidate = start(source, parts, Map())
    found = judge_of(source, parts)(candidate, trusts_structure=True)
    assert found.tolist() == expected(source, parts, candidate, operator_matrix(source))
    assert found.double().mean() > 0.4


def test_candidates_of_raw_rows_are_judged_without_structure(source: Hypergraph, parts: Split) -> None:
    candidate = start(source, parts, Map(kernel="none"))
    found = judge_of(source, parts)(candidate, trusts_structure=False)
    assert found.tolist() == expected(source, parts, candidate, np.eye(source.num_nodes))
    everyone = np.arange(source.num_nodes)
    alone = variant(source, incidence=(everyone, everyone), num_hyperedges=source.num_nodes)
    assert torch.equal(judge_of(alone, parts)(candidate, trusts_structure=False), found)


@pytest.mark.parametrize("trusts_structure", [True, False])
def test_equal_candidates_get_equal_answers_whatever_was_drawn_before(
    source: Hypergraph, parts: Split, trusts_structure: bool
) -> None:
    candidate, judge = start(source, parts, Map()), judge_of(source, parts)
    first = judge(candidate, trusts_structure=trusts_structure)
    torch.rand(3)
    assert torch.equal(judge(candidate, trusts_structure=trusts_structure), first)


def test_only_validation_labels_are_compared_with(source: Hypergraph, parts: Split) -> None:
    candidate = start(source, parts, Map())
    labels = source.labels.copy()
    labels[parts.test_ids] = (labels[parts.test_ids] + 1) % 3
    first, second = (
        judge_of(graph, parts)(candidate, trusts_structure=True)
        for graph in (source, variant(source, labels=labels))
    )
    assert torch.equal(first, second) and len(first) == len(parts.validation_ids)
