"""Readers of hypergraph files, chosen by content and by name. No reader runs anything a file says."""

from pathlib import Path
from typing import Protocol

from hypercondense.data.formats.condensed import CONDENSED
from hypercondense.data.formats.content_edges import CONTENT_EDGES
from hypercondense.data.formats.cornell import CORNELL
from hypercondense.data.formats.files import one_line_errors
from hypercondense.data.formats.hypergcn import HYPERGCN
from hypercondense.data.formats.native import NATIVE, read_native, write_native
from hypercondense.data.formats.npz import NPZ, write_npz
from hypercondense.data.formats.reader import FeatureRecipe, Reader
from hypercondense.data.formats.tables import TABLES, write_tables
from hypercondense.data.formats.tensors import TENSORS
from hypercondense.data.formats.yelp import YELP
from hypercondense.errors import FormatError
from hypercondense.hypergraph import Hypergraph

__all__ = [
    "READERS",
    "WRITERS",
    "Reader",
    "Writer",
    "read",
    "read_native",
    "write_native",
    "write_npz",
    "write_tables",
]

# The first that recognises a path reads it.
READERS: tuple[Reader, ...] = (
    NATIVE,
    CONDENSED,
    HYPERGCN,
    YELP,
    CORNELL,
    CONTENT_EDGES,
    TENSORS,
    NPZ,
    TABLES,
)


class Writer(Protocol):
    """Writes a hypergraph to a path: whole or not at all."""

    def __call__(self, hypergraph: Hypergraph, path: Path, *, overwrite: bool = False) -> None:
        """Raise ``FileExistsError`` where something is there and ``overwrite`` is not set."""


#: Formats that other programs read.
WRITERS: dict[str, Writer] = {"npz": write_npz, "tables": write_tables}


def read(
    path: Path | str, *, name: str | None = None, noise: float = 0.6, width: int = 100, seed: int = 0
) -> Hypergraph:
    """Read a hypergraph from a file or folder in any supported format.

    Args:
        path: The file or folder; ``docs/formats.md`` shows every format.
        name: What to call the result; the default is the name of the folder or file.
        noise: Standard deviation of the noise in features that are made from labels, because the format
            stores none (Cornell). So are ``width``, their number, and ``seed``.
        width: See ``noise``.
        seed: See ``noise``.

    Raises:
        FormatError: The file is missing, of no known format, or broken. The text is one line.
    """
    path = Path(path)
    recipe = FeatureRecipe(noise=noise, width=width, seed=seed)
    with one_line_errors(path):
        reader = _reader_of(path)
        return reader.read(path, name, recipe)


def _reader_of(path: Path) -> Reader:
    if not path.is_dir():
        path.stat()  # names what is wrong: missing, not permitted, a loop of links
    for reader in READERS:
        if reader.recognises(path):
            return reader
    looked_for = "; ".join(f"{reader.name}: {reader.looks_for}" for reader in READERS)
    raise FormatError(f"{path} is of no known format; looked for {looked_for}")
