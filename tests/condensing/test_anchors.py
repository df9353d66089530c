"""Hyperedges that are learnt in turns with the features."""

from typing import Any

import numpy as np
import pytest
import torch

from hypercondense.condensing.anchors import Anchors, WarmUp, sharpened
from hypercondense.condensing.maps import Map
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.run import condense_by
from hypercondense.diffusion import diffuse_dense, heat_kernel_series
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.runtime.rng import seeded
from makers.jobs import job_of, quick

LABELS = torch.tensor([0, 0, 0, 1, 1, 1])
LOGGED = {"density", "mean_hyperedge_size", "class_purity", "live_thresholds", "coarse", "fine", "loss"}


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


# --- Turns ---


def test_turns_alternate_between_features_and_structure() -> None:
    turns = [Anchors(feature_turns=2, structure_turns=3).features_turn(epoch) for epoch in range(7)]
    assert turns == [True, True, False, False, False, True, True]
    assert all(Recipe().features_turn(epoch) for epoch in range(50))  # without structure
    assert not any(Anchors(feature_turns=0).features_turn(epoch) for epoch in range(50))
    assert all(Anchors(structure_turns=0).features_turn(epoch) for epoch in range(50))


@pytest.mark.parametrize("name", ["ahgcdd", "ridge"])
def test_whose_turn_it_is_not_stays_as_it_is(name: str, source: Hypergraph, parts: Split) -> None:
    job = job_of(source, parts)
    anchors = {"structure": {"hidden": 32, "step": 0.01}}

    def run(**settings: Any) -> Hypergraph:
        return quick(name, **anchors, **settings).run(job).hypergraph

    start = run(goal=None)
    only_structure = run(feature_turns=0, structure_turns=1)
    assert (only_structure.features == start.features).all()
    assert only_structure.digest != start.digest
    # Features alone move; the structure, which is made from them by the same MLP, may follow.
    assert (run(feature_turns=1, structure_turns=0).features != start.features).any()


def test_no_turns_at_all_are_refused() -> None:
    with pytest.raises(ValueError, match="feature_turns and structure_turns must not both be 0"):
        Anchors(feature_turns=0, structure_turns=0)


# --- The start ---


@pytest.mark.parametrize("time", [0.5, 2.0, 5.0])
def test_sharpened_features_turn_into_the_given_ones_when_diffused(time: float) -> None:
    features, taught = normal(6, 3), torch.rand(6, 6, dtype=torch.float64)
    rows_map = Map(time=time)
    torch.testing.assert_close(rows_map.condensed(sharpened(features, taught, rows_map), taught), features)


def test_a_power_cannot_be_undone_and_its_heat_kernel_is_undone_instead() -> None:
    features, taught = normal(6, 3), torch.rand(6, 6, dtype=torch.float64)
    sharp = sharpened(features, taught, Map(kernel="power", time=3.0))
    torch.testing.assert_close(
        diffuse_dense(sharp, taught, heat_kernel_series(3.0), self_loops=True), features
    )


def prepared(**fields: Any) -> Any:
    with seeded(0):
        return Anchors(hidden=32, **fields).prepare(normal(6, 3).float(), LABELS, Map())


def test_a_warm_up_teaches_hyperedges_of_one_class_and_sharpens_features() -> None:
    features, generator = prepared(candidates=None)
    assert not torch.equal(features, normal(6, 3).float())
    with torch.no_grad():
        structure = generator(features)
    members = structure > 0
    assert (members.sum(0) >= 2).all()
    for anchor in range(6):
        assert (LABELS[members[:, anchor]] == LABELS[anchor]).all()


@pytest.mark.parametrize("warm", [None, WarmUp(sharpen=False)])
def test_features_that_are_not_sharpened_are_as_they_were(warm: WarmUp | None) -> None:
    assert torch.equal(prepared(warm=warm)[0], normal(6, 3).float())


def test_without_a_warm_up_the_generator_is_untrained() -> None:
    untrained, taught = (prepared(warm=warm)[1].state_dict() for warm in (None, WarmUp(sharpen=False)))
    assert untrained.keys() == taught.keys()
    assert any(not torch.equal(untrained[name], taught[name]) for name in untrained)
    again = prepared(warm=None)[1].state_dict()
    assert all(torch.equal(untrained[name], again[name]) for name in untrained)


# --- Condensing with them ---


def test_the_structure_is_alive_and_logged(source: Hypergraph, parts: Split) -> None:
    result = condense_by(quick("ahgcdd"), source, parts, nodes=9, select=False)
    assert result.mean_hyperedge_size >= 2
    assert not result.warnings
    assert result.history[-1].keys() >= LOGGED


def test_without_them_every_node_is_its_own_hyperedge(source: Hypergraph, parts: Split) -> None:
    made = quick("ahgcdd-x").run(job_of(source, parts))
    condensed = made.hypergraph
    assert condensed.num_hyperedges == condensed.num_incidences == 9
    assert (condensed.incidence.node_ids == condensed.incidence.hyperedge_ids).all()
    assert made.history[-1].keys() == {"epoch", "coarse", "fine", "loss"}


def test_an_empty_structure_is_a_warning_and_becomes_the_identity(source: Hypergraph, parts: Split) -> None:
    recipe = quick("ahgcdd", structure__warm=None, threshold_start=0.99)
    result = condense_by(recipe, source, parts, nodes=9, select=False)
    assert any("structure is empty" in warning for warning in result.warnings)
    assert result.hypergraph.num_hyperedges == 9


@pytest.mark.parametrize(
    ("threshold", "kernel"),
    [
        ("anchor", "heat-kernel"),
        ("shared", "vanilla"),
        ("fixed", "none"),
        ("anchor", "power"),
        ("shared", "none"),
        ("fixed", "heat-kernel"),
    ],
)
def test_every_ablation_runs(source: Hypergraph, parts: Split, threshold: str, kernel: str) -> None:
    recipe = quick("ahgcdd", threshold=threshold, map__kernel=kernel, candidates=None, goal__epochs=4)
    made = recipe.run(job_of(source, parts))
    assert np.isfinite(made.hypergraph.dense_features()).all()
    assert len(made.history) == 4


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"candidates": 1}, "candidates must be a whole number >= 2, got 1"),
        ({"threshold_start": 1.0}, "threshold_start must be a number < 1"),
        ({"layers": 1}, "layers must be a whole number >= 2"),
        ({"threshold": "none"}, "threshold must be one of anchor, shared, fixed, got 'none'"),
    ],
)
def test_fields_that_make_no_sense_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Anchors(**fields)
