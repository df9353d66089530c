"""What condensing wrote, read as a hypergraph like any other."""

import dataclasses
from pathlib import Path

from hypercondense.condensation import FORMAT, SCALED, TENSORS, load_condensed
from hypercondense.data.formats.files import check_memory, containing_folder, read_bytes
from hypercondense.data.formats.reader import Reader, Reading
from hypercondense.files.manifest import says_format
from hypercondense.files.storage import MANIFEST
from hypercondense.hypergraph import Hypergraph


def _read(path: Path, name: str | None = None, _reading: Reading | None = None) -> Hypergraph:
    folder = containing_folder(path)
    read_bytes(folder / MANIFEST)  # refuses what is not a file with a clear line
    if (folder / TENSORS).is_file():
        check_memory(folder / TENSORS, (folder / TENSORS).stat().st_size)
    result = load_condensed(folder)
    hypergraph = result.hypergraph
    notes = hypergraph.notes if result.scale is None else (*hypergraph.notes, SCALED)
    return dataclasses.replace(hypergraph, name=name or hypergraph.name, notes=notes)


def _recognises(path: Path) -> bool:
    if path.is_file():
        return path.name == TENSORS or (path.name == MANIFEST and says_format(path, FORMAT))
    return (path / TENSORS).exists() or ((path / MANIFEST).is_file() and says_format(path / MANIFEST, FORMAT))


CONDENSED = Reader(name="condensed", looks_for=f"{MANIFEST}, {TENSORS}", recognises=_recognises, read=_read)
