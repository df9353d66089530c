"""The judge by rows, which large sources have in place of short trainings."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypercondense.condensing import material as module
from hypercondense.condensing.judging import RowsJudge
from hypercondense.condensing.maps import Map
from hypercondense.condensing.material import Material
from hypercondense.condensing.problem import Problem
from hypercondense.condensing.run import condense_by
from hypercondense.data import synthetic
from hypercondense.diffusion import diffuse
from hypercondense.hypergraph import Hypergraph, split
from hypercondense.nn.short_trainings import ShortTrainings
from makers.jobs import quick


@pytest.fixture(scope="module")
def source() -> Hypergraph:
    return synthetic(num_nodes=200, num_hyperedges=150, num_features=6, num_classes=3, noise=0.5, seed=1)


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty validation nodes are many."""
    monkeypatch.setattr(module, "MANY", 30)


def test_few_validation_nodes_have_no_sample(source: Hypergraph) -> None:
    assert len(Material(source, split(source)).sampled_ids) == 0


@pytest.mark.usefixtures("many")
def test_a_sample_is_even_and_its_rows_are_those_of_its_nodes(source: Hypergraph) -> None:
    parts = split(source)
    material = Material(source, parts)
    positions = np.searchsorted(parts.validation_ids, material.sampled_ids)
    assert len(positions) == 30 and set(np.diff(positions)) <= {1, 2}  # of 50
    alone = material.sampled_rows(Map())
    np.testing.assert_array_equal(alone, material.diffused(Map())[material.sampled_ids])
    material.parts(Map())
    np.testing.assert_array_equal(alone, material.sampled_rows(Map()))


@pytest.mark.usefixtures("many")
def test_rows_that_tell_the_classes_score_1_and_rows_that_mix_them_up_0(source: Hypergraph) -> None:
    means = 5 * np.eye(3, 6, dtype=np.float32)
    clear = Hypergraph(
        features=means[source.labels], labels=source.labels, incidence=([], []), num_hyperedges=0
    )
    judge = RowsJudge(Material(clear, split(clear)), Map())
    for classes, expected in (([0, 1, 2], 1.0), ([1, 2, 0], 0.0)):
        small = Hypergraph(features=means, labels=classes, incidence=([], []), num_hyperedges=0)
        assert judge(small) == expected


@pytest.mark.usefixtures("many")
def test_where_validation_nodes_are_many_rows_choose_and_no_network_is_trained(
    source: Hypergraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: ShortTrainings, candidate: Hypergraph) -> float:
        raise AssertionError("a network was asked")

    monkeypatch.setattr(ShortTrainings, "__call__", refuse)
    parts, recipe = split(source), quick("ahgcdd")
    ways: tuple[dict[str, Any], ...] = (
        {},
        {"cache_dir": tmp_path},
        {"memory": "50MB", "cache_dir": tmp_path},
    )
    results = [condense_by(recipe, source, parts, nodes=9, **way) for way in ways]
    assert len({result.hypergraph.digest for result in results}) == 1
    told = RowsJudge(Material(source, parts), Map())(results[0].hypergraph)
    assert results[0].final_validation == told


@pytest.mark.usefixtures("many")
def test_models_of_a_prediction_are_asked_about_the_sample_as_well(source: Hypergraph) -> None:
    material = Material(source, split(source))
    maps = (Map(), Map(kernel="power", walks=True))
    problem = Problem.of(material, maps, np.array([0, 1, 2]))
    assert problem.validation_labels.tolist() == source.labels[material.sampled_ids].tolist()
    for one, rows in zip(maps, problem.validation, strict=True):
        np.testing.assert_array_equal(
            rows, diffuse(source, one.polynomial, walks=one.walks)[material.sampled_ids]
        )
    assert len(Problem.of(material, maps, np.array([0, 1, 2]), judges=False).validation_labels) == 0
