"""The first hour of a stranger: own tables with names, from `info` to `predict`, as commands."""

import csv
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypercondense.cli import run
from hypercondense.cli.out_folder import default_out
from hypercondense.condensation import load_condensed
from hypercondense.evaluation import forecast
from hypercondense.files.locking import exclusive

STRANGE = {0: 'o\'neil, "ann"', 1: "line\nbreak", 2: "🦊", 3: "\x1b[31mred"}


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.delenv("HYPERCONDENSE_DATA", raising=False)


@pytest.fixture(scope="module")
def customers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Customers who bought together: spending in hundreds, a score around 1, a third without a label."""
    folder = tmp_path_factory.mktemp("data") / "customers"
    folder.mkdir()
    rng = np.random.default_rng(0)
    count = 240
    kinds = rng.integers(0, 2, count)
    names = [STRANGE.get(node, f"customer {node}") for node in range(count)]

    def table(name: str, header: list[str], rows: Any) -> None:
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, *rows])

    features = np.stack([rng.normal(0, 700, count), kinds + rng.normal(0, 0.3, count)], 1)
    table(
        "features",
        ["node", "spent", "score"],
        ([name, *row] for name, row in zip(names, features, strict=True)),
    )
    known = range(4, 160)
    table("labels", ["node", "label"], ([names[node], ["gold", "basic"][kinds[node]]] for node in known))
    baskets = [
        (names[node], f"basket {basket}")
        for basket in range(120)
        for node in rng.choice(np.flatnonzero(kinds == basket % 2), 3, replace=False)
    ]
    table("incidence", ["node", "hyperedge"], baskets)
    return folder


@pytest.fixture(scope="module")
def condensed(customers: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "small"
    command = ["condense", str(customers), "--nodes", "10", "--method", "means", "--no-cache", "-q"]
    assert run([*command, "--standardize", "--out", str(out)]) == 0
    return out


def call(capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    found = run([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert found == status, err
    return out, err


def test_info_warns_of_scales(capsys: pytest.CaptureFixture[str], customers: Path) -> None:
    out, err = call(capsys, "info", customers)
    assert "feature ranges" in out
    assert "warning: features are on different scales: 'spent' spans" in err and "--standardize" in err
    told = json.loads(call(capsys, "info", customers, "--json")[0])
    assert told["features"]["num_constant"] == 0 and len(told["warnings"]) == 1


def test_condense_warns_of_scales_before_the_work(
    capsys: pytest.CaptureFixture[str], customers: Path, tmp_path: Path
) -> None:
    _, err = call(
        capsys, "condense", customers, "--nodes", "8", "--method", "random", "--out", tmp_path / "x", "-q"
    )
    assert err.startswith("warning: features are on different scales: 'spent' spans")


def test_standardizing_is_a_part_of_the_result(
    capsys: pytest.CaptureFixture[str], condensed: Path, customers: Path, tmp_path: Path
) -> None:
    result = load_condensed(condensed)
    assert result.scale is not None and result.scale.deviations[0] > 500
    assert "scale.deviations" in result.provenance.preprocessing[0]
    assert json.loads((condensed / "manifest.json").read_text())["format_version"] == 4
    assert "standardized" in result.summary()
    score = json.loads(call(capsys, "evaluate", condensed, "--runs", "2", "--json", "-q")[0])
    assert score["mean"] > 0.9  # as on features that are on one scale; without, the noise drowns the rest
    assert 0 <= score["calibration"] <= 1
    call(capsys, "export", condensed, "--to", "npz", "--out", tmp_path / "x.npz", "-q")
    with (tmp_path / "x-scale.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["feature"] for row in rows] == ["spent", "score"]
    assert float(rows[0]["deviation"]) == pytest.approx(float(result.scale.deviations[0]))


def test_customers_without_a_label_get_one_by_their_own_names(
    capsys: pytest.CaptureFixture[str], condensed: Path, tmp_path: Path
) -> None:
    labels, network = tmp_path / "labels.csv", tmp_path / "network.safetensors"
    out, _ = call(capsys, "predict", condensed, "--out", labels, "--save-network", network)
    assert "84 nodes of customers by hgnn" in out and "calibration error" in out
    with labels.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["node"] for row in rows[:4]] == list(STRANGE.values())
    assert {row["label"] for row in rows} == {"gold", "basic"}
    assert all(float(row["share of gold"]) + float(row["share of basic"]) > 0.999 for row in rows)
    few = tmp_path / "few.csv"
    few.write_text('node\n🦊\n"o\'neil, ""ann"""\n', "utf-8")
    told = call(
        capsys,
        "predict",
        condensed,
        "--network",
        network,
        "--nodes",
        few,
        "--out",
        tmp_path / "2.csv",
        "--json",
    )
    assert json.loads(told[0])["num_nodes"] == 2
    by_name = {row["node"]: row["share of gold"] for row in rows}
    with (tmp_path / "2.csv").open(encoding="utf-8", newline="") as file:
        assert [row["share of gold"] for row in csv.DictReader(file)] == [by_name["🦊"], by_name[STRANGE[0]]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("nobody\n", "no node called 'nobody'"),
        ("\x1b[31mblue\n", r"no node called '\x1b[31mblue'"),
        ("", "names no nodes"),
        ("customer 5,customer 6\n", "a node per line, or a column 'node'"),
    ],
)
def test_nodes_that_do_not_exist_are_named(
    capsys: pytest.CaptureFixture[str], condensed: Path, tmp_path: Path, content: str, message: str
) -> None:
    (tmp_path / "nodes.txt").write_text(content, "utf-8")
    arguments = ["predict", condensed, "--nodes", tmp_path / "nodes.txt", "--out", tmp_path / "labels.csv"]
    _, err = call(capsys, *arguments, status=2)
    assert message in err and err.count("\n") == 1 and "\x1b" not in err
    assert not (tmp_path / "labels.csv").exists()


def test_a_network_of_another_source_is_refused(
    capsys: pytest.CaptureFixture[str], condensed: Path, tmp_path: Path
) -> None:
    network, other = tmp_path / "n.safetensors", tmp_path / "other"
    call(
        capsys, "predict", condensed, "--model", "mlp", "--out", tmp_path / "a.csv", "--save-network", network
    )
    call(capsys, "condense", "synthetic", "--nodes", "10", "--method", "random", "--out", other, "-q")
    _, err = call(capsys, "predict", other, "--network", network, "--out", tmp_path / "b.csv", status=2)
    assert "trained for another source, 'customers'" in err


def test_nonsense_is_asked_about_before_the_work(
    capsys: pytest.CaptureFixture[str], customers: Path, tmp_path: Path
) -> None:
    _, err = call(capsys, "condense", customers, "--ratio", "1", "--out", tmp_path / "x", status=2)
    assert "more than the 78 training nodes" in err and "ratio 0.01" in err
    _, err = call(
        capsys, "condense", customers, "--nodes", "75", "--method", "random", "--out", tmp_path / "x", "-q"
    )
    assert err.count("75 of 240 nodes condense little") == 1


def test_an_interrupted_run_is_not_discarded_without_a_word(
    capsys: pytest.CaptureFixture[str], customers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "x"
    command = ["condense", customers, "--nodes", "8", "--method", "ahgcdd-x", "--out", out, "-q"]
    from hypercondense.condensing import loop

    def interrupt(run: Any, total: int, due: Any) -> None:
        run.epoch += 1
        if run.epoch == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(loop.Run, "advance", interrupt)
        call(capsys, *command, "--checkpoint-every", "0", status=130)
    _, err = call(capsys, *command, status=2)
    assert "--resume" in err and "--force" in err and os.listdir(tmp_path) == ["x.partial"]  # noqa: PTH208
    _, err = call(capsys, *command, "--force")
    assert "is discarded, as --force asks" in err
    assert os.listdir(tmp_path) == ["x"]  # noqa: PTH208


def test_beside_an_interrupted_run_another_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop-0.01.partial").mkdir()
    assert default_out("shop", 0.01, None, resume=False) == Path("shop-0.01-2")
    assert not capsys.readouterr().err  # there is nothing to go on with
    (tmp_path / "shop-0.01.partial" / "checkpoint.safetensors").touch()
    with exclusive(tmp_path / "shop-0.01.partial" / "lock"):
        assert default_out("shop", 0.01, None, resume=False) == Path("shop-0.01-2")
    assert not capsys.readouterr().err  # somebody is at it
    assert default_out("shop", 0.01, None, resume=False) == Path("shop-0.01-2")
    assert "an interrupted run into shop-0.01 could go on with --resume" in capsys.readouterr().err
    assert default_out("shop", 0.01, None, resume=True) == Path("shop-0.01")
    assert not capsys.readouterr().err


def test_a_shell_completes_commands_and_options(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_HYPERCONDENSE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "hypercondense condense --sta")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert call(capsys)[0].split() == ["--standardize"]


def test_evaluate_tells_what_it_will_take_and_does_not_train_on_everything_twice(
    capsys: pytest.CaptureFixture[str], condensed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forecast, "seconds_by_stage", lambda left: {"train mlp": 4.0 * len(left)})
    command = ["evaluate", condensed, "--whole", "--runs", "2", "--model", "mlp", "--workers", "1"]
    out, err = call(capsys, *command)
    assert err.startswith("4 trainings: about ") and "whole" in out
    again, err = call(capsys, *command)
    assert err.startswith("2 trainings, 2 on the whole are known from before: about ")
    whole = [line.split()[-5:-2] for line in (out.splitlines()[-1], again.splitlines()[-1])]
    assert whole[0] == whole[1]


def test_a_budget_that_cannot_be_kept_is_said_at_the_beginning(
    capsys: pytest.CaptureFixture[str], customers: Path, tmp_path: Path
) -> None:
    command = ["condense", customers, "--nodes", "8", "--out", tmp_path / "x", "--budget", "0.1s"]
    out, err = call(capsys, *command)
    assert "warning: a budget of 0.1s cannot be kept: 0 s of it are left" in err
    assert "self-loops only: rows " in out
