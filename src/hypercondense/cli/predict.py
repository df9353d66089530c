"""``hypercondense predict``: classes of nodes, by a network trained on a condensed hypergraph."""

from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from hypercondense.cli import options, output
from hypercondense.cli.evaluate import source_of

_LONGEST_LIST = 2 * 10**7  # bytes of a file of nodes, of which each becomes a text of Python


def predict(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What `condense` wrote.")],
    out: Annotated[Path, typer.Option(help="The CSV file to write: node, label, share of every class.")],
    model: Annotated[str, typer.Option(help=f"The network, of {options.MODELS}.")] = "hgnn",
    nodes: Annotated[
        Path | None,
        typer.Option(help="A file with a node per line, by name; by default those without a label, or all."),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(help="Another hypergraph with the same features, instead of the source."),
    ] = None,
    network: Annotated[Path | None, typer.Option(help="Use this saved network instead of training.")] = None,
    save_network: Annotated[
        Path | None, typer.Option(help="Keep the network in this file (safetensors).")
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="The source, where the folder does not tell where it is.")
    ] = None,
    split: options.SplitFile = None,
    seed: options.Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    device: options.Device = "cpu",
    memory: options.SourceMemory = None,
    data_dir: options.DataDir = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Train a network on a condensed hypergraph, and write the classes it predicts for real nodes."""
    from hypercondense.condensation import load_condensed
    from hypercondense.evaluation.network import check_source, load_network, train
    from hypercondense.files.storage import check_file_target
    from hypercondense.nn import model_class

    options.check_device(device)
    model_class(model)
    for target in filter(None, (out, save_network)):
        check_file_target(target, overwrite=force)
    result = load_condensed(folder)
    known = None if network is None else load_network(network)
    if known is not None:
        check_source(known, result)
    hypergraph, parts = source_of(result, source, split, data_dir, memory)
    asked = hypergraph if on is None else options.load_source(on, data_dir, memory)
    wanted = nodes_asked_for(asked, nodes)
    if known is None:
        with output.progress(quiet=quiet) as progress:
            how: dict[str, Any] = {"model": model, "seed": seed, "device": device, "memory": memory}
            known = train(result, hypergraph, parts, **how, progress=progress)
    predicted = known.predict_ids(asked, wanted, memory=memory)
    predicted.to_csv(out, overwrite=force)
    if save_network is not None:
        known.save(save_network, overwrite=force)
    told = known.facts
    if json:
        scores = {"accuracy": told.accuracy, "calibration": told.calibration}
        output.print_json({"out": str(out), "model": told.model, "num_nodes": len(predicted), **scores})
        return
    output.answer(f"{len(predicted):,} nodes of {asked.name} by {told.model}, written to {out}")
    if told.accuracy is not None and told.calibration is not None:
        output.answer(
            f"on test nodes its accuracy is {told.accuracy:.2%}, its calibration error {told.calibration:.2%}"
        )


def nodes_asked_for(hypergraph: Any, file: Path | None) -> Any:
    """Ids of the nodes to predict: those of a file, else those without a label, else all."""
    import numpy as np

    from hypercondense.errors import ConfigError
    from hypercondense.hypergraph import UNKNOWN

    if file is None:
        unlabelled = np.flatnonzero(hypergraph.labels == UNKNOWN)
        return unlabelled if len(unlabelled) else np.arange(hypergraph.num_nodes)
    names = _names_in(file)
    try:
        return hypergraph.node_ids(names)
    except ValueError as error:
        hint = "" if "(entry 0)" not in str(error) else "; a first line that is a header must be 'node'"
        raise ConfigError(f"{file}: {error}{hint}") from error


def _names_in(file: Path) -> list[str]:
    """The nodes in a file: a CSV table with a column ``node``, or a name per line."""
    import csv
    import io

    from hypercondense.errors import FormatError
    from hypercondense.files.regular import read_regular

    content = read_regular(file)
    if len(content) > _LONGEST_LIST:
        raise FormatError(f"{file} has more than {_LONGEST_LIST // 10**6} MB of names; ask for them in parts")
    try:
        stream = io.StringIO(content.decode("utf-8-sig"), newline="")
        rows = (row for row in csv.reader(stream, strict=True) if row)
        first = next(rows, None)
        if first is None:
            raise FormatError(f"{file} names no nodes")
        header = [cell.strip().lower() for cell in first]
        if "node" in header:
            place = header.index("node")
            return [row[place] for row in rows if len(row) > place]
        return [_the_only_cell(file, row) for row in chain([first], rows)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(
            f"{file} must be UTF-8 text, a node per line, quoted as in CSV ({error})"
        ) from error


def _the_only_cell(file: Path, row: list[str]) -> str:
    from hypercondense.errors import FormatError

    if len(row) > 1:
        raise FormatError(
            f"{file} must have a node per line, or a column 'node'; one line has {len(row)} fields and "
            f"begins with {row[0][:40]!r}"
        )
    return row[0]
