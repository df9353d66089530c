"""``hypercondense condense``: make the tiny synthetic hypergraph."""

import dataclasses
import shlex
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hypercondense.cli import options, out_folder, output
from hypercondense.names import DEFAULT_METHOD

_WORTH_TELLING = 60.0  # seconds


def condense(
    source: options.Source,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder to write; by default SOURCE-RATIO, or the next free name."),
    ] = None,
    ratio: options.Ratio = None,
    nodes: options.Nodes = None,
    ratio_of: Annotated[
        Literal["all", "train"],
        typer.Option(help="What --ratio is a fraction of: all nodes, or training nodes."),
    ] = "all",
    retain: Annotated[
        float | None,
        typer.Option(
            help="Instead of --ratio: as few nodes as keep this share of what HGNN scores when trained on "
            "everything, as 0.99; at most 10 % of the nodes."
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(help="How probable it must be that --retain is kept, on validation nodes; else 0.8."),
    ] = None,
    allocate: options.Allocate = "proportional",
    metric: options.Metric = "accuracy",
    method: options.Method = DEFAULT_METHOD,
    settings: options.Settings = None,
    budget: options.Budget = None,
    seed: options.Seed = 0,
    split_seed: options.SplitSeed = None,
    split: options.SplitFile = None,
    select: options.Select = True,
    whole_training: Annotated[
        bool, typer.Option(help="Let networks be trained on everything, as teachers are.")
    ] = True,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted run to the same result.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
    memory: options.Memory = None,
    cache: Annotated[
        bool, typer.Option(help="Keep diffused features in the user cache for the next run.")
    ] = True,
    checkpoint_every: Annotated[
        float, typer.Option(help="Seconds between two checkpoints, more where these take long.", min=0)
    ] = 0.5,
    standardize: Annotated[
        bool,
        typer.Option(
            "--standardize", help="Give features mean 0 and deviation 1; whatever reads the result does, too."
        ),
    ] = False,
    threads: options.Threads = None,
    engine: options.Engine = "local",
    address: options.Address = None,
    device: options.Device = "cpu",
    data_dir: options.DataDir = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Condense a hypergraph into a folder that `evaluate` and Python can read."""
    from msgspec import structs

    from hypercondense import catalogue
    from hypercondense.files.storage import check_target, user_cache
    from hypercondense.hypergraph.scaling import Columns, far_apart
    from hypercondense.runtime.memory import parse_size

    # Everything that can be wrong is found out before the long work.
    changes = options.parse_settings(settings)
    catalogue.make_method(method, changes, budget=budget)
    most_memory = None if memory is None else parse_size(memory)
    options.check_device(device)
    folder = out_folder.default_out(source, ratio, nodes, retain, resume=resume) if out is None else out
    check_target(folder, overwrite=force)
    options.check_not_source(folder, source)
    hypergraph = options.load_source(source, data_dir, memory)
    parts = options.read_split(hypergraph, split, split_seed)
    for warning in () if standardize else far_apart(hypergraph, Columns.of(hypergraph)):
        output.warn(warning)
    with out_folder.sole_writer(folder):
        out_folder.check_begun(folder, resume=resume, force=force)
        if retain is None and not resume and not is_time(budget):
            asked: dict[str, Any] = {"ratio": ratio, "nodes": nodes, "ratio_of": ratio_of}
            asked |= {"method": method, "settings": changes, "budget": budget, "memory": most_memory}
            tell_cost(hypergraph, parts, **asked, cached=cache, quiet=quiet)
        with (
            options.opened_engine(engine, address) as machines,
            output.progress(quiet=quiet) as progress,
        ):
            result = catalogue.condense(
                hypergraph,
                parts,
                method=method,
                settings=changes,
                budget=budget,
                ratio=ratio,
                nodes=nodes,
                ratio_of=ratio_of,
                retain=retain,
                confidence=confidence,
                allocate=allocate,
                metric=metric,
                seed=seed,
                select=select,
                whole_training=whole_training,
                progress=progress,
                checkpoint=out_folder.checkpoint_folder(folder),
                resume=resume,
                checkpoint_every=checkpoint_every,
                memory=most_memory,
                cache_dir=user_cache("diffusion") if cache else None,
                device=device,
                threads=threads,
                engine=machines,
                scale="standard" if standardize else "none",
            )
        result = dataclasses.replace(
            result, provenance=structs.replace(result.provenance, source_location=location(source))
        )
        result.save(folder, overwrite=force)
    again = None
    if result.choice is not None:
        from hypercondense.report.again import command_of

        own = [] if parts.seed is None else ["--split-seed", str(parts.seed)]
        beside = [] if data_dir is None else ["--data-dir", str(data_dir)]
        beside += [] if device == "cpu" else ["--device", device]
        given = own if split is None else ["--split", str(split)]
        again = command_of(result, source=source, split=given, beside=beside)
    show(result, folder, again=again, json=json, quiet=quiet)
    if quiet and out is None and not json:
        output.answer(str(folder))  # nobody could know it


def is_time(budget: str | None) -> bool:
    """Whether a time was given, which is kept whatever the work would take."""
    from hypercondense.search.budget import Budget

    return budget is not None and Budget.parse(budget).is_time


def tell_cost(source: Any, parts: Any, *, quiet: bool, method: str, **how: Any) -> None:
    """Say what it will take if that is more than a minute; small sources are not asked about."""
    from hypercondense.catalogue import make_method
    from hypercondense.estimating import estimable, estimate

    if quiet or not estimable(make_method(method, how["settings"], budget=how["budget"]), source, parts):
        return
    told = estimate(source, parts, method=method, **how).condense
    if told.seconds["total"] > _WORTH_TELLING:
        from hypercondense.cli.estimate import in_line

        most = sorted(told.shares.items(), key=lambda one: one[1], reverse=True)[:3]
        stages = ", ".join(f"{stage} {share:.0%}" for stage, share in most)
        output.note(f"condensing takes {in_line(told)} ({stages})", quiet=quiet)


def location(source: str) -> str | None:
    """The path of a source that is not a registered name."""
    from hypercondense.data.registry import lookup

    is_name = lookup(source) is not None and "/" not in source
    return None if is_name else str(Path(source).expanduser().absolute())


def show(result: Any, out: Path, *, again: str | None, json: bool, quiet: bool) -> None:
    """Print what was made; its warnings were logged."""
    from hypercondense.typed import content_of

    condensed = result.hypergraph
    facts = {
        "out": str(out),
        "method": result.provenance.method,
        "seed": result.provenance.seed,
        "num_nodes": condensed.num_nodes,
        "num_hyperedges": condensed.num_hyperedges,
        "num_incidences": condensed.num_incidences,
        "density": result.density,
        "mean_hyperedge_size": result.mean_hyperedge_size,
        "seconds": result.seconds["total"],
        "peak_memory_mb": result.peak_memory_mb,
        "start_validation": result.start_validation,
        "final_validation": result.final_validation,
        "metric": result.provenance.metric,
        "ledger": content_of(result.ledger),
    }
    if result.curve is not None:
        facts["curve"] = content_of(result.curve)
    if json:
        found = {} if result.choice is None else {"choice": {**result.choice, "command": again}}
        output.print_json({**facts, "warnings": list(result.warnings), **found})
        return
    if quiet:
        return
    if result.curve is not None:
        show_curve(result)
    told = {name: value for name, value in result.facts().items() if not name.startswith("warning ")}
    searched = {} if again is None else {"the same again": again}
    next_step = shlex.join(["hypercondense", "evaluate", str(out), "--whole"])
    output.print_facts({**told, **searched, "written to": str(out), "next": next_step})


def show_curve(result: Any) -> None:
    """The sizes that were tried, and what they keep."""
    rows = [
        {
            "nodes": f"{point.nodes:,}",
            "score": f"{point.score:.2%}",
            "retention": f"{point.retention:.1%} ± {point.standard_error:.1%}",
            "probability": f"{point.probability:.2f}",
            "": "taken" if point.nodes == result.hypergraph.num_nodes else "",
        }
        for point in result.curve
    ]
    told = result.provenance
    asked = f"{told.retain:g} of {result.curve[0].whole:.2%} {told.metric}"
    title = f"to keep {asked} on validation nodes, with a confidence of {told.confidence:g}"
    output.print_table(rows, title=title, right=("nodes", "score", "retention", "probability"))
