"""The native folder: ``hypergraph.safetensors`` and ``manifest.json``, read and written."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from hypercondense.data.formats.files import (
    check_memory,
    containing_folder,
    default_name,
    one_line_errors,
    read_bytes,
)
from hypercondense.data.formats.opened import FORMAT, MAPPED, TENSORS_FILE, open_mapped
from hypercondense.data.formats.reader import Reader, Reading
from hypercondense.errors import FormatError
from hypercondense.files.manifest import read_manifest, says_format, write_manifest
from hypercondense.files.storage import (
    MANIFEST,
    file_digest,
    read_tensors,
    replaced_folder,
    write_tensors,
)
from hypercondense.hypergraph import UNNAMED, Hypergraph
from hypercondense.hypergraph.stored import StoredFacts, restored
from hypercondense.runtime.arguments import must_be
from hypercondense.typed import Value

VERSION = 2  # of folders with soft labels; others are of version 1, which older programs read too


class NativeManifest(Value, frozen=True, kw_only=True):
    """``manifest.json`` of a native folder."""

    format: str
    version: Annotated[int, Meta(ge=1, le=MAPPED)]
    name: str
    notes: tuple[str, ...]
    facts: StoredFacts
    digest: str
    sha256: Mapping[str, str]


def write_native(hypergraph: Hypergraph, path: Path | str, *, overwrite: bool = False) -> None:
    """Write the folder ``path``: whole or not at all. An existing one stays unless ``overwrite``.

    A hypergraph without a name is called like its folder where it is read.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     hc.save(source, f"{folder}/mine")
    ...     hc.load(f"{folder}/mine").num_nodes
    60
    """
    must_be("hypergraph", hypergraph, Hypergraph, like="save(hypergraph, folder)")
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
        write_manifest(folder, manifest)


def read_native(path: Path, *, name: str | None = None) -> Hypergraph:
    """Read what :func:`write_native` wrote; every bit and the manifest are checked."""
    path = Path(path)
    with one_line_errors(path):
        return _read(path, name)


def _read(path: Path, name: str | None = None, _reading: Reading | None = None) -> Hypergraph:
    folder = containing_folder(path)
    read_bytes(folder / MANIFEST)  # refuses what is not a file with a clear line
    manifest = read_manifest(folder, NativeManifest, format=FORMAT, version_field="version", newest=MAPPED)
    tensors = folder / TENSORS_FILE
    if not tensors.is_file():
        raise FormatError(f"{tensors} is missing or not a file")
    if name is None and manifest.name == UNNAMED:  # as files of other formats are called
        name = default_name(folder)
    if manifest.version == MAPPED:
        return open_mapped(folder, manifest, name)
    check_memory(tensors, tensors.stat().st_size)
    if file_digest(tensors) != manifest.sha256.get(TENSORS_FILE):
        raise FormatError(f"{tensors} is not the file its manifest describes (SHA-256); make it again")
    arrays = read_tensors(tensors)
    try:
        return restored(
            arrays, manifest.facts, digest=manifest.digest, name=name or manifest.name, notes=manifest.notes
        )
    except ValueError as error:
        raise FormatError(f"{folder} does not fit its manifest: {error}; make it again") from error


def _recognises(path: Path) -> bool:
    if path.is_file():
        return path.name == TENSORS_FILE or (path.name == MANIFEST and says_format(path, FORMAT))
    return (path / TENSORS_FILE).exists() or (
        (path / MANIFEST).is_file() and says_format(path / MANIFEST, FORMAT)
    )


NATIVE = Reader(name="native", looks_for=f"{MANIFEST}, {TENSORS_FILE}", recognises=_recognises, read=_read)
