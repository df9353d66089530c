"""``hypercondense report``: a result as one page to look at and to send."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hypercondense.cli import options, output
from hypercondense.cli.evaluate import Workers, model_names, source_of

Open = Annotated[bool, typer.Option("--open", help="Open the page in the browser.")]
Html = Annotated[
    Path | None,
    typer.Option("--html", help="Also write a page to look at into this file, such as page.html."),
]


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What `condense` wrote.")],
    out: Annotated[
        Path | None, typer.Option(help="The page; the default is beside DIR, as DIR.html.")
    ] = None,
    model: options.Model = "hgnn",
    runs: Annotated[int, typer.Option(help="Trainings per network.", min=1, max=options.MOST)] = 3,
    train: Annotated[
        bool, typer.Option("--train/--no-train", help="Train networks, or tell only what is known already.")
    ] = True,
    whole: Annotated[
        bool, typer.Option("--whole/--no-whole", help="Also train on the whole source, for the retention.")
    ] = True,
    source: Annotated[
        str | None, typer.Option(help="The source, where the folder does not tell where it is.")
    ] = None,
    split: options.SplitFile = None,
    seed: options.Seed = 0,
    workers: Workers = 0,
    cache: options.Scores = True,
    memory: options.SourceMemory = None,
    data_dir: options.DataDir = None,
    open_page: Open = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is no such page.")] = False,
    plans: Annotated[Path | None, typer.Option(hidden=True)] = None,
    fill: Annotated[list[Path] | None, typer.Option(hidden=True)] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Write one HTML page about a result: what was kept, lost, tried and paid, a map, and how to use it."""
    from hypercondense.condensation import load_condensed
    from hypercondense.files.storage import user_cache
    from hypercondense.report.measured import measure
    from hypercondense.report.render import check_page_target, write_page
    from hypercondense.report.result_page import result_page

    _refuse_plans(folder, plans, fill)
    models = model_names(model)
    result = load_condensed(folder)
    target = out or _beside(folder)
    check_page_target(target, overwrite=force)
    hypergraph, parts, missing = known_source(result, source, split, data_dir, memory)
    measured = None
    if train and hypergraph is not None:
        with output.progress(quiet=quiet) as progress:
            measured = measure(
                result,
                hypergraph,
                parts,
                models=models,
                runs=runs,
                seed=seed,
                whole=whole,
                workers=workers,
                progress=progress,
                cache_dir=user_cache("whole") if cache else None,
                memory=memory,
            )
    page = result_page(result, folder, source=hypergraph, measured=measured, missing=missing, memory=memory)
    write_page(page, target, overwrite=force)
    finish(target, json=json, quiet=quiet, open_page=open_page)


def _refuse_plans(folder: Path, plans: Path | None, fill: list[Path] | None) -> None:
    """What was called `report` before has another name."""
    from hypercondense.errors import ConfigError
    from hypercondense.files.storage import MANIFEST

    of_results = not (folder / MANIFEST).is_file() and any(folder.glob("*.jsonl"))
    if plans is not None or fill or of_results:
        raise ConfigError(
            "tables and figures of experiments are written by `hypercondense publish`, with the same "
            "arguments; `report` is about one result of `condense`"
        )


def _beside(folder: Path) -> Path:
    """``DIR.html`` beside a folder, which may be ``.``."""
    absolute = folder.absolute() if folder.name not in ("", "..") else folder.resolve()
    return folder.parent / f"{absolute.name}.html" if folder.name else Path(f"{absolute}.html")


def known_source(
    result: Any, source: str | None, split: Path | None, data_dir: Path | None, memory: str | None
) -> tuple[Any, Any, tuple[str, ...]]:
    """The source and its split, or why they are not at hand. One that was given must be right."""
    from hypercondense.errors import HypercondenseError, one_line

    try:
        hypergraph, parts = source_of(result, source, split, data_dir, memory)
    except (HypercondenseError, OSError, ValueError) as error:
        if source is not None:
            raise
        reason = one_line(error, longest=300)
        output.warn(f"the page tells what the result itself knows: {reason}")
        return None, None, (f"Networks were not trained for this page: {reason}",)
    if len(parts.test_ids) == 0:
        return None, None, ("Networks were not trained for this page: the split has no test nodes.",)
    return hypergraph, parts, ()


def check_page(html: Path | None, *, open_page: bool) -> None:
    """Refuse a page that cannot be written or shown, before the long work."""
    from hypercondense.errors import ConfigError
    from hypercondense.report.render import check_page_target

    if html is not None:
        check_page_target(html)
    elif open_page:
        raise ConfigError("--open shows the page of --html; give a file, such as --html page.html")


def finish(target: Path, *, json: bool = False, quiet: bool, open_page: bool = False) -> None:
    """Tell where a page is, and show it if that is wanted."""
    size = target.stat().st_size
    if json:
        output.print_json({"out": str(target), "bytes": size})
    else:
        output.note(f"wrote {target} ({size / 1e3:,.0f} kB); open it in any browser", quiet=quiet)
    if open_page:
        import webbrowser

        if not webbrowser.open(target.absolute().as_uri()):
            output.warn(f"there is no browser here; open {target} in one")
