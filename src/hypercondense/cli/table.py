"""``hypercondense table``: results beside published figures."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hypercondense.cli import options, output


def table(
    results: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="What `run` wrote.")],
    plan: Annotated[
        Path | None, typer.Option(help="The plan whose table to show; without one, all there is.")
    ] = None,
    format: Annotated[
        Literal["text", "markdown", "latex", "csv"], typer.Option(help="How to write it.")
    ] = "text",
    layout: Annotated[Literal["table", "readme"], typer.Option(help="Which layout of the plan.")] = "table",
    out: Annotated[Path | None, typer.Option(help="A file to write instead of standard output.")] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the figure of the plan into this .svg, .pdf or .png file.")
    ] = None,
    costs: Annotated[bool, typer.Option("--costs", help="Show what the runs cost instead.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Show the results of a plan beside the published figures."""
    from hypercondense.errors import ConfigError
    from hypercondense.experiments.costs import costs as costs_of
    from hypercondense.experiments.figures import draw
    from hypercondense.experiments.render import FORMATS, as_text
    from hypercondense.experiments.summary import summarize

    if plan is None and (figure or json):
        raise ConfigError("figures and JSON need the plan; give it with --plan")
    lines = _lines(results)
    report = summarize(lines)
    if plan is not None:
        wanted, report = _planned(plan, lines, layout)
        if figure:
            draw(wanted, lines, [figure])
            output.note(f"drew {figure}", quiet=quiet)
        lines = list({line.where: line for cell in report.cells for line in cell.lines}.values())
    if costs:
        report = costs_of(lines)
    if json:
        output.print_json([_cell(cell) for cell in report.cells])
        return
    if format == "text" and out is None:
        _write(as_text(report, width=output.terminal_width()), None)
    else:
        _write(FORMATS[format](report), out)


def _planned(path: Path, lines: Any, layout: str) -> tuple[Any, Any]:
    """A plan and its report."""
    from hypercondense.errors import ConfigError
    from hypercondense.experiments.grid import make_report
    from hypercondense.experiments.plan_reader import read_plan

    plan = read_plan(path)
    if layout not in plan.layouts:
        raise ConfigError(f"the plan {plan.name} has no layout {layout!r}; it has {', '.join(plan.layouts)}")
    return plan, make_report(plan, lines, layout)


def _lines(results: Path) -> Any:
    from hypercondense.errors import FormatError
    from hypercondense.experiments.results import read_lines

    found = read_lines(results)
    if found.warning:
        output.warn(found.warning)
    if not found.lines:
        raise FormatError(f"{results} has no results yet; make some with `hypercondense run PLAN.toml`")
    failed = [line for line in found.lines if line.failed]
    if failed:
        output.warn(f"{len(failed)} lines tell of runs that failed; they are left out")
    return found.lines


def _cell(cell: Any) -> dict[str, Any]:
    spread, published = cell.spread, cell.published
    return {
        **cell.coordinates,
        "mean": spread and spread.mean,
        "std": spread and spread.std,
        "count": len(cell.values),
        "expected": cell.expected,
        "published": published and published.text,
        "difference": cell.difference,
        "p_value": cell.p_value,
        "best": cell.best,
    }


def _write(text: str, out: Path | None) -> None:
    from hypercondense.files.storage import replaced_file

    if out is None:
        output.write(text)
        return
    with replaced_file(out) as draft:
        draft.write_text(text, "utf-8")
