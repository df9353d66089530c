"""``hypercondense convert``: any format to the native folder."""

from pathlib import Path
from typing import Annotated

import typer

from hypercondense.cli import options, output


def convert(
    source: options.Source,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write.")],
    memory: options.ReadingMemory = None,
    mapped: Annotated[
        bool,
        typer.Option("--mapped", help="Write a folder whose arrays stay on disk, for sources of any size."),
    ] = False,
    data_dir: options.DataDir = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Read a hypergraph in any known format and write it as a native folder (safetensors and JSON).

    With --mapped, tables incidences* and nodes* of Parquet or CSV may be of any size and in any order. Graphs
    in GraphBolt's layout (metadata.yaml) and in that of OGB-LSC always become a folder that stays on disk.
    """
    from hypercondense.data.formats import read, write_mapped, write_native
    from hypercondense.data.formats.parquet import tells_facts
    from hypercondense.data.gathering import gather, gather_graph, is_graph
    from hypercondense.data.parts import are_parts
    from hypercondense.files.storage import check_target
    from hypercondense.runtime.memory import parse_size

    check_target(out, overwrite=force)  # before the long work, not after it
    in_parts = mapped and are_parts(Path(source)) and not tells_facts(Path(source))
    if is_graph(Path(source)) or in_parts:
        write = gather_graph if is_graph(Path(source)) else gather
        write(Path(source), out, memory=None if memory is None else parse_size(memory), overwrite=force)
        hypergraph = read(out)
    else:
        hypergraph = options.load_source(source, data_dir, memory)
        (write_mapped if mapped else write_native)(hypergraph, out, overwrite=force)
    if json:
        output.print_json({"out": str(out), "name": hypergraph.name, "digest": hypergraph.digest})
    else:
        output.note(f"{hypergraph!r} written to {out}", quiet=quiet)
