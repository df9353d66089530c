"""What README.md tells people to type works, and what documents say of the code is so."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

from hypercondense import names
from hypercondense.catalogue import METHODS, condense
from hypercondense.cli import options, run
from hypercondense.cli.condense import condense as condense_command
from hypercondense.nn import MODELS
from hypercondense.search.portfolio import PORTFOLIO
from hypercondense.version import __version__
from makers.hurried import run_hurried

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
TABLES = {
    "incidence.csv": "node,hyperedge\n" + "".join(f"n{i},e{i // 5}\n" for i in range(100)),
    "features.csv": "node,size,age\n" + "".join(f"n{i},{i % 2},{i % 7}\n" for i in range(100)),
    "labels.csv": "node,label\n" + "".join(f"n{i},{'odd' if i % 2 else 'even'}\n" for i in range(100)),
}


#: The whole of the default search is done by the tests of `auto`.
HURRY = {"condense": ["--budget", "1"], "evaluate": ["--runs", "1"], "tune": ["--runs", "1"]}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.M | re.S)


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.slow
def test_the_commands_of_the_readme_work_on_tables_of_ones_own(workplace: Path) -> None:
    (workplace / "mydata").mkdir()
    for name, text in TABLES.items():
        (workplace / "mydata" / name).write_text(text)
    commands = [
        line.split("#")[0].split() for line in "".join(blocks("")).splitlines() if "hypercondense " in line
    ]
    assert [command[1] for command in commands] == [
        "info",
        "condense",
        "evaluate",
        "tune",
        "predict",
        "export",
    ]
    for command in commands:
        arguments = command[1:]
        if command[1] == "condense":
            arguments[arguments.index("0.01")] = "0.04"  # 1 % of a hundred nodes is less than one per class
        assert run([*arguments, *HURRY.get(command[1], []), "--quiet"]) == 0, command


@pytest.mark.slow
def test_the_python_of_the_readme_works(workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_hurried("".join(blocks("python")), budget=1)
    assert "18 of 1,797 (1.00%)" in capsys.readouterr().out
    assert (workplace / "digits-1pct" / "manifest.json").is_file()
    assert run(["info", "shop"]) == 0


def test_the_readme_is_short_and_names_the_two_commands() -> None:
    assert len(README.splitlines()) < 120
    assert "make demo" in README and "make test" in README
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r"^demo:", makefile, re.M) and re.search(r"^test:", makefile, re.M)


def test_the_version_is_the_newest_one_of_the_changelog_and_the_one_to_cite() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    found = re.search(r"^## \[(?!Unreleased)([^]]+)\](?: - (\S+))?$", changes, re.M)
    assert found is not None and found[1] == __version__.split(".dev")[0]
    cited = dict(re.findall(r"^(version|date-released): (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M))
    assert cited == {"version": found[1], "date-released": found[2]}
    newest = changes[found.start() :].split("\n## ")[0]
    assert "### Changed, with other results than before" in newest


def test_every_decision_has_a_number_of_its_own_and_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    records = sorted(path.name for path in folder.glob("0*.md"))
    assert len({name[:4] for name in records}) == len(records), "two records share a number"
    listed = re.findall(r"\]\((0\d{3}-[^)]*\.md)\)", (folder / "README.md").read_text("utf-8"))
    assert listed == records


def test_every_record_has_a_question_a_setting_a_table_and_a_decision() -> None:
    for path in sorted((ROOT / "docs" / "decisions").glob("0*.md")):
        text = path.read_text("utf-8")
        places = [text.find(part) for part in ("Question", "Setting", "\n|", "Decision")]
        assert min(places) > 0 and places[0] < places[1], path.name


def test_public_names_are_what_they_say_even_after_their_modules_were_imported() -> None:
    import hypercondense

    for module in ("condensation", "data", "evaluation", "hypergraph", "condensing", "search", "nn"):
        importlib.import_module(f"hypercondense.{module}")
    for name in set(hypercondense.__all__) - {"models", "recipes"}:
        assert not inspect.ismodule(getattr(hypercondense, name)), name
    assert hypercondense.models.build and hypercondense.recipes.Recipe
    assert set(dir(hypercondense)) == set(hypercondense.__all__)


def test_the_portfolio_in_the_documentation_is_that_of_auto() -> None:
    text = (ROOT / "docs" / "beyond.md").read_text("utf-8")
    shown = text.partition("<!-- portfolio -->")[2].partition("<!-- /portfolio -->")[0].strip().splitlines()
    assert shown[2:] == [
        f"| {entry.label} | {entry.gain:+.1%} | {entry.spread:.1%} | {entry.few:+.1%} | {entry.small:+.1%} | "
        f"{'with a budget' if entry.elaborate else 'by itself'} |"
        for entry in PORTFOLIO
    ]


def test_help_lists_every_method_and_every_network() -> None:
    assert list(names.METHODS) == options.METHODS.split(", ") == list(METHODS)
    assert list(names.NETWORKS) == options.MODELS.split(", ") == list(MODELS)


def test_arguments_of_condense_are_options_of_the_command_with_the_same_defaults() -> None:
    arguments, given = (inspect.signature(one).parameters for one in (condense, condense_command))
    own = {"source", "split", "progress", "checkpoint", "cache_dir"}  # a place, a file, a folder beside OUT
    own |= {"scale", "engine"}  # --standardize, for there is one way; and machines, which a name stands for
    assert {name: argument.default for name, argument in arguments.items() if name not in own} == {
        name: option.default for name, option in given.items() if name in arguments and name not in own
    }
