"""Algorithm 1 from end to end on small data: determinism, resuming, edge cases, break-downs."""

from pathlib import Path

import numpy as np
import pytest
import torch

from hypercondense.catalogue import METHODS, condense
from hypercondense.condensing.ahgcdd import AHGCDD, AHGCDDX
from hypercondense.data import synthetic
from hypercondense.errors import CondensationError
from hypercondense.hypergraph import Hypergraph, Split, split

FAST = {"epochs": 12, "hidden": 16, "warm_steps": 20, "samples_per_node": 5}
FAST |= {"feature_turns": 2, "structure_turns": 2}  # both have turns after every interruption
FAST_X = {"epochs": 12, "samples_per_node": 5}
FAST_BY_NAME = {"ahgcdd": FAST, "ahgcdd-x": FAST_X}
BOTH = pytest.mark.parametrize("name", ["ahgcdd", "ahgcdd-x"])


@pytest.fixture(scope="module")
def source() -> Hypergraph:
    return synthetic(num_nodes=300, num_hyperedges=200, num_features=12, num_classes=3, seed=1)


def run(name: str, source: Hypergraph, parts: Split | None = None, **how: object):
    parts = parts or split(source, seed=0)
    settings = {**FAST_BY_NAME[name], **how.pop("settings", {})}  # type: ignore[dict-item]
    return condense(source, parts, method=name, settings=settings, **{"nodes": 9, **how})


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
    first, second, other = (run(name, source, seed=seed) for seed in (3, 3, 4))
    assert first.hypergraph.digest == second.hypergraph.digest != other.hypergraph.digest
    assert first.history == second.history


@BOTH
def test_the_state_of_torchs_global_generator_does_not_matter_and_is_left_alone(
    name: str, source: Hypergraph
) -> None:
    torch.manual_seed(1)
    first = run(name, source).hypergraph.digest
    torch.manual_seed(2)
    before = torch.random.get_rng_state()
    assert run(name, source).hypergraph.digest == first
    assert (torch.random.get_rng_state() == before).all()


@BOTH
def test_only_training_labels_are_read(name: str, source: Hypergraph) -> None:
    parts = split(source, seed=0)
    labels = source.labels.copy()
    others = np.concatenate([parts.validation_ids, parts.test_ids])
    labels[others] = (labels[others] + 1) % 3
    changed = variant(source, labels=labels)
    assert (
        run(name, source, parts).hypergraph.features == run(name, changed, parts).hypergraph.features
    ).all()


@BOTH
def test_features_move_and_the_loss_falls(name: str, source: Hypergraph) -> None:
    settings = {"epochs": 60, "schedule": "coarse-only"}
    start, end = run(name, source, settings={"epochs": 0}), run(name, source, settings=settings)
    assert not np.allclose(start.hypergraph.features, end.hypergraph.features)
    assert end.history[-1]["loss"] < end.history[0]["loss"]


def test_turns_alternate_between_features_and_structure(source: Hypergraph) -> None:
    turns = [AHGCDD(feature_turns=2, structure_turns=3).updates_features(epoch) for epoch in range(7)]
    assert turns == [True, True, False, False, False, True, True]
    fixed = run("ahgcdd", source, settings={"feature_turns": 0, "structure_turns": 1})
    start = run("ahgcdd", source, settings={"epochs": 0})
    assert (fixed.hypergraph.features == start.hypergraph.features).all()
    assert fixed.hypergraph.digest != start.hypergraph.digest
    assert all(AHGCDDX().updates_features(epoch) for epoch in range(50))


def test_the_structure_is_alive_and_logged(source: Hypergraph) -> None:
    result = run("ahgcdd", source)
    assert result.mean_hyperedge_size >= 2
    assert not result.warnings
    for key in (
        "density",
        "mean_hyperedge_size",
        "class_purity",
        "live_thresholds",
        "coarse",
        "fine",
        "loss",
    ):
        assert key in result.history[-1]


def test_ahgcdd_x_has_the_identity_structure(source: Hypergraph) -> None:
    condensed = run("ahgcdd-x", source).hypergraph
    assert condensed.num_hyperedges == condensed.num_incidences == 9
    assert (condensed.incidence.node_ids == condensed.incidence.hyperedge_ids).all()


def test_an_empty_structure_is_a_warning_and_becomes_the_identity(source: Hypergraph) -> None:
    result = run("ahgcdd", source, settings={"warm_steps": 0, "threshold_start": 0.99})
    assert any("structure is empty" in warning for warning in result.warnings)
    assert result.hypergraph.num_hyperedges == 9


@pytest.mark.parametrize("threshold", ["anchor", "shared", "fixed"])
@pytest.mark.parametrize("propagation", ["heat-kernel", "vanilla", "none"])
def test_every_ablation_runs(source: Hypergraph, threshold: str, propagation: str) -> None:
    result = run(
        "ahgcdd", source, settings={"threshold": threshold, "propagation": propagation, "candidates": None}
    )
    assert result.provenance.settings["threshold"] == threshold
    assert result.provenance.settings["propagation"] == propagation


@BOTH
def test_members_are_training_nodes_of_the_right_class(name: str, source: Hypergraph) -> None:
    parts = split(source, seed=0)
    result = run(name, source, parts)
    for ids, label in zip(result.members, result.hypergraph.labels, strict=True):
        assert np.isin(ids, parts.train_ids).all()
        assert (source.labels[ids] == label).all()


# --- Selection ---


@BOTH
def test_selection_never_returns_less_than_the_start(name: str, source: Hypergraph) -> None:
    scores = iter([0.9, 0.1, 0.2, 0.3, 0.4, 0.5])
    result = run(name, source, select=lambda candidate: next(scores))
    assert result.start_validation == result.final_validation == 0.9
    start = run(name, source, settings={"epochs": 0})
    assert (result.hypergraph.features == start.hypergraph.features).all()


def test_selection_returns_the_best_snapshot_and_the_earlier_of_equals(source: Hypergraph) -> None:
    seen: list[str] = []

    def select(candidate: Hypergraph) -> float:
        seen.append(candidate.digest)
        return [0.1, 0.7, 0.7, 0.2, 0.3, 0.0][len(seen) - 1]

    result = run("ahgcdd-x", source, select=select, settings={"snapshots": 4})
    assert len(seen) == 6  # the start, four snapshots, and random nodes to compare with
    assert result.hypergraph.digest == seen[1]
    assert result.final_validation == 0.7


# --- Interrupting and resuming ---


class Stop(Exception):
    """Stands for kill -9: nothing is caught, nothing is cleaned up."""


@BOTH
@pytest.mark.parametrize("stop_at", [1, 6, 11])
def test_an_interrupted_run_continues_to_the_same_bits(
    name: str, source: Hypergraph, tmp_path: Path, stop_at: int
) -> None:
    def progress(stage: str, done: int, total: int, /, **figures: float) -> None:
        if stage == "condense" and done == stop_at:
            raise Stop

    whole = run(name, source, select=lambda candidate: float(candidate.dense_features().mean()))
    how = {"checkpoint": tmp_path, "checkpoint_every": 0.0}
    how["select"] = lambda candidate: float(candidate.dense_features().mean())
    with pytest.raises(Stop):
        run(name, source, progress=progress, **how)
    continued_from: list[int] = []
    result = run(
        name,
        source,
        resume=True,
        progress=lambda stage, done, total, /, **_: continued_from.append(done),
        **how,
    )
    assert result.hypergraph.digest == whole.hypergraph.digest
    assert result.history == whole.history
    assert result.final_validation == whole.final_validation
    assert len(continued_from) < 14 or stop_at == 1  # it did not begin again


def test_resuming_with_other_options_is_refused_and_says_which(source: Hypergraph, tmp_path: Path) -> None:
    run("ahgcdd-x", source, checkpoint=tmp_path)
    with pytest.raises(CondensationError, match="was made with seed 0, not 1"):
        run("ahgcdd-x", source, checkpoint=tmp_path, resume=True, seed=1)
    with pytest.raises(CondensationError, match="was made with 9 condensed nodes, not 12; use the same"):
        run("ahgcdd-x", source, checkpoint=tmp_path, resume=True, nodes=12)


def test_resuming_with_another_kind_of_selection_is_refused(source: Hypergraph, tmp_path: Path) -> None:
    run("ahgcdd-x", source, checkpoint=tmp_path)
    with pytest.raises(CondensationError, match="was made with selection False, not True"):
        run("ahgcdd-x", source, checkpoint=tmp_path, resume=True, select=lambda candidate: 0.5)


def test_resuming_from_nothing_starts_from_the_beginning(source: Hypergraph, tmp_path: Path) -> None:
    assert (
        run("ahgcdd-x", source, checkpoint=tmp_path / "none", resume=True).hypergraph.digest
        == run("ahgcdd-x", source).hypergraph.digest
    )


# --- Break-downs ---


def test_a_nan_in_the_middle_stops_with_the_term_and_keeps_the_last_good_snapshot(
    source: Hypergraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hypercondense.condensing import ahgcdd

    calls = iter(range(100))
    true_loss = ahgcdd.fine_loss
    monkeypatch.setattr(
        ahgcdd, "fine_loss", lambda *a, **k: true_loss(*a, **k) * (float("nan") if next(calls) == 5 else 1.0)
    )
    result = run("ahgcdd", source)
    assert any("the fine term became nan in epoch 5" in warning for warning in result.warnings)
    assert np.isfinite(result.hypergraph.features).all()
    assert len(result.history) == 5


def test_a_step_that_destroys_the_features_is_caught(source: Hypergraph) -> None:
    result = run("ahgcdd-x", source, settings={"feature_step": 1e37, "unit_vectors": False})
    assert result.warnings and "last good snapshot" in result.warnings[0]
    assert np.isfinite(result.hypergraph.features).all()


def test_running_out_of_memory_says_what_lowers_the_need(
    source: Hypergraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hypercondense.condensing import ahgcdd

    def out_of_memory(*_: object, **__: object) -> None:
        raise RuntimeError(
            "[enforce fail at alloc_cpu.cpp:1] DefaultCPUAllocator: can't allocate memory: you tried"
        )

    monkeypatch.setattr(ahgcdd, "nearest_candidates", out_of_memory)
    with pytest.raises(CondensationError, match=r"out of memory .*lower the option candidates"):
        run("ahgcdd", source)


# --- Unusual sources ---


@BOTH
def test_no_hyperedges_at_all(name: str, source: Hypergraph) -> None:
    result = run(name, variant(source, incidence=([], []), num_hyperedges=0))
    assert result.hypergraph.num_nodes == 9


@BOTH
def test_a_hyperedge_of_all_nodes(name: str, source: Hypergraph) -> None:
    everyone = np.arange(source.num_nodes)
    assert (
        run(name, variant(source, incidence=(everyone, everyone * 0), num_hyperedges=1)).hypergraph.num_nodes
        == 9
    )


@BOTH
def test_constant_features_are_a_warning(name: str, source: Hypergraph) -> None:
    result = run(
        name, variant(source, features=np.ones((300, 4))), settings={"epochs": 0, "propagation": "none"}
    )
    assert any("same features" in warning for warning in result.warnings)


@BOTH
def test_one_class_only_is_a_warning(name: str, source: Hypergraph) -> None:
    result = run(name, variant(source, labels=np.zeros(300, int)))
    assert any("all of one class" in warning for warning in result.warnings)


@BOTH
def test_a_class_with_one_training_node(name: str, source: Hypergraph) -> None:
    labels = np.zeros(300, int)
    labels[::2] = 1
    parts = split(source, seed=0)
    labels[parts.train_ids[0]] = 2
    result = run(name, variant(source, labels=labels), parts)
    assert result.hypergraph.labels.tolist().count(2) == 1


@BOTH
def test_a_class_without_training_nodes_is_a_warning(name: str, source: Hypergraph) -> None:
    labels = np.zeros(300, int)
    labels[::2] = 1
    first = split(source, seed=0)
    labels[first.test_ids[0]] = 2
    changed = variant(source, labels=labels)
    result = run(name, changed, split(changed, seed=0))
    assert any("no training node of class 2" in warning for warning in result.warnings)


@BOTH
def test_sparse_features_and_weighted_incidence(name: str, source: Hypergraph) -> None:
    import scipy.sparse as sp

    weights = np.linspace(0.5, 2.0, source.num_incidences)
    changed = variant(
        source, features=sp.csr_array(source.features), incidence=(*source.incidence[:2], weights)
    )
    assert run(name, changed).hypergraph.num_features == 12


def test_the_default_method_is_registered() -> None:
    assert condense.__kwdefaults__ is not None and condense.__kwdefaults__["method"] in METHODS


@BOTH
@pytest.mark.parametrize("start", ["uniform", "kmeans"])
def test_a_memory_budget_changes_no_bit(name: str, start: str, source: Hypergraph, tmp_path: Path) -> None:
    settings = {"start": start}
    within = run(name, source, settings=settings, memory=20_000_000, cache_dir=tmp_path)
    assert within.hypergraph.digest == run(name, source, settings=settings).hypergraph.digest


@BOTH
def test_one_condensed_node_with_one_feature(name: str) -> None:
    tiny = Hypergraph(
        features=[[1.0], [2.0], [3.0], [4.0]], labels=[0] * 4, incidence=([], []), num_hyperedges=0
    )
    assert run(name, tiny, nodes=1).hypergraph.num_nodes == 1


@BOTH
def test_fewer_condensed_nodes_than_class_numbers(name: str, source: Hypergraph) -> None:
    labels = np.where(source.labels == 2, 7, source.labels)  # classes 0, 1 and 7
    assert run(name, variant(source, labels=labels), nodes=3).hypergraph.labels.tolist() == [0, 1, 7]
