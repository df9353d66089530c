"""Plans: what they expand to, and what is refused."""

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hypercondense.condensing.presets import PRESETS
from hypercondense.condensing.settings import changed, defaults_of
from hypercondense.errors import ConfigError
from hypercondense.experiments.plan_reader import read_plan
from hypercondense.experiments.published import Published, PublishedFigure
from hypercondense.experiments.settings import Settings, is_same
from hypercondense.nn import MODELS
from hypercondense.typed import content_of, flat, read
from makers.experiment_cases import QUICK, plan_of, write_plan

PLANS = sorted((Path(__file__).parents[2] / "experiments").glob("*.toml"))

settings = st.builds(
    Settings,
    source=st.sampled_from(["cora", "pubmed"]),
    split_seed=st.integers(0, 3),
    ratio=st.sampled_from([None, 0.01, 0.02]),
    method=st.sampled_from(["ahgcdd", "random"]),
    options=st.dictionaries(st.sampled_from("abc"), st.integers(0, 2)),
    select=st.booleans(),
    allocate=st.sampled_from(["proportional", "equal"]),
    seed=st.integers(0, 3),
    model=st.sampled_from(["hgnn", "mlp"]),
    defaults_version=st.integers(1, 2),
    runs=st.integers(1, 5),
)


def all_runs(plan: object) -> list[Settings]:
    return [run for place in plan.places() for run in plan.settings_at(place)]  # type: ignore[attr-defined]


@given(settings)
def test_the_key_does_not_depend_on_the_order_of_options(one: Settings) -> None:
    names = list(one.options)
    random.Random(0).shuffle(names)
    assert replace(one, options={name: one.options[name] for name in names}).key == one.key
    assert read(content_of(one), Settings) == one


@given(settings, settings)
def test_keys_are_equal_only_for_equal_settings(one: Settings, other: Settings) -> None:
    assert (one.key == other.key) == (one == other)
    assert (one.core == other.core) == (replace(one, options={}) == replace(other, options={}))
    if one.condensation == other.condensation:
        trained = {"model": "x", "defaults_version": 1, "task": "x", "over": "all", "runs": 1}
        assert replace(one, **trained) == replace(other, **trained)


@given(settings, st.dictionaries(st.sampled_from("abc"), st.integers(0, 2)))
def test_a_run_is_the_same_as_itself_and_as_before_an_option_was_added(
    one: Settings, defaults: dict[str, int]
) -> None:
    assert is_same(one, one, defaults)
    later = replace(one, options={**one.options, "added": 7})
    assert is_same(one, later, {**defaults, "added": 7})
    assert not is_same(one, later, {**defaults, "added": 8})
    assert not is_same(later, one, defaults)  # the option was removed: nobody knows what it did


def test_a_run_stays_the_same_when_a_part_that_its_plan_puts_in_gets_a_field() -> None:
    preset = PRESETS["ridge"][1]
    wanted = changed(preset, {"goal.labels": "smoothed", "structure": {"warm": {"steps": 3}}})
    now = Settings(source="cora", ratio=0.1, method="ridge", options=flat(content_of(wanted)))
    defaults = defaults_of(wanted, preset)

    def then(*left_out: str) -> Settings:
        return replace(now, options={name: now.options[name] for name in now.options if name not in left_out})

    assert is_same(then("goal.labels.own"), now, defaults)
    assert is_same(then("structure.spanned", "structure.warm.step"), now, defaults)
    assert not is_same(then("structure.warm.steps"), now, defaults)  # 20 by default
    assert not is_same(then("goal.labels.own", "goal.labels.kind"), now, defaults)  # plain by default
    other = changed(preset, {"structure": "default"})
    with_part = replace(now, options=flat(content_of(other)))
    without = {name: value for name, value in with_part.options.items() if not name.startswith("structure")}
    assert not is_same(replace(now, options=without), with_part, defaults_of(other, preset))


def test_runs_with_other_defaults_of_a_network_are_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = all_runs(plan_of(tmp_path))
    assert {run.defaults_version for run in before} == {1}
    monkeypatch.setattr(MODELS["hgnn"], "defaults_version", 2)
    after = all_runs(plan_of(tmp_path))
    assert not any(is_same(done, wanted, {}) for done, wanted in zip(before, after, strict=True))
    assert [run.condensation for run in before] == [run.condensation for run in after]


def test_lines_from_before_defaults_were_numbered_keep_their_key() -> None:
    content = {"source": "cora", "ratio": 0.01, "method": "random", "options": {"a": 1}, "model": "edhnn"}
    assert read(content, Settings).key == "fa92aecbb8d21583877bf89d874e2909"
    assert read(content | {"defaults_version": 2}, Settings).key != "fa92aecbb8d21583877bf89d874e2909"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": 1}, "unknown field 'colour'; there are allocate, cached"),
        ({"ratio": 1.5}, "ratio must be a number <= 1.0, got 1.5"),
        ({"ratio": "1 %"}, "ratio must be a number, got '1 %'"),
        ({"seed": -1}, "seed must be a whole number >= 0, got -1"),
        ({"over": "some"}, "over must be one of test, all, got 'some'"),
        ({"options": [1]}, r"options must be a table, got \[1\]"),
    ],
)
def test_settings_that_are_unknown_or_wrong_are_refused(change: dict[str, Any], message: str) -> None:
    sound = {"source": "cora", "ratio": 0.1, "method": "random"}
    assert read(sound, Settings) == Settings(**sound)
    with pytest.raises(ConfigError, match=message):
        read(sound | change, Settings)


@pytest.mark.parametrize("name", ["source", "ratio", "method"])
def test_settings_that_are_needed_must_be_there(name: str) -> None:
    sound = {"source": "cora", "ratio": 0.1, "method": "random"}
    with pytest.raises(ConfigError, match=f"^{name} is missing$"):
        read({key: value for key, value in sound.items() if key != name}, Settings)


def test_a_plan_expands_to_seeds_of_every_variant_and_one_whole(tmp_path: Path) -> None:
    runs = all_runs(plan_of(tmp_path))
    assert [(run.method, run.seed, run.runs) for run in runs] == [
        ("random", 0, 2),
        ("random", 1, 2),
        ("ahgcdd", 0, 2),
        ("ahgcdd", 1, 2),
        ("whole", 0, 1),
    ]
    assert (
        runs[2].options["goal.epochs"] == 2 and runs[2].options["map.time"] == 2.0
    )  # every option is recorded
    assert runs[4].ratio is None
    assert len({run.key for run in runs}) == len(runs)


def test_trainings_on_the_whole_have_as_many_seeds_as_the_plan_says_of_them(tmp_path: Path) -> None:
    text = QUICK.replace("[variants.whole]", "[variants.whole]\nseeds = 3")
    whole = [run for run in all_runs(plan_of(tmp_path, text)) if run.method == "whole"]
    assert [run.seed for run in whole] == [0, 1, 2]
    assert len({run.key for run in whole}) == 3


def test_aliases_and_defaults_give_the_same_keys(tmp_path: Path) -> None:
    head = 'name = "n"\ntitle = "t"\nseeds = 1\nruns = 1\n'
    by_alias = head + "[datasets.DBLP]\nratios = [0.01]\n[variants.ahgcdd]\n"
    by_name = (
        head + '[datasets.x]\nsource = "coauthor_dblp"\nratios = [0.01]\n'
        '[variants.y]\nmethod = "ahgcdd"\noptions = { time = 2 }\n'
    )
    assert [run.key for run in all_runs(plan_of(tmp_path, by_alias))] == [
        run.key for run in all_runs(plan_of(tmp_path, by_name))
    ]


def test_variants_can_be_restricted_to_some_ratios(tmp_path: Path) -> None:
    text = QUICK.replace("[0.01]", "[0.01, 0.02]").replace(
        "[variants.random]", "[variants.random]\nonly = { digits = [0.02] }"
    )
    plan = plan_of(tmp_path, text)
    assert {run.ratio for run in all_runs(plan) if run.method == "random"} == {0.02}
    assert len(list(plan.places(planned=False))) == 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "colour = 1\n" + text, "unknown field 'colour'; there are cache, datasets"),
        (
            lambda text: text + "speed = 3\n",
            "unknown field 'speed' in variants.whole; there are allocate, budget, label, method",
        ),
        (lambda text: text.replace("ratios", "ratio"), "unknown field 'ratio' in datasets.digits"),
        (
            lambda text: text.replace("[0.01]", "[0.01, 1.5]"),
            r"digits.ratios\[1\] must be a number <= 1.0, got 1.5",
        ),
        (
            lambda text: text.replace("[0.01]", "[0.01, 0.01]"),
            "datasets.digits: ratios must have .* none twice",
        ),
        (
            lambda text: text.replace("[0.01]", "[nan]"),
            r"datasets.digits.ratios\[0\] must be a finite number",
        ),
        (lambda text: text.replace("ratios = [0.01]", ""), "ratios is missing in datasets.digits"),
        (lambda text: text.replace("[0.01]", "3"), "datasets.digits.ratios must be a list, got 3"),
        (lambda text: text.replace("[0.01]", '["1 %"]'), r"ratios\[0\] must be a number"),
        (lambda text: text.replace("seeds = 2", "seeds = 0"), "seeds must be a whole number >= 1, got 0"),
        (lambda text: text.replace("seeds = 2", "seeds = true"), "seeds must be a whole number, got True"),
        (lambda text: text + "seeds = 'x'\n", "variants.whole.seeds must be a whole number, got 'x'"),
        (lambda text: text.replace('title = "Quick"', ""), "title is missing"),
        (lambda text: text.replace("epochs = 2", "epoch = 2"), "variants.ahgcdd: unknown option 'epoch'"),
        (lambda text: text.replace("[variants.random]", "[variants.rnd]"), "unknown method 'rnd'"),
        (lambda text: 'models = ["gnn"]\n' + text, "unknown model 'gnn'"),
        (lambda text: 'tasks = ["guess"]\n' + text, "unknown task 'guess'"),
        (lambda text: "split_seeds = []\n" + text, "split_seeds must have at least one entry"),
        (lambda text: 'models = ["mlp", "mlp"]\n' + text, "none twice"),
        (lambda text: 'over = "some"\n' + text, "over must be one of test, all, got 'some'"),
        (lambda text: text.replace("runs = 1\n", "options = { a = 1 }\n"), "the whole source has no options"),
        (
            lambda text: text.replace("[datasets.digits]", "[datasets.digits]\ngenerator = { seed = 1 }"),
            "gener",
        ),
        (
            lambda text: text + "only = { cora = [0.1] }\n",
            "unknown data set 'cora' in variants.whole.only; there are digits",
        ),
        (
            lambda text: text + "only = { digits = [0.1] }\n",
            "variants.whole.only: digits has no ratio 0.1 in this plan; it has 0.01",
        ),
        (
            lambda text: text + '[layout]\nrows = ["colour"]\n',
            r"layout.rows\[0\] must be one of dataset, ratio",
        ),
        (
            lambda text: text + '[layout]\nrows = ["ratio"]\n',
            "layout: an axis is named twice in dataset, ratio, ratio",
        ),
        (
            lambda text: text + '[layout]\nquantities = ["joy"]\n',
            r"layout.quantities\[0\] must be one of score, seconds",
        ),
        (
            lambda text: text + '[readme]\nvariants = ["x"]\n',
            "readme.variants names 'x', which is no variant of this plan: random, ahgcdd",
        ),
        (
            lambda text: text + '[figure]\nkind = "pie"\n',
            "figure.kind must be one of ratio, sweep, bars, size",
        ),
        (lambda text: text + '[figure]\nkind = "sweep"\n', "figure: option is missing"),
        (
            lambda text: text + '[figure]\nkind = "bars"\noption = "time"\n',
            "figure: option is for kind = 'sweep'",
        ),
        (
            lambda text: text + "[readme]\ndatasets = { digits = [0.5] }\n",
            "readme.datasets: digits has no ratio 0.5",
        ),
        (lambda text: text + '[published]\nalong = "x"\n', "published.along must be one of dataset, ratio"),
        (
            lambda text: text + '[published]\nrows = [{ dataset = "x", values = { random = "1" } }]\n',
            r"published.rows\[0\]: dataset 'x' is not in this plan: digits",
        ),
        (
            lambda text: text + "[published]\nrows = [{ values = { random = 1 } }]\n",
            r"published.rows\[0\].values.random must be a text such as '76.48 ± 1.58', got 1",
        ),
        (lambda text: "name = ", "is not a TOML file"),
        (
            lambda text: text.replace("[datasets.digits]", '[datasets."a\\nb"]\nx = 1'),
            "unknown field 'x' in datasets.a b",
        ),
        (lambda text: 'name = "n"\ntitle = "t"\n', "there are no data sets"),
        (lambda text: text[: text.index("[variants")], "there are no variants"),
    ],
)
def test_what_is_wrong_with_a_plan_is_said_in_one_line(
    tmp_path: Path, change: Callable[[str], str], message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        read_plan(write_plan(tmp_path, change(QUICK)))
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"{tmp_path / 'plan.toml'}: ")


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../up", "a/b", "/tmp/a", "a\\\\b", ".a", "a ", "a:b", "README", "a" * 300]
)
def test_a_name_that_is_no_plain_file_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="name must be a plain file name"):
        plan_of(tmp_path, QUICK.replace('"quick"', f'"{name}"'))


@pytest.mark.parametrize("name", ["a", "main", "größe 2.b_c-d"])
def test_a_name_that_is_a_plain_file_name_is_taken(tmp_path: Path, name: str) -> None:
    assert plan_of(tmp_path, QUICK.replace('"quick"', f'"{name}"')).name == name


@pytest.mark.parametrize(
    "text",
    [
        "title = " + "[" * 10_000 + "]" * 10_000 + "\n" + QUICK,
        "title = " + "{a = " * 10_000 + "1" + "}" * 10_000 + "\n" + QUICK,
        QUICK.replace("epochs = 2", "epochs" + ".a" * 10_000 + " = 2"),
        QUICK.replace("epochs = 2", "a" + ".a" * 10_000 + " = 2"),
        QUICK.replace("[variants.random]", "[variants.random" + ".options" * 10_000 + "]"),
        QUICK + "[published" + ".values" * 10_000 + "]\n",
        QUICK.replace(
            "[datasets.digits]",
            "[datasets.digits]\nsource = 'synthetic'\ngenerator = { seed" + ".a" * 10_000 + " = 1 }",
        ),
    ],
    ids=["lists", "tables", "value of an option", "name of an option", "options", "published", "generator"],
)
def test_depth_is_an_error_and_no_crash(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        plan_of(tmp_path, text)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 1000


def test_variants_inherit_selection_and_may_overrule_it(tmp_path: Path) -> None:
    def selecting(text: str) -> set[str]:
        return {run.method for run in all_runs(plan_of(tmp_path, text)) if run.select}

    none = "select = false\n" + QUICK
    assert selecting(none) == set()
    assert selecting(QUICK) == {"random", "ahgcdd"}  # nothing is chosen of the whole
    assert selecting(QUICK.replace("[variants.random]", "[variants.random]\nselect = false")) == {"ahgcdd"}
    assert selecting(none.replace("[variants.random]", "[variants.random]\nselect = true")) == {"random"}
    with pytest.raises(ConfigError, match=r"variants.whole: the whole source has no options, no selection"):
        plan_of(tmp_path, QUICK + "select = true\n")


def test_generators_are_checked_by_name_and_type(tmp_path: Path) -> None:
    text = QUICK.replace(
        "[datasets.digits]", '[datasets.digits]\nsource = "synthetic"\ngenerator = { size = 1 }'
    )
    with pytest.raises(
        ConfigError, match=r"datasets.digits.generator: unknown field 'size'; there are class_balance"
    ):
        plan_of(tmp_path, text)
    with pytest.raises(
        ConfigError, match=r"datasets.digits.generator: num_nodes must be a whole number, got 'x'"
    ):
        plan_of(tmp_path, text.replace("size = 1", "num_nodes = 'x'"))


def test_published_figures_match_by_the_coordinates_they_name(tmp_path: Path) -> None:
    text = QUICK + (
        "[published]\nruns = 25\nrows = [\n"
        '  { dataset = "digits", values = { whole = "90.5 ± 0.5", random = "OOM" } },\n'
        '  { ratio = 0.01, values = { ahgcdd = "80.25" } },\n]\n'
    )
    published = plan_of(tmp_path, text).published
    at = {"dataset": "digits", "ratio": "0.01"}
    assert published.at({**at, "variant": "whole"}) == PublishedFigure("90.5 ± 0.5", 90.5, 0.5)
    assert published.at({**at, "variant": "random"}) == PublishedFigure("OOM")
    assert published.at({**at, "variant": "ahgcdd"}) == PublishedFigure("80.25", 80.25)
    assert published.at({"dataset": "digits", "ratio": "0.02", "variant": "ahgcdd"}) is None
    assert Published().at(at) is None


@pytest.mark.parametrize("path", PLANS, ids=[path.stem for path in PLANS])
def test_every_shipped_plan_is_sound(path: Path) -> None:
    plan = read_plan(path)
    assert plan.name == path.stem
    runs = {run.key: run for run in all_runs(plan)}
    assert runs
    for place, figure in plan.published.entries:
        assert figure.mean is not None or figure.text == "OOM"
        if "ratio" in place:
            assert float(place["ratio"]) in plan.datasets[place["dataset"]].ratios
        if "model" in place:
            assert place["model"] in plan.models


def test_the_plan_that_the_documentation_explains_is_sound(tmp_path: Path) -> None:
    document = (Path(__file__).parents[2] / "docs" / "reproduce.md").read_text("utf-8")
    (example,) = re.findall(r"^```toml\n(.*?)^```", document, flags=re.M | re.S)
    assert len(all_runs(plan_of(tmp_path, example))) == 3


def test_the_plans_cover_the_tables_and_figures_of_the_paper() -> None:
    cited = {plan.paper.split(", ")[-1] for plan in map(read_plan, PLANS) if plan.paper}
    tables = {f"Table {number}" for number in range(2, 10)}
    assert tables | {"Figure 3a", "Figure 3b", "Figure 4a", "Figure 4b"} == cited
