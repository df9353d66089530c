"""Wrong calls of public functions name the right argument."""

import inspect
from typing import Any

import pytest

import hypercondense as hc
from hypercondense.condensing.baselines.coresets import Herding
from hypercondense.errors import ConfigError
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.search.auto import Auto

FUNCTIONS = ["condense", "evaluate", "compare", "tune", "train"]


@pytest.fixture(scope="module")
def result(source: Hypergraph, parts: Split) -> hc.Condensation:
    return hc.condense(source, parts, nodes=6, method="means")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_help_shows_every_argument_with_its_type_and_what_it_is(name: str) -> None:
    function = getattr(hc, name)
    text = inspect.getdoc(function) or ""
    for parameter in inspect.signature(function).parameters.values():
        assert parameter.annotation is not parameter.empty
        assert name == "tune" or f"{parameter.name}:" in text


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"size": 5}, r"no argument 'size'; did you mean nodes\?"),
        ({"ratoi": 0.1}, r"did you mean ratio\?"),
        ({"random_state": 3}, r"did you mean seed\?"),
        ({"colour": 1}, r"no argument 'colour'\. There are source, split, ratio"),
    ],
)
def test_a_wrong_keyword_names_the_right_one(
    source: Hypergraph, parts: Split, wrong: dict[str, float], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        hc.condense(source, parts, **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"ratio": "0.01"}, "ratio must be a number, as 0.01 for 1 % of the nodes, got '0.01'"),
        ({"nodes": 6, "seed": -1}, "seed must be 0 or more, got -1"),
        ({"nodes": 6, "device": "gpu"}, "device 'gpu' cannot be used here"),
        ({"nodes": 6, "settings": ["looks=1"]}, "settings must be a Mapping, got a list"),
        ({"nodes": 6, "progress": "yes"}, "progress must be True, or a function that is told, got 'yes'"),
        ({"nodes": 6, "method": hc.AHGCDD}, r"got function; call it: AHGCDD\(\)"),
        ({"nodes": 6, "method": Auto}, r"call it: Auto\(\)"),
        ({"nodes": 6, "method": 3}, r"a recipe, or a method with options, got int"),
        ({"nodes": 6, "method": Herding(), "budget": 3}, "a budget is for methods that search"),
    ],
)
def test_a_value_that_cannot_be_meant_names_its_argument(
    source: Hypergraph, parts: Split, wrong: dict[str, Any], message: str
) -> None:
    with pytest.raises((TypeError, ValueError, ConfigError), match=message):
        hc.condense(source, parts, **{"method": "means", **wrong})


def test_a_method_may_be_a_value_of_any_kind(source: Hypergraph, parts: Split) -> None:
    by_name = hc.condense(
        source, parts, nodes=6, method="auto", budget=2, settings={"confirm.quick.epochs": 3}
    )
    by_value = hc.condense(
        source, parts, nodes=6, method=Auto(), budget=2, settings={"confirm.quick.epochs": 3}
    )
    assert by_value.provenance == by_name.provenance and by_value.hypergraph == by_name.hypergraph
    made = hc.condense(source, parts, nodes=6, method=Herding())
    assert made.provenance.method == "herding"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s, p, r: hc.condense(s, p, retain="99%"), "retain must be a number, as 0.99, got '99%'"),
        (lambda s, p, r: hc.condense(s, p, nodes=6, select="no"), "select must be True or False, got 'no'"),
        (lambda s, p, r: hc.condense(s, p, nodes=6, resume=True), "resume needs the folder of the state"),
        (lambda s, p, r: hc.condense(s, p, nodes=6, threads=1.5), "threads must be a whole number, got 1.5"),
        (lambda s, p, r: hc.evaluate(r, s, p, runs="5"), "runs must be a whole number, got '5'"),
        (lambda s, p, r: hc.evaluate(r, s, p, model=["hgnn"]), "model must be the name of a network"),
        (lambda s, p, r: hc.evaluate(r, s, p, whole="no"), "whole must be True or False, got 'no'"),
        (lambda s, p, r: hc.compare(s, p, nodes=6, methods=[]), "give at least one of the methods"),
        (lambda s, p, r: hc.compare(s, p, nodes=6, methods=[Auto()]), "methods must be names, got a Auto"),
        (lambda s, p, r: hc.compare(s, p, nodes=6, seeds=0), "seeds must be at least 1, got 0"),
        (lambda s, p, r: hc.compare(s, p, nodes=6, seeds=[0]), r"seeds must be a whole number, got \[0\]"),
        (lambda s, p, r: hc.compare(s, p, workers=0), "how many condensed nodes"),
        (lambda s, p, r: hc.compare(s, p, ratio=1, workers=0), "was 1 % meant"),
        (lambda s, p, r: hc.tune(s, r, p), "got a Condensation; call it as tune"),
        (lambda s, p, r: hc.tune("small", s, p), "got a str; call it as tune"),
        (lambda s, p, r: hc.statistics("digits"), "got a str; call it as statistics"),
        (lambda s, p, r: hc.load(5), "source must be the name of a data set or a path, got a int"),
        (lambda s, p, r: hc.synthetic(num_nodes=10.5), "num_nodes must be a whole number, got 10.5"),
        (lambda s, p, r: hc.synthetic(nodes=10), r"no argument 'nodes'; did you mean num_nodes\?"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(
    source: Hypergraph, parts: Split, result: hc.Condensation, call: Any, message: str
) -> None:
    with pytest.raises((TypeError, ValueError, ConfigError), match=message):
        call(source, parts, result)


def test_an_estimate_takes_methods_as_condense_does(source: Hypergraph, parts: Split) -> None:
    assert hc.estimate(source, parts, nodes=6, method=hc.AHGCDD()).nodes == 6


def test_what_is_in_the_wrong_place_is_told(source: Hypergraph, parts: Split) -> None:
    with pytest.raises(
        TypeError, match=r"source, split in this order and everything else by name, as ratio="
    ):
        hc.condense(source, parts, 0.1)  # type: ignore[misc]
    with pytest.raises(TypeError, match=r"source must be a Hypergraph, got a Split; call it as condense\("):
        hc.condense(parts, source, ratio=0.1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"source must be a Hypergraph, got a Split; call it as evaluate\("):
        hc.evaluate(source, parts, source)  # type: ignore[arg-type]


def test_progress_may_be_true(source: Hypergraph, parts: Split, capsys: pytest.CaptureFixture[str]) -> None:
    result = hc.condense(source, parts, nodes=6, method="means", progress=True)
    assert result.hypergraph.num_nodes == 6
    assert capsys.readouterr().out == ""


def test_warnings_are_logged(source: Hypergraph, parts: Split, caplog: pytest.LogCaptureFixture) -> None:
    result = hc.condense(source, parts, ratio=0.4, method="means", select=False)
    told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert told == list(result.warnings) and "0.004 would be 0.4 %" in told[0]
