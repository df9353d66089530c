"""``hypercondense estimate``: what a run will take, before it."""

import time
from typing import Annotated, Any

import typer

from hypercondense.cli import options, output
from hypercondense.cli.evaluate import model_names
from hypercondense.names import DEFAULT_METHOD


def estimate(
    source: options.Source,
    ratio: options.Ratio = None,
    nodes: options.Nodes = None,
    method: options.Method = DEFAULT_METHOD,
    settings: options.Settings = None,
    budget: options.Budget = None,
    memory: options.Memory = None,
    model: options.Model = "hgnn",
    runs: Annotated[int, typer.Option(help="Trainings per model.", min=1, max=options.MOST)] = 5,
    split_seed: options.SplitSeed = None,
    split: options.SplitFile = None,
    data_dir: options.DataDir = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Tell seconds, memory and disk of `condense` and `evaluate`, from about two seconds of the real work."""
    from hypercondense.catalogue import make_method
    from hypercondense.estimating import estimate as estimated
    from hypercondense.typed import content_of

    changes = options.parse_settings(settings)
    make_method(method, changes, budget=budget)
    models = model_names(model)
    begin = time.perf_counter()
    hypergraph = options.load_source(source, data_dir, memory)
    reading = time.perf_counter() - begin
    told = estimated(
        hypergraph,
        options.read_split(hypergraph, split, split_seed),
        ratio=ratio,
        nodes=nodes,
        method=method,
        settings=changes,
        budget=budget,
        memory=memory,
        models=models,
        runs=runs,
    )
    if json:
        output.print_json({"reading_seconds": reading, **content_of(told)})
        return
    rows = [
        {"": name, "stage": stage, "seconds": f"{cost.seconds[stage]:.1f}", "share": f"{share:.0%}"}
        for name, cost in (("condense", told.condense), ("evaluate", told.evaluate))
        for stage, share in cost.shares.items()
    ]
    title = f"{hypergraph.name} to {told.nodes:,} nodes by {method}, on this machine as busy as it is now"
    output.print_table(rows, title=title, right=("seconds", "share"))
    output.print_facts({name: in_line(cost) for name, cost in _both(told).items()})
    output.note(f"reading took {reading:.1f} s, which both do besides", quiet=quiet)


def in_line(cost: Any) -> str:
    """A cost in a few words."""
    from hypercondense.runtime.estimate import in_words
    from hypercondense.runtime.memory import format_size

    disk = f", {format_size(cost.disk)} of disk" if cost.disk else ""
    return f"about {in_words(cost.seconds['total'])}, {format_size(cost.memory)} of memory{disk}"


def _both(told: Any) -> dict[str, Any]:
    return {"condense": told.condense, "evaluate": told.evaluate}
