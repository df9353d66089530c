"""``hypercondense compare``: several methods and models under one protocol."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from hypercondense.cli import options, output
from hypercondense.cli.condense import Ratio
from hypercondense.cli.evaluate import Workers, model_names, worker_count

WHOLE = "whole"


def compare(
    source: options.Source,
    ratio: Ratio = None,
    nodes: Annotated[
        int | None, typer.Option(help="The number of condensed nodes, instead of --ratio.")
    ] = None,
    methods: Annotated[
        str,
        typer.Option(help=f"Methods separated by commas, of whole (the source itself), {options.METHODS}."),
    ] = ("random,ahgcdd,auto,whole"),
    models: options.Models = "hgnn",
    seeds: Annotated[int, typer.Option(help="Condensations per method.", min=1)] = 3,
    runs: Annotated[int, typer.Option(help="Trainings per condensation.", min=1)] = 3,
    split_seed: options.SplitSeed = 0,
    split: options.SplitFile = None,
    select: options.Select = True,
    workers: Workers = 0,
    device: options.Device = "cpu",
    data_dir: options.DataDir = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Condense with several methods, train several models on each result, and show them side by side."""
    from hypercondense.catalogue import make_method
    from hypercondense.files.storage import user_cache

    names = [name.strip() for name in methods.split(",")]
    condensers = {name: None if name == WHOLE else make_method(name) for name in names}
    model_list = model_names(models)
    options.check_device(device)
    hypergraph = options.load_source(source, data_dir)
    parts = options.read_split(hypergraph, split, split_seed)
    how: dict[str, Any] = {"ratio": ratio, "nodes": nodes, "device": device}
    how["cache_dir"] = user_cache("diffusion")
    how["select"] = select
    with output.progress(quiet=quiet) as progress:
        rows = []
        for name, condenser in condensers.items():
            results = list(
                _condensed(name, condenser, hypergraph, parts, seeds, {**how, "progress": progress})
            )
            protocol = {
                "runs": runs,
                "device": device,
                "workers": worker_count(workers, hypergraph),
                "progress": progress,
            }
            rows += [_score(name, model, results, hypergraph, parts, protocol) for model in model_list]
    if json:
        output.print_json(rows)
        return
    shown = [
        {
            "method": row["method"],
            "model": row["model"],
            "accuracy": f"{row['mean']:.2%} ± {row['std']:.2%}",
            "nodes": f"{row['num_nodes']:,}",
            "condense s": f"{row['seconds']:.1f}",
        }
        for row in rows
    ]
    title = f"{hypergraph.name}: {seeds} condensations x {runs} trainings"
    output.print_table(shown, title=title, right=("accuracy", "nodes", "condense s"))
    for line in hypergraph.notes:
        output.note(f"note: {line}", quiet=quiet)


def _condensed(
    name: str, method: Any, source: Any, parts: Any, seeds: int, how: dict[str, Any]
) -> Iterator[tuple[Any, float]]:
    """Condensed hypergraphs and their seconds; the source itself, once, for no method."""
    from hypercondense.catalogue import recorded_name
    from hypercondense.condensing.run import condense_by
    from hypercondense.runtime.clock import TOTAL

    if method is None:
        yield source, 0.0
        return
    for seed in range(seeds):
        result = condense_by(method, source, parts, name=recorded_name(name), seed=seed, **how)
        for warning in result.warnings:
            output.warn(f"{name}, seed {seed}: {warning}")
        yield result.hypergraph, result.seconds[TOTAL]


def _score(
    method: str,
    model: str,
    results: list[tuple[Any, float]],
    source: Any,
    parts: Any,
    protocol: dict[str, Any],
) -> dict[str, Any]:
    from hypercondense.evaluation import across_condensations, evaluate

    scores = [
        evaluate(condensed, source, parts, model=model, seed=seed, **protocol)
        for seed, (condensed, _) in enumerate(results)
    ]
    spread = across_condensations(scores)
    return {
        "method": method,
        "model": model,
        "mean": spread.mean,
        "std": spread.std,
        "seconds": sum(seconds for _, seconds in results) / len(results),
        "num_nodes": results[0][0].num_nodes,
    }
