"""Every data set through every format of files and every library and back: equal digests, sizes and seconds.

    PYTHONPATH=tests python benchmarks/round_trips.py --data-dir datasets zoo cora
    PYTHONPATH=tests python benchmarks/round_trips.py --libraries zoo cora --fill docs/interchange.md

A row for each data set, a column for each format: ``same`` where the digest is equal, what was refused where
the format cannot hold it, the size of what was written, and seconds of the processor for writing and reading.
The last column goes through all formats that keep everything, one after the other.

With ``--libraries`` rows are the libraries that are installed, and columns the data sets: ``told`` is where a
warning names what does not come back. What comes back as ``same`` is equal, so that pairs of such ways are,
too; the last row goes through all of these, one after the other. Each has a process of its own, 5 minutes of
the processor and 10 GB of memory; a line is written after each, and what is there already is not done again.
"""

import argparse
import json
import multiprocessing
import resource
import signal
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import hypercondense as hc
from hypercondense.data.formats import WRITERS, read, write_mapped, write_native
from hypercondense.errors import FormatError
from hypercondense.hypergraph import Hypergraph
from interchange.ways import WAYS, gone, plain, same

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
SECONDS, BYTES = 300, 10**10  # of the processor and of memory, for a library and a data set
CHAIN_OF_LIBRARIES = "all that keep everything"
BEGIN, END = "<!-- made by `benchmarks/round_trips.py` -->\n", "<!-- /made -->"
LINES = Path(__file__).with_suffix(".jsonl")


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


def by_library(source: Hypergraph, name: str) -> str:
    """Whether a data set comes back from a library."""
    back, told = gone(WAYS[name], source)
    return "same" if same(back, source) else "told" if told else "OTHER"


def by_libraries(source: Hypergraph, names: list[str]) -> str:
    """Whether it comes back from all of them, one after the other."""
    back: Hypergraph | None = source
    for name in names:
        back = None if back is None else gone(WAYS[name], back)[0]
    return f"same, {len(names)} ways" if same(back, source) else "OTHER"


def limited(work: Callable[[Hypergraph], str], source: Hypergraph) -> dict[str, Any]:
    """What is found out and the seconds of the processor, in a process that may take so much and no more."""
    fork = multiprocessing.get_context("fork")  # the data set is not read again
    receiver, sender = fork.Pipe(duplex=False)
    process = fork.Process(target=_work, args=(work, source, sender))
    process.start()
    sender.close()
    try:
        found: dict[str, Any] = receiver.recv()
    except EOFError:
        found = {}
    process.join()
    if found:
        return found
    if process.exitcode != -signal.SIGXCPU:
        raise SystemExit(f"a library ended its process with {process.exitcode}")
    return {"outcome": f"over {SECONDS // 60} min"}


def _work(work: Callable[[Hypergraph], str], source: Hypergraph, sender: Any) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 60))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    try:
        work(plain())  # imports what it needs
        begin = time.process_time()
        outcome = work(source)
    except MemoryError:
        sender.send({"outcome": f"over {BYTES // 10**9} GB"})
        return
    sender.send({"outcome": outcome, "seconds": round(time.process_time() - begin, 1)})


def read_lines(path: Path) -> list[dict[str, Any]]:
    """All lines so far."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def measure(name: str, data_dir: str | None) -> None:
    """A data set through all libraries that are installed and have no line yet."""
    done = {line["way"]: line for line in read_lines(LINES) if line["source"] == name}
    ways = [way for way in WAYS if WAYS[way].is_open]
    if {*ways, CHAIN_OF_LIBRARIES} <= {*done}:
        return
    source = hc.load(name, data_dir=data_dir)

    def write(way: str, found: dict[str, Any]) -> None:
        done[way] = {"source": name, "way": way, **found}
        with LINES.open("a", encoding="utf-8") as file:
            print(json.dumps(done[way]), file=file)

    for way in ways:
        if way not in done:
            write(way, limited(partial(by_library, name=way), source))
    if CHAIN_OF_LIBRARIES not in done:
        keep = [way for way in ways if done[way]["outcome"] == "same"]
        write(CHAIN_OF_LIBRARIES, limited(partial(by_libraries, names=keep), source))


def table(lines: list[dict[str, Any]]) -> str:
    """Rows of libraries, columns of data sets."""
    sources = list(dict.fromkeys(line["source"] for line in lines))
    found = {(line["source"], line["way"]): line for line in lines}
    rows = ["| | " + " | ".join(sources) + " |", "|---|" + "--:|" * len(sources)]
    for way in (*WAYS, CHAIN_OF_LIBRARIES):
        cells = [_told(found.get((source, way), {"outcome": "not run"})) for source in sources]
        rows.append(f"| {way} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _told(line: dict[str, Any]) -> str:
    return line["outcome"] + (f", {line['seconds']:.1f} s" if "seconds" in line else "")


def fill(document: Path, text: str) -> None:
    """Put the table between its marks."""
    before, _, rest = document.read_text("utf-8").partition(BEGIN)
    document.write_text(f"{before}{BEGIN}{text}\n{END}{rest.partition(END)[2]}", "utf-8")


def formats(names: list[str], data_dir: str | None, *, chain: bool) -> None:
    """Print the table of formats."""
    print(f"| | {' | '.join(FORMATS)} | chain |\n|---{'|---' * (len(FORMATS) + 1)}|")
    for name in names:
        source = hc.load(name, data_dir=data_dir)
        cells = [cell(source, one) for one in FORMATS]
        print(f"| {name} | {' | '.join(cells)} | {chained(source) if chain else ''} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", help="data sets of the registry")
    parser.add_argument("--data-dir", help="where the data sets are")
    parser.add_argument("--no-chain", action="store_true", help="leave the last column of formats out")
    parser.add_argument("--libraries", action="store_true", help="libraries in place of formats")
    parser.add_argument("--fill", type=Path, help="document whose table of libraries is made anew")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if not given.libraries:
        formats(given.names, given.data_dir, chain=not given.no_chain)
        return
    for name in given.names:
        measure(name, given.data_dir)
    print(table(read_lines(LINES)))
    if given.fill is not None:
        fill(given.fill, table(read_lines(LINES)))


if __name__ == "__main__":
    main()
