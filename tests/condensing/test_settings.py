"""Fields of methods by name, as texts, JSON and tables."""

import itertools
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercondense.catalogue import METHODS
from hypercondense.condensing.anchors import Anchors, WarmUp
from hypercondense.condensing.bundles import Bundles
from hypercondense.condensing.closed_form import ClosedForm
from hypercondense.condensing.dual_level import DualLevel
from hypercondense.condensing.maps import Map
from hypercondense.condensing.predict import Learnt, Plain, Predict, Smoothed
from hypercondense.condensing.presets import PRESETS
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.settings import RENAMED, as_text, changed, differences
from hypercondense.condensing.starts import KMeans, Means, Single
from hypercondense.condensing.teachers import Teachers
from hypercondense.condensing.unrolled import Unrolled
from hypercondense.errors import ConfigError
from hypercondense.typed import content_of, read

AHGCDD, RIDGE, UNROLLED = (PRESETS[name][1] for name in ("ahgcdd", "ridge", "unrolled"))


# --- Naming a field ---


@pytest.mark.parametrize("name", ["goal.epochs", "epochs"])
@pytest.mark.parametrize("value", [7, "7"])
def test_a_field_is_named_by_its_path_or_by_its_last_word(name: str, value: Any) -> None:
    made = changed(AHGCDD, {name: value})
    assert isinstance(made.goal, DualLevel) and made.goal.epochs == 7
    assert differences(made, AHGCDD) == {"goal.epochs": 7}


def test_a_last_word_that_several_fields_have_needs_its_path() -> None:
    with pytest.raises(
        ConfigError, match=r"'step' could be goal\.step or structure\.step or structure\.warm\.step; write"
    ):
        changed(AHGCDD, {"step": 0.1})
    with pytest.raises(ConfigError, match=r"'step' must be written goal\.closed_form\.step"):
        changed(RIDGE, {"step": 0.25})


def test_parts_are_changed_before_their_fields_in_whatever_order_they_are_given() -> None:
    made = changed(RIDGE, {"epochs": 3, "goal.negatives": 2, "goal": "dual-level"})
    assert made.goal == DualLevel(epochs=3, negatives=2)


def test_values_of_python_and_numpy_are_settings_too() -> None:
    made = changed(AHGCDD, {"goal": DualLevel(negatives=3), "goal.epochs": np.int64(4)})
    assert made.goal == DualLevel(negatives=3, epochs=4)


def test_the_kind_of_the_method_itself_is_no_option() -> None:
    with pytest.raises(ConfigError, match="unknown option 'kind'"):
        changed(RIDGE, {"kind": "anything"})


def test_dashes_are_underscores() -> None:
    made = changed(AHGCDD, {"goal.average-others": "false", "unit-vectors": False})
    assert differences(made, AHGCDD) == {"goal.average_others": False, "goal.unit_vectors": False}


def test_tables_are_paths() -> None:
    nested = changed(AHGCDD, {"structure": {"warm": {"steps": 3}}, "map": {"time": 3}})
    assert nested == changed(AHGCDD, {"structure.warm.steps": 3, "map.time": 3.0})


@pytest.mark.parametrize("name", METHODS)
def test_the_content_of_a_method_makes_it_again_whatever_it_is_made_from(name: str) -> None:
    method = METHODS[name][1]
    content = json.loads(json.dumps(content_of(method)))
    assert changed(method, content) == method == read(content, type(method))
    if isinstance(method, Recipe):
        assert changed(Recipe(start=KMeans(), goal=None), content) == method


# --- Naming a part ---


def test_a_part_is_named_by_its_kind_and_then_is_as_by_default() -> None:
    made = changed(AHGCDD, {"start": "k-means", "goal": "predict", "goal.labels": "learnt"})
    assert (made.start, made.goal) == (KMeans(), Predict(labels=Learnt()))
    longer = changed(AHGCDD, {"start.kind": "means", "goal.kind": "predict", "goal.labels.kind": "smoothed"})
    assert (longer.start, longer.goal) == (Means(), Predict(labels=Smoothed()))


def test_fields_of_a_new_part_may_follow_it() -> None:
    made = changed(
        RIDGE, {"goal.training": "default", "goal.training.hidden": 9, "goal.training.networks": 2}
    )
    assert isinstance(made.goal, Predict)
    assert made.goal.training == Unrolled(hidden=9, networks=2)


def test_the_kind_of_a_part_in_a_table_may_stand_anywhere() -> None:
    made = changed(RIDGE, {"start": {"samples": 7, "kind": "means"}})
    assert made.start == Means(samples=7)


@pytest.mark.parametrize("none", ["none", "None", "null", None])
def test_none_leaves_a_part_or_a_number_out(none: Any) -> None:
    assert changed(AHGCDD, {"structure": none}).structure is None
    assert changed(AHGCDD, {"structure.warm": none}).structure == Anchors(warm=None)
    assert changed(AHGCDD, {"candidates": none}).structure == Anchors(candidates=None)
    assert changed(AHGCDD, {"goal": none}).goal is None


def test_default_puts_a_part_in() -> None:
    assert changed(RIDGE, {"structure": "default"}).structure == Anchors()
    assert changed(RIDGE, {"bundles": "default", "bundles.size": 3}).bundles == Bundles(size=3)
    replaced = changed(changed(RIDGE, {"goal.closed_form.strength": 0.5}), {"goal.closed_form": "default"})
    assert replaced == RIDGE


def test_a_table_puts_in_the_part_it_is_for() -> None:
    made = changed(RIDGE, {"structure": {"warm": {"steps": 3}}, "goal": {"training": {}}})
    assert made.structure == Anchors(warm=WarmUp(steps=3))
    assert made.goal == Predict(training=Unrolled())
    assert changed(AHGCDD, {"structure": {"hidden": 9}}).structure == Anchors(hidden=9)  # what is there stays


def test_none_is_a_kernel_where_it_is_one() -> None:
    assert changed(AHGCDD, {"map.kernel": "none"}).map == Map(kernel="none")


def test_a_part_that_is_not_there_has_no_fields_to_change() -> None:
    with pytest.raises(ConfigError, match=r"no structure to change structure\.warm\.steps of; put it "):
        changed(RIDGE, {"structure.warm.steps": 5})
    with pytest.raises(ConfigError, match=r"put it in first with goal\.training=default"):
        changed(RIDGE, {"goal.training.epochs": 5})
    with pytest.raises(ConfigError, match=r"unknown option 'goal\.training\.epochs'"):
        changed(AHGCDD, {"goal.training.epochs": 5})  # a goal that never has such a part


def test_lists_and_tables_are_json() -> None:
    also = '[{"kernel": "none"}, {"kernel": "power", "time": 1, "walks": true}]'
    made = changed(RIDGE, {"goal.also": also, "bundles": '{"size": 3}'})
    assert isinstance(made.goal, Predict)
    assert made.goal.also == (Map(kernel="none"), Map(kernel="power", time=1.0, walks=True))
    assert made.bundles == Bundles(size=3)
    assert changed(RIDGE, {"also": json.loads(also), "bundles": {"size": 3}}) == made


# --- What is wrong ---


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"tiem": "2"}, r"unknown option 'tiem'; the options are .*map\.time"),
        ({"goal.tiem": "2"}, r"unknown option 'goal\.tiem'; the options are"),
        ({"": "2"}, "unknown option ''"),
        ({"epochs": "2.5"}, "goal.epochs must be a whole number, got '2.5'"),
        ({"epochs": "nan"}, "goal.epochs must be a whole number, got 'nan'"),
        ({"epochs": "inf"}, "goal.epochs must be a whole number, got 'inf'"),
        ({"time": "soon"}, "map.time must be a number, got 'soon'"),
        ({"time": "inf"}, "time must be"),
        ({"goal.step": float("nan")}, "step must be"),
        ({"schedule": "quick"}, "goal.schedule must be one of cosine, .*got 'quick'"),
        ({"threshold": "none"}, "structure.threshold must be one of anchor, shared, fixed"),
        ({"relative": "maybe"}, "goal.relative must be true or false, got 'maybe'"),
        ({"epochs": "-1"}, "goal.epochs must be a whole number >= 0, got '-1'"),
        ({"temperature": "0"}, "goal.temperature must be a number > 0"),
        ({"temperature": "nan"}, "goal.temperature must be a number > 0"),
        ({"time": "-2"}, "map.time must be a number >= 0"),
        ({"candidates": "1"}, "structure.candidates must be a whole number >= 2"),
        ({"feature_turns": "0", "structure_turns": "0"}, "must not both be 0"),
        ({"threshold_start": "1"}, "structure.threshold_start must be"),
        ({"start": "kmeans"}, "must be one of means, single, k-means, better, got 'kmeans'"),
        ({"start": "default"}, "must be one of means, single, k-means, better, got 'default'"),
        ({"goal": "[1"}, "'.1' is not JSON"),
        ({"goal": "[1]"}, "goal must be a table"),
        ({"map": "none"}, "map must be a table"),
        ({"structure": "yes"}, "structure must be a table"),
    ],
)
def test_wrong_settings_are_named_with_what_would_be_right(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        changed(AHGCDD, wrong)


@pytest.mark.parametrize("old", RENAMED)
def test_options_of_the_first_release_fail_with_their_new_name(old: str) -> None:
    recipe = PRESETS["taught"][1]
    with pytest.raises(ConfigError, match=f"option '{old}' is called .* now") as caught:
        changed(recipe, {old: 1})
    everything = Recipe(
        goal=Predict(training=Unrolled(), teachers=Teachers(), labels=Learnt()),
        structure=Anchors(),
    )
    places = {path for one in (everything, AHGCDD, PRESETS["bundled"][1]) for path in paths_of(one)}
    named = [word.strip("(),") for word in str(caught.value).partition(" called ")[2].split()]
    assert any(word in places for word in named), "what it is called now is no field"


def paths_of(recipe: Recipe) -> set[str]:
    def inner(content: Any, prefix: str) -> Any:
        for name, value in content.items():
            yield f"{prefix}{name}"
            if isinstance(value, dict):
                yield from inner(value, f"{prefix}{name}.")

    return set(inner(content_of(recipe), ""))


@pytest.mark.parametrize("brackets", ["[]", ["{" + '"a":', "}"]])
def test_json_of_ten_thousand_levels_is_an_error_and_no_crash(brackets: Any) -> None:
    left, right = brackets
    with pytest.raises(ConfigError, match=r"not JSON|nested too deeply|must be"):
        changed(AHGCDD, {"goal": 10_000 * left + "1" + 10_000 * right})


def test_tables_of_ten_thousand_levels_are_an_error_and_no_crash() -> None:
    deep: Any = 1
    for _ in range(10_000):
        deep = {"goal": deep}
    with pytest.raises(ConfigError, match="nested too deeply"):
        changed(AHGCDD, deep)


# --- Back again ---


@pytest.mark.parametrize(("name", "other"), list(itertools.permutations(PRESETS, 2)))
def test_differences_between_presets_make_the_one_from_the_other(name: str, other: str) -> None:
    assert_inverse(PRESETS[name][1], PRESETS[other][1])


def assert_inverse(method: Recipe, other: Recipe) -> None:
    found = differences(method, other)
    assert changed(other, found) == method
    assert changed(other, json.loads(json.dumps(found))) == method
    assert changed(other, {name: as_text(value) for name, value in found.items()}) == method


def test_equal_methods_have_no_differences() -> None:
    assert differences(AHGCDD, changed(AHGCDD, {})) == {}


counts = st.integers(1, 10**6)
steps = st.floats(1e-9, 1e9)
maps = st.builds(Map, kernel=st.sampled_from(["heat-kernel", "vanilla"]), time=st.floats(0.01, 50))
maps |= st.just(Map(kernel="none"))
maps |= st.builds(Map, kernel=st.just("power"), time=st.integers(0, 9).map(float), walks=st.booleans())
starts = st.builds(Means, samples=counts) | st.builds(KMeans) | st.builds(Single)
warm_ups = st.builds(WarmUp, steps=counts, step=steps, sharpen=st.booleans())
anchors = st.builds(
    Anchors,
    structure_turns=counts,
    threshold=st.sampled_from(["anchor", "shared", "fixed"]),
    candidates=st.none() | st.integers(2, 9),
    warm=st.none() | warm_ups,
)
bundles = st.builds(Bundles, size=counts, noise=st.floats(0, 9), smoothing=st.floats(0, 1))
closed_forms, trainings = st.builds(ClosedForm, step=steps), st.builds(Unrolled, hidden=counts, step=steps)
phases = st.tuples(closed_forms, st.none() | trainings) | st.tuples(st.none(), trainings)
predictions = phases.flatmap(
    lambda both: st.builds(
        Predict,
        closed_form=st.just(both[0]),
        training=st.just(both[1]),
        also=st.lists(maps, max_size=2).map(tuple),
        teachers=st.none() | st.builds(Teachers, network=st.sampled_from(["hgnn", "mlp"])),
        labels=st.builds(Plain) | st.builds(Smoothed) | st.builds(Learnt, step=steps),
    )
)
dual_levels = st.builds(
    DualLevel,
    epochs=st.integers(0, 99),
    step=steps,
    sums=st.booleans(),
    schedule=st.sampled_from(["cosine", "step", "fine-only"]),
)
common = {"map": maps, "start": starts, "goal": st.none() | dual_levels | predictions}
recipes = st.builds(Recipe, **common, structure=st.none() | anchors, looks=st.integers(0, 9))
recipes |= st.builds(Recipe, **common, bundles=bundles)


@settings(max_examples=40, deadline=None)
@given(recipes, recipes)
def test_differences_between_any_recipes_make_the_one_from_the_other(method: Recipe, other: Recipe) -> None:
    assert_inverse(method, other)
