"""``hypercondense compare``: several methods and models under one protocol."""

from typing import Annotated

import typer

from hypercondense.cli import options, output
from hypercondense.cli.evaluate import Workers, model_names
from hypercondense.cli.report import Html, Open, check_page, finish


def compare(
    source: options.Source,
    ratio: options.Ratio = None,
    nodes: options.Nodes = None,
    methods: Annotated[
        str,
        typer.Option(help=f"Methods separated by commas, of whole (the source itself), {options.METHODS}."),
    ] = ("random,ahgcdd,auto,whole"),
    models: options.Models = "hgnn",
    allocate: options.Allocate = "proportional",
    metric: options.Metric = "accuracy",
    standardize: Annotated[
        bool, typer.Option("--standardize", help="Compare on features of mean 0 and deviation 1.")
    ] = False,
    seeds: Annotated[int, typer.Option(help="Condensations per method.", min=1, max=options.MOST)] = 3,
    runs: Annotated[int, typer.Option(help="Trainings per condensation.", min=1, max=options.MOST)] = 3,
    split_seed: options.SplitSeed = None,
    split: options.SplitFile = None,
    select: options.Select = True,
    workers: Workers = 0,
    engine: options.Engine = "local",
    address: options.Address = None,
    cache: options.Scores = True,
    device: options.Device = "cpu",
    memory: options.SourceMemory = None,
    data_dir: options.DataDir = None,
    html: Html = None,
    open_page: Open = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Condense with several methods, train several models on each result, and show them side by side."""
    from hypercondense.catalogue import make_method
    from hypercondense.comparing import WHOLE
    from hypercondense.comparing import compare as compared
    from hypercondense.files.storage import user_cache

    names = [name.strip() for name in methods.split(",")]
    for name in names:
        if name != WHOLE:
            make_method(name)  # before anything is read
    model_list = model_names(models)
    check_page(html, open_page=open_page)
    options.check_device(device)
    hypergraph = options.load_source(source, data_dir, memory)
    parts = options.read_split(hypergraph, split, split_seed)
    with (
        options.opened_engine(engine, address, workers) as machines,
        output.progress(quiet=quiet) as progress,
    ):
        rows = compared(
            hypergraph,
            parts,
            ratio=ratio,
            nodes=nodes,
            methods=names,
            models=model_list,
            allocate=allocate,
            metric=metric,
            scale="standard" if standardize else "none",
            seeds=seeds,
            runs=runs,
            select=select,
            device=device,
            workers=workers,
            engine=machines,
            progress=progress,
            cache_dir=user_cache("diffusion"),
            scores_dir=user_cache("whole") if cache else None,
            memory=memory,
        )
    if html is not None:
        from hypercondense.report.render import write_page
        from hypercondense.report.several import compare_page

        write_page(compare_page(hypergraph, rows, metric=metric), html)
        finish(html, quiet=quiet, open_page=open_page)
    for row in rows:
        if row.model == model_list[0]:
            for warning in row.warnings:
                output.warn(f"{row.method}, {warning}")
    if json:
        output.print_json([row.to_dict() for row in rows])
        return
    shown = [
        {
            "method": row.method,
            "model": row.model,
            metric: output.spread(row.mean, row.std, row.trainings),
            "nodes": f"{row.num_nodes:,}",
            "condense s": f"{row.seconds:.1f}",
        }
        for row in rows
    ]
    title = f"{hypergraph.name}: {seeds} condensations x {runs} trainings"
    output.print_table(shown, title=title, right=(metric, "nodes", "condense s"))
    for line in hypergraph.notes:
        output.note(f"note: {line}", quiet=quiet)
