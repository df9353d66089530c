"""What condensing wrote, read as a hypergraph like any other."""

import dataclasses
from pathlib import Path

from hypercondense.condensation import FORMAT, TENSORS, load_condensed
from hypercondense.data.formats.files import check_memory, containing_folder, read_bytes
from hypercondense.data.formats.reader import FeatureRecipe, Reader
from hypercondense.errors import FormatError
from hypercondense.files.storage import MANIFEST, read_json
from hypercondense.hypergraph import Hypergraph


def _read(path: Path, name: str | None = None, _recipe: FeatureRecipe | None = None) -> Hypergraph:
    folder = containing_folder(path)
    read_bytes(folder / MANIFEST)  # refuses what is not a file with a clear line
    if (folder / TENSORS).is_file():
        check_memory(folder / TENSORS, (folder / TENSORS).stat().st_size)
    hypergraph = load_condensed(folder).hypergraph
    return hypergraph if name is None else dataclasses.replace(hypergraph, name=name)


def _recognises(path: Path) -> bool:
    if path.is_file():
        return path.name == TENSORS or (path.name == MANIFEST and _is_ours(path))
    return (path / TENSORS).exists() or ((path / MANIFEST).is_file() and _is_ours(path / MANIFEST))


def _is_ours(manifest: Path) -> bool:
    try:
        return read_json(manifest).get("format") == FORMAT
    except (FormatError, OSError):
        return False


CONDENSED = Reader(name="condensed", looks_for=f"{MANIFEST}, {TENSORS}", recognises=_recognises, read=_read)
