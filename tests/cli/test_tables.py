"""Snapshots of tables at 80, 100 and 200 columns and piped, and of what programs read.

`UPDATE_SNAPSHOTS=1 pytest tests/cli/test_tables.py` writes them anew.
"""

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from hypercondense import comparing
from hypercondense.cli import run
from hypercondense.evaluation import tuning
from hypercondense.nn.training import Configuration

FOLDER = Path(__file__).parent / "snapshots"
ROOT = Path(__file__).parents[2]
RESULTS, PLAN = FOLDER / "results.jsonl", ROOT / "experiments" / "main.toml"
WIDTHS = {"80": 80, "100": 100, "200": 200, "piped": None}


class Terminal(io.StringIO):
    """Standard output that says whether it is a terminal."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


def compared(source: Any, *_: Any, **__: Any) -> list[comparing.Compared]:
    row = {"model": "hgnn", "std": 0.0123, "num_nodes": 18, "trainings": 9}
    return [
        comparing.Compared(method="random", mean=0.8123, seconds=0.1, **row),  # type: ignore[arg-type]
        comparing.Compared(method="auto", mean=0.9623, seconds=21.4, **row),  # type: ignore[arg-type]
        comparing.Compared(
            method="whole", model="hgnn", mean=0.99, std=0.0, seconds=0.0, num_nodes=898, trainings=1
        ),
    ]


def ranked(configurations: Any, *_: Any, **__: Any) -> tuning.Ranking:
    given = [
        form
        for model in ("edhnn", "hgnn")
        for form in Configuration(
            model=model, options={"hidden": 16, "dropout": 0.5}, learning_rate=0.01
        ).in_each_form()
    ]
    trials = [
        tuning.RankedConfiguration(one, 0.9 - place / 100, 0.95, 0.94) for place, one in enumerate(given)
    ]
    return tuning.Ranking(tuple(trials), 3.0, 40.0, 0.8, 0.001)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = str(tmp_path_factory.mktemp("tables") / "small")
    assert (
        run(
            ["condense", "synthetic", "--nodes", "12", "--method", "random", "--out", out, "-q", "--no-cache"]
        )
        == 0
    )
    return out


COMMANDS = {
    "datasets": ["datasets", "-q"],
    "methods": ["methods"],
    "method": ["methods", "ridge"],
    "compare": ["compare", "synthetic", "--nodes", "12", "-q"],
    "tune": ["tune", "SMALL", "--whole", "-q"],
    "table": ["table", str(RESULTS), "--plan", str(PLAN)],
}


@pytest.fixture
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No data sets and nothing kept from before; nobody is trained."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("HYPERCONDENSE_DATA", raising=False)
    monkeypatch.setattr(comparing, "compare", compared)
    monkeypatch.setattr(tuning, "rank", ranked)


def same_as_kept(text: str, file: Path) -> None:
    if os.environ.get("UPDATE_SNAPSHOTS"):
        FOLDER.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8")


@pytest.mark.usefixtures("isolated")
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", COMMANDS)
def test_tables_fit(name: str, width: str, small: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTHS[width] or 80))
    screen = Terminal(is_terminal=WIDTHS[width] is not None)
    monkeypatch.setattr(sys, "stdout", screen)
    status = run([small if word == "SMALL" else word for word in COMMANDS[name]])
    monkeypatch.undo()
    text = screen.getvalue()
    assert status == 0
    assert not set(text) & set("│┃━┏┓└┘├┤")  # no boxes
    if WIDTHS[width] is not None:
        assert max(map(len, text.splitlines())) <= WIDTHS[width]
    same_as_kept(text, FOLDER / f"{name}-{width}.txt")


@pytest.mark.usefixtures("isolated")
@pytest.mark.parametrize("name", COMMANDS)
def test_programs_read_the_same_as_before(name: str, small: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*(small if word == "SMALL" else word for word in COMMANDS[name]), "--json"]) == 0
    text = capsys.readouterr().out
    same_as_kept(json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n", FOLDER / f"{name}.json")


@pytest.mark.usefixtures("isolated")
def test_networks_of_one_form_have_no_column_of_forms(
    small: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [
        Configuration(model="hgnn", options={"hidden": width}, learning_rate=0.01) for width in (16, 128)
    ]
    trials = tuple(tuning.RankedConfiguration(one, 0.9) for one in given)
    monkeypatch.setattr(tuning, "rank", lambda *_, **__: tuning.Ranking(trials, 3.0))
    assert run(["tune", small, "-q"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["model", "hidden", "step", "validation"]


def test_a_figure_does_not_take_the_table_away(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    figure = tmp_path / "main.svg"
    assert run(["table", str(RESULTS), "--plan", str(PLAN), "--figure", str(figure), "-q"]) == 0
    assert figure.exists() and "Cora" in capsys.readouterr().out
