"""Plans: what they expand to, and what is refused."""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercondense.catalogue import METHODS
from hypercondense.condensing import Random
from hypercondense.errors import ConfigError
from hypercondense.experiments.plan import read_plan
from hypercondense.experiments.published import Published, PublishedFigure
from hypercondense.experiments.settings import Settings, is_same
from hypercondense.nn import MODELS
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
    seed=st.integers(0, 3),
    model=st.sampled_from(["hgnn", "mlp"]),
    defaults_version=st.integers(1, 2),
    runs=st.integers(1, 5),
)


@dataclass(frozen=True)
class StandIn(Random):
    """Takes the place of a method that plans name and that is not there yet."""

    budget: int = 1


@pytest.fixture(autouse=True, scope="module")
def auto_is_registered() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(METHODS, "auto", METHODS.get("auto", StandIn))
        yield


def all_runs(plan: object) -> list[Settings]:
    return [run for place in plan.places() for run in plan.settings_at(place)]  # type: ignore[attr-defined]


@given(settings)
def test_the_key_does_not_depend_on_the_order_of_options(one: Settings) -> None:
    names = list(one.options)
    random.Random(0).shuffle(names)
    assert replace(one, options={name: one.options[name] for name in names}).key == one.key
    assert Settings.from_dict(one.to_dict()) == one


@given(settings, settings)
def test_keys_are_equal_only_for_equal_settings(one: Settings, other: Settings) -> None:
    assert (one.key == other.key) == (one == other)
    assert (one.core == other.core) == (replace(one, options={}) == replace(other, options={}))
    if one.condensation == other.condensation:
        trained = {"model": "x", "defaults_version": 1, "task": "x", "over": "x", "runs": 1}
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
    assert Settings.from_dict(content).key == "fa92aecbb8d21583877bf89d874e2909"
    assert Settings.from_dict(content | {"defaults_version": 2}).key != "fa92aecbb8d21583877bf89d874e2909"


def test_settings_with_unknown_or_missing_names_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown setting 'colour'"):
        Settings.from_dict({"source": "cora", "ratio": 0.1, "method": "random", "colour": 1})
    with pytest.raises(ValueError, match="'method' is missing"):
        Settings.from_dict({"source": "cora", "ratio": 0.1})


def test_a_plan_expands_to_seeds_of_every_variant_and_one_whole(tmp_path: Path) -> None:
    runs = all_runs(plan_of(tmp_path))
    assert [(run.method, run.seed, run.runs) for run in runs] == [
        ("random", 0, 2),
        ("random", 1, 2),
        ("ahgcdd", 0, 2),
        ("ahgcdd", 1, 2),
        ("whole", 0, 1),
    ]
    assert runs[2].options["epochs"] == 2 and runs[2].options["time"] == 2.0  # every option is recorded
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
        (lambda text: "colour = 1\n" + text, "unknown key 'colour'; allowed are name, title"),
        (lambda text: text + "speed = 3\n", "variants.whole: unknown key 'speed'; allowed are method"),
        (lambda text: text.replace("ratios", "ratio"), "datasets.digits: unknown key 'ratio'"),
        (lambda text: text.replace("[0.01]", "[0.01, 1.5]"), "ratios must be different fractions"),
        (lambda text: text.replace("[0.01]", '["1 %"]'), r"ratios\[0\] must be a number"),
        (lambda text: text.replace("seeds = 2", "seeds = 0"), "seeds must be at least 1, got 0"),
        (lambda text: text.replace("seeds = 2", "seeds = true"), "seeds must be a whole number"),
        (lambda text: text.replace('title = "Quick"', ""), "title is missing"),
        (lambda text: text.replace("epochs = 2", "epoch = 2"), "variants.ahgcdd: unknown option 'epoch'"),
        (lambda text: text.replace("[variants.random]", "[variants.rnd]"), "unknown method 'rnd'"),
        (lambda text: 'models = ["gnn"]\n' + text, "unknown model 'gnn'"),
        (lambda text: 'tasks = ["guess"]\n' + text, "unknown task 'guess'"),
        (lambda text: "split_seeds = []\n" + text, "split_seeds must have at least one entry"),
        (lambda text: 'models = ["mlp", "mlp"]\n' + text, "none twice"),
        (lambda text: 'over = "some"\n' + text, "over must be test or all"),
        (lambda text: text.replace("runs = 1\n", "options = { a = 1 }\n"), "the whole source has no options"),
        (
            lambda text: text.replace("[datasets.digits]", "[datasets.digits]\ngenerator = { seed = 1 }"),
            "gener",
        ),
        (lambda text: text + "only = { cora = [0.1] }\n", "unknown key 'cora'; allowed are digits"),
        (lambda text: text + "only = { digits = [0.1] }\n", "digits has no ratio 0.1"),
        (lambda text: text + '[layout]\nrows = ["colour"]\n', "unknown axis 'colour'"),
        (lambda text: text + '[layout]\nrows = ["ratio"]\n', "an axis is named twice"),
        (lambda text: text + '[layout]\nquantities = ["joy"]\n', "unknown quantity 'joy'"),
        (lambda text: text + '[readme]\nvariants = ["x"]\n', "no variant of this plan"),
        (lambda text: text + '[figure]\nkind = "pie"\n', "kind must be one of"),
        (lambda text: text + '[published]\nalong = "x"\n', "along must be one of"),
        (
            lambda text: text + '[published]\nrows = [{ dataset = "x", values = { random = "1" } }]\n',
            "dataset 'x' is not in this plan: digits",
        ),
        (
            lambda text: text + "[published]\nrows = [{ values = { random = 1 } }]\n",
            "must be a text such as",
        ),
        (lambda text: "name = ", "is not a TOML file"),
        (lambda text: 'name = "n"\ntitle = "t"\n', "there are no data sets"),
        (lambda text: text[: text.index("[variants")], "there are no variants"),
    ],
)
def test_what_is_wrong_with_a_plan_is_said_in_one_line(
    tmp_path: Path, change: Callable[[str], str], message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        read_plan(write_plan(tmp_path, change(QUICK)))
    assert "\n" not in str(caught.value) or "TOML" in str(caught.value)


def test_generators_are_checked_by_name(tmp_path: Path) -> None:
    text = QUICK.replace(
        "[datasets.digits]", '[datasets.digits]\nsource = "synthetic"\ngenerator = { size = 1 }'
    )
    with pytest.raises(ConfigError, match="unknown key 'size'; allowed are num_nodes"):
        plan_of(tmp_path, text)


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
