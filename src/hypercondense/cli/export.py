"""``hypercondense export``: a condensed hypergraph, or any other, to a format that other programs read."""

from pathlib import Path
from typing import Annotated, Any, Literal

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
    memory: options.ReadingMemory = None,
    data_dir: options.DataDir = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Write a hypergraph, condensed or not, for programs that do not know this one."""
    from hypercondense.data.formats import WRITERS
    from hypercondense.files.storage import check_file_target

    hypergraph = options.load_source(source, data_dir, memory)
    target = out or _beside(Path(source), _ENDINGS[to])
    scale = _scale(Path(source))
    scale_file = target.with_name(f"{target.stem}-scale.csv")
    if scale is not None:
        check_file_target(scale_file, overwrite=force)
    WRITERS[to](hypergraph, target, overwrite=force)
    if scale is not None:
        scale.to_csv(scale_file, hypergraph.feature_names)
    if json:
        told = {"out": str(target), "to": to, "name": hypergraph.name, "digest": hypergraph.digest}
        output.print_json(told | ({} if scale is None else {"scale": str(scale_file)}))
        return
    output.note(f"{hypergraph!r} written to {target}", quiet=quiet)
    if scale is not None:
        output.note(f"its features are standardized; scale those of real nodes by {scale_file}", quiet=quiet)


def _scale(source: Path) -> Any:
    """The scale of a condensed folder, if this is one whose features are scaled."""
    from hypercondense.condensation import FORMAT, load_condensed
    from hypercondense.files.manifest import says_format
    from hypercondense.files.storage import MANIFEST

    folder = source if source.is_dir() else source.parent
    return load_condensed(folder).scale if says_format(folder / MANIFEST, FORMAT) else None


def _beside(source: Path, ending: str) -> Path:
    """The name of a source with another ending, in the same folder."""
    if source.name in ("", ".."):
        source = source.resolve()
    return source.with_name((source.stem if source.is_file() else source.name) + ending)
