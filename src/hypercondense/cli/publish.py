"""``hypercondense publish``: all tables and figures of a folder of plans."""

from pathlib import Path
from typing import Annotated

import typer

from hypercondense.cli import options, output


def publish(
    results: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of results files; pages are written into it.")
    ],
    plans: Annotated[Path, typer.Option(help="The folder of plans.")] = Path("experiments"),
    fill: Annotated[
        list[Path] | None,
        typer.Option(help="A document to fill tables into, from <!-- table: PLAN --> to <!-- /table -->."),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Write the tables and figures of all plans beside their results files."""
    from hypercondense.errors import ConfigError
    from hypercondense.experiments.publish import publish as published

    if not any(results.glob("*.jsonl")):
        raise ConfigError(
            f"there is no results file (*.jsonl) in {results}; make one with `hypercondense run`"
        )
    if not any(plans.glob("*.toml")):
        raise ConfigError(f"there is no plan (*.toml) in {plans}; give their folder with --plans")
    written = [str(path) for path in published(plans, results, fill or ())]
    if json:
        output.print_json({"written": written})
        return
    output.note(f"wrote {', '.join(written)}", quiet=quiet)
