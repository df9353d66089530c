"""``hypercondense export``: a condensed hypergraph, or any other, to a format that other programs read."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from hypercondense.cli import options, output

_ENDINGS = {"npz": ".npz", "tables": "-tables"}


def export(
    source: options.Source,
    to: Annotated[
        Literal["npz", "tables"],
        typer.Option("--to", help="npz, one file of numpy arrays, or tables, a folder of CSV files."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Where to; the default is beside SOURCE, as SOURCE.npz or SOURCE-tables."),
    ] = None,
    data_dir: options.DataDir = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Write a hypergraph, condensed or not, for programs that do not know this one."""
    from hypercondense.data.formats import WRITERS

    hypergraph = options.load_source(source, data_dir)
    target = out or _beside(Path(source), _ENDINGS[to])
    WRITERS[to](hypergraph, target, overwrite=force)
    if json:
        output.print_json(
            {"out": str(target), "to": to, "name": hypergraph.name, "digest": hypergraph.digest}
        )
    else:
        output.note(f"{hypergraph!r} written to {target}", quiet=quiet)


def _beside(source: Path, ending: str) -> Path:
    """The name of a source with another ending, in the same folder."""
    if source.name in ("", ".."):
        source = source.resolve()
    return source.with_name((source.stem if source.is_file() else source.name) + ending)
