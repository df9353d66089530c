"""Recipes as values, and Algorithm 1 from end to end: choosing, resuming, break-downs, unusual sources."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from hypercondense.catalogue import make_method
from hypercondense.condensing.anchors import Anchors
from hypercondense.condensing.bundles import Bundles
from hypercondense.condensing.dual_level import DualLevel
from hypercondense.condensing.job import Made
from hypercondense.condensing.leaves import Leaves
from hypercondense.condensing.loop import Objective, optimize
from hypercondense.condensing.material import Material
from hypercondense.condensing.predict import Predict
from hypercondense.condensing.presets import PRESETS
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.run import condense_by
from hypercondense.condensing.settings import changed, differences
from hypercondense.condensing.starts import Single
from hypercondense.errors import ConfigError
from hypercondense.hypergraph import Hypergraph, Split, split
from hypercondense.typed import content_of, digest_of, read
from makers.jobs import QUICK, Interrupted, interrupt_after, job_of, kept_in, quick, relabelled, variant

EVERY = pytest.mark.parametrize("name", PRESETS)
BOTH = pytest.mark.parametrize("name", ["ahgcdd", "ahgcdd-x"])


# --- Recipes are values ---


def test_every_preset_has_a_quick_form() -> None:
    assert set(QUICK) == set(PRESETS)


@EVERY
def test_a_recipe_is_read_back_from_what_it_is_written_as(name: str, tmp_path: Path) -> None:
    recipe = quick(name)
    again = read(content_of(recipe), Recipe)
    assert again == recipe and hash(again) == hash(recipe) and digest_of(again) == digest_of(recipe)
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(content_of(recipe)))
    assert make_method(str(path)) == recipe
    assert make_method(str(path), {"looks": "9"}) == changed(recipe, {"looks": 9})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Recipe(structure=Anchors(), bundles=Bundles()),
            "bundles make hyperedges of their own; leave structure or bundles out",
        ),
        (lambda: Recipe(goal=Predict(closed_form=None)), "closed_form and training must not both be none"),
        (
            lambda: Recipe(structure=Anchors(feature_turns=0, structure_turns=0)),
            "feature_turns and structure_turns must not both be 0",
        ),
        (lambda: Recipe(looks=-1), "looks must be a whole number >= 0, got -1"),
        (lambda: Recipe(goal=Single()), "goal must be"),
        (lambda: Recipe(map="heat-kernel"), "map must be"),
    ],
)
def test_a_combination_without_meaning_is_refused_when_it_is_made(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("preset", "settings", "message"),
    [
        ("bundled", {"structure": "default"}, "leave structure or bundles out"),
        ("ahgcdd", {"bundles": "default"}, "leave structure or bundles out"),
        ("ridge", {"goal.closed_form": "none"}, "must not both be none"),
        ("ahgcdd", {"feature_turns": 0, "structure_turns": "0"}, "must not both be 0"),
    ],
)
def test_settings_that_lead_to_such_a_combination_are_refused(
    preset: str, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        make_method(preset, settings)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"goal": {"kind": "magic"}}, r"goal\.kind must be one of dual-level, predict, got 'magic'"),
        ({"goal": {}}, "kind is missing in goal"),
        ({"gaol": None}, "unknown field 'gaol'; there are bundles, goal, looks"),
        ({"structure": {"heat": 1}}, "unknown field 'heat' in structure; there are candidates"),
        ({"goal": {"kind": "predict", "also": [{"tiem": 1}]}}, r"unknown field 'tiem' in goal\.also\[0\]"),
        ({"looks": "4"}, "looks must be a whole number, got '4'"),
        ({"map": {"kernel": "power", "time": 1.5}}, "whole number"),
        ({"map": {"kernel": "none", "walks": True}}, "walks need a kernel"),
        ({"map": {"kernel": "none", "time": 3.0}}, r"there is no time; leave it out .* \(got 3\)"),
        ({"recipe_version": 9}, "has recipe_version 9, and this program reads 1"),
        ({"structure": {}, "bundles": {}}, "leave structure or bundles out"),
    ],
)
def test_a_recipe_of_a_file_that_is_wrong_is_an_error_with_its_place(
    content: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ConfigError, match=message) as caught:
        make_method(str(path))
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        10_000 * "[" + 10_000 * "]",
        10_000 * '{"goal": ' + "1" + 10_000 * "}",
        '{"looks": ' + 10_000 * "[" + 10_000 * "]" + "}",
        '{"looks": ' + 400 * "[" + 400 * "]" + "}",
        "[]",
        "{",
        "",
        "\x00",
    ],
    ids=["deep", "deep tables", "deep inside", "400 levels", "a list", "cut off", "empty", "binary"],
)
def test_a_file_that_is_no_recipe_is_a_clean_error(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=str(path)):
        make_method(str(path))


def test_a_file_that_is_not_there_and_an_unknown_method_say_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no recipe file .*; give the name of a method or a file"):
        make_method(str(tmp_path / "none.json"))
    with pytest.raises(ConfigError, match="unknown method 'magic'; the methods are auto, "):
        make_method("magic")
    with pytest.raises(
        ConfigError, match=r"unknown method 'whole'.*by evaluate, or among the methods of compare"
    ):
        make_method("whole")


def test_the_paper_to_the_letter_has_every_deviation_turned_off() -> None:
    """docs/method.md lists them; an addition must be turned off here too."""
    paper, ours = PRESETS["ahgcdd-paper"][1], PRESETS["ahgcdd"][1]
    goal, structure = paper.goal, paper.structure
    assert isinstance(goal, DualLevel) and structure is not None
    on = (goal.relative, goal.unit_vectors, goal.centered, goal.average_others, structure.spanned)
    assert not any(on) and goal.sums and goal.temperature == 1
    assert structure.warm is structure.candidates is None
    assert paper.looks == 0 and paper.bundles is None
    assert PRESETS["ahgcdd-x-paper"][1] == changed(paper, {"structure": None})
    switches = {f"goal.{name}" for name in ("relative", "unit_vectors", "centered", "average_others", "sums")}
    switches |= {
        "goal.temperature",
        "structure.spanned",
        "structure.warm",
        "structure.candidates",
        "looks",
        "map.kernel",
    }
    amounts = {"goal.epochs", "goal.step", "structure.step"}
    assert set(differences(paper, ours)) == switches | amounts
    for part in (goal, structure):  # whatever is marked ``Paper: false`` is false
        entries = (type(part).__doc__ or "").split("\n        ")
        marked = [entry.partition(":")[0].strip() for entry in entries if "Paper: false" in entry]
        assert all(getattr(part, name) is False for name in marked if name in part.__struct_fields__)


def test_the_structure_of_the_paper_to_the_letter_may_die_with_a_warning(
    source: Hypergraph, parts: Split
) -> None:
    result = condense_by(quick("ahgcdd-paper"), source, parts, nodes=9, select=False)
    assert any("structure is empty" in warning and "structure.warm" in warning for warning in result.warnings)
    assert result.hypergraph.num_hyperedges == 9
    assert np.isfinite(result.hypergraph.dense_features()).all()


# --- What a recipe makes ---


@EVERY
def test_the_seed_decides_and_neither_labels_of_other_nodes_nor_global_state_do(
    name: str, source: Hypergraph, parts: Split
) -> None:
    others = np.concatenate([parts.validation_ids, parts.test_ids])
    relabelled_source = relabelled(source, others, (source.labels[others] + 1) % 3)
    torch.manual_seed(1)
    first = quick(name).run(job_of(source, parts, seed=3))
    torch.manual_seed(2)
    before = torch.random.get_rng_state()
    second = quick(name).run(job_of(relabelled_source, parts, seed=3))
    other = quick(name).run(job_of(source, parts, seed=4))
    assert (torch.random.get_rng_state() == before).all()
    for made, same in ((second, True), (other, False)):
        assert (made.hypergraph.features == first.hypergraph.features).all() == same
        assert (made.history == first.history) == (same or not first.history)
    for ours, theirs in zip(first.hypergraph.incidence, second.hypergraph.incidence, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@EVERY
def test_members_are_training_nodes_of_the_right_class(name: str, source: Hypergraph, parts: Split) -> None:
    made = quick(name, goal=None).run(job_of(source, parts))
    for ids, label in zip(made.members, made.hypergraph.labels, strict=True):
        assert len(ids) and np.isin(ids, parts.train_ids).all()
        assert (source.labels[ids] == label).all()


# --- Choosing between states ---


@BOTH
def test_choosing_never_returns_less_than_the_start(name: str, source: Hypergraph, parts: Split) -> None:
    scores = iter([0.9, 0.1, 0.2, 0.3, 0.4])
    made = quick(name).run(job_of(source, parts, judge=lambda graph: next(scores)))
    assert made.start_validation == made.final_validation == 0.9
    assert made.hypergraph.digest == quick(name, goal=None).run(job_of(source, parts)).hypergraph.digest


def test_the_best_look_is_returned_and_the_earlier_of_equals(source: Hypergraph, parts: Split) -> None:
    seen: list[str] = []

    def judge(candidate: Hypergraph) -> float:
        seen.append(candidate.digest)
        return [0.1, 0.7, 0.7, 0.2, 0.3][len(seen) - 1]

    job = job_of(source, parts, judge=judge)
    made = quick("ahgcdd-x", looks=4).run(job)
    assert len(set(seen)) == 5  # the start and four looks
    assert made.hypergraph.digest == seen[1]
    assert (made.start_validation, made.final_validation) == (0.1, 0.7)
    assert made.judge is judge


def test_looks_are_spread_evenly_and_the_last_state_is_always_looked_at(
    source: Hypergraph, parts: Split
) -> None:
    """States of a run do not depend on its looks: eight looks at eight epochs see them all."""

    def seen_by(looks: int) -> list[str]:
        seen: list[str] = []
        job = job_of(source, parts, judge=lambda graph: float(seen.append(graph.digest) or 0))
        quick("ahgcdd-x", looks=looks).run(job)
        return seen

    every = seen_by(8)
    assert len(set(every)) == 9
    assert seen_by(2) == [every[epoch] for epoch in (0, 4, 8)]
    assert seen_by(3) == [every[epoch] for epoch in (0, 3, 6, 8)]
    assert seen_by(100) == every
    assert seen_by(0) == []


@pytest.mark.parametrize("why", ["no looks", "not selected", "no validation nodes"])
def test_without_a_choice_the_last_state_is_returned(why: str, source: Hypergraph, parts: Split) -> None:
    def judge(candidate: Hypergraph) -> float:
        raise AssertionError("nobody is to be asked")

    job = job_of(source, parts, judge=judge, select=why != "not selected")
    if why == "no validation nodes":
        blind = Split(train_ids=parts.train_ids, validation_ids=parts.train_ids[:0], test_ids=parts.test_ids)
        job = job_of(source, blind, judge=judge)
    made = quick("ahgcdd-x", looks=0 if why == "no looks" else 4).run(job)
    last_is_best = iter(range(10))
    chosen = quick("ahgcdd-x").run(job_of(source, parts, judge=lambda graph: float(next(last_is_best))))
    assert made.hypergraph.digest == chosen.hypergraph.digest
    assert made.start_validation is made.final_validation is None
    assert made.judge is (judge if why == "no looks" else None)  # whom the guard would ask


# --- Interrupting and resuming ---


@pytest.fixture(scope="module")
def material(source: Hypergraph, parts: Split) -> Material:
    """What the runs below share, as those of a search do: teachers are trained once."""
    return Material(source, parts)


@pytest.fixture(scope="module")
def run(source: Hypergraph, parts: Split, material: Material) -> Any:
    """Carries out a preset in its quick form, with or without a choice."""

    def run(name: str, *, chooses: bool, **how: Any) -> Made:
        judge = {"judge": mean} if chooses else {}
        return quick(name).run(job_of(source, parts, material=material, **judge, **how))

    return run


@pytest.fixture(scope="module")
def whole(run: Any) -> Any:
    """Runs without an interruption, each made once."""
    return cache(run)


def mean(candidate: Hypergraph) -> float:
    return float(candidate.dense_features().mean())


@pytest.mark.parametrize(
    ("name", "stop_at", "chooses"),
    [("ahgcdd", 1, True), ("bundled", 1, False)]
    + [(name, stop_at, stop_at == 7) for name in PRESETS if PRESETS[name][1].goal for stop_at in (4, 7)],
)
def test_an_interrupted_run_continues_to_the_same_bits(
    name: str, stop_at: int, chooses: bool, tmp_path: Path, run: Any, whole: Any
) -> None:
    """In the first epoch, between the parts of a goal and within the turns of a structure, near the end."""
    with pytest.raises(Interrupted):
        run(name, chooses=chooses, checkpoint=kept_in(tmp_path), progress=interrupt_after(stop_at))
    done_again: list[int] = []

    def watch(stage: str, done: int, total: int, /, **figures: float) -> None:
        if stage == "condense":
            done_again.append(done)

    made = run(name, chooses=chooses, checkpoint=kept_in(tmp_path, resume=True), progress=watch)
    expected = whole(name, chooses=chooses)
    assert made.hypergraph.digest == expected.hypergraph.digest
    assert made.history == expected.history
    assert (made.start_validation, made.final_validation) == (
        expected.start_validation,
        expected.final_validation,
    )
    assert done_again[0] == stop_at  # only the epoch that was not saved is done again


@pytest.mark.parametrize("name", ["ahgcdd", "bundled"])
def test_a_run_that_was_finished_is_found_finished(name: str, tmp_path: Path, run: Any, whole: Any) -> None:
    run(name, chooses=True, checkpoint=kept_in(tmp_path))
    told: list[str] = []
    again = run(
        name,
        chooses=True,
        checkpoint=kept_in(tmp_path, resume=True),
        progress=lambda stage, *_, **__: told.append(stage),
    )
    assert "condense" not in told
    assert again.hypergraph.digest == whole(name, chooses=True).hypergraph.digest
    assert again.final_validation == whole(name, chooses=True).final_validation


def test_a_state_that_is_not_to_be_resumed_is_ignored(tmp_path: Path, run: Any, whole: Any) -> None:
    run("ahgcdd-x", chooses=False, seed=5, checkpoint=kept_in(tmp_path))
    made = run("ahgcdd-x", chooses=False, checkpoint=kept_in(tmp_path))
    assert made.hypergraph.digest == whole("ahgcdd-x", chooses=False).hypergraph.digest


# --- Break-downs ---


class Breaking(Objective):
    """Squared features; from some epoch on a term is NaN, or the step destroys the features."""

    def __init__(self, *, bad_term: int = -1, bad_step: int = -1) -> None:
        self.bad_term, self.bad_step = bad_term, bad_step
        self.chance = torch.Generator()

    def seen(self, features: torch.Tensor, structure: torch.Tensor) -> torch.Tensor:
        return features

    def loss(self, seen: Any, shares: Any, epoch: int) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        fine = seen.square().sum() * (float("nan") if epoch == self.bad_term else 1.0)
        return seen.square().sum(), {"coarse": seen.sum(), "fine": fine}

    def steps(self, epoch: int) -> tuple[float, float]:
        return (float("nan") if epoch == self.bad_step else 0.1), 0.0


def broken(source: Hypergraph, parts: Split, objective: Objective, **how: Any) -> Made:
    job = job_of(source, parts, **how)
    leaves = Leaves(torch.ones(9, 12))
    return optimize(job, leaves, objective, labels=job.labels, epochs=8, looks=8).made(())


@pytest.mark.parametrize("chooses", [False, True])
def test_a_nan_in_the_middle_stops_with_the_term_and_keeps_the_last_good_state(
    chooses: bool, source: Hypergraph, parts: Split
) -> None:
    later_is_better = iter(range(100))
    how = {"judge": lambda graph: float(next(later_is_better))} if chooses else {}
    made = broken(source, parts, Breaking(bad_term=5), **how)
    (warning,) = made.warnings
    assert warning.startswith("the fine term became nan in epoch 5; this is the last good snapshot, of epoch")
    assert np.isfinite(made.hypergraph.features).all()
    assert [row["epoch"] for row in made.history] == [0, 1, 2, 3, 4]
    # Adam's steps on squares are all of 0.1 but for rounding.
    moved = 1 - 0.1 * (5 if chooses else 4)
    np.testing.assert_allclose(made.hypergraph.features, moved, atol=0.02)


def test_features_that_become_nan_are_never_returned(source: Hypergraph, parts: Split) -> None:
    made = broken(source, parts, Breaking(bad_step=3), judge=lambda graph: 0.5)
    assert made.warnings[0].startswith("the features or the structure became NaN after epoch 4")
    assert made.hypergraph.features.tolist() == np.ones((9, 12)).tolist()  # the start, as good as the others


def test_a_step_that_destroys_the_features_is_caught(source: Hypergraph, parts: Split) -> None:
    recipe = quick("ahgcdd-x", goal__step=1e37, unit_vectors=False)
    made = recipe.run(job_of(source, parts))
    assert (
        made.warnings and "last good snapshot" in made.warnings[0] and "lower the steps" in made.warnings[0]
    )
    assert np.isfinite(made.hypergraph.features).all()


# --- Unusual sources ---


def everyone(source: Hypergraph) -> Hypergraph:
    nodes = np.arange(source.num_nodes)
    return variant(source, incidence=(nodes, 0 * nodes), num_hyperedges=1)


def weighted(source: Hypergraph) -> Hypergraph:
    weights = np.linspace(0.5, 2.0, source.num_incidences)
    features = sp.csr_array(source.features)
    return variant(source, features=features, incidence=(*source.incidence[:2], weights))


UNUSUAL = {
    "no hyperedges at all": lambda source: variant(source, incidence=([], []), num_hyperedges=0),
    "a hyperedge of all nodes": everyone,
    "sparse features and weighted incidence": weighted,
    "classes 0, 1 and 7": lambda source: variant(
        source, labels=np.where(source.labels == 2, 7, source.labels)
    ),
}


@BOTH
@pytest.mark.parametrize("kind", UNUSUAL)
def test_unusual_sources_are_condensed(name: str, kind: str, source: Hypergraph, parts: Split) -> None:
    unusual = UNUSUAL[kind](source)
    labels = [label for label in np.unique(unusual.labels) for _ in range(3)]
    made = quick(name).run(job_of(unusual, parts, labels)).hypergraph
    assert made.labels.tolist() == labels
    assert made.features.shape == (9, 12) and np.isfinite(made.dense_features()).all()


@BOTH
def test_constant_features_and_a_class_alone_are_warnings(
    name: str, source: Hypergraph, parts: Split
) -> None:
    for changes, words in (
        ({"features": np.ones((300, 4))}, "same features"),
        ({"labels": np.zeros(300, int)}, "all of one class"),
    ):
        recipe = quick(name, goal=None, map__kernel="none")
        result = condense_by(recipe, variant(source, **changes), parts, nodes=9, select=False)
        assert any(words in warning for warning in result.warnings)


@BOTH
def test_a_class_with_one_training_node_or_none(name: str, source: Hypergraph, parts: Split) -> None:
    labels = np.arange(300) % 2
    labels[parts.train_ids[0]] = 2
    result = condense_by(quick(name), variant(source, labels=labels), parts, nodes=9, select=False)
    assert result.hypergraph.labels.tolist().count(2) == 1
    labels = np.arange(300) % 2
    labels[parts.test_ids[0]] = 2
    unseen = variant(source, labels=labels)
    result = condense_by(quick(name), unseen, split(unseen, seed=0), nodes=9, select=False)
    assert any("no training node of class 2" in warning for warning in result.warnings)


@BOTH
def test_one_condensed_node_with_one_feature(name: str) -> None:
    tiny = Hypergraph(
        features=[[1.0], [2.0], [3.0], [4.0]], labels=[0] * 4, incidence=([], []), num_hyperedges=0
    )
    assert quick(name).run(job_of(tiny, split(tiny, seed=0), [0])).hypergraph.num_nodes == 1


@pytest.mark.parametrize(("name", "start"), [("ahgcdd", "means"), ("ahgcdd-x", "k-means")])
def test_a_memory_budget_changes_no_bit(
    name: str, start: str, source: Hypergraph, parts: Split, tmp_path: Path
) -> None:
    how: dict[str, Any] = {"nodes": 9, "select": False}
    within = condense_by(
        quick(name, start=start), source, parts, memory=20_000_000, cache_dir=tmp_path, **how
    )
    without = condense_by(quick(name, start=start), source, parts, **how)
    assert within.hypergraph.digest == without.hypergraph.digest
