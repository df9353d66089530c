"""Every data set through every format of files and every library and back: equal digests, sizes and seconds.

    PYTHONPATH=tests python benchmarks/round_trips.py --data-dir datasets zoo cora [--libraries]

A row for each data set, a column for each format: ``same`` where the digest is equal, what was refused where
the format cannot hold it, the size of what was written, and seconds of the processor for writing and reading.
The last column goes through all formats that keep everything, one after the other. With ``--libraries`` the
columns are the libraries that are installed: ``told`` is where a warning names what does not come back. What
comes back as ``same`` is equal, so that pairs of such ways are, too.
"""

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypercondense as hc
from hypercondense.data.formats import WRITERS, read, write_mapped, write_native
from hypercondense.errors import FormatError
from hypercondense.hypergraph import Hypergraph
from interchange.ways import WAYS, gone, same

FORMATS: dict[str, tuple[Callable[..., Any], str]] = {
    "native": (write_native, "n"),
    "mapped": (write_mapped, "m"),
    "npz": (WRITERS["npz"], "x.npz"),
    "tables": (WRITERS["tables"], "t"),
    "hif": (WRITERS["hif"], "x.json"),
    "hif.gz": (WRITERS["hif"], "x.json.gz"),
    "hif.zst": (WRITERS["hif"], "x.json.zst"),
    "parquet": (WRITERS["parquet"], "p"),
    "hub": (WRITERS["hub"], "h"),
}
CHAIN = ("native", "npz", "hif.gz", "parquet", "hif", "hub", "hif.zst", "native")
MEMORY = 8 * 10**9


def through(source: Hypergraph, name: str, folder: Path) -> tuple[Hypergraph, int]:
    """What comes back from a format, and how many bytes were written."""
    write, place = FORMATS[name]
    write(source, folder / place, overwrite=True)
    files = [folder / place] if (folder / place).is_file() else [*(folder / place).iterdir()]
    return read(folder / place, memory=MEMORY), sum(file.stat().st_size for file in files)


def cell(source: Hypergraph, name: str) -> str:
    """What is told of a data set and a format."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.process_time()
        try:
            back, size = through(source, name, Path(folder))
        except (FormatError, ValueError) as error:
            return f"refused ({str(error)[:60]})"
        seconds = time.process_time() - begin
    equal = "same" if back.digest == source.digest else "same numbers" if alike(back, source) else "OTHER"
    return f"{equal}, {size / 1e6:.1f} MB, {seconds:.1f} s"


def alike(one: Hypergraph, other: Hypergraph) -> bool:
    """Whether nothing but names, the order of classes and how features are stored differs."""
    return (
        (one.dense_features() == other.dense_features()).all()
        and all((a == b).all() for a, b in zip(one.incidence[:2], other.incidence[:2], strict=True))
        and len({*zip(one.labels.tolist(), other.labels.tolist(), strict=True)}) <= other.num_classes + 1
    )


def chained(source: Hypergraph) -> str:
    """Through all formats that keep everything, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        back = source
        for place, name in enumerate(CHAIN):
            (Path(folder) / str(place)).mkdir()
            back, _ = through(back, name, Path(folder) / str(place))
    return "same" if back == source and back.notes == source.notes else "OTHER"


def library_cell(source: Hypergraph, name: str) -> str:
    """What is told of a data set and a library."""
    begin = time.process_time()
    back, told = gone(WAYS[name], source)
    equal = "same" if same(back, source) else "told" if told else "OTHER"
    return f"{equal}, {time.process_time() - begin:.1f} s"


def through_libraries(source: Hypergraph, names: list[str]) -> str:
    """Through all libraries that keep everything of it, one after the other."""
    back: Hypergraph | None = source
    for name in names:
        back = None if back is None else gone(WAYS[name], back)[0]
    return f"{'same' if same(back, source) else 'OTHER'}, {len(names)} ways"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="+")
    parser.add_argument("--data-dir")
    parser.add_argument("--no-chain", action="store_true")
    parser.add_argument("--libraries", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    ways = [name for name in WAYS if WAYS[name].is_open] if given.libraries else list(FORMATS)
    print(f"| | {' | '.join(ways)} | chain |\n|---{'|---' * (len(ways) + 1)}|")
    for name in given.names:
        source = hc.load(name, data_dir=given.data_dir)
        cells = [library_cell(source, one) if given.libraries else cell(source, one) for one in ways]
        keep = [one for one, told in zip(ways, cells, strict=True) if told.startswith("same,")]
        chain = ""
        if not given.no_chain:
            chain = through_libraries(source, keep) if given.libraries else chained(source)
        print(f"| {name} | {' | '.join(cells)} | {chain} |", flush=True)


if __name__ == "__main__":
    main()
