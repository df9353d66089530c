"""HIF: the standard's own cases, its schema beside our types, and what is ours to read and to refuse."""

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hypercondense as hc
from hypercondense.cli import run
from hypercondense.condensation import load_condensed
from hypercondense.errors import ConversionError, ConversionWarning, FormatError
from hypercondense.interchange.hif_content import converted, decoded, schema
from interchange.ways import ASPECTS, plain, same
from makers.format_examples import condensation, tiny

ONE = {"edge": "a", "node": 7}
ACCEPTED: dict[str, Any] = {
    "no incidences": {"incidences": []},
    "all empty": {"incidences": [], "nodes": [], "edges": [], "metadata": {}},
    "one incidence": {"incidences": [ONE]},
    "incidence with attrs": {"incidences": [{**ONE, "attrs": {"since": "2020-01-01", "x": [1]}}]},
    "weight below 0": {"incidences": [{**ONE, "weight": -2}]},
    "one edge": {"incidences": [], "edges": [{"edge": 1}]},
    "one edge with attrs": {"incidences": [], "edges": [{"edge": 1, "attrs": {"x": 1.5}}]},
    "one node": {"incidences": [], "nodes": [{"node": "n"}]},
    "one node with attrs": {
        "incidences": [],
        "nodes": [{"node": "n", "attrs": {"a": 1, "b": "two", "c": True, "d": "2024-12-31"}}],
    },
    "a node twice": {"incidences": [], "nodes": [{"node": 1}, {"node": 1}]},
    "an edge twice": {"incidences": [], "edges": [{"edge": 1}, {"edge": 1}]},
    "metadata three deep": {"incidences": [], "metadata": {"a": {"b": {"c": [1, {"d": None}]}}}},
    "asc": {"network-type": "asc", "incidences": [ONE, {"edge": "b", "node": 7}]},
    "directed": {
        "network-type": "directed",
        "incidences": [{**ONE, "direction": "head"}, {"edge": "a", "node": 8, "direction": "tail"}],
    },
    "directed, some without": {"network-type": "directed", "incidences": [{**ONE, "direction": "head"}, ONE]},
}
REFUSED: dict[str, Any] = {
    "no incidences": {},
    "a float as id": {"incidences": [{"edge": 1.23, "node": 1}]},
    "weight a text": {"incidences": [{**ONE, "weight": "2"}]},
    "strange field of an incidence": {"incidences": [{**ONE, "color": 1}]},
    "edge without id": {"incidences": [], "edges": [{"attrs": {}}]},
    "node without id": {"incidences": [], "nodes": [{"attrs": {}}]},
    "strange field of an edge": {"incidences": [], "edges": [{"edge": 1, "color": 1}]},
    "strange field of a node": {"incidences": [], "nodes": [{"node": 1, "color": 1}]},
    "incidence without node": {"incidences": [{"edge": 1}]},
    "direction only": {"incidences": [{"direction": "head"}]},
    "metadata a list": {"incidences": [], "metadata": []},
    "strange field at the top": {"incidences": [], "colors": []},
    "strange network-type": {"incidences": [], "network-type": "multi"},
    "strange direction": {"network-type": "directed", "incidences": [{**ONE, "direction": "up"}]},
    "extra beside direction": {
        "network-type": "directed",
        "incidences": [{**ONE, "direction": "head", "side": 1}],
    },
    "incidences of no object": {"incidences": [["a", 7]]},
}


def valid(content: Any) -> bool:
    return bool(jsonschema.Draft7Validator(schema()).is_valid(content))


def ours(content: Any) -> bool:
    try:
        decoded(json.dumps(content).encode())
    except ConversionError:
        return False
    return True


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_the_standard_accepts_is_hif(name: str) -> None:
    assert valid(ACCEPTED[name]) and ours(ACCEPTED[name])
    converted(ACCEPTED[name])


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_standard_refuses_is_none(name: str) -> None:
    assert not valid(REFUSED[name])
    with pytest.raises(ConversionError, match=r"this is no HIF of version 0.1.0: .*\$"):
        hc.from_hif(REFUSED[name])


def test_there_are_as_many_cases_as_the_standard_has() -> None:
    assert (len(ACCEPTED), len(REFUSED)) == (15, 16)


_VALUES = st.sampled_from(
    [None, True, 0, -3, 1.0, 1.5, "", "x", [], [1], {}, {"a": 1}, "head", "directed", [ONE], [{"node": 1}]]
)
_KEYS = st.sampled_from(["edge", "node", "weight", "direction", "attrs", "color"])
_RECORDS = st.lists(st.dictionaries(_KEYS, _VALUES, max_size=4) | st.just(ONE), max_size=3)
_CONTENT = st.dictionaries(
    st.sampled_from(["incidences", "nodes", "edges", "metadata", "network-type", "colors"]),
    _RECORDS | _VALUES,
    max_size=4,
)


@settings(max_examples=200)
@given(_CONTENT | st.sampled_from([*ACCEPTED.values(), *REFUSED.values()]), st.data())
def test_our_types_are_the_schema(content: Any, data: Any) -> None:
    content = copy.deepcopy(content)
    for section in ("incidences", "nodes", "edges"):
        if isinstance(content.get(section), list) and content[section] and data.draw(st.booleans()):
            record = data.draw(st.sampled_from(content[section]))
            if isinstance(record, dict):
                record[data.draw(_KEYS)] = data.draw(_VALUES)
    assert ours(content) == valid(content)


def test_everything_that_is_no_hif_is_told_at_once() -> None:
    content = {"incidences": [{"edge": 1}, {"edge": 1.5, "node": 2}], "nodes": [{"node": 1, "x": 2}], "a": 1}
    with pytest.raises(ConversionError, match="4 problems: ") as caught:
        decoded(json.dumps(content).encode())
    for place in ("`$.incidences[0]`", "`$.incidences[1].edge`", "`$.nodes[0]`", "`a`"):
        assert place in str(caught.value)


@pytest.mark.parametrize("aspect", ASPECTS)
def test_what_is_written_is_valid_and_comes_back(aspect: str) -> None:
    content = ASPECTS[aspect].to_hif()
    assert valid(content)
    assert same(hc.from_hif(content), ASPECTS[aspect])


@pytest.mark.parametrize("ending", [".json", ".json.gz", ".json.zst"])
def test_files_are_packed_by_their_ending(tmp_path: Path, ending: str) -> None:
    source = plain(node_names=["ann", "bob", "eve", "joe"], name="clubs")
    source.to_hif(tmp_path / f"x{ending}")
    for again in (hc.from_hif(tmp_path / f"x{ending}"), hc.load(tmp_path / f"x{ending}")):
        assert again == source and again.name == "clubs"
    with pytest.raises(FileExistsError):
        source.to_hif(tmp_path / f"x{ending}")


def node(name: Any, **attrs: Any) -> dict[str, Any]:
    return {"node": name, "attrs": attrs}


CLUBS: dict[str, Any] = {
    "network-type": "undirected",
    "nodes": [
        node("ann", age=31, label="law"),
        node("bob", age=45, tall=1.8),
        node("eve", age=28, label="art"),
    ],
    "incidences": [{"node": "ann", "edge": "x"}, {"node": "bob", "edge": "x"}, {"node": "eve", "edge": 5}],
}


def test_features_and_labels_are_read_as_hypertorch_reads_them() -> None:
    with pytest.warns(
        ConversionWarning, match=r"1 of 2 numeric attributes.*'tall' of node 'ann': 0 is taken"
    ):
        source = hc.from_hif(CLUBS)
    np.testing.assert_array_equal(source.features, np.array([[31, 0], [45, 1.8], [28, 0]], np.float32))
    assert source.feature_names == ("age", "tall")
    assert source.label_names == ("art", "law") and source.labels.tolist() == [1, -1, 0]
    assert source.node_names == ("ann", "bob", "eve") and source.hyperedge_names == ("x", "5")
    with pytest.warns(ConversionWarning):
        mapped = hc.from_hif({**CLUBS, "metadata": {"label_map": {"law": 0, "art": 1}}})
    assert mapped.label_names == ("law", "art")


def test_what_a_node_lacks_and_what_is_no_number_is_handled_as_chosen() -> None:
    with pytest.raises(ConversionError, match="'tall' of node 'ann'; fill them, or choose missing='zero'"):
        hc.from_hif(CLUBS, missing="error")
    with pytest.warns(ConversionWarning, match="the mean of the others"):
        np.testing.assert_allclose(hc.from_hif(CLUBS, missing="mean").features[:, 1], 1.8)
    town = {**CLUBS, "nodes": [node(one, x=1, town=one[0], label=one) for one in ("ann", "bob", "eve")]}
    with pytest.warns(ConversionWarning, match=r"no numbers: 'town' \('a' of node 'ann'\) were left out"):
        assert hc.from_hif(town).feature_names == ("x",)
    assert hc.from_hif(town, text="one-hot").feature_names == ("x", "town=a", "town=b", "town=e")
    with pytest.raises(ConversionError, match="text='one-hot' makes a column of each value"):
        hc.from_hif(town, text="error")


def test_weights_of_hyperedges_and_memberships() -> None:
    nodes = [node(one, x=1, label=0) for one in "abc"]
    pairs = [{"node": "a", "edge": 1}, {"node": "b", "edge": 1, "weight": 3}, {"node": "c", "edge": 2}]
    for edge in ({"edge": 2, "weight": 0.5}, {"edge": 2, "attrs": {"weight": 0.5}}):
        source = hc.from_hif({"nodes": nodes, "incidences": pairs, "edges": [{"edge": 1}, edge]})
        assert source.incidence.weights is not None
        assert source.incidence.weights.tolist() == [1, 3, 0.5]
    with pytest.raises(
        ConversionError, match="node 'b' has a weight in edge 1, which has another one itself"
    ):
        hc.from_hif({"nodes": nodes, "incidences": pairs, "edges": [{"edge": 1, "weight": 2}]})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"network-type": "directed"}, "its network-type is 'directed'"),
        ({"incidences": [{"node": "ann", "edge": 1, "direction": "head"}]}, "incidence 0 has a direction"),
        (
            {"incidences": [{"node": "ann", "edge": 1, "weight": -2}]},
            "that of node 'ann' in hyperedge 1 is -2",
        ),
        ({"nodes": [node("ann", label=1)], "incidences": []}, "nodes have no features"),
        ({"nodes": [node("ann", x=1)], "incidences": []}, "no node has a label"),
        ({"nodes": [node(1, x=1, label=0), node("1", x=1, label=0)], "incidences": []}, "both be called '1'"),
        ({"nodes": [node(1, x=1, label=0), node(1, x=2)], "incidences": []}, "1 is listed twice .* of 'x'"),
        ({"nodes": [node(1, x=10**400, label=0)], "incidences": []}, "'x' of node 1 is a number nobody"),
        ({"metadata": {"label_map": {"law": 1}}}, "label_map must be a table"),
        ({"metadata": {"hypercondense": {"name": 5}}}, "metadata.hypercondense: name must be a text"),
    ],
)
@pytest.mark.filterwarnings("ignore::hypercondense.errors.ConversionWarning")
def test_valid_hif_that_is_not_for_us_is_refused_as_ours(change: Any, message: str) -> None:
    content = {**CLUBS, **change}
    assert valid(content)
    with pytest.raises(ConversionError, match=message) as caught:
        hc.from_hif(content)
    assert "no HIF" not in str(caught.value)


@pytest.mark.filterwarnings("ignore::hypercondense.errors.ConversionWarning")
def test_all_that_is_not_for_us_is_told_at_once() -> None:
    content = {"network-type": "directed", "incidences": [{**ONE, "weight": -1}]}
    with pytest.raises(ConversionError, match=r"4 problems: .*directed.*features.*label.*weights"):
        hc.from_hif(content)


def test_what_is_not_used_is_told() -> None:
    nodes = [{"node": 0, "weight": 2, "attrs": {"x": 1, "label": 0}}]
    content = {
        "network-type": "asc",
        "metadata": {"name": "trip", "licence": "MIT"},
        "nodes": nodes,
        "edges": [{"edge": 0, "attrs": {"colour": "red"}}],
        "incidences": [{"node": 0, "edge": 0, "attrs": {"since": 1}}],
    }
    with pytest.warns(ConversionWarning) as told:
        assert hc.from_hif(content).name == "trip"
    text = " ".join(str(one.message) for one in told)
    for word in ("'asc'", "'licence'", "'colour' of edges", "'since' of incidences", "weights of nodes"):
        assert word in text


def test_bombs_are_refused_before_memory_is_taken(tmp_path: Path) -> None:
    bomb = tmp_path / "x.json.gz"
    bomb.write_bytes(gzip.compress(b" " * 1_000_000) * 300)  # several packed files in one are one
    with pytest.raises(FormatError, match=r"would need .* of memory, more than the"):
        hc.load(bomb)
    nested = b'{"incidences": [], "metadata": {"a": [' + b"{}," * 2_000_000 + b"{}]}}"
    bomb.write_bytes(gzip.compress(nested, 1))
    with pytest.raises(FormatError, match="would need"):
        hc.load(bomb)
    deep = tmp_path / "y.json"
    deep.write_bytes(b'{"incidences": [], "metadata": ' + b'{"a":' * 10**6 + b"1" + b"}" * 10**6 + b"}")
    with pytest.raises(FormatError, match="nested too deeply"):
        hc.load(deep)
    bomb.write_bytes(gzip.compress(b'{"incidences": []}')[:-9])
    with pytest.raises(FormatError, match="not packed as its name says, or cut off"):
        hc.load(bomb)


def test_commands_read_and_write_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = condensation(tiny(name="small", soft_labels=np.array([[1, 0], [0, 1], [0, 1], [0.5, 0.5]])))
    result.save(tmp_path / "small")
    assert run(["export", "small", "--to", "hif"]) == 0
    content = json.loads((tmp_path / "small.json").read_text())
    assert valid(content)
    assert content["metadata"]["hypercondense"]["provenance"]["method"] == "random"
    assert run(["export", "small", "--to", "hif", "--out", "small.json.gz", "--quiet"]) == 0
    capsys.readouterr()
    assert run(["convert", "small.json.gz", "again", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["digest"] == load_condensed("small").hypergraph.digest
    Path("clubs.json").write_text(json.dumps(CLUBS))
    assert run(["info", "clubs.json"]) == 0
    assert "'tall' of node 'ann': 0 is taken" in capsys.readouterr().err
    Path("bad.json").write_text(json.dumps({"incidences": [{"edge": 1}]}))
    assert run(["info", "bad.json"]) == 2
    assert "no HIF of version 0.1.0" in capsys.readouterr().err


def test_what_xgi_writes_is_read() -> None:
    xgi = pytest.importorskip("xgi")
    network = xgi.Hypergraph({"x": ["ann", "bob"], "y": ["bob"]})
    network.set_node_attributes({"ann": {"age": 3, "label": "a"}, "bob": {"age": 4, "label": "b"}})
    source = hc.from_hif(xgi.to_hif_dict(network))
    assert source.num_hyperedges == 2 and sorted(source.node_names or ()) == ["ann", "bob"]


@pytest.mark.parametrize("ending", [".json", ".json.zst"])
def test_hypertorch_reads_what_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    hypertorch = pytest.importorskip("hypertorch.data", reason="`make peers` runs this where it is")
    monkeypatch.setenv("HYPERTORCH_CACHE_DIR", str(tmp_path))
    (tmp_path / "hif_schema.json").write_text(json.dumps(schema()))  # else it asks the network for it
    source = plain(labels=[0, 2, 1, 0])
    source.to_hif(tmp_path / f"x{ending}")
    data, _ = hypertorch.HIFLoader.load_from_path(str(tmp_path / f"x{ending}"), task="node-classification")
    np.testing.assert_array_equal(data.x.numpy(), source.features)
    assert data.y.tolist() == source.labels.tolist()
    assert data.hyperedge_index.shape == (2, source.num_incidences)
