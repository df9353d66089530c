"""All tables and figures of a folder of plans, from a folder of results files."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hypercondense.errors import ConfigError
from hypercondense.experiments.costs import core_hours, costs
from hypercondense.experiments.figures import draw
from hypercondense.experiments.grid import make_report
from hypercondense.experiments.line import Line
from hypercondense.experiments.plan import Plan
from hypercondense.experiments.plan_reader import read_plan
from hypercondense.experiments.render import as_markdown
from hypercondense.experiments.results import read_lines
from hypercondense.files.storage import replaced_file

_HEAD = "<!-- made by `hypercondense publish`; do not edit -->\n\n"


@dataclass(frozen=True)
class FinishedPlan:
    """A plan and the lines that belong to it."""

    plan: Plan
    path: Path
    lines: tuple[Line, ...]
    planned: int

    @property
    def figure(self) -> bool:
        """Whether there is something to draw."""
        return self.plan.figure is not None and bool(self.lines)


def read_results(folder: Path) -> list[Line]:
    """The lines of all results files in a folder; an unfinished last line does not count."""
    return [line for path in sorted(folder.glob("*.jsonl")) for line in read_lines(path).lines]


def finished_plans(plans: Path, lines: Sequence[Line]) -> list[FinishedPlan]:
    """All plans of a folder with their lines."""
    return [_finished(path, lines) for path in sorted(plans.glob("*.toml"))]


def _finished(path: Path, lines: Sequence[Line]) -> FinishedPlan:
    plan = read_plan(path)
    report = make_report(plan, lines)
    own = {line.where: line for cell in report.cells for line in cell.lines}
    planned = {run.key for place in plan.places() for run in plan.settings_at(place)}
    return FinishedPlan(plan, path, tuple(own.values()), len(planned))


def pages(plans: Path, results: Path) -> Iterator[tuple[Path, str]]:
    """The markdown pages of all plans that have results, and the page that lists all plans."""
    lines = read_results(results)
    found = finished_plans(plans, lines)
    for one in found:
        if one.lines:
            yield results / f"{one.plan.name}.md", _page(one, lines)
    yield results / "README.md", _index(found, lines)


def _page(one: FinishedPlan, lines: Sequence[Line]) -> str:
    text = _HEAD + as_markdown(make_report(one.plan, lines), level=1)
    if one.figure:
        text += f"\n![{one.plan.title}]({one.plan.name}.svg)\n"
    return text


def _index(found: Sequence[FinishedPlan], lines: Sequence[Line]) -> str:
    rows = ["| plan | what | runs | core hours |", "| --- | --- | --: | --: |"]
    for one in found:
        name = f"[{one.plan.name}]({one.plan.name}.md)" if one.lines else one.plan.name
        condensing, training = core_hours(one.lines)
        what = f"{one.plan.title}{f' ({one.plan.paper})' if one.plan.paper else ''}"
        rows.append(f"| {name} | {what} | {len(one.lines)} of {one.planned} | {condensing + training:.1f} |")
    note = "A run may belong to several plans and is then counted in each."
    cost = as_markdown(costs(lines))
    return _HEAD + "# Results\n\n" + "\n".join(rows) + f"\n\n{note}\n\n{cost}"


def figures(plans: Path, results: Path) -> Iterator[tuple[FinishedPlan, tuple[Path, Path]]]:
    """The plans that have something to draw, and the names of their figures."""
    for one in finished_plans(plans, read_results(results)):
        if one.figure:
            yield one, (results / f"{one.plan.name}.svg", results / f"{one.plan.name}.png")


def fill_in(document: str, plans: Path, results: Path) -> str:
    """A document whose parts from ``<!-- table: NAME -->`` to ``<!-- /table -->`` are made anew.

    Raises:
        ConfigError: There is no plan of that name.
    """
    lines = read_results(results)

    def table(found: re.Match[str]) -> str:
        path = plans / f"{found[1]}.toml"
        if not path.is_file():
            raise ConfigError(f"a document asks for the table of {found[1]!r}, but there is no {path}")
        plan = read_plan(path)
        layout = "readme" if "readme" in plan.layouts else "table"
        text = as_markdown(make_report(plan, lines, layout), title=False)
        return f"<!-- table: {found[1]} -->\n{text}<!-- /table -->"

    return re.sub(r"<!-- table: (\S+) -->\n.*?<!-- /table -->", table, document, flags=re.S)


def publish(plans: Path, results: Path, documents: Sequence[Path] = ()) -> list[Path]:
    """Write all pages and figures, fill the tables into documents, and return what was written."""
    written = []
    for path, text in pages(plans, results):
        _write(path, text)
        written.append(path)
    for one, names in figures(plans, results):
        draw(one.plan, one.lines, names)
        written += names
    for document in documents:
        _write(document, fill_in(document.read_text("utf-8"), plans, results))
        written.append(document)
    return written


def _write(path: Path, text: str) -> None:
    with replaced_file(path) as draft:
        draft.write_text(text, "utf-8")
