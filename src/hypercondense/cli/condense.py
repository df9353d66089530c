"""``hypercondense condense``: make the tiny synthetic hypergraph."""

import dataclasses
import itertools
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
        "--set",
        metavar="FIELD=VALUE",
        help="A field of the method, as goal.epochs=80 or start=k-means; "
        "`hypercondense methods NAME` lists them.",
    ),
]


def condense(
    source: options.Source,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder to write; by default SOURCE-RATIO, or the next free name."),
    ] = None,
    ratio: Ratio = None,
    nodes: Annotated[
        int | None, typer.Option(help="The number of condensed nodes, instead of --ratio.")
    ] = None,
    ratio_of: Annotated[
        Literal["all", "train"],
        typer.Option(help="What --ratio is a fraction of: all nodes, or training nodes."),
    ] = "all",
    method: options.Method = "auto",
    settings: Settings = None,
    budget: Annotated[
        str | None,
        typer.Option(
            help="For a search (auto, ahgcdd-paper, ahgcdd-x-paper): at most so many trials, as 7, or a "
            "time, as 60s or 2m."
        ),
    ] = None,
    seed: options.Seed = 0,
    split_seed: options.SplitSeed = 0,
    split: options.SplitFile = None,
    select: options.Select = True,
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
    from msgspec import structs

    from hypercondense.catalogue import make_method, recorded_name
    from hypercondense.condensing.run import condense_by
    from hypercondense.files.storage import check_target, user_cache
    from hypercondense.runtime.memory import parse_size

    # Everything that can be wrong is found out before the long work.
    chosen = make_method(method, parse_settings(settings), budget=budget)
    most_memory = None if memory is None else parse_size(memory)
    options.check_device(device)
    folder = default_out(source, ratio, nodes, resume=resume) if out is None else out
    check_target(folder, overwrite=force)
    hypergraph = options.load_source(source, data_dir)
    parts = options.read_split(hypergraph, split, split_seed)
    with sole_writer(folder):
        with output.progress(quiet=quiet) as progress:
            result = condense_by(
                chosen,
                hypergraph,
                parts,
                name=recorded_name(method),
                ratio=ratio,
                nodes=nodes,
                ratio_of=ratio_of,
                seed=seed,
                select=select,
                progress=progress,
                checkpoint=checkpoint_folder(folder),
                resume=resume,
                checkpoint_every=checkpoint_every,
                memory=most_memory,
                cache_dir=user_cache("diffusion") if cache else None,
                device=device,
            )
        result = dataclasses.replace(
            result, provenance=structs.replace(result.provenance, source_location=location(source))
        )
        result.save(folder, overwrite=force)
    again = None
    if result.choice is not None:
        size = ["--nodes", str(nodes)] if ratio is None else ["--ratio", str(ratio), "--ratio-of", ratio_of]
        parts_given = ["--split-seed", str(split_seed)] if split is None else ["--split", str(split)]
        place = [] if data_dir is None else ["--data-dir", str(data_dir)]
        where = [] if device == "cpu" else ["--device", device]
        where += [] if select else ["--no-select"]
        again = repeating(result.choice, [source, *place, *size, "--seed", str(seed), *parts_given, *where])
    show(result, folder, hypergraph.num_nodes, again=again, json=json, quiet=quiet)


def default_out(source: str, ratio: float | None, nodes: int | None, *, resume: bool) -> Path:
    """``SOURCE-RATIO`` in the current folder, or the next name that is free; nothing is overwritten.

    An interrupted run is continued where its checkpoint lies.
    """
    size = f"{nodes}-nodes" if ratio is None else f"{ratio:g}"
    stem = f"{Path(source).name.partition('.')[0] or 'source'}-{size}"
    for number in itertools.count(1):
        folder = Path(stem if number == 1 else f"{stem}-{number}")
        begun = checkpoint_folder(folder).exists()
        if not os.path.lexists(folder) and (resume or not begun):
            return folder
    raise AssertionError  # there is always a next name


def parse_settings(settings: list[str] | None) -> dict[str, str]:
    """``["time=2", "epochs=50"]`` as a mapping."""
    from hypercondense.errors import ConfigError

    parsed = {}
    for setting in settings or []:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise ConfigError(f"--set takes FIELD=VALUE, such as goal.epochs=50, got {setting!r}")
        parsed[name.strip()] = value.strip()
    return parsed


def repeating(choice: dict[str, Any], arguments: list[str]) -> str:
    """The command that makes what a search chose again, to the same bits, without the search.

    >>> repeating({"method": "unrolled", "settings": {"looks": 0}}, ["cora", "--ratio", "0.01"])
    'hypercondense condense cora --ratio 0.01 --method unrolled --set looks=0 --out OUT'
    """
    from hypercondense.condensing.settings import as_text

    chosen = choice["settings"].items()
    settings = [part for name, value in chosen for part in ("--set", f"{name}={as_text(value)}")]
    words = [*arguments, "--method", choice["method"], *settings, "--out", "OUT"]
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
