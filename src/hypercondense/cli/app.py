"""All commands under one name."""

from typing import Annotated

import typer

from hypercondense.cli.compare import compare
from hypercondense.cli.condense import condense
from hypercondense.cli.convert import convert
from hypercondense.cli.datasets import datasets
from hypercondense.cli.demo import demo
from hypercondense.cli.estimate import estimate
from hypercondense.cli.evaluate import evaluate
from hypercondense.cli.export import export
from hypercondense.cli.info import info
from hypercondense.cli.methods import methods
from hypercondense.cli.predict import predict
from hypercondense.cli.publish import publish
from hypercondense.cli.report import report
from hypercondense.cli.run_plans import run
from hypercondense.cli.table import table
from hypercondense.cli.tune import tune
from hypercondense.version import __version__

app = typer.Typer(
    name="hypercondense",
    help="Condense a large hypergraph into a tiny synthetic one that trains networks nearly as well.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hypercondense {__version__}")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


app.command()(demo)
app.add_typer(datasets, name="datasets")
app.command()(info)
app.command()(methods)
app.command()(estimate)
app.command()(condense)
app.command()(evaluate)
app.command()(compare)
app.command()(tune)
app.command()(predict)
app.command()(convert)
app.command()(export)
app.command()(report)
app.command()(run)
app.command()(table)
app.command()(publish)
