"""Texts from files on a terminal: shown as they are, and nothing else happens."""

import logging
import os
import shlex
from pathlib import Path
from typing import Any

import pytest

from hypercondense.cli import output, run
from hypercondense.data import synthetic
from hypercondense.data.formats import write_native
from hypercondense.errors import FormatError, safe
from hypercondense.hypergraph import Hypergraph
from makers.format_examples import tables, tiny

EVIL = "x[/bold]\x1b[31m\x9b2J\u202e\r\n\x07"


def harmless(text: str) -> bool:
    return all(letter.isprintable() or letter == "\n" for letter in text)


def named(folder: Path, **changes: Any) -> Path:
    write_native(tiny(name=EVIL, label_names=[f"cat{EVIL}", "dog"], notes=[EVIL], **changes), folder)
    return folder


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_info_of_a_hypergraph_with_an_evil_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    assert run(["info", str(named(tmp_path / "x")), *more]) == 0
    shown = capsys.readouterr()
    assert harmless(shown.out + shown.err)
    assert "x[/bold]" in shown.out


def test_compare_shows_its_table_whatever_the_name_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = synthetic(num_nodes=60, num_hyperedges=40, num_features=4, num_classes=2, name=EVIL)
    write_native(made, tmp_path / "x")
    asked = ["--nodes", "4", "--methods", "random", "--seeds", "1", "--runs", "1", "--no-select"]
    assert run(["compare", str(tmp_path / "x"), *asked]) == 0
    shown = capsys.readouterr()
    assert harmless(shown.out + shown.err)
    assert "x[/bold]" in shown.out


def test_tables_facts_notes_and_logs_are_safe(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_table([{EVIL: EVIL}], title=EVIL)
    output.print_facts({"name": EVIL})
    output.note(EVIL)
    output.warn(EVIL)
    output.write(f"{EVIL}\n")
    output.show_logs()
    logging.getLogger("hypercondense.somewhere").warning("about %s", EVIL)
    shown = capsys.readouterr()
    assert harmless(shown.out + shown.err)
    assert shown.err.count("x[/bold]") == 3


def test_errors_are_one_safe_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert harmless(str(FormatError(EVIL)))
    folder = tables(tmp_path)
    (folder / "labels.csv").write_text(f"node,{EVIL.splitlines()[0]}\nn0,a\n", "utf-8")
    assert run(["info", str(folder)]) == 2
    (tmp_path / "labels.pickle").write_bytes(b"cos\x1b[2J\nsys\x1btem\n.")
    (tmp_path / "features.csv").unlink()
    assert run(["info", str(folder)]) == 2
    shown = capsys.readouterr().err
    assert harmless(shown)
    assert shown.count("\n") == 2


def test_safe_text_keeps_letters_of_all_languages() -> None:
    assert safe("Größe λ 日本語 a\u00a0b") == "Größe λ 日本語 a\u00a0b"
    assert safe("\udc80") == r"\udc80"


@pytest.mark.skipif(os.name != "posix", reason="quoted for a POSIX shell")
def test_the_next_command_can_be_pasted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, source: Hypergraph
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_native(source, tmp_path / "x")
    out = tmp_path / "a; touch b"
    asked = ["--nodes", "6", "--method", "random", "--no-select", "--no-cache", "--quiet"]
    assert run(["condense", str(tmp_path / "x"), "--out", str(out), *asked[:-1]]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("next")]
    assert shlex.split(line)[1:] == ["hypercondense", "evaluate", str(out), "--whole"]
