"""A budget of memory for a source on disk: the same bits, or a refusal that tells what is needed."""

import json

import pytest

import hypercondense as hc
from hypercondense.cli import run
from hypercondense.data import synthetic
from hypercondense.data.formats import read
from hypercondense.data.formats.opened import write_mapped
from hypercondense.errors import ConfigError
from hypercondense.nn.short_trainings import ShortTrainings
from hypercondense.nn.streamed import inputs_of

SHORT = {
    "ahgcdd": {"goal.epochs": 4, "looks": 1, "structure.warm": None},
    "ahgcdd-x": {"goal.epochs": 4, "looks": 1},
    "ridge": {"goal.closed_form.epochs": 3, "goal.batch": 30, "looks": 1},
    "learnt": {"goal.training.epochs": 3, "goal.batch": 30, "looks": 1},
    "k-means": {},
    "random": {},
    "herding": {},
    "k-center": {"embedding.kind": "diffused"},
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = synthetic(num_nodes=240, num_hyperedges=120, num_classes=3, num_features=5, seed=5)
    write_mapped(source, tmp_path / "source")
    return tmp_path / "source"


@pytest.mark.parametrize("method", SHORT)
def test_a_budget_does_not_change_a_bit_of_any_method(folder, tmp_path, method):
    how = {"nodes": 9, "method": method, "settings": SHORT[method], "cache_dir": tmp_path / "rows"}
    free, bound = (hc.condense(read(folder), memory=memory, **how) for memory in (None, "4GB"))
    assert bound.hypergraph.digest == free.hypergraph.digest
    assert bound.final_validation == free.final_validation


def test_commands_keep_the_bits_and_leave_nothing_behind(folder, tmp_path, capsys):
    told = []
    for number, budget in enumerate(([], ["--memory", "4GB"])):
        small = str(tmp_path / f"small-{number}")
        command = [
            "condense",
            str(folder),
            "--nodes",
            "9",
            "--method",
            "means",
            "--out",
            small,
            "-q",
            *budget,
        ]
        assert run(command) == 0, capsys.readouterr().err
        asked = ["evaluate", small, "--source", str(folder), "--runs", "1", "--json", "-q", *budget]
        capsys.readouterr()
        assert run(asked) == 0, capsys.readouterr().err
        told.append(json.loads(capsys.readouterr().out)["values"])
    assert told[0] == told[1]
    assert list((tmp_path / "cache").rglob("hypercondense-*")) == []


@pytest.mark.parametrize("command", ["condense", "evaluate"])
def test_a_budget_below_the_least_is_refused_with_what_is_needed(folder, tmp_path, capsys, command):
    small = str(tmp_path / "small")
    made = ["condense", str(folder), "--nodes", "9", "--method", "means", "--out", small, "-q"]
    if command == "evaluate":
        assert run(made) == 0
        made = ["evaluate", small, "--source", str(folder), "--runs", "1"]
    assert run([*made, "--memory", "50MB"]) != 0
    assert "240 nodes and 120 hyperedges need at least" in capsys.readouterr().err


def test_what_needs_everything_in_memory_is_refused_before_the_work(folder, tmp_path, monkeypatch):
    source = read(folder)
    monkeypatch.setattr("hypercondense.nn.streamed.bytes_in_memory", lambda source: 10**12)
    with pytest.raises(ConfigError, match=r"teachers needs the source in memory, about 1 TB"):
        hc.condense(source, nodes=9, method="taught", memory="4GB", cache_dir=tmp_path / "rows")
    result = hc.condense(source, nodes=9, method="means", memory="4GB", cache_dir=tmp_path / "rows")
    with pytest.raises(ConfigError, match=r"unigcnii needs the source in memory, about 1 TB"):
        hc.evaluate(result, source, hc.split(source), model="unigcnii", memory="4GB")
    with pytest.raises(ConfigError, match=r"unigcnii needs the source in memory, about 1 TB"):
        ShortTrainings(inputs_of(source, memory=4 * 10**9), hc.split(source), models=["unigcnii"])
    with pytest.raises(ConfigError, match=r"a training on everything needs"):
        hc.evaluate(result, source, hc.split(source), whole=True, memory="4GB")


@pytest.fixture
def small(folder, tmp_path):
    result = hc.condense(read(folder), nodes=9, method="means", cache_dir=tmp_path / "rows")
    result.save(tmp_path / "small")
    return str(tmp_path / "small")


def in_both(words, tmp_path, capsys, *, written=None):
    """What a command tells without a budget and with one, or what it writes into a file."""
    told = []
    for number, budget in enumerate(([], ["--memory", "4GB"])):
        file = tmp_path / f"{number}.out"
        out = [] if written is None else [written, str(file)]
        capsys.readouterr()
        assert run([*words, *out, "-q", *budget]) == 0, capsys.readouterr().err
        told.append(capsys.readouterr().out if written is None else file.read_text())
    return told


def test_predictions_are_the_same_within_a_budget(folder, small, tmp_path, capsys):
    words = ["predict", small, "--source", str(folder)]
    free, bound = in_both(words, tmp_path, capsys, written="--out")
    assert bound == free and len(free.splitlines()) == 241


def test_rankings_and_comparisons_are_the_same_within_a_budget(folder, small, tmp_path, capsys):
    ranked = in_both(["tune", small, "--source", str(folder), "--models", "mlp", "--runs", "1", "--json"],
                     tmp_path, capsys)  # fmt: skip
    trials = [json.loads(one)["trials"] for one in ranked]
    assert trials[0] == trials[1]
    words = ["compare", str(folder), "--nodes", "9", "--methods", "means", "--seeds", "1", "--runs", "1"]
    compared = in_both([*words, "--json"], tmp_path, capsys)
    means = [[row["mean"] for row in json.loads(one)] for one in compared]
    assert means[0] == means[1]


def test_a_page_leaves_out_what_there_is_no_room_for_and_says_so(
    folder, small, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("hypercondense.nn.streamed.bytes_in_memory", lambda source: 10**12)
    words = ["report", small, "--source", str(folder), "--runs", "1", "--memory", "4GB", "-q"]
    assert run([*words, "--out", str(tmp_path / "page.html")]) == 0, capsys.readouterr().err
    page = (tmp_path / "page.html").read_text()
    assert "networks were not trained on the whole: a training on everything needs" in page


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["predict", "--model", "unigcnii", "--out", "out.csv"], "unigcnii"),
        (["tune", "--whole"], "a training on everything"),
        (["compare", "--nodes", "9", "--methods", "means,whole"], "a training on everything"),
    ],
)
def test_commands_refuse_what_a_budget_has_no_room_for(folder, small, capsys, monkeypatch, words, what):
    monkeypatch.setattr("hypercondense.nn.streamed.bytes_in_memory", lambda source: 10**12)
    command, *options = words
    of = [str(folder)] if command == "compare" else [small, "--source", str(folder)]
    assert run([command, *of, *options, "--memory", "4GB", "-q"]) == 2
    assert f"{what} needs the source in memory, about 1 TB" in capsys.readouterr().err
