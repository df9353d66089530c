"""Condensing through the training of a network."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypercondense.condensation import Condensation
from hypercondense.condensing.options import configure
from hypercondense.condensing.refinement import State
from hypercondense.condensing.unrolled import Unrolled
from hypercondense.data import synthetic
from hypercondense.diffusion import diffuse, vanilla
from hypercondense.hypergraph import Hypergraph, Split, split

FAST = {"epochs": 2, "unrolled_epochs": 9, "window": 2, "horizon": 6, "networks": 2, "hidden": 8}
FAST |= {"samples_per_node": 5}


def run(source: Hypergraph, parts: Split, settings: dict[str, Any], **how: Any) -> Condensation:
    return configure(Unrolled, {**FAST, **settings}).condense(source, parts, **{"nodes": 9, **how})


def test_the_error_after_a_training_falls(source: Hypergraph, parts: Split) -> None:
    long = {"epochs": 0, "unrolled_epochs": 80, "unrolled_step": 0.1, "window": 5, "horizon": 20}
    history = run(source, parts, {**long, "samples_per_node": 3}).history
    errors = [row["error"] for row in history]  # networks of one age return every 8 epochs
    assert len(errors) == 80
    assert np.mean(errors[-16:]) < np.mean(errors[:16])


def test_selection_by_the_network_itself_never_returns_less_than_the_start(
    source: Hypergraph, parts: Split
) -> None:
    result = run(source, parts, {"unrolled_step": 5.0})  # far too large: most states are bad
    assert result.start_validation is not None and result.final_validation is not None
    assert result.final_validation >= result.start_validation


def test_without_epochs_features_are_means_of_diffused_rows(source: Hypergraph, parts: Split) -> None:
    result = run(source, parts, {"epochs": 0, "unrolled_epochs": 0, "samples_per_node": 7})
    rows = diffuse(source, vanilla(2))
    for feature, ids in zip(result.hypergraph.features, result.members, strict=True):
        assert len(ids) == 7
        np.testing.assert_array_equal(feature, rows[ids].mean(0, dtype=np.float64).astype(np.float32))
    assert result.history == ()


def test_unrolled_epochs_alone_and_the_closed_form_alone_run(source: Hypergraph, parts: Split) -> None:
    through = run(source, parts, {"epochs": 0, "self_select": False})
    closed = run(source, parts, {"unrolled_epochs": 0, "self_select": False})
    assert [len(result.history) for result in (through, closed)] == [9, 2]
    assert through.hypergraph.digest != closed.hypergraph.digest


def test_the_step_falls_to_nothing_in_either_part() -> None:
    method = configure(Unrolled, {"epochs": 4, "unrolled_epochs": 6, "feature_step": 0.1})
    steps = [method.relative_step(epoch) for epoch in range(method.total_epochs)]
    assert steps[0] == 0.1 and steps[4] == method.unrolled_step
    assert steps[:4] == sorted(steps[:4], reverse=True) and steps[3] < 0.02
    assert steps[4:] == sorted(steps[4:], reverse=True) and steps[-1] < 0.1 * method.unrolled_step


def test_networks_begin_at_different_ages_and_begin_again_at_the_horizon(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    ages: list[list[int]] = []
    update = State.update

    def watched(state: State, *args: Any, **how: Any) -> None:
        ages.append([int(state.extras.get(f"{turn}.age", -1)) for turn in range(2)])
        update(state, *args, **how)

    monkeypatch.setattr(State, "update", watched)
    run(source, parts, {"epochs": 0, "horizon": 6, "window": 2, "networks": 2, "self_select": False})
    # The second begins 3 steps old; whoever is 6 or more steps old begins again.
    turns = [[2, -1], [2, 5], [4, 5], [4, 7], [6, 7], [6, 2], [2, 2], [2, 4], [4, 4]]
    assert ages == turns


@pytest.mark.parametrize("also", ["raw", "half", "both"])
@pytest.mark.parametrize("structure", [False, True])
def test_rows_of_several_maps_are_predicted(
    source: Hypergraph, parts: Split, also: str, structure: bool
) -> None:
    settings = {"structure": structure, "self_select": False}
    result = run(source, parts, {**settings, "also": also})
    assert np.isfinite(result.hypergraph.dense_features()).all()
    assert result.hypergraph.digest != run(source, parts, settings).hypergraph.digest


def test_with_structure_hyperedges_join_nodes(source: Hypergraph, parts: Split) -> None:
    result = run(source, parts, {"structure": True})
    assert result.mean_hyperedge_size >= 2
    assert result.history[-1]["live_thresholds"] > 0


def test_without_structure_every_node_is_its_own_hyperedge(source: Hypergraph, parts: Split) -> None:
    made = run(source, parts, {}).hypergraph
    assert made.num_hyperedges == made.num_incidences == 9


UNUSUAL = {
    "a window beyond the horizon": {"window": 7, "horizon": 3},
    "a horizon of one step": {"window": 1, "horizon": 1},
    "one network": {"networks": 1},
    "more networks than epochs": {"networks": 20},
    "one hidden unit": {"hidden": 1},
    "a batch of one row": {"batch": 1},
}


@pytest.mark.parametrize("kind", UNUSUAL)
def test_unusual_options_give_finite_features(kind: str, source: Hypergraph, parts: Split) -> None:
    result = run(source, parts, UNUSUAL[kind])
    assert np.isfinite(result.hypergraph.dense_features()).all()
    assert len(result.history) == 11
    assert not any("snapshot" in warning for warning in result.warnings)


@pytest.mark.parametrize("nodes", [3, 60])
@pytest.mark.parametrize("num_features", [1, 3])
def test_few_columns_and_one_node_per_class(nodes: int, num_features: int) -> None:
    narrow = synthetic(num_nodes=200, num_hyperedges=80, num_features=num_features, num_classes=3, seed=0)
    made = run(narrow, split(narrow), {}, nodes=nodes).hypergraph
    assert made.features.shape == (nodes, num_features)
    assert np.isfinite(made.dense_features()).all()


def test_features_that_are_zero_for_most_nodes_stay_finite(source: Hypergraph, parts: Split) -> None:
    features = source.dense_features().copy()
    features[np.arange(300) % 10 > 0] = 0
    sparse = Hypergraph(
        features=features,
        labels=source.labels,
        incidence=source.incidence,
        num_hyperedges=source.num_hyperedges,
    )
    result = run(sparse, parts, {"propagation": "none", "start": "kmeans"})
    assert np.isfinite(result.hypergraph.dense_features()).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"window": 0}, "window must be at least 1, got 0"),
        ({"horizon": 0}, "horizon must be at least 1, got 0"),
        ({"networks": 0}, "networks must be at least 1, got 0"),
        ({"hidden": 0}, "hidden must be at least 1, got 0"),
        ({"unrolled_epochs": -1}, "unrolled_epochs must be at least 0, got -1"),
        ({"unrolled_step": 0.0}, "unrolled_step must be above 0, got 0"),
        ({"epochs": -1}, "epochs must be at least 0, got -1"),
    ],
)
def test_wrong_options_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Unrolled(**settings)


# --- Interrupting and resuming ---


class Stop(Exception):
    """Stands for kill -9: nothing is caught, nothing is cleaned up."""


@pytest.mark.parametrize("structure", [False, True])
@pytest.mark.parametrize("stop_at", [1, 2, 3, 6, 10])
def test_an_interrupted_run_continues_to_the_same_bits(
    source: Hypergraph, parts: Split, tmp_path: Path, stop_at: int, structure: bool
) -> None:
    """In the closed form, between both parts, with one network, with networks of two ages, near the end."""

    def progress(stage: str, done: int, total: int, /, **figures: float) -> None:
        if stage == "condense" and done == stop_at:
            raise Stop

    settings = {"structure": structure, "self_select": False}  # the last state is returned
    whole = run(source, parts, settings)
    how: dict[str, Any] = {"checkpoint": tmp_path, "checkpoint_every": 0.0}
    with pytest.raises(Stop):
        run(source, parts, settings, progress=progress, **how)
    done_again: list[int] = []
    result = run(
        source,
        parts,
        settings,
        resume=True,
        progress=lambda stage, done, total, /, **_: done_again.append(done) if stage == "condense" else None,
        **how,
    )
    assert result.hypergraph.digest == whole.hypergraph.digest
    assert result.history == whole.history
    assert done_again[0] == stop_at  # it did not begin again


def test_a_choice_by_the_network_itself_survives_an_interruption(
    source: Hypergraph, parts: Split, tmp_path: Path
) -> None:
    whole = run(source, parts, {})
    run(source, parts, {}, checkpoint=tmp_path)
    again = run(source, parts, {}, checkpoint=tmp_path, resume=True)  # from the very end
    assert again.hypergraph.digest == whole.hypergraph.digest
    assert (again.start_validation, again.final_validation) == (
        whole.start_validation,
        whole.final_validation,
    )


def test_the_same_seed_gives_the_same_bits_and_another_does_not(source: Hypergraph, parts: Split) -> None:
    first, second, other = (run(source, parts, {"self_select": False}, seed=seed) for seed in (3, 3, 4))
    assert first.hypergraph.digest == second.hypergraph.digest != other.hypergraph.digest
    assert first.history == second.history
