"""Native folders that stay on disk: mapped, checked once by streaming, and then opened in milliseconds."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hypercondense.errors import FormatError
from hypercondense.files.manifest import write_manifest
from hypercondense.files.maps import chunks, new_tensors, open_tensors, release
from hypercondense.files.storage import (
    TENSORS_OF,
    file_digest,
    make_private,
    read_json,
    replaced_file,
    replaced_folder,
    user_cache,
    write_json,
)
from hypercondense.hypergraph import Hypergraph
from hypercondense.hypergraph.checks import checked_parts
from hypercondense.hypergraph.hypergraph import content_digest
from hypercondense.hypergraph.streamed import check_streamed

FORMAT = "hypercondense.hypergraph"
TENSORS_FILE = TENSORS_OF[FORMAT]
MAPPED = 3  # the version of folders whose arrays stay in their file; ids have 32 bits where they fit
_SHORT = 2**31


def id_type(size: int) -> Any:
    """The smallest type of ids below ``size``."""
    return np.int32 if size < _SHORT else np.int64


def open_mapped(folder: Path, manifest: Any, name: str | None = None) -> Hypergraph:
    """The hypergraph of a folder, whose arrays stay on disk.

    What is in the file is checked by streaming the first time; a note in the user cache tells that this very
    file has been.

    Raises:
        FormatError: The file is not the one of its manifest, or not a hypergraph.
    """
    tensors = folder / TENSORS_FILE
    facts = _facts(manifest)
    try:
        arrays = open_tensors(tensors)
        if not _is_noted(tensors, manifest.digest):
            if file_digest(tensors) != manifest.sha256.get(TENSORS_FILE):
                raise FormatError(
                    f"{tensors} is not the file its manifest describes (SHA-256); make it again"
                )
            check_streamed(arrays, facts)
            checked_parts(arrays.get("parts"), arrays["labels"])
            if content_digest(arrays, facts) != manifest.digest:
                raise FormatError(f"the digest of {tensors} is not that of its manifest; make it again")
            _note(tensors, manifest.digest)
        return Hypergraph.opened(
            arrays,
            facts,
            digest=manifest.digest,
            name=name or manifest.name,
            notes=manifest.notes,
            again=(reopen, str(folder.resolve())),
        )
    except KeyError as error:
        raise FormatError(f"{tensors} lacks {error.args[0]}; make it again") from error
    except ValueError as error:
        raise FormatError(f"{folder} does not fit its manifest: {error}; make it again") from error


def reopen(folder: str, *, name: str) -> Hypergraph:
    """Open a folder in another process, perhaps on another machine, that must see the same path."""
    from hypercondense.data.formats.native import read_native

    if not Path(folder).is_dir():
        raise FormatError(f"{folder} is not there; the source must lie at a path that all machines see")
    return read_native(Path(folder), name=name)


def _facts(manifest: Any) -> dict[str, Any]:
    told = manifest.facts
    return {
        "num_nodes": told.num_nodes,
        "num_hyperedges": told.num_hyperedges,
        "num_features": told.num_features,
        "label_names": told.label_names and list(told.label_names),
        "feature_names": told.feature_names and list(told.feature_names),
    }


@contextmanager
def mapped_folder(
    path: Path,
    shapes: Mapping[str, tuple[Any, tuple[int, ...]]],
    *,
    overwrite: bool = False,
) -> Iterator[tuple[dict[str, NDArray[Any]], dict[str, Any]]]:
    """Arrays to be filled and a manifest to be completed; a whole folder appears when the block ends well.

    The manifest needs ``facts``, ``name`` and ``notes``. What was filled in is checked, by streaming.

    Raises:
        ValueError: It is not a hypergraph.
    """
    manifest: dict[str, Any] = {"format": FORMAT, "version": MAPPED, "notes": []}
    with replaced_folder(path, overwrite=overwrite) as folder:
        arrays = new_tensors(folder / TENSORS_FILE, shapes)
        yield arrays, manifest
        for array in arrays.values():
            if isinstance(array, np.memmap):
                array.flush()
        facts = manifest["facts"]
        check_streamed(arrays, facts)
        manifest["digest"] = content_digest(arrays, facts)
        manifest["sha256"] = {TENSORS_FILE: file_digest(folder / TENSORS_FILE)}
        write_manifest(folder, manifest)
    _note(path / TENSORS_FILE, manifest["digest"])


def write_mapped(hypergraph: Hypergraph, path: Path, *, overwrite: bool = False) -> None:
    """Write a hypergraph with dense features as a folder that stays on disk when it is read."""
    if hypergraph.is_sparse or hypergraph.soft_labels is not None:
        what = "sparse features" if hypergraph.is_sparse else "soft labels"
        raise ValueError(f"a folder that stays on disk cannot hold {what}; write it without --mapped")
    arrays, facts = hypergraph.to_arrays()
    kinds = {key: array.dtype for key, array in arrays.items()}
    kinds["incidence.node_ids"] = id_type(hypergraph.num_nodes)
    kinds["incidence.hyperedge_ids"] = id_type(hypergraph.num_hyperedges)
    shapes = {key: (kinds[key], array.shape) for key, array in arrays.items()}
    with mapped_folder(path, shapes, overwrite=overwrite) as (filled, manifest):
        for key, array in arrays.items():
            for some in chunks(len(array), 65_536):
                filled[key][some] = array[some]
                release(filled[key])
        manifest |= {"name": hypergraph.name, "notes": list(hypergraph.notes), "facts": facts}


def _identity(tensors: Path, digest: str) -> dict[str, Any]:
    """What tells a file from any other, and from itself after a change."""
    told = os.stat(tensors)  # noqa: PTH116 (follows links as opening does)
    times = {"time": told.st_mtime_ns, "changed": told.st_ctime_ns}  # the second is set by the system alone
    return {"size": told.st_size, **times, "number": told.st_ino, "digest": digest}


def _note_of(tensors: Path) -> Path:
    return user_cache("checked") / f"{sha256(str(tensors.resolve()).encode()).hexdigest()[:32]}.json"


def _is_noted(tensors: Path, digest: str) -> bool:
    try:
        return read_json(_note_of(tensors)) == _identity(tensors, digest)
    except (OSError, FormatError):
        return False


def _note(tensors: Path, digest: str) -> None:
    with suppress(OSError):  # without a note it is checked again
        make_private(user_cache("checked"))
        with replaced_file(_note_of(tensors)) as draft:
            write_json(draft, _identity(tensors, digest))
