"""``hypercondense export``: a condensed hypergraph, or any other, to a format that other programs read."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hypercondense.cli import options, output

_ENDINGS = {"npz": ".npz", "tables": "-tables", "hif": ".json", "parquet": "-parquet", "hub": "-hub"}
_TELL_SCALE = ("hif", "parquet", "hub")  # formats that have a place for it themselves


def export(
    source: options.Source,
    to: Annotated[
        Literal["npz", "tables", "hif", "parquet", "hub"],
        typer.Option(
            "--to",
            help="npz, one file of numpy arrays; tables, a folder of CSV files; hif, one file of the "
            "Hypergraph Interchange Format; parquet, a folder of tables; hub, such a folder with a card and "
            "Croissant metadata.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where to; the default is beside SOURCE, as SOURCE.npz or SOURCE-tables. A HIF file may end "
            "in .json, .json.gz or .json.zst."
        ),
    ] = None,
    licence: Annotated[
        str | None,
        typer.Option(help="Of the data, for hub; the default is that of the registered data set, if any."),
    ] = None,
    memory: options.ReadingMemory = None,
    data_dir: options.DataDir = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Write a hypergraph, condensed or not, for programs that do not know this one."""
    from hypercondense.data.formats import WRITERS
    from hypercondense.errors import ConfigError
    from hypercondense.files.storage import check_file_target

    hypergraph = options.load_source(source, data_dir, memory)
    target = out or _beside(Path(source), _ENDINGS[to])
    result = _result(Path(source), hypergraph)
    scale = None if result is None or to in _TELL_SCALE else result.scale
    scale_file = target.with_name(f"{target.stem}-scale.csv")
    if scale is not None:
        check_file_target(scale_file, overwrite=force)
    if licence is not None and to != "hub":
        raise ConfigError(f"--licence is for --to hub, {to} has no place for it; leave it out")
    own = {} if licence is None else {"licence": licence}
    with options.told_conversions():
        WRITERS[to](result or hypergraph, target, overwrite=force, **own)
    if scale is not None:
        scale.to_csv(scale_file, hypergraph.feature_names)
    if json:
        told = {"out": str(target), "to": to, "name": hypergraph.name, "digest": hypergraph.digest}
        output.print_json(told | ({} if scale is None else {"scale": str(scale_file)}))
        return
    output.note(f"{hypergraph!r} written to {target}", quiet=quiet)
    if scale is not None:
        output.note(f"its features are standardized; scale those of real nodes by {scale_file}", quiet=quiet)


def _result(source: Path, hypergraph: Any) -> Any:
    """The result that a condensed folder holds, with the hypergraph as it was read; ``None`` for others."""
    from dataclasses import replace

    from hypercondense.condensation import FORMAT, load_condensed
    from hypercondense.files.manifest import says_format
    from hypercondense.files.storage import MANIFEST

    folder = source if source.is_dir() else source.parent
    if not says_format(folder / MANIFEST, FORMAT):
        return None
    return replace(load_condensed(folder), hypergraph=hypergraph)


def _beside(source: Path, ending: str) -> Path:
    """The name of a source with another ending, in the same folder."""
    if source.name in ("", ".."):
        source = source.resolve()
    return source.with_name((source.stem if source.is_file() else source.name) + ending)
