"""Pages are made of what is known, are complete in themselves, and nothing in them is taken for markup."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import numpy as np
import pytest

from hypercondense.catalogue import condense
from hypercondense.comparing import compare
from hypercondense.data import synthetic
from hypercondense.hypergraph import Hypergraph, split, split_from_ids
from hypercondense.nn.training import Configuration
from hypercondense.report.again import command_of
from hypercondense.report.loading import snippets
from hypercondense.report.mapping import SIDE, node_map
from hypercondense.report.measured import measure
from hypercondense.report.render import html
from hypercondense.report.result_page import result_page
from hypercondense.report.several import compare_page, tune_page
from makers.results import HOSTILE, hostile_source, ranking, result_of_size

FOLDER = Path("small")
SHORT = Configuration(model="mlp", epochs=10)


class Reader(HTMLParser):
    """Elements of a page that matter: ids, links, scripts, and whether all that opens closes."""

    VOID = ("meta", "link", "img", "input", "br")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes nothing"


def checked(text: str) -> Reader:
    """A page that is sound: closed, with one name for each place, and with nothing to fetch or to run."""
    page = Reader(text)
    assert page.open == []
    ids = [facts["id"] for _, facts in page.tags if "id" in facts]
    assert len(ids) == len(set(ids))
    links = [facts["href"] or "" for tag, facts in page.tags if tag == "a"]
    assert all(link[0] == "#" and link[1:] in ids for link in links)
    assert not [facts for _, facts in page.tags if "src" in facts or "style" in facts]
    assert not [name for _, facts in page.tags for name in facts if name.startswith("on")]
    assert "http" not in re.sub(r"http-equiv|http://www\.w3\.org/2000/svg", "", text)
    assert [tag for tag, _ in page.tags].count("h1") == 1
    return page


@pytest.fixture(scope="module")
def small() -> Hypergraph:
    return synthetic(num_nodes=120, num_hyperedges=80, num_features=6, num_classes=3, noise=2.0, seed=0)


def test_a_page_tells_sizes_scores_map_cost_provenance_and_loading(small: Hypergraph) -> None:
    parts = split(small, seed=0)
    result = condense(small, parts, nodes=6, method="ahgcdd", settings={"goal.epochs": 4})
    measured = measure(result, small, parts, models=[SHORT], runs=2)
    text = html(result_page(result, FOLDER, source=small, measured=measured))
    page = checked(text)
    sections = [facts["id"] for tag, facts in page.tags if tag == "section"]
    assert sections == [
        *("size", "networks", "classes", "map", "hyperedges", "history", "cost", "checks"),
        *("provenance", "loading"),
    ]
    kept = measured.retention(measured.first)
    assert kept is not None and f"{100 * kept.share:.1f} % retained" in text
    assert "hypercondense condense synthetic --nodes 6" in text and "--set goal.epochs=4" in text
    assert "HypergraphConv" in text
    assert sum(tag == "circle" for tag, _ in page.tags) == 6


def test_a_search_tells_what_it_tried_and_which_it_chose(small: Hypergraph) -> None:
    result = condense(small, nodes=6, method="means")
    trials = [
        {"label": name, "method": name, "settings": {}, "score": score, "scores": [score], "seconds": 1.0}
        for name, score in (("learnt", 0.9), ("ridge", 0.8))
    ]
    choice = {"method": "ridge", "settings": {}, "why": "it was best", "trials": trials}
    from dataclasses import replace

    text = html(result_page(replace(result, choice=choice), FOLDER))
    row = text[text.index(">ridge<") :]
    assert "chosen" in row[: row.index("</tr>")]
    learnt = text[text.index(">learnt<") :]
    assert "chosen" not in learnt[: learnt.index("</tr>")]


def test_names_that_would_do_harm_are_text(tmp_path: Path) -> None:
    source = hostile_source()
    result = condense(source, nodes=10, method="means")
    text = html(result_page(result, tmp_path / HOSTILE[1], source=source))
    page = checked(text)
    assert [facts.get("type") for tag, facts in page.tags if tag == "script"] == ["application/json", None]
    assert "\u202e" not in text and "a" * 200 not in text
    assert len(text) < 400_000
    data = re.search(r'id="map-data">(.*?)</script>', text, re.S)
    assert data is not None
    assert json.loads(data[1])["classes"][0].startswith("</script><script>")


def test_a_result_whose_source_is_gone_has_a_page(small: Hypergraph) -> None:
    result = condense(small, nodes=6, method="means")
    text = html(result_page(result, FOLDER, missing=("the source is not there",)))
    checked(text)
    assert "the source is not there" in text and "20 × smaller" in text


@pytest.mark.parametrize(("nodes", "classes"), [(1, 1), (600, 300), (100_000, 5)])
def test_pages_stay_small_whatever_the_result(nodes: int, classes: int) -> None:
    result = result_of_size(nodes, classes)
    text = html(result_page(result, FOLDER))
    checked(text)
    assert len(text) < 1_000_000
    assert f"{nodes:,}" in text
    assert f"{classes - 1}</option>" in text


def test_300_classes_are_told_worst_first_and_all_below_a_fold() -> None:
    classes = 300
    ids = np.arange(5 * classes)
    source = Hypergraph(
        features=np.random.default_rng(0).normal(size=(len(ids), 4)),
        labels=ids % classes,
        incidence=(ids, ids // 3),
        num_hyperedges=5 * classes // 3,
    )
    parts = split(source, seed=0)
    result = condense(source, parts, nodes=classes, method="means", select=False)
    measured = measure(result, source, parts, models=[SHORT], runs=1)
    text = html(result_page(result, FOLDER, source=source, measured=measured))
    checked(text)
    told = len(measured.classes())
    assert f"All {told} classes" in text and "The 10 classes that lose most" in text
    assert "The whole table of confusion" not in text
    assert len(text) < 1_000_000


def test_without_validation_nodes_and_with_soft_labels_a_page_is_made(small: Hypergraph) -> None:
    ids = np.arange(small.num_nodes)
    parts = split_from_ids(small, train_ids=ids[:80], validation_ids=[], test_ids=ids[80:])
    result = condense(small, parts, nodes=6, method="learnt", settings={"goal.training.epochs": 2})
    assert result.hypergraph.soft_labels is not None
    measured = measure(result, small, parts, models=[SHORT], runs=1)
    text = html(result_page(result, FOLDER, source=small, measured=measured))
    checked(text)
    assert "with soft labels" in text and "--split SPLIT.json" in text


def test_maps_are_the_same_again_within_bounds_and_hold_members(small: Hypergraph) -> None:
    result = condense(small, nodes=6, method="means")
    first, second = node_map(result, small), node_map(result, small)
    assert np.array_equal(first.source, second.source) and np.array_equal(first.condensed, second.condensed)
    for places in (first.source, first.condensed):
        assert places.min() >= 0 and places.max() <= SIDE
    assert 0 < first.shown_share <= 1
    assert set(result.members[0][:3]) <= set(first.source_ids)


def test_equal_nodes_lie_in_one_place() -> None:
    source = Hypergraph(features=np.ones((5, 1)), labels=[0] * 5, incidence=([0], [0]), num_hyperedges=1)
    parts = split_from_ids(source, train_ids=[0, 1], validation_ids=[2], test_ids=[3, 4])
    places = node_map(condense(source, parts, nodes=1, method="means"), source)
    assert len(np.unique(places.source, axis=0)) == 1


@pytest.mark.parametrize("method", ["means", "ahgcdd", "random"])
def test_the_command_of_a_result_makes_the_same_bits(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shlex

    from hypercondense.cli import run
    from hypercondense.condensation import load_condensed

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    settings = ["--set", "goal.epochs=3"] if method == "ahgcdd" else []
    given = ["condense", "synthetic", "--nodes", "20", "--method", method, "--seed", "3", *settings]
    assert run([*given, "--split-seed", "2", "--no-select", "--quiet", "--out", "one"]) == 0
    one = load_condensed("one")
    command = command_of(one)
    assert command is not None
    assert run([*shlex.split(command.replace("OUT", "two"))[1:], "--quiet"]) == 0
    assert load_condensed("two").hypergraph.digest == one.hypergraph.digest


def test_the_command_of_a_search_that_could_not_choose_does_not_choose_either(small: Hypergraph) -> None:
    from dataclasses import replace

    result = condense(small, nodes=6, method="ahgcdd-x", settings={"epochs": 2}, select=False)
    chosen = {"method": "ahgcdd-x", "settings": {"goal.epochs": 2}}
    assert "--no-select" in str(command_of(replace(result, choice=chosen)))


def test_a_method_nobody_knows_has_no_command(small: Hypergraph) -> None:
    from dataclasses import replace

    result = condense(small, nodes=6, method="means")
    made = msgspec.structs.replace(result.provenance, method="of the future")
    assert command_of(replace(result, provenance=made)) is None


def test_pages_of_a_comparison_and_of_a_ranking(small: Hypergraph) -> None:
    rows = compare(small, nodes=6, methods=["random", "means", "whole"], models=["mlp"], seeds=1, runs=2)
    text = html(compare_page(small, rows, metric="accuracy"))
    checked(text)
    for row in rows:
        assert f"{100 * row.mean:.2f} ± {100 * row.std:.2f} %" in text
    text = html(tune_page(small, ranking(), nodes=6))
    checked(text)
    assert text.count("MLP hidden=") == len(ranking().trials) + 1


def test_code_for_other_libraries_runs(small: Hypergraph, tmp_path: Path) -> None:
    import importlib.util

    condense(small, nodes=6, method="ahgcdd", settings={"goal.epochs": 2}).save(tmp_path / "it's")
    needs = {"XGI": "xgi", "HyperNetX": "hypernetx", "DHG": "dhg", "hypercondense": "nothing: it trains long"}
    for library, (_, code) in snippets(str(tmp_path / "it's")).items():
        compiled = compile(code, library, "exec")
        if library not in needs or importlib.util.find_spec(needs[library].split(":")[0]):
            exec(compiled, {})
