"""``hypercondense condense``: make the tiny synthetic hypergraph."""

import dataclasses
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hypercondense.cli import options, output

Ratio = Annotated[
    float | None, typer.Option(help="Condensed nodes as a fraction of all source nodes, as 0.01.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="OPTION=VALUE", help="An option of the method; may be given several times."
    ),
]


def condense(
    source: options.Source,
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    ratio: Ratio = None,
    nodes: Annotated[
        int | None, typer.Option(help="The number of condensed nodes, instead of --ratio.")
    ] = None,
    ratio_of: Annotated[
        Literal["all", "train"],
        typer.Option(help="What --ratio is a fraction of: all nodes, or training nodes."),
    ] = "all",
    method: Annotated[
        str, typer.Option(help="How to condense; a wrong name shows which there are.")
    ] = "auto",
    settings: Settings = None,
    budget: Annotated[
        str | None,
        typer.Option(help="For --method auto: at most so many trials, as 7, or a time, as 60s or 2m."),
    ] = None,
    seed: options.Seed = 0,
    split_seed: options.SplitSeed = 0,
    split: options.SplitFile = None,
    select: Annotated[
        bool, typer.Option(help="Return the snapshot that scores best on validation nodes, not the last.")
    ] = True,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted run to the same result.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
    memory: options.Memory = None,
    cache: Annotated[
        bool, typer.Option(help="Keep diffused features in the user cache for the next run.")
    ] = True,
    checkpoint_every: Annotated[float, typer.Option(help="Seconds between two checkpoints.", min=0)] = 5.0,
    device: options.Device = "cpu",
    data_dir: options.DataDir = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Condense a hypergraph into a folder that `evaluate` and Python can read."""
    from hypercondense.catalogue import make_method
    from hypercondense.errors import ConfigError
    from hypercondense.files.storage import check_target, user_cache
    from hypercondense.nn.short_trainings import validation_scorer
    from hypercondense.runtime.memory import parse_size
    from hypercondense.search import Auto

    # Everything that can be wrong is found out before the long work.
    chosen = parse_settings(settings)
    if budget is not None:
        if method != Auto.name:
            raise ConfigError(f"--budget is how long `auto` may search; {method} does not search")
        chosen["budget"] = budget
    condenser = make_method(method, chosen)
    most_memory = None if memory is None else parse_size(memory)
    options.check_device(device)
    check_target(out, overwrite=force)  # before the long work, not after it
    hypergraph = options.load_source(source, data_dir)
    parts = options.read_split(hypergraph, split, split_seed)
    scorer = None
    if select and len(parts.validation_ids) and not condenser.selects_itself:
        scorer = validation_scorer(hypergraph, parts, device=device)
    with sole_writer(out):
        with output.progress(quiet=quiet) as progress:
            result = condenser.condense(
                hypergraph,
                parts,
                ratio=ratio,
                nodes=nodes,
                ratio_of=ratio_of,
                seed=seed,
                select=scorer,
                progress=progress,
                checkpoint=checkpoint_folder(out),
                resume=resume,
                checkpoint_every=checkpoint_every,
                memory=most_memory,
                cache_dir=user_cache("diffusion") if cache else None,
                device=device,
            )
        result = dataclasses.replace(
            result, provenance=dataclasses.replace(result.provenance, source_location=location(source))
        )
        result.save(out, overwrite=force)
    again = None
    if result.choice is not None:
        size = ["--nodes", str(nodes)] if ratio is None else ["--ratio", str(ratio), "--ratio-of", ratio_of]
        parts_given = ["--split-seed", str(split_seed)] if split is None else ["--split", str(split)]
        place = [] if data_dir is None else ["--data-dir", str(data_dir)]
        where = [] if device == "cpu" else ["--device", device]
        again = repeating(result.choice, [source, *place, *size, "--seed", str(seed), *parts_given, *where])
    show(result, out, hypergraph.num_nodes, again=again, json=json, quiet=quiet)


def parse_settings(settings: list[str] | None) -> dict[str, str]:
    """``["time=2", "epochs=50"]`` as a mapping."""
    from hypercondense.errors import ConfigError

    parsed = {}
    for setting in settings or []:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise ConfigError(f"--set takes OPTION=VALUE, such as epochs=50, got {setting!r}")
        parsed[name.strip()] = value.strip()
    return parsed


def repeating(choice: dict[str, Any], arguments: list[str]) -> str:
    """The command that makes what a search chose again, to the same bits, without the search.

    >>> repeating({"method": "unrolled", "settings": {"epochs": 0}}, ["cora", "--ratio", "0.01"])
    'hypercondense condense cora --ratio 0.01 --method unrolled --no-select --set epochs=0 --out OUT'
    """
    settings = [part for name, value in choice["settings"].items() for part in ("--set", f"{name}={value}")]
    words = [*arguments, "--method", choice["method"], "--no-select", *settings, "--out", "OUT"]
    return shlex.join(["hypercondense", "condense", *words])


def checkpoint_folder(out: Path) -> Path:
    """Where the state of an interrupted run is kept: beside ``out``, which may be ``.``."""
    from hypercondense.errors import ConfigError

    out = Path(os.path.abspath(out))  # noqa: PTH100 (resolve() would follow a link at the target)
    if not out.name:
        raise ConfigError(f"--out must be a folder that can be replaced, got {out}; choose another place")
    return out.with_name(f"{out.name}.partial")


@contextmanager
def sole_writer(out: Path) -> Iterator[None]:
    """Keep other processes from condensing into the same folder; forget the checkpoint if all goes well."""
    from hypercondense.condensing.checkpoint import remove_checkpoint
    from hypercondense.errors import CondensationError
    from hypercondense.files.locking import BusyError, exclusive

    folder = checkpoint_folder(out)
    lock = folder / "lock"
    try:
        with exclusive(lock):
            try:
                yield
                remove_checkpoint(folder)
            finally:
                lock.unlink()
                with suppress(OSError):  # a checkpoint, or a file of somebody else, is kept
                    folder.rmdir()
    except BusyError as error:
        raise CondensationError(
            f"another process is condensing into {out}; wait for it, or choose another --out"
        ) from error


def location(source: str) -> str | None:
    """The path of a source that is not a registered name."""
    from hypercondense.data.registry import lookup

    is_name = lookup(source) is not None and "/" not in source
    return None if is_name else str(Path(source).expanduser().absolute())


def show(
    result: Any, out: Path, num_source_nodes: int, *, again: str | None, json: bool, quiet: bool
) -> None:
    """Print what was made."""
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
    }
    for warning in result.warnings:
        output.warn(warning)
    if json:
        found = {} if result.choice is None else {"choice": {**result.choice, "command": again}}
        output.print_json({**facts, "warnings": list(result.warnings), **found})
        return
    if quiet:
        return
    scores = (result.start_validation, result.final_validation)
    validation = "not scored" if None in scores else f"{scores[0]:.1%} at the start, {scores[1]:.1%} now"
    share = condensed.num_nodes / num_source_nodes
    searched = {} if result.choice is None else {"chosen": result.choice["why"], "the same again": again}
    output.print_facts(
        {
            "condensed nodes": f"{condensed.num_nodes:,} of {num_source_nodes:,} ({share:.2%})",
            "hyperedges": f"{condensed.num_hyperedges:,}, mean size {result.mean_hyperedge_size:.1f}",
            "on validation nodes": validation,
            "time and memory": f"{result.seconds['total']:.1f} s, {result.peak_memory_mb:,.0f} MB at most",
            **searched,
            "written to": str(out),
            "next": f"hypercondense evaluate {out} --whole",
        }
    )
