"""``hypercondense datasets``: what there is, where it is, and getting it."""

from typing import Annotated, Any

import typer

from hypercondense.cli import options, output

datasets = typer.Typer(help="Show the registered data sets, or fetch one.", invoke_without_command=True)


@datasets.callback()
def _list(
    context: typer.Context,
    data_dir: options.DataDir = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Show the registered data sets: statistics, licence, and whether and where they are here."""
    if context.invoked_subcommand is not None:
        return
    from hypercondense.data.locate import find
    from hypercondense.data.registry import DATASETS

    rows = [_row(dataset, find(dataset, data_dir)) for dataset in DATASETS.values()]
    if json:
        output.print_json(rows)
        return
    shown = [
        {
            "name": row["name"],
            "nodes": _number(row["num_nodes"]),
            "hyperedges": _number(row["num_hyperedges"]),
            "features": _number(row["num_features"]),
            "classes": _number(row["num_classes"]),
            "licence": row["licence"],
            "where": row["path"] or ("built in" if row["embedded"] else "not here"),
        }
        for row in rows
    ]
    output.print_table(shown, right=("nodes", "hyperedges", "features", "classes"))
    notes = [f"{row['name']}: {row['note']}" for row in rows if row["note"]]
    for line in notes:
        output.note(f"note: {line}", quiet=quiet)


@datasets.command()
def fetch(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A registered name.")],
    data_dir: options.DataDir = None,
    force: Annotated[bool, typer.Option("--force", help="Download again what is already there.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Download a data set, verify it, and move it into place when it is whole."""
    from hypercondense.data.fetch import fetch as download

    before = context.parent.params if context.parent else {}  # `datasets --json fetch NAME` means the same
    data_dir = data_dir or before.get("data_dir")
    json, quiet = json or before.get("json", False), quiet or before.get("quiet", False)
    with output.progress(quiet=quiet) as progress:
        path = download(name, data_dir=data_dir, progress=progress, force=force)
    if json:
        output.print_json({"name": path.name, "path": str(path)})
    else:
        output.note(f"{path.name} is in {path}", quiet=quiet)


def _row(dataset: Any, path: Any) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "aliases": list(dataset.aliases),
        "num_nodes": dataset.expected.num_nodes,
        "num_hyperedges": dataset.expected.num_hyperedges,
        "num_incidences": dataset.expected.num_incidences,
        "num_features": dataset.expected.num_features,
        "num_classes": dataset.expected.num_classes,
        "licence": dataset.licence,
        "source": dataset.source,
        "files": [{"path": file.path, "sha256": file.sha256} for file in dataset.files],
        "note": dataset.note,
        "embedded": dataset.embedded,
        "path": None if path is None else str(path),
    }


def _number(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"
