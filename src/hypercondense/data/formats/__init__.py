"""Readers of hypergraph files, chosen by content and by name. No reader runs anything a file says."""

from pathlib import Path
from typing import Protocol

from hypercondense.condensation import Condensation
from hypercondense.data.formats.condensed import CONDENSED
from hypercondense.data.formats.content_edges import CONTENT_EDGES
from hypercondense.data.formats.cornell import CORNELL
from hypercondense.data.formats.files import one_line_errors
from hypercondense.data.formats.hif import HIF, write_hif
from hypercondense.data.formats.hub import write_hub
from hypercondense.data.formats.hypergcn import HYPERGCN
from hypercondense.data.formats.native import NATIVE, read_native, write_native
from hypercondense.data.formats.npz import NPZ, write_npz
from hypercondense.data.formats.opened import write_mapped
from hypercondense.data.formats.parquet import PARQUET, write_parquet
from hypercondense.data.formats.reader import Reader, Reading
from hypercondense.data.formats.tables import TABLES, write_tables
from hypercondense.data.formats.tensors import TENSORS
from hypercondense.data.formats.wordnet import WORDNET
from hypercondense.data.formats.yelp import YELP
from hypercondense.errors import FormatError
from hypercondense.files.regular import open_regular
from hypercondense.hypergraph import Hypergraph

__all__ = [
    "READERS",
    "WRITERS",
    "Reader",
    "Writer",
    "read",
    "read_native",
    "write_hif",
    "write_hub",
    "write_mapped",
    "write_native",
    "write_npz",
    "write_parquet",
    "write_tables",
]

_COLUMNS = 10**6  # of sparse features that a file may declare beside one for each of its bytes
_COLUMN_BYTES = 64  # of a network for each of them, at least

# The first that recognises a path reads it.
READERS: tuple[Reader, ...] = (
    NATIVE,
    CONDENSED,
    HYPERGCN,
    YELP,
    CORNELL,
    WORDNET,
    CONTENT_EDGES,
    TENSORS,
    NPZ,
    TABLES,
    PARQUET,
    HIF,
)


class Writer(Protocol):
    """Writes a hypergraph, or that of a result, to a path: whole or not at all."""

    def __call__(self, given: Hypergraph | Condensation, path: Path, *, overwrite: bool = False) -> None:
        """Raise ``FileExistsError`` where something is there and ``overwrite`` is not set."""


#: Formats that other programs read.
WRITERS: dict[str, Writer] = {
    "npz": write_npz,
    "tables": write_tables,
    "hif": write_hif,
    "parquet": write_parquet,
    "hub": write_hub,
}


def read(
    path: Path | str,
    *,
    name: str | None = None,
    noise: float = 0.6,
    width: int = 100,
    seed: int = 0,
    memory: int | None = None,
) -> Hypergraph:
    """Read a hypergraph from a file or folder in any supported format.

    Args:
        path: The file or folder; ``docs/formats.md`` shows every format.
        name: What to call the result; the default is the name of the folder or file.
        noise: Standard deviation of the noise in features that are made from labels, because the format
            stores none (Cornell). So are ``width``, their number, and ``seed``.
        width: See ``noise``.
        seed: See ``noise``.
        memory: Bytes that reading may take, where that is more than 400 MB and ten times the file. A small
            file that is unpacked to more is refused before it is.

    Raises:
        FormatError: The file is missing, of no known format, or broken. The text is one line.
    """
    path = Path(path)
    reading = Reading(noise=noise, width=width, seed=seed, memory=memory)
    with one_line_errors(path):
        reader = _reader_of(path)
        hypergraph = reader.read(path, name, reading)
        _check_columns(path, hypergraph, memory)
        return hypergraph


def _check_columns(path: Path, hypergraph: Hypergraph, memory: int | None) -> None:
    """Sparse features cost nothing for columns that hold nothing, and everything that uses them does."""
    files = path.rglob("*") if path.is_dir() else [path]
    allowed = max(_COLUMNS + sum(file.stat().st_size for file in files), (memory or 0) // _COLUMN_BYTES)
    if hypergraph.is_sparse and hypergraph.num_features > allowed:
        raise FormatError(
            f"{path} declares {hypergraph.num_features:,} columns of features, more than the {allowed:,} a "
            "file of its size may have; leave out those that hold nothing, or allow more with --memory"
        )


def _reader_of(path: Path) -> Reader:
    if not path.is_dir():
        open_regular(path).close()  # names what is wrong: missing, not permitted, a loop of links, a pipe
    for reader in READERS:
        if reader.recognises(path):
            return reader
    files = list(path.iterdir()) if path.is_dir() else [path]
    if any(one.name.startswith("incidences") for one in files) and any(
        one.name.startswith("nodes") for one in files
    ):
        raise FormatError(
            f"{path} has tables incidences* and nodes*, which are made into a hypergraph first: "
            f"hypercondense convert {path} OUT --mapped"
        )
    if any(one.suffix.lower() in (".csv", ".tsv") for one in files):
        raise FormatError(
            f"{path} has tables, but they are not called as those of a hypergraph, which is a folder with "
            "incidence.csv (columns node and hyperedge), features.csv and labels.csv; rename yours, or read "
            "them in Python by hypercondense.from_pandas"
        )
    names = ", ".join(reader.name for reader in READERS)
    raise FormatError(f"{path} is of no known format; known are {names}: docs/formats.md shows their files")
