"""Figures, and all tables of a folder; what is committed is what the lines give."""

import json
import re
from pathlib import Path

import pytest

from hypercondense.cli import run
from hypercondense.errors import ConfigError
from hypercondense.experiments.figures import draw
from hypercondense.experiments.plan_reader import read_plan
from hypercondense.experiments.publish import figures, fill_in, pages, publish
from hypercondense.typed import content_of
from makers.experiment_cases import QUICK, lines_of, plan_of, write_plan

ROOT = Path(__file__).parents[2]
PLANS, RESULTS = ROOT / "experiments", ROOT / "docs" / "results"
SCORES = {"random": [0.70, 0.72], "ahgcdd": [0.90, 0.92], "whole": [0.99]}
SWEEP = """
name = "sweep"
title = "Sweep"
seeds = 1
runs = 2
[datasets.digits]
ratios = [0.01]
[variants.one]
method = "ahgcdd"
options = { time = 1 }
[variants.two]
method = "ahgcdd"
options = { time = 2 }
[figure]
kind = "sweep"
option = "map.time"
label = "λ"
"""
FIGURES = {
    "ratio": QUICK
    + '[figure]\nkind = "ratio"\n[published]\nrows = [{ values = { random = "60", whole = "98" } }]\n',
    "bars": QUICK + '[figure]\nkind = "bars"\n[published]\nrows = [{ values = { random = "60" } }]\n',
    "size": QUICK + '[figure]\nkind = "size"\n',
    "sweep": SWEEP,
}
ALL_SCORES = {**SCORES, "one": [0.5, 0.6], "two": [0.7, 0.8]}


@pytest.mark.parametrize("kind", FIGURES)
def test_figures_have_the_same_bytes_every_time(tmp_path: Path, kind: str) -> None:
    plan = plan_of(tmp_path, FIGURES[kind])
    lines = lines_of(plan, ALL_SCORES)
    names = [tmp_path / f"a.{suffix}" for suffix in ("svg", "png")]
    draw(plan, lines, names)
    first = [path.read_bytes() for path in names]
    draw(plan, list(reversed(lines)), names)
    assert [path.read_bytes() for path in names] == first
    assert b"<svg" in first[0] and first[1].startswith(b"\x89PNG")


def test_what_cannot_be_drawn_is_an_error(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    with pytest.raises(ConfigError, match="has no figure"):
        draw(plan, [], [tmp_path / "a.svg"])
    plan = plan_of(tmp_path, FIGURES["bars"])
    with pytest.raises(ConfigError, match="nothing to draw"):
        draw(plan, [], [tmp_path / "a.svg"])
    with pytest.raises(ConfigError, match=r"a \.svg, \.pdf or \.png file, got 'a\.gif'"):
        draw(plan, lines_of(plan, SCORES), [tmp_path / "a.gif"])
    plan = plan_of(tmp_path, SWEEP.replace('option = "map.time"', 'option = "goal.schedule"'))
    with pytest.raises(ConfigError, match=r"the option goal.schedule of the plan sweep is not a number"):
        draw(plan, lines_of(plan, ALL_SCORES), [tmp_path / "a.svg"])
    assert list(tmp_path.glob("a.*")) == []


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with two plans, results of one of them, and a document with a gap."""
    (tmp_path / "plans").mkdir()
    (tmp_path / "results").mkdir()
    path = write_plan(tmp_path / "plans", FIGURES["bars"], "quick.toml")
    write_plan(tmp_path / "plans", SWEEP, "sweep.toml")
    texts = [json.dumps(content_of(one.content)) for one in lines_of(read_plan(path), SCORES)]
    (tmp_path / "results" / "all.jsonl").write_text("\n".join(texts) + "\n")
    (tmp_path / "README.md").write_text(
        "before\n<!-- table: quick -->\nold\n<!-- /table -->\nafter\n", "utf-8"
    )
    return tmp_path


def test_a_folder_of_results_becomes_pages_figures_and_a_filled_document(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        "publish",
        project / "results",
        "--plans",
        project / "plans",
        "--fill",
        project / "README.md",
    ]
    assert run([*map(str, arguments), "--json"]) == 0
    written = {Path(name).name for name in json.loads(capsys.readouterr().out)["written"]}
    assert written == {"quick.md", "README.md", "quick.svg", "quick.png"}
    page = (project / "results" / "quick.md").read_text("utf-8")
    assert "**91.00 ± 1.15**" in page and "(quick.svg)" in page
    index = (project / "results" / "README.md").read_text("utf-8")
    assert "| [quick](quick.md) | Quick | 5 of 5 |" in index
    assert "| sweep | Sweep | 0 of 2 |" in index
    readme = (project / "README.md").read_text("utf-8")
    assert readme.startswith("before\n<!-- table: quick -->\n### digits\n") and readme.endswith("after\n")
    assert "\nold\n" not in readme


def test_publishing_twice_changes_nothing(project: Path) -> None:
    paths = publish(project / "plans", project / "results", [project / "README.md"])
    before = [path.read_bytes() for path in paths]
    assert publish(project / "plans", project / "results", [project / "README.md"]) == paths
    assert [path.read_bytes() for path in paths] == before


def test_a_folder_without_results_or_plans_and_an_unknown_table_are_errors(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["publish", str(project), "--plans", str(project / "plans")]) == 2
    assert "there is no results file" in capsys.readouterr().err
    assert run(["publish", str(project / "results"), "--plans", str(project)]) == 2
    assert "there is no plan" in capsys.readouterr().err
    with pytest.raises(ConfigError, match="asks for the table of 'none'"):
        fill_in("<!-- table: none -->\n<!-- /table -->", project / "plans", project / "results")


# --- what is committed ---

COMMITTED = list(pages(PLANS, RESULTS)) if any(RESULTS.glob("*.jsonl")) else []


@pytest.mark.parametrize(("path", "text"), COMMITTED, ids=[path.name for path, _ in COMMITTED])
def test_committed_pages_are_what_the_committed_lines_give(path: Path, text: str) -> None:
    assert path.read_text("utf-8") == text, "run `make results`"


def test_committed_figures_are_what_the_committed_lines_give(tmp_path: Path) -> None:
    import matplotlib as mpl

    for one, (committed, picture) in figures(PLANS, RESULTS) if COMMITTED else ():
        assert picture.is_file(), "run `make results`"
        made = tmp_path / committed.name
        draw(one.plan, one.lines, [made])
        drawn_by = re.search(r"Matplotlib v([\d.]+)", committed.read_text("utf-8"))
        if drawn_by and drawn_by[1] == mpl.__version__:  # another version draws other curves
            assert committed.read_bytes() == made.read_bytes(), "run `make results`"


def test_committed_documents_hold_the_tables_that_the_committed_lines_give() -> None:
    if any(RESULTS.glob("*.jsonl")):
        text = (ROOT / "README.md").read_text("utf-8")
        assert fill_in(text, PLANS, RESULTS) == text, "run `make results`"
