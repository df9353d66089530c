"""A numpy archive: ``labels``, ``node_ids``, ``hyperedge_ids`` and ``features`` (or its sparse parts)."""

import math
import zipfile
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import scipy.sparse as sp

from hypercondense.condensation import Condensation
from hypercondense.data.formats.files import default_name
from hypercondense.data.formats.made import hypergraph_in
from hypercondense.data.formats.reader import Reader, Reading
from hypercondense.errors import FormatError, one_line
from hypercondense.files.storage import check_file_target, replaced_file
from hypercondense.hypergraph import Hypergraph
from hypercondense.hypergraph.checks import csr_from_parts

_NEEDED = ("labels", "node_ids", "hyperedge_ids")
_SPARSE = ("features_data", "features_indices", "features_indptr", "features_shape")
_NAMES = ("label_names", "feature_names", "node_names", "hyperedge_names")
_OPTIONAL = ("weights", "soft_labels", "parts", "num_nodes", "num_hyperedges", *_NAMES, "name", "notes")
_KEYS = ("features", *_SPARSE, *_NEEDED, *_OPTIONAL)
_KINDS = "biufUS"  # plain numbers and text, no Python objects
_LONGEST_HEADER = 10_000
_LAST_LETTER = 0x10FFFF
# Bytes made of one entry: float32; int64 in the few copies of sorting memberships; a Python text.
_FEATURE_BYTES, _NUMBER_BYTES, _TEXT_BYTES = 5, 40, 60

_Header: TypeAlias = tuple[tuple[int, ...], bool, "np.dtype[Any]"]  # shape, whether in columns, type


def write_npz(given: Hypergraph | Condensation, path: Path, *, overwrite: bool = False) -> None:
    """Write the file ``path``: whole or not at all. An existing one stays unless ``overwrite``.

    Raises:
        FileExistsError: Something is there and ``overwrite`` is not set, or it is not a file.
        FormatError: A name ends in a NUL character, which numpy cannot hold.
    """
    check_file_target(path, overwrite=overwrite)
    hypergraph = hypergraph_in(given)
    arrays = _numbers_of(hypergraph) | _texts_of(hypergraph)
    with replaced_file(path) as draft, draft.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _numbers_of(hypergraph: Hypergraph) -> dict[str, Any]:
    features, incidence = hypergraph.features, hypergraph.incidence
    if sp.issparse(features):
        parts = (features.data, features.indices, features.indptr, np.array(features.shape))
        arrays: dict[str, Any] = dict(zip(_SPARSE, parts, strict=True))
    else:
        arrays = {"features": features}
    arrays |= {
        "labels": hypergraph.labels,
        "node_ids": incidence.node_ids,
        "hyperedge_ids": incidence.hyperedge_ids,
        "num_hyperedges": np.array(hypergraph.num_hyperedges),
    }
    optional = {
        "weights": incidence.weights,
        "soft_labels": hypergraph.soft_labels,
        "parts": hypergraph.parts,
    }
    return arrays | {key: array for key, array in optional.items() if array is not None}


def _texts_of(hypergraph: Hypergraph) -> dict[str, Any]:
    texts = {key: getattr(hypergraph, key) for key in _NAMES} | {"notes": hypergraph.notes}
    given = {key: names for key, names in texts.items() if names is not None}
    for key, names in given.items() | {("name", (hypergraph.name,))}:
        if lost := [name for name in names if name.endswith("\0")]:
            raise FormatError(f"{key}: {lost[0]!r} ends in a NUL character, which npz does not keep")
    arrays = {key: np.array(names, dtype=np.str_) for key, names in given.items()}
    return arrays | {"name": np.array(hypergraph.name)}


def _recognises(path: Path) -> bool:
    if not path.is_file():
        return False
    return path.suffix.lower() == ".npz" or _has_labels(path)


def _has_labels(path: Path) -> bool:
    with path.open("rb") as file:
        if file.read(4) != b"PK\x03\x04":
            return False
    try:
        return "labels.npy" in zipfile.ZipFile(path).namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        return False


def _read(path: Path, name: str | None, reading: Reading) -> Hypergraph:
    arrays, ignored = _arrays(path, reading)
    missing = [key for key in _NEEDED if key not in arrays]
    if missing:
        raise FormatError(f"{path} lacks the array {missing[0]!r}")
    notes = [str(note) for note in arrays.get("notes", np.array([])).reshape(-1)]
    if ignored:
        notes.append(f"arrays of the file that were not used: {', '.join(ignored)[:200]}")
    num_hyperedges = _number(path, arrays, "num_hyperedges")
    if num_hyperedges is None:
        num_hyperedges = len(np.unique(arrays["hyperedge_ids"]))
    stored_name = str(arrays["name"]) if "name" in arrays else default_name(path)
    return Hypergraph(
        features=_features(path, arrays),
        labels=arrays["labels"],
        incidence=(arrays["node_ids"], arrays["hyperedge_ids"], arrays.get("weights")),
        num_nodes=_number(path, arrays, "num_nodes"),
        num_hyperedges=num_hyperedges,
        soft_labels=arrays.get("soft_labels"),
        parts=arrays.get("parts"),
        label_names=_texts(arrays, "label_names"),
        feature_names=_texts(arrays, "feature_names"),
        node_names=_texts(arrays, "node_names"),
        hyperedge_names=_texts(arrays, "hyperedge_names"),
        name=name or stored_name,
        notes=notes,
    )


def _features(path: Path, arrays: dict[str, Any]) -> Any:
    if "features" in arrays:
        return arrays["features"]
    missing = [key for key in _SPARSE if key not in arrays]
    if missing:
        raise FormatError(f"{path} lacks 'features' (or, for sparse features, {missing[0]!r})")
    shape = arrays["features_shape"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu":
        raise FormatError(f"{path}: 'features_shape' must be two whole numbers")
    return csr_from_parts(*(arrays[key] for key in _SPARSE[:3]), shape=shape)


def _number(path: Path, arrays: dict[str, Any], key: str) -> int | None:
    value = arrays.get(key)
    if value is None:
        return None
    if value.size != 1 or value.dtype.kind not in "iu":
        raise FormatError(f"{path}: {key!r} must be one whole number")
    return int(value.reshape(-1)[0])


def _texts(arrays: dict[str, Any], key: str) -> list[str] | None:
    value = arrays.get(key)
    return None if value is None else [str(text) for text in value.reshape(-1)]


def _arrays(path: Path, reading: Reading) -> tuple[dict[str, Any], list[str]]:
    """The arrays with a known key, and the names of the others."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
            known = {key: entry for key, entry in entries.items() if key in _KEYS}
            headers = {key: _checked_header(path, archive, entry) for key, entry in known.items()}
            # An archive of a few bytes can state gigabytes: what is made of it is counted before it is read.
            needed = sum(_bytes_of(key, *header) for key, header in headers.items())
            reading.check(path, needed, file_size=path.stat().st_size)
            arrays = {key: _array(archive, known[key], *header) for key, header in headers.items()}
    except (FormatError, PermissionError):
        raise
    except Exception as error:  # zipfile, zlib and numpy raise a dozen types for a broken archive
        raise FormatError(f"{path} is no whole npz archive ({one_line(error, longest=160)})") from error
    return arrays, sorted(entries.keys() - known.keys())


def _checked_header(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> _Header:
    """Shape, order and type of an array; its header and the directory of the archive must agree on the size.

    Other ways to compress than numpy's make a thousand times more of a byte, and are refused.
    """
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise FormatError(
            f"{path}, {entry.filename}: compressed in a way that numpy never does; save it again"
        )
    with archive.open(entry) as file:
        shape, in_columns, dtype = _header(path, file)
        expected = file.tell() + math.prod(shape) * dtype.itemsize
    if dtype.kind not in _KINDS or dtype.names is not None or dtype.subdtype is not None:
        raise FormatError(f"{path}, {entry.filename}: type {str(dtype)[:40]} is not plain numbers or text")
    if len(shape) > 2 or any(size < 0 for size in shape) or expected != entry.file_size:
        raise FormatError(
            f"{path}, {entry.filename}: shape {str(shape)[:60]} of {str(dtype)[:40]} needs {expected} bytes "
            f"and at most two dimensions, but {entry.file_size} bytes are there"
        )
    return shape, in_columns, dtype


def _bytes_of(key: str, shape: tuple[int, ...], _in_columns: bool, dtype: "np.dtype[Any]") -> int:
    """What an array takes with all that is made of it."""
    made = _FEATURE_BYTES if key in ("features", "soft_labels") else _NUMBER_BYTES
    if dtype.kind in "US":
        made = _TEXT_BYTES + dtype.itemsize
    return math.prod(shape) * (dtype.itemsize + made)


def _array(
    archive: zipfile.ZipFile,
    entry: zipfile.ZipInfo,
    shape: tuple[int, ...],
    in_columns: bool,
    dtype: "np.dtype[Any]",
) -> Any:
    """One array, after its header was checked."""
    with archive.open(entry) as file:
        _header(Path(entry.filename), file)
        raw = file.read()
    if dtype.kind == "U" and (np.frombuffer(raw, f"{dtype.str[0]}u4") > _LAST_LETTER).any():
        raise FormatError(f"{entry.filename} holds text with a letter that does not exist; save it again")
    return np.frombuffer(raw, dtype).reshape(shape, order="F" if in_columns else "C")


def _header(path: Path, file: Any) -> _Header:
    """Shape, whether columns are contiguous, and type; numpy parses the header as a literal."""
    stream: BinaryIO = file
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise FormatError(f"{path}: npy version {version[0]}.{version[1]} is not known")
    parse = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return parse(stream, max_header_size=_LONGEST_HEADER)


NPZ = Reader(
    name="npz", looks_for="a file .npz with " + ", ".join(_NEEDED), recognises=_recognises, read=_read
)
