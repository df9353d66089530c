"""Classes that validation nodes know nothing about, hundreds of classes, teachers that diverge."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest
import torch

from hypercondense.catalogue import condense
from hypercondense.condensation import Condensation
from hypercondense.condensing import teachers
from hypercondense.condensing.teachers import Teachers, opinions
from hypercondense.data import synthetic
from hypercondense.errors import CondensationError
from hypercondense.hypergraph import Hypergraph, Split, split, split_from_ids
from hypercondense.nn.training import Configuration, Inputs, Trained, train
from makers.jobs import quick, variant
from makers.searches import brief_trainings

Way: TypeAlias = Callable[..., Condensation]

WAYS: dict[str, dict[str, Any]] = {
    "learnt": {"method": quick("unrolled", goal__labels="learnt")},
    "ahgcdd": {"method": quick("ahgcdd")},
    "auto": {"budget": 2},
}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Way:
    brief_trainings(monkeypatch)
    return lambda source, parts, **how: condense(source, parts, **WAYS[request.param], **how)


@pytest.fixture(scope="module")
def small() -> Hypergraph:
    return synthetic(num_nodes=90, num_hyperedges=60, num_features=8, num_classes=3, seed=1)


def with_validation(source: Hypergraph, wanted: Callable[[int], bool]) -> Split:
    """A split whose validation nodes have some classes only; the others are for training instead."""
    parts = split(source)
    stay = np.array([wanted(label) for label in source.labels[parts.validation_ids]])
    return split_from_ids(
        source,
        train_ids=np.concatenate([parts.train_ids, parts.validation_ids[~stay]]),
        validation_ids=parts.validation_ids[stay],
        test_ids=parts.test_ids,
    )


@pytest.mark.parametrize("metric", ["accuracy", "macro-f1"])
def test_validation_nodes_of_one_class_are_warned_of(small: Hypergraph, way: Way, metric: str) -> None:
    result = way(small, with_validation(small, lambda label: label == 1), nodes=6, metric=metric)
    assert np.isfinite(result.hypergraph.dense_features()).all()
    assert set(result.hypergraph.labels) == {0, 1, 2}
    assert any("validation nodes are all of class 1" in warning for warning in result.warnings)


def test_a_class_without_validation_nodes_is_condensed_as_others(small: Hypergraph, way: Way) -> None:
    result = way(small, with_validation(small, lambda label: label != 1), nodes=6, metric="macro-f1")
    assert set(result.hypergraph.labels) == {0, 1, 2}
    assert result.final_validation is not None and 0 <= result.final_validation <= 1
    assert not any("validation nodes are all" in warning for warning in result.warnings)


def test_three_hundred_classes(way: Way) -> None:
    made = synthetic(num_nodes=900, num_hyperedges=300, num_features=8, num_classes=3, seed=1)
    source = variant(made, labels=np.arange(900) % 300)
    parts = split(source)
    classes = len(np.unique(source.labels[parts.train_ids]))
    result = way(source, parts, nodes=classes, allocate="adaptive", metric="macro-f1")
    assert len(np.unique(result.hypergraph.labels)) == classes == result.hypergraph.num_nodes
    assert result.final_validation is not None and 0 <= result.final_validation <= 1


def diverging(number: int, seeds: list[int]) -> Callable[..., Trained]:
    """A training whose first ``number`` networks end as no numbers; their seeds are kept."""

    def trained(*what: Any, seed: int, **how: Any) -> Trained:
        made = train(*what, seed=seed, **how)
        if len(seeds) < number:
            with torch.no_grad():
                next(made.model.parameters()).fill_(torch.nan)
        seeds.append(seed)
        return made

    return trained


@pytest.fixture(scope="module")
def its_parts(small: Hypergraph) -> Split:
    return split(small)


def test_teachers_that_all_diverge_are_refused_with_a_reason(
    small: Hypergraph, its_parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teachers, "train", diverging(2, []))
    with pytest.raises(CondensationError, match=r"2 of 2 teachers \(hgnn\) diverged.*scale the features"):
        condense(small, its_parts, method=quick("taught", goal__teachers__number=2), nodes=6)


def test_a_teacher_that_diverges_is_not_asked(
    small: Hypergraph, its_parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds: list[int] = []
    told: list[str] = []
    monkeypatch.setattr(teachers, "train", diverging(1, seeds))
    inputs = Inputs.of(small)
    shares = opinions(Teachers(number=2, network="mlp"), inputs, its_parts, seed=0, warn=told.append)
    assert told == ["1 of 2 teachers (mlp) diverged and were not asked; scale the features"]
    asked = train(Configuration(model="mlp"), inputs, inputs, its_parts, seed=seeds[1]).model
    with torch.no_grad():
        expected = asked(inputs.features, inputs.structure).softmax(1)
    test_ids = its_parts.test_ids.copy()
    torch.testing.assert_close(shares[test_ids], expected[test_ids])


def test_that_a_teacher_diverged_is_a_warning_of_the_result(
    small: Hypergraph, its_parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teachers, "train", diverging(1, []))
    recipe = quick("taught", goal__teachers__number=2)
    result = condense(small, its_parts, method=recipe, nodes=6, select=False)
    assert any("1 of 2 teachers (hgnn) diverged" in warning for warning in result.warnings)
