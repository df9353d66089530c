"""The native folder: ``hypergraph.safetensors`` and ``manifest.json``, read and written."""

from pathlib import Path
from typing import Any

from hypercondense.data.formats.files import check_memory, containing_folder, one_line_errors, read_bytes
from hypercondense.data.formats.reader import FeatureRecipe, Reader
from hypercondense.errors import FormatError
from hypercondense.files.storage import (
    MANIFEST,
    file_digest,
    read_json,
    read_tensors,
    replaced_folder,
    write_json,
    write_tensors,
)
from hypercondense.hypergraph import Hypergraph

TENSORS_FILE = "hypergraph.safetensors"
FORMAT = "hypercondense.hypergraph"
VERSION = 2  # of folders with soft labels; others are of version 1, which older programs read too


def write_native(hypergraph: Hypergraph, path: Path, *, overwrite: bool = False) -> None:
    """Write the folder ``path``: whole or not at all. An existing one stays unless ``overwrite``."""
    arrays, facts = hypergraph.to_arrays()
    with replaced_folder(Path(path), overwrite=overwrite) as folder:
        tensors_digest = write_tensors(folder / TENSORS_FILE, arrays)
        manifest = {
            "format": FORMAT,
            "version": 1 if hypergraph.soft_labels is None else VERSION,
            "name": hypergraph.name,
            "notes": list(hypergraph.notes),
            "facts": facts,
            "digest": hypergraph.digest,
            "sha256": {TENSORS_FILE: tensors_digest},
        }
        write_json(folder / MANIFEST, manifest)


def read_native(path: Path) -> Hypergraph:
    """Read what :func:`write_native` wrote; every bit and the manifest are checked."""
    path = Path(path)
    with one_line_errors(path):
        return _read(path)


def _read(path: Path, name: str | None = None, _recipe: FeatureRecipe | None = None) -> Hypergraph:
    folder = containing_folder(path)
    read_bytes(folder / MANIFEST)  # refuses what is not a file with a clear line
    manifest = read_json(folder / MANIFEST)
    _check_manifest(folder / MANIFEST, manifest)
    tensors = folder / TENSORS_FILE
    if not tensors.is_file():
        raise FormatError(f"{tensors} is missing or not a file")
    check_memory(tensors, tensors.stat().st_size)
    expected = manifest["sha256"].get(TENSORS_FILE)
    if file_digest(tensors) != expected:
        raise FormatError(f"{tensors} is not the file its manifest describes (SHA-256); make it again")
    try:
        hypergraph = Hypergraph.from_arrays(
            read_tensors(tensors), manifest["facts"], name=name or manifest["name"], notes=manifest["notes"]
        )
    except KeyError as error:
        raise FormatError(f"{folder} lacks {error.args[0]}; make it again") from error
    if hypergraph.digest != manifest["digest"] or hypergraph.to_arrays()[1] != manifest["facts"]:
        raise FormatError(f"{folder} does not have the digest and sizes its manifest states; make it again")
    return hypergraph


def _check_manifest(path: Path, manifest: dict[str, Any]) -> None:
    if manifest.get("format") != FORMAT:
        raise FormatError(f"{path} must say format {FORMAT!r}, it says {str(manifest.get('format'))[:60]!r}")
    version = manifest.get("version")
    if type(version) is int and version > VERSION:
        raise FormatError(
            f"{path} has version {version}, this program reads up to {VERSION}; use a newer hypercondense"
        )
    if type(version) is not int or version < 1:
        raise FormatError(f"{path} must say version 1 to {VERSION}, it says {str(version)[:60]!r}")
    kinds = {"name": str, "notes": list, "facts": dict, "digest": str, "sha256": dict}
    for key, kind in kinds.items():
        if not isinstance(manifest.get(key), kind):
            raise FormatError(f"{path} must have {key!r} as {kind.__name__}; make it again")


def _recognises(path: Path) -> bool:
    if path.is_file():
        return path.name == TENSORS_FILE or (path.name == MANIFEST and _is_ours(path))
    return (path / TENSORS_FILE).exists() or ((path / MANIFEST).is_file() and _is_ours(path / MANIFEST))


def _is_ours(manifest: Path) -> bool:
    try:
        return read_json(manifest).get("format") == FORMAT
    except (FormatError, OSError):
        return False


NATIVE = Reader(name="native", looks_for=f"{MANIFEST}, {TENSORS_FILE}", recognises=_recognises, read=_read)
