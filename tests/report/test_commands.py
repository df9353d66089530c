"""`report`, `compare --html` and `tune --html` from the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from hypercondense.cli import run


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("HYPERCONDENSE_DATA", raising=False)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    given = ["condense", "synthetic", "--nodes", "12", "--method", "means", "--no-select", "--quiet"]
    assert run([*given, "--out", "small"]) == 0
    return tmp_path / "small"


def test_report_trains_and_writes_one_page_beside_the_result(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", "small", "--model", "mlp", "--runs", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    page = Path("small.html")
    assert told == {"out": "small.html", "bytes": page.stat().st_size}
    text = page.read_text("utf-8")
    assert "% retained" in text and "random nodes" in text and "MLP" in text
    assert run(["report", "small", "--no-train", "--quiet"]) == 0, "a page is replaced by a page"


def test_report_replaces_no_other_file_and_says_so_before_it_trains(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("thesis.html").write_text("<p>years of work</p>")
    assert run(["report", "small", "--out", "thesis.html"]) == 2
    assert "thesis.html" in capsys.readouterr().err
    assert Path("thesis.html").read_text() == "<p>years of work</p>"
    assert run(["report", "small", "--out", "thesis.html", "--no-train", "--force", "--quiet"]) == 0
    assert run(["report", "small", "--out", "."]) == 2
    assert "folder" in capsys.readouterr().err


def test_a_source_that_is_gone_leaves_a_page_of_what_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["convert", "synthetic", "mine", "--quiet"]) == 0
    assert run(["condense", "mine", "--nodes", "12", "--method", "means", "--out", "small", "--quiet"]) == 0
    (tmp_path / "mine").rename(tmp_path / "elsewhere")
    assert run(["report", "small", "--quiet"]) == 0
    assert "what the result itself knows" in capsys.readouterr().err
    assert "Networks were not trained for this page" in Path("small.html").read_text("utf-8")
    assert run(["report", "small", "--source", "mine"]) == 2, "what was asked for must be there"


def test_a_manifest_of_a_later_version_is_refused_in_a_line(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = json.loads((small / "manifest.json").read_text("utf-8"))
    manifest["format_version"] = 99
    (small / "manifest.json").write_text(json.dumps(manifest))
    assert run(["report", "small"]) == 2
    assert "99" in capsys.readouterr().err and not Path("small.html").exists()


def test_who_asks_for_tables_of_plans_is_sent_to_publish(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "main.jsonl").write_text("")
    assert run(["report", "."]) == 2
    assert "hypercondense publish" in capsys.readouterr().err
    assert run(["report", "other", "--plans", "experiments"]) == 2
    assert "hypercondense publish" in capsys.readouterr().err


def test_open_shows_the_page(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: shown.append(address) or True)
    assert run(["report", "small", "--no-train", "--open", "--quiet"]) == 0
    assert shown == [Path("small.html").absolute().as_uri()]


def test_compare_and_tune_write_pages_too(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from hypercondense.evaluation import tuning

    grid: Any = tuning.configurations
    monkeypatch.setattr(tuning, "configurations", lambda models: grid(models)[:2])
    given = ["compare", "synthetic", "--nodes", "12", "--methods", "means,random", "--models", "mlp"]
    assert run([*given, "--seeds", "1", "--runs", "1", "--html", "c.html", "--quiet"]) == 0
    assert "2 methods" in Path("c.html").read_text("utf-8")
    assert run(["tune", "small", "--models", "mlp", "--runs", "1", "--html", "t.html", "--quiet"]) == 0
    assert "2 configurations" in Path("t.html").read_text("utf-8")
    assert run(["tune", "small", "--open"]) == 2
    assert "--html" in capsys.readouterr().err
