"""``hypercondense run``: do the runs of plans that a results file lacks."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from hypercondense.cli import options, output


def run(
    plans: Annotated[list[Path], typer.Argument(metavar="PLAN.toml...", help="One or more plans.")],
    results: Annotated[Path, typer.Option(help="The file of JSON lines to continue.")],
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT=VALUE,...",
            help="Only runs with these values of dataset, variant, method, model, task, ratio, seed or "
            "split_seed; may be given several times.",
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Stop after so many runs.", min=1)] = None,
    workers: Annotated[
        int, typer.Option(help="Processes that work at once; 0 chooses.", min=0, max=1024)
    ] = 0,
    engine: options.Engine = "local",
    address: options.Address = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be done.")] = False,
    data_dir: options.DataDir = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Do the runs of plans that the results file lacks, and append a line after each."""
    from hypercondense.experiments.plan_reader import read_plan
    from hypercondense.experiments.results import FinishedRuns, ResultsFile, read_lines
    from hypercondense.experiments.runner import choose_workers, make_agenda, run_plans

    wanted = [read_plan(path) for path in plans]
    filters = parse_filters(only)
    if dry_run:
        lines = read_lines(results).lines if results.exists() else []
        agenda = make_agenda(wanted, FinishedRuns(lines), only=filters, data_dir=data_dir, limit=limit)
        _list(agenda, json=json)
        return
    file = ResultsFile(results)
    if file.warning:
        output.warn(f"{file.warning}: it was cut off and is done again")
    agenda = make_agenda(wanted, file.finished, only=filters, data_dir=data_dir, limit=limit)
    _warn_of_other_versions(file.lines, agenda.finished)
    given, workers = workers, workers or choose_workers(agenda.pending, file.lines)
    many = f"{len(agenda.pending)} runs to do, {len(agenda.finished)} done before"
    at_once = (
        f"{workers} at a time" if engine == "local" or given else "as many at a time as there is room for"
    )
    output.note(f"{many}, {at_once}", quiet=quiet)
    with (
        options.opened_engine(engine, address, given) as machines,
        output.progress(quiet=quiet) as progress,
    ):

        def report(line: dict[str, Any], done: int, total: int) -> None:
            progress("runs", done, total)
            if not sys.stderr.isatty():
                output.note(f"{done}/{total} {describe(line)}", quiet=quiet)

        progress("runs", 0, len(agenda.pending))
        summary = run_plans(agenda, file, data_dir=data_dir, workers=workers, engine=machines, report=report)
    _finish(agenda, summary, results, json=json, quiet=quiet)


def parse_filters(only: Sequence[str] | None) -> dict[str, list[str]]:
    """``["dataset=cora,pubmed"]`` as a mapping."""
    from hypercondense.errors import ConfigError

    filters: dict[str, list[str]] = {}
    for text in only or ():
        name, equals, values = text.partition("=")
        if not equals or not values:
            raise ConfigError(f"--only takes WHAT=VALUE,..., such as dataset=cora,pubmed, got {text!r}")
        filters.setdefault(name.strip(), []).extend(value.strip() for value in values.split(","))
    return filters


def describe(line: dict[str, Any]) -> str:
    """One run in a few words."""
    settings = line["settings"]
    ratio = "" if settings["ratio"] is None else f" {settings['ratio']:.4g}"
    name = f"{settings['source']}{ratio} {settings['method']} {settings['model']} {settings['task']}"
    where = f"{name} split {settings['split_seed']} seed {settings['seed']}"
    if "error" in line:
        return f"{where}: {line['error']}"
    if "values" not in line:
        return where
    mean = sum(line["values"]) / len(line["values"])
    seconds = f"condensing {line['condense_seconds']:.1f} s, training {line['train_seconds']:.1f} s"
    return f"{where}: {line['metric']} {mean:.2%}, {seconds}"


def _warn_of_other_versions(lines: Any, finished: Any) -> None:
    from hypercondense.version import __version__

    keys = {run.key for run in finished}
    others = {line.result.version for line in lines if not line.failed and line.settings.key in keys}
    if others := others - {__version__}:
        output.warn(
            f"some finished runs were made by hypercondense {', '.join(sorted(others))}, this is "
            f"{__version__}: `table` will refuse to average them with new ones; use another results file"
        )


def _list(agenda: Any, *, json: bool) -> None:
    from hypercondense.typed import content_of

    if json:
        runs = [content_of(settings) for settings in agenda.pending]
        output.print_json({"pending": runs, "finished": len(agenda.finished), "absent": agenda.absent})
        return
    for settings in agenda.pending:
        output.write(describe({"settings": content_of(settings)}) + "\n")
    for source, count in agenda.absent.items():
        output.write(f"absent: {source}, {count} runs\n")
    output.write(f"{len(agenda.pending)} to do, {len(agenda.finished)} done before\n")


def _finish(agenda: Any, summary: Any, results: Path, *, json: bool, quiet: bool) -> None:
    """Say what was done, skipped and failed; failures set the exit status to 1."""
    for source, count in agenda.absent.items():
        output.note(
            f"skipped {count} runs on {source}, which is not on this machine "
            f"(`hypercondense datasets fetch {shlex.quote(source)}` says how to get it)",
            quiet=quiet,
        )
    if summary.elsewhere:
        output.note(f"{summary.elsewhere} runs were left to another process that does them", quiet=quiet)
    for line in summary.failed:
        output.warn(f"failed: {describe(line)}")
    if json:
        failed = [{"settings": line["settings"], "error": line["error"]} for line in summary.failed]
        facts = {"results": str(results), "done": summary.done, "done_before": len(agenda.finished)}
        facts["elsewhere"] = summary.elsewhere
        output.print_json({**facts, "failed": failed, "absent": agenda.absent})
    else:
        output.note(f"{summary.done} runs done, {len(summary.failed)} failed; see {results}", quiet=quiet)
    if summary.failed:
        raise typer.Exit(1)
