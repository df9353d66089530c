"""HG-Cond and HG-Cond-NHL from end to end on small data."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from hypercondense.catalogue import condense, make_method
from hypercondense.condensation import Condensation
from hypercondense.condensing.baselines.hgcond import HGCond
from hypercondense.data import synthetic
from hypercondense.hypergraph import Hypergraph, Split, split
from hypercondense.typed import content_of

FAST = {"epochs": 8, "linker_steps": 10, "experts": 2, "expert_steps": 20, "samples": 5}
BOTH = pytest.mark.parametrize("name", ["hg-cond", "hg-cond-nhl"])


@pytest.fixture(scope="module")
def source() -> Hypergraph:
    return synthetic(num_nodes=300, num_hyperedges=200, num_features=12, num_classes=3, seed=1)


def run(name: str, source: Hypergraph, parts: Split | None = None, **how: Any) -> Condensation:
    settings = {**FAST, **how.pop("settings", {})}  # type: ignore[dict-item]
    how = {"nodes": 12, "select": False, **how}
    return condense(source, parts or split(source, seed=0), method=name, settings=settings, **how)


def variant(source: Hypergraph, **changes: object) -> Hypergraph:
    parts = {
        "features": source.features,
        "labels": source.labels,
        "incidence": source.incidence,
        "num_hyperedges": source.num_hyperedges,
    }
    return Hypergraph(**{**parts, **changes})  # type: ignore[arg-type]


@BOTH
def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not(name: str, source: Hypergraph) -> None:
    torch.manual_seed(1)
    first = run(name, source, seed=3)
    torch.manual_seed(2)
    before = torch.random.get_rng_state()
    second, other = run(name, source, seed=3), run(name, source, seed=4)
    assert first.hypergraph.digest == second.hypergraph.digest != other.hypergraph.digest
    assert first.history == second.history
    assert (torch.random.get_rng_state() == before).all()


class Stop(Exception):
    """Stands for kill -9: nothing is caught, nothing is cleaned up."""


@BOTH
def test_an_interrupted_run_continues_to_the_same_bits(name: str, source: Hypergraph, tmp_path: Path) -> None:
    def stop(stage: str, done: int, total: int, /, **figures: float) -> None:
        if stage == "condense" and done == 5:
            raise Stop

    how: dict[str, Any] = {"select": True}
    whole = run(name, source, **how)
    how |= {"checkpoint": tmp_path, "checkpoint_every": 0.0}
    with pytest.raises(Stop):
        run(name, source, progress=stop, **how)
    epochs: list[int] = []

    def note(stage: str, done: int, total: int, /, **figures: float) -> None:
        if stage == "condense":
            epochs.append(done)

    result = run(name, source, resume=True, progress=note, **how)
    assert result.hypergraph.digest == whole.hypergraph.digest
    assert result.history == whole.history
    assert result.final_validation == whole.final_validation
    assert epochs[0] == 5  # the epoch that was not written yet


@BOTH
def test_only_training_labels_are_read(name: str, source: Hypergraph) -> None:
    parts = split(source, seed=0)
    labels = source.labels.copy()
    others = np.concatenate([parts.validation_ids, parts.test_ids])
    labels[others] = (labels[others] + 1) % 3
    changed = variant(source, labels=labels)
    first, second = (run(name, given, parts).hypergraph for given in (source, changed))
    assert (first.features == second.features).all()
    assert all((a == b).all() for a, b in zip(first.incidence, second.incidence, strict=True))


@BOTH
def test_the_losses_fall_and_features_move(name: str, source: Hypergraph) -> None:
    # One waypoint: with many, their differences hide how the losses fall.
    result = run(name, source, settings={"epochs": 60, "experts": 1, "expert_steps": 10})
    start = run(name, source, settings={"epochs": 0})
    assert not np.allclose(start.hypergraph.features, result.hypergraph.features)
    for term in ("gradient", "parameter", "loss"):
        figures = [entry[term] for entry in result.history]
        assert figures[-1] < 0.8 * figures[0]


def test_the_hyperedges_of_hg_cond_nhl_stay_and_those_of_hg_cond_follow_the_features(
    source: Hypergraph,
) -> None:
    settings = {"step": 0.3}
    start = run("hg-cond", source, settings={"epochs": 0}).hypergraph.incidence
    fixed = run("hg-cond-nhl", source, settings=settings).hypergraph.incidence
    moving = run("hg-cond", source, settings=settings).hypergraph.incidence
    assert all((a == b).all() for a, b in zip(start, fixed, strict=True))
    assert len(moving.node_ids) != len(start.node_ids) or (moving.weights != start.weights).any()


@BOTH
def test_members_are_training_nodes_of_the_right_class(name: str, source: Hypergraph) -> None:
    parts = split(source, seed=0)
    result = run(name, source, parts)
    for ids, label in zip(result.members, result.hypergraph.labels, strict=True):
        assert np.isin(ids, parts.train_ids).all()
        assert (source.labels[ids] == label).all()


@BOTH
@pytest.mark.parametrize("incidence", [([], []), ([0, 5], [0, 1])], ids=["none", "singletons"])
def test_a_source_without_hyperedges_to_learn_from_is_a_warning(
    name: str, source: Hypergraph, incidence: tuple[list[int], list[int]]
) -> None:
    result = run(name, variant(source, incidence=incidence, num_hyperedges=len(incidence[0])))
    assert any("no hyperedge of the source has two members" in warning for warning in result.warnings)
    assert result.hypergraph.num_nodes == 12
    assert (result.hypergraph.incidence.node_ids == result.hypergraph.incidence.hyperedge_ids).all()


@BOTH
def test_tiny_data(name: str) -> None:
    source = Hypergraph(
        features=[[1.0, 0.0], [0.0, 1.0], [1.0, 0.1], [0.1, 1.0]],
        labels=[0, 1, 0, 1],
        incidence=([0, 2, 1, 3], [0, 0, 1, 1]),
        num_hyperedges=2,
    )
    every = np.arange(4)
    parts = Split(train_ids=every[:2], validation_ids=every[2:3], test_ids=every[3:])
    condensed = run(name, source, parts, nodes=2).hypergraph
    assert condensed.labels.tolist() == [0, 1]
    assert np.isfinite(condensed.features).all()


@BOTH
def test_constant_features_give_a_finite_result(name: str, source: Hypergraph) -> None:
    result = run(name, variant(source, features=np.zeros((300, 2))))
    assert np.isfinite(result.hypergraph.features).all()


def test_a_nan_stops_with_the_term_and_keeps_the_last_good_snapshot(
    source: Hypergraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hypercondense.condensing.baselines.hgcond import method

    calls = iter(range(100))
    true_losses = method.matching_losses

    def losses(*given: object, **options: object) -> tuple[torch.Tensor, torch.Tensor]:
        gradient, parameter = true_losses(*given, **options)  # type: ignore[arg-type]
        return gradient, parameter * (float("nan") if next(calls) == 4 else 1.0)

    monkeypatch.setattr(method, "matching_losses", losses)
    result = run("hg-cond", source)
    assert any("the parameter term became nan in epoch 4" in warning for warning in result.warnings)
    assert np.isfinite(result.hypergraph.features).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_members": 1}, "max_members must be a whole number >= 2, got 1"),
        ({"expert_steps": 5}, "expert_steps must be a whole number >= 10, got 5"),
        ({"step": 0.0}, "step must be a number > 0"),
        ({"gradient_weight": 0.0, "parameter_weight": 0.0}, "must not both be 0"),
        ({"threshold": 1.0}, "threshold must be a number < 1"),
    ],
)
def test_impossible_options_are_refused_before_the_work(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HGCond(**options)


def test_hg_cond_nhl_is_hg_cond_that_does_not_relink() -> None:
    assert make_method("hg-cond-nhl") == make_method("hg-cond", {"relink": "false"}) == HGCond(relink=False)
    assert len(content_of(HGCond())) == 13
