"""What every method in the registry must do. A new method needs a row in ``SETTINGS`` and nothing else."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hypercondense.catalogue import METHODS, make_method
from hypercondense.condensation import Condensation, load_condensed
from hypercondense.condensing.allotment import condensed_labels
from hypercondense.data import synthetic
from hypercondense.hypergraph import Hypergraph, Split, split, split_from_ids

#: Options that make a method fast on a few nodes.
SETTINGS: dict[str, dict[str, Any]] = {
    "ahgcdd": {"epochs": 6, "feature_turns": 2, "structure_turns": 2, "hidden": 8, "warm_steps": 3},
    "ahgcdd-x": {"epochs": 4},
    "random": {},
    "herding": {"embedding": "hgnn", "epochs": 3},
    "k-center": {"embedding": "diffused"},
    "hgcpa": {"epochs": 4},
    "auto": {"budget": "7", "finalists": 2},
    "ridge": {"epochs": 4, "self_select": False},
    "unrolled": {
        "epochs": 2,
        "unrolled_epochs": 3,
        "window": 2,
        "horizon": 4,
        "hidden": 8,
        "self_select": False,
    },
    "taught": {
        "unrolled_epochs": 3,
        "window": 2,
        "horizon": 4,
        "hidden": 8,
        "self_select": False,
        "teachers": 1,
    },
    "bundled": {
        "epochs": 2,
        "unrolled_epochs": 3,
        "window": 2,
        "horizon": 4,
        "hidden": 8,
        "self_select": False,
    },
    "hg-cond-nhl": {"epochs": 3, "linker_steps": 3, "experts": 1, "expert_steps": 10},
    "hg-cond": {"epochs": 3, "linker_steps": 3, "experts": 1, "expert_steps": 10},
}
NODES = 9


def plain(**changes: Any) -> Hypergraph:
    """48 nodes of 3 classes; ``changes`` replace arguments of its construction."""
    made = synthetic(num_nodes=48, num_hyperedges=20, num_features=6, num_classes=3, seed=1)
    given = {
        "features": made.features,
        "labels": made.labels,
        "incidence": made.incidence,
        "num_hyperedges": made.num_hyperedges,
        "name": "plain",
    }
    return Hypergraph(**{**given, **changes})


def with_labels(change: Callable[[Any], None]) -> Hypergraph:
    labels = plain().labels.copy()
    change(labels)
    return plain(labels=labels)


def _rare_class(labels: Any) -> None:
    labels[labels == 2] = 1
    labels[5] = 2


def _unlabelled(labels: Any) -> None:
    labels[::3] = -1


def _one_class(labels: Any) -> None:
    labels[:] = 0


def _weighted() -> Hypergraph:
    node_ids, hyperedge_ids, _ = plain().incidence
    weights = np.random.default_rng(0).uniform(0.5, 2, len(node_ids)).astype(np.float32)
    return plain(incidence=(node_ids, hyperedge_ids, weights))


def _sparse() -> Hypergraph:
    features = plain().dense_features()
    return plain(features=sp.csr_array(np.where(features > 0.5, features, 0)))


SOURCES: dict[str, Callable[[], Hypergraph]] = {
    "plain": plain,
    "no hyperedges": lambda: plain(incidence=([], []), num_hyperedges=0),
    "a hyperedge of all nodes": lambda: plain(incidence=(np.arange(48), np.zeros(48)), num_hyperedges=1),
    "one class": lambda: with_labels(_one_class),
    "a class with one training node": lambda: with_labels(_rare_class),
    "constant features": lambda: plain(features=np.ones((48, 6))),
    "zero features": lambda: plain(features=np.zeros((48, 6))),
    "one feature": lambda: plain(features=np.arange(48.0)[:, None]),
    "sparse features": _sparse,
    "weighted incidence": _weighted,
    "unlabelled nodes": lambda: with_labels(_unlabelled),
}

every_method = pytest.mark.parametrize("name", METHODS)
every_source = pytest.mark.parametrize("kind", SOURCES)


def parts_of(source: Hypergraph) -> Split:
    return split(source, seed=0, per_class=1)


def condensed(name: str, source: Hypergraph, parts: Split, **how: Any) -> Condensation:
    return make_method(name, SETTINGS[name]).condense(source, parts, **{"nodes": NODES, **how})


def test_every_registered_method_is_held_to_this_contract() -> None:
    assert set(SETTINGS) == set(METHODS)


def test_names_in_the_registry_are_those_of_the_methods() -> None:
    assert {name: method.name for name, method in METHODS.items()} == {name: name for name in METHODS}


@every_method
@every_source
def test_sizes_labels_and_members_are_as_promised(name: str, kind: str) -> None:
    source = SOURCES[kind]()
    parts = parts_of(source)
    train_labels = source.labels[parts.train_ids]
    result = condensed(name, source, parts)
    made = result.hypergraph
    expected = condensed_labels(train_labels, num_nodes=source.num_nodes, nodes=NODES)
    assert made.labels.tolist() == expected.tolist()
    assert made.features.shape == (NODES, source.num_features)
    assert made.num_classes == source.num_classes
    assert np.isfinite(made.dense_features()).all()
    assert len(result.members) == NODES
    for label, ids in zip(made.labels, result.members, strict=True):
        assert len(ids) > 0
        assert np.isin(ids, parts.train_ids).all()
        assert (source.labels[ids] == label).all()


@every_method
@every_source
def test_equal_seeds_give_equal_bits_and_the_source_is_not_modified(name: str, kind: str) -> None:
    source = SOURCES[kind]()
    parts = parts_of(source)
    before = SOURCES[kind]().digest
    first, second = (condensed(name, source, parts, seed=3) for _ in range(2))
    assert first.hypergraph.digest == second.hypergraph.digest
    assert first.warnings == second.warnings
    fresh = Hypergraph.from_arrays(*source.to_arrays())  # its digest is not cached
    assert fresh.digest == before


@every_method
def test_only_labels_of_training_nodes_are_read(name: str) -> None:
    source = plain()
    parts = parts_of(source)
    hidden = np.setdiff1d(np.arange(source.num_nodes), parts.train_ids)
    if METHODS[name].selects_itself:  # validation labels choose between candidates, test labels never
        hidden = np.setdiff1d(hidden, parts.validation_ids)
    labels = source.labels.copy()
    labels[hidden] = np.random.default_rng(0).permutation(labels[hidden])
    assert (labels != source.labels).any()
    results = [condensed(name, graph, parts).hypergraph for graph in (source, plain(labels=labels))]
    assert results[0].digest == results[1].digest


@every_method
def test_saving_and_loading_gives_the_same_content(name: str, tmp_path: Path) -> None:
    source = _weighted()
    result = condensed(name, source, parts_of(source))
    result.save(tmp_path / "result")
    loaded = load_condensed(tmp_path / "result")
    assert loaded.hypergraph.digest == result.hypergraph.digest
    assert loaded.provenance == result.provenance
    assert loaded.warnings == result.warnings
    for ids, loaded_ids in zip(result.members, loaded.members, strict=True):
        np.testing.assert_array_equal(ids, loaded_ids)


@every_method
def test_provenance_makes_the_same_method_again(name: str) -> None:
    source = plain()
    result = condensed(name, source, parts_of(source))
    assert make_method(name, result.provenance.settings) == make_method(name, SETTINGS[name])


@every_method
def test_progress_never_goes_beyond_its_total(name: str) -> None:
    source = plain()
    seen: list[tuple[str, int, int]] = []

    def watch(stage: str, done: int, total: int, **figures: float) -> None:
        seen.append((stage, done, total))

    condensed(name, source, parts_of(source), progress=watch)
    assert all(0 <= done <= total for _, done, total in seen)


@every_method
def test_one_condensed_node_for_each_class_is_enough(name: str) -> None:
    source = plain()
    assert condensed(name, source, parts_of(source), nodes=3).hypergraph.labels.tolist() == [0, 1, 2]


@every_method
def test_the_score_of_the_result_is_reported(name: str) -> None:
    source = plain()
    result = condensed(name, source, parts_of(source), select=lambda graph: float(graph.features[0, 0]))
    assert result.final_validation == pytest.approx(float(result.hypergraph.features[0, 0]))


@every_method
def test_a_result_below_random_selection_is_warned_about(name: str) -> None:
    source = plain()
    parts = parts_of(source)
    random = condensed("random", source, parts, seed=5).hypergraph
    result = condensed(name, source, parts, seed=5, select=lambda graph: float(graph.digest == random.digest))
    warned = any("worse than random" in warning for warning in result.warnings)
    assert warned == (result.hypergraph.digest != random.digest)


@every_method
def test_a_result_as_good_as_random_selection_is_not_warned_about(name: str) -> None:
    source = plain()
    result = condensed(name, source, parts_of(source), select=lambda graph: 0.5)
    assert not any("worse than random" in warning for warning in result.warnings)


@every_method
def test_constant_features_and_a_single_class_are_warned_about(name: str) -> None:
    for kind, words in {"constant features": "the same features", "one class": "all of one class"}.items():
        source = SOURCES[kind]()
        result = condensed(name, source, parts_of(source))
        assert any(words in warning for warning in result.warnings), kind


@every_method
def test_a_class_without_training_nodes_is_warned_about(name: str) -> None:
    source = plain()
    known = np.flatnonzero(source.labels != 2)
    parts = split_from_ids(source, train_ids=known[:20], validation_ids=known[20:], test_ids=[])
    result = condensed(name, source, parts)
    assert set(result.hypergraph.labels) == {0, 1}
    assert any("no training node of class 2" in warning for warning in result.warnings)


def test_half_of_the_nodes_without_features_is_not_called_constant() -> None:
    features = plain().dense_features().copy()
    features[::2] = 0
    source = plain(features=features)
    result = condensed("ahgcdd-x", source, parts_of(source))
    assert not any("same features" in warning for warning in result.warnings)
