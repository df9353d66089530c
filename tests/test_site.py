"""Pages of docs/ and the site made of them: links, code, commands, examples, and a strict build."""

import re
import shlex
from pathlib import Path

import pytest
import typer

import hypercondense
from hypercondense.catalogue import METHODS
from hypercondense.cli.app import app
from makers.hurried import run_hurried

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if path.parent.name != "results")
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
#: Made by the build of the site.
MADE = ("api", "gallery", "commands.md", "changes.md")
WITH_PYTHON = [page for page in PAGES if "```python" in page.read_text("utf-8")]
#: Pages whose Python is about objects that the reader has: it is compiled and not run.
READERS_OWN = {"interchange.md"}


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), flags=re.M | re.S)


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES], ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        target = (page.parent / link).resolve()
        if page.parent == DOCS / "methods" and target.suffix == ".svg":
            assert target.stem in METHODS
        elif not (target.is_relative_to(DOCS) and target.relative_to(DOCS).parts[0] in MADE):
            assert target.exists(), f"links to {link}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_lines_are_short(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    assert [line for line in text.splitlines() if len(line) > 100 and not line.startswith("|")] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_of_pages_exist_with_their_options(page: Path) -> None:
    for line in "".join(blocks(page, "")).splitlines():
        if line.startswith("hypercondense "):
            check_command(shlex.split(line, comments=True)[1:])


def check_command(words: list[str]) -> None:
    command = typer.main.get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    given = {word.partition("=")[0] for word in words if word.startswith("--")}
    assert given <= known | {"--help", "--install-completion"}, f"{command.name} has no {given - known}"


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_PYTHON, ids=name_of)
def test_python_of_pages_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page, "python"):
        if page.name in READERS_OWN:
            compile(block, page.name, "exec")
        else:
            run_hurried(block, names, method="means")


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_examples_run_and_stay_short(
    example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = example.read_text("utf-8")
    assert len(code.splitlines()) <= 60
    assert code.startswith('"""'), "the docstring is what the gallery tells"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run_hurried(code, method="means")
    assert "%" in capsys.readouterr().out


def test_every_method_has_a_page_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    for name in METHODS:
        page = (DOCS / "methods" / f"{name}.md").read_text("utf-8")
        assert f"methods/{name}.md" in navigation
        for part in (f"({name}.svg)", "## Equation", "## Example", "## When it fails", f"options: {name} "):
            assert part in page, f"{name} lacks {part}"


def test_every_public_name_has_an_example() -> None:
    for name in set(hypercondense.__all__) - {"models", "recipes", "__version__"}:
        assert ">>> " in (getattr(hypercondense, name).__doc__ or ""), f"hc.{name} has no example"


def test_top_questions_are_on_the_first_page() -> None:
    first = (DOCS / "index.md").read_text("utf-8").splitlines()[:30]
    for word in ("reproduce the paper", "ratio mean", "own data", "load and train", "memory", "NaN"):
        assert any(word in line for line in first), word
    assert any("resume" in line for line in first) and any("cite" in line for line in first)


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = pytest.importorskip("mkdocs.config")
    build = pytest.importorskip("mkdocs.commands.build")
    monkeypatch.setenv("RUN_EXAMPLES", "false")
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    monkeypatch.chdir(ROOT)
    build.build(config.load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path / "site")))
    first = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert "Top questions" in first
    loaded = re.findall(r"<(?:script|link|img|iframe)[^>]*?(?:src|href)=\"?(?:https?:)?//[^>]*", first)
    assert loaded == [], "the page loads something from another server"
