"""What every method of the catalogue must do. A new method needs a row in ``SETTINGS`` and nothing else."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hypercondense import condense
from hypercondense.catalogue import METHODS, make_method
from hypercondense.cli import run as run_command
from hypercondense.condensation import Condensation, load_condensed
from hypercondense.condensing.allotment import condensed_labels
from hypercondense.condensing.assembly import induced
from hypercondense.condensing.baselines.selection import random_positions
from hypercondense.condensing.job import Job
from hypercondense.condensing.material import Material
from hypercondense.condensing.settings import as_text
from hypercondense.data import synthetic
from hypercondense.data.formats import write_native
from hypercondense.experiments.plan_reader import read_plan
from hypercondense.experiments.work import condensed_for, jobs_of, perform
from hypercondense.hypergraph import Hypergraph, Split, split, split_from_ids
from hypercondense.runtime.rng import Stream, numpy_generator
from hypercondense.typed import content_of
from makers.searches import brief_trainings, brief_trials

_TRAINING = {
    "goal.training.epochs": 3,
    "goal.training.window": 2,
    "goal.training.horizon": 4,
    "goal.training.hidden": 8,
}
_ANCHORS = {
    "goal.epochs": 4,
    "structure.feature_turns": 2,
    "structure.structure_turns": 2,
    "structure.hidden": 8,
}
_HG_COND = {"epochs": 3, "linker_steps": 3, "experts": 1, "expert_steps": 10}

#: Settings that make a method fast on a few nodes.
SETTINGS: dict[str, dict[str, Any]] = {
    "auto": {"budget": "5"},
    "ahgcdd": {**_ANCHORS, "structure.warm.steps": 3},
    "ahgcdd-x": {"goal.epochs": 4},
    "ahgcdd-paper": _ANCHORS,
    "ahgcdd-x-paper": {"goal.epochs": 4},
    "means": {},
    "k-means": {},
    "ridge": {"goal.closed_form.epochs": 4},
    "unrolled": {"goal.closed_form.epochs": 2, **_TRAINING},
    "learnt": _TRAINING,
    "taught": {**_TRAINING, "goal.teachers.number": 1},
    "bundled": {"goal.closed_form.epochs": 2, **_TRAINING},
    "random": {},
    "herding": {"embedding": "trained", "embedding.epochs": 3},
    "k-center": {"embedding": "diffused"},
    "hgcpa": {"epochs": 4},
    "hg-cond": _HG_COND,
    "hg-cond-nhl": _HG_COND,
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


@pytest.fixture(scope="module", autouse=True)
def brief(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Searches and short trainings of a few epochs."""
    with pytest.MonkeyPatch.context() as patch:
        brief_trials(patch)
        brief_trainings(patch)
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def parts_of(source: Hypergraph) -> Split:
    """The first split in which every class has a training node."""
    splits = (split(source, seed=seed) for seed in itertools.count())
    return next(parts for parts in splits if not parts.missing_classes)


def condensed(name: str, source: Hypergraph, parts: Split, **how: Any) -> Condensation:
    return condense(source, parts, method=name, settings=SETTINGS[name], **{"nodes": NODES, **how})


def warned(result: Condensation, words: str) -> bool:
    return any(words in warning for warning in result.warnings)


def test_every_method_is_held_to_this_contract() -> None:
    assert set(SETTINGS) == set(METHODS)
    for name in METHODS:
        assert make_method(name, SETTINGS[name]) is not None


@every_method
@every_source
def test_sizes_labels_and_members_are_as_promised_and_the_source_is_not_modified(
    name: str, kind: str
) -> None:
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
    fresh = Hypergraph.from_arrays(*source.to_arrays())  # its digest is not cached
    assert fresh.digest == SOURCES[kind]().digest
    if kind != "one class":  # of which means of all rows are the same
        assert warned(result, "the same features") == (kind in ("constant features", "zero features"))
    assert warned(result, "all of one class") == (kind == "one class")


@every_method
@pytest.mark.parametrize("select", [True, False])
def test_equal_seeds_give_equal_bits(name: str, select: bool) -> None:
    source = _weighted()
    first, second = (condensed(name, source, parts_of(source), seed=3, select=select) for _ in range(2))
    assert first.hypergraph.digest == second.hypergraph.digest
    assert first.warnings == second.warnings
    assert first.final_validation == second.final_validation


def relabelled(source: Hypergraph, node_ids: Any) -> Hypergraph:
    """Some nodes have other classes."""
    labels = source.labels.copy()
    labels[node_ids] = (labels[node_ids] + 1) % 3
    return plain(labels=labels)


@every_method
def test_test_labels_are_never_read(name: str) -> None:
    source = plain()
    parts = parts_of(source)
    first, second = (condensed(name, graph, parts) for graph in (source, relabelled(source, parts.test_ids)))
    assert first.hypergraph.digest == second.hypergraph.digest
    assert first.final_validation == second.final_validation
    assert first.warnings == second.warnings


@every_method
def test_without_selection_no_validation_label_is_read(name: str) -> None:
    source = plain()
    parts = parts_of(source)
    others = np.concatenate([parts.validation_ids, parts.test_ids])
    first, second = (
        condensed(name, graph, parts, select=False) for graph in (source, relabelled(source, others))
    )
    assert first.hypergraph.digest == second.hypergraph.digest
    assert first.warnings == second.warnings
    assert first.final_validation is first.start_validation is None


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
    result = condensed(name, source, parts_of(source), select=False)
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


def misleading() -> Hypergraph:
    """Every hyperedge joins nodes of all classes, so that diffused rows tell nothing."""
    members = np.random.default_rng(0).permuted(np.arange(48).reshape(3, 16), axis=1)
    labels = np.repeat([0, 1, 2], 16)
    noise = np.random.default_rng(1).normal(size=(48, 6))
    return plain(
        features=5 * np.eye(3, 6)[labels] + noise,
        labels=labels,
        incidence=(members.ravel(), np.tile(np.arange(16), 3)),
        num_hyperedges=16,
    )


@every_method
@pytest.mark.parametrize("kind", ["plain", "misleading"])
def test_the_judge_that_chose_the_result_compares_it_with_random_nodes(name: str, kind: str) -> None:
    source = plain() if kind == "plain" else misleading()
    parts = parts_of(source)
    result = condensed(name, source, parts, seed=5)
    material = Material(source, parts)
    labels = result.hypergraph.labels.copy()
    made = make_method(name, SETTINGS[name]).run(Job(material=material, labels=labels, seed=5))
    assert made.hypergraph.digest == result.hypergraph.digest
    judge = made.judge or material.short_trainings
    score = result.final_validation
    if score is None:  # nothing was chosen
        score = judge(made.hypergraph)
    elif name != "bundled":  # whose rows are chosen before they become nodes
        assert judge(made.hypergraph) == pytest.approx(score)
    rng = numpy_generator(5, Stream.RANDOM_NODES)
    positions = random_positions(source.labels[parts.train_ids], labels, rng)
    random = induced(source, parts.train_ids[positions])
    assert warned(result, "worse than random") == (
        random.digest != made.hypergraph.digest and score < judge(random)
    )


@every_method
def test_a_class_without_training_nodes_is_warned_about(name: str) -> None:
    source = plain()
    known = np.flatnonzero(source.labels != 2)
    parts = split_from_ids(source, train_ids=known[:20], validation_ids=known[20:], test_ids=[])
    result = condensed(name, source, parts)
    assert set(result.hypergraph.labels) == {0, 1}
    assert warned(result, "no training node of class 2")


def test_half_of_the_nodes_without_features_is_not_called_constant() -> None:
    features = plain().dense_features().copy()
    features[::2] = 0
    source = plain(features=features)
    assert not warned(condensed("ahgcdd-x", source, parts_of(source)), "same features")


# --- The command line, Python and plans ---


@pytest.mark.parametrize("name", ["ahgcdd", "ridge", "auto"])
@pytest.mark.parametrize("select", [True, False])
def test_the_command_line_python_and_plans_make_the_same_bits(
    name: str, select: bool, tmp_path: Path
) -> None:
    source = synthetic(num_nodes=120, num_hyperedges=60, num_features=6, num_classes=3, noise=2.0, seed=1)
    settings = SETTINGS[name]
    write_native(source, tmp_path / "data")
    called = condense(source, split(source, seed=1), ratio=0.1, method=name, settings=settings, select=select)

    chosen = [part for key, value in settings.items() for part in ("--set", f"{key}={as_text(value)}")]
    words = [
        "condense",
        str(tmp_path / "data"),
        "--ratio",
        "0.1",
        "--method",
        name,
        "--split-seed",
        "1",
        *chosen,
    ]
    words += ["--out", str(tmp_path / "out"), "--quiet", *([] if select else ["--no-select"])]
    assert run_command(words) == 0
    commanded = load_condensed(tmp_path / "out")

    options = ", ".join(f"{key!r} = {value!r}" for key, value in settings.items())
    plan = f"""
        name = "three ways"
        title = "Three ways"
        seeds = 1
        runs = 1
        split_seeds = [1]
        select = {str(select).lower()}
        models = ["mlp"]
        [datasets.data]
        source = {str(tmp_path / "data")!r}
        ratios = [0.1]
        [variants.{name}]
        options = {{ {options} }}
    """
    (tmp_path / "plan.toml").write_text(plan)
    read = read_plan(tmp_path / "plan.toml")
    (job,) = jobs_of([run for place in read.places() for run in read.settings_at(place)], None)
    planned = condensed_for(job)[2]
    assert isinstance(planned, Condensation)

    assert called.hypergraph.digest == commanded.hypergraph.digest == planned.hypergraph.digest
    assert called.final_validation == commanded.final_validation == planned.final_validation
    assert called.warnings == commanded.warnings == planned.warnings
    assert content_of(called.provenance.settings) == content_of(planned.provenance.settings)
    (line,) = perform(job)
    assert (line["num_nodes"], line["num_hyperedges"]) == (12, planned.hypergraph.num_hyperedges)
    assert line["warnings"] == list(planned.warnings)
