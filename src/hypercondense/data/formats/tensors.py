"""The torch files of MAG-PM: ``P_X_vec.pt`` (features), ``P_Y.pt`` (labels) and ``P_E.pt`` (incidence).

Each holds one tensor. The incidence has two rows, node ids and hyperedge ids, both from 0.
"""

import io
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from hypercondense.data.formats.files import check_memory, file_names, read_bytes
from hypercondense.data.formats.membership import empty_note, renumbered, without_duplicates
from hypercondense.data.formats.reader import Reader, Reading
from hypercondense.errors import FormatError, one_line
from hypercondense.hypergraph import Hypergraph

_ENDING = re.compile(r"_(X_vec|Y|E)\.pt$", re.IGNORECASE)
_NUMBER_BYTES = 8  # made of one number: int64, or float32 and what checks it
_MOST_PICKLE_BYTES = 10_000  # what describes a single tensor is far shorter


def _recognises(path: Path) -> bool:
    names = [path.name] if path.is_file() else file_names(path)
    return any(_ENDING.search(name) for name in names)


def _read(path: Path, name: str | None, reading: Reading) -> Hypergraph:
    folder, prefix = _folder_and_prefix(path)
    features = _tensor(_file(folder, prefix, "X_vec"), reading)
    labels = _tensor(_file(folder, prefix, "Y"), reading)
    incidence_file = _file(folder, prefix, "E")
    incidence = _tensor(incidence_file, reading)
    if incidence.ndim != 2 or incidence.shape[0] != 2 or incidence.dtype.kind not in "iu":
        raise FormatError(
            f"{incidence_file} must be whole numbers in two rows, node ids and hyperedge ids; "
            f"it is {incidence.dtype} of shape {incidence.shape}"
        )
    if incidence.min(initial=0) < 0:
        raise FormatError(f"{incidence_file}: ids must be at least 0, the smallest is {incidence.min()}")
    node_ids, given_ids = incidence.astype(np.int64)
    hyperedge_ids, num_hyperedges = renumbered(given_ids)
    node_ids, hyperedge_ids, notes = without_duplicates(node_ids, hyperedge_ids)
    num_given = int(given_ids.max(initial=-1)) + 1
    return Hypergraph(
        features=features,
        labels=labels.reshape(-1) if labels.ndim == 2 and labels.shape[1] == 1 else labels,
        incidence=(node_ids, hyperedge_ids),
        num_hyperedges=num_hyperedges,
        name=name or prefix,
        notes=[*notes, *empty_note(num_given, num_hyperedges)],
    )


def _folder_and_prefix(path: Path) -> tuple[Path, str]:
    if path.is_file():
        return path.parent, _ENDING.sub("", path.name)
    names = [name for name in file_names(path) if _ENDING.search(name)]
    # Beside the triple there may be others, e.g. P_split_E.pt; features name the hypergraph.
    names = [name for name in names if name.lower().endswith("_x_vec.pt")] or names
    prefixes = sorted({_ENDING.sub("", name) for name in names})
    if len(prefixes) != 1:
        raise FormatError(f"{path} holds files of several hypergraphs: {', '.join(prefixes)}; give one file")
    return path, prefixes[0]


def _file(folder: Path, prefix: str, part: str) -> Path:
    """The file of one part; published files say ``_Y`` and ``_y``."""
    expected = f"{prefix}_{part}.pt"
    for name in file_names(folder):
        if name.lower() == expected.lower():
            return folder / name
    raise FormatError(f"{folder / expected} is missing")


def _tensor(path: Path, reading: Reading) -> "np.ndarray[Any, Any]":
    """The one dense tensor of a file, checked not to be larger than the file says in two places."""
    import torch

    content = read_bytes(path)
    stored = _stored_bytes(path, content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the age of the file
            value = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except Exception as error:  # torch passes on whatever a broken file made its reader raise
        text = one_line(error, longest=160).split(". ")[0]
        raise FormatError(f"{path} is no torch file of plain tensors ({text}); nothing was run") from error
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided or value.is_quantized:
        raise FormatError(f"{path} must hold one dense tensor, not a {type(value).__name__}")
    # The sizes come from two places in the file; memory behind the stored bytes must never be read.
    if value.untyped_storage().nbytes() > stored or value.numel() * value.element_size() > stored:
        raise FormatError(f"{path} claims a tensor of shape {tuple(value.shape)} in {stored} bytes")
    if value.dtype.is_complex:
        raise FormatError(f"{path} must hold real numbers, and these are complex")
    reading.check(path, (value.element_size() + _NUMBER_BYTES) * value.numel(), file_size=len(content))
    if value.dtype in (torch.bfloat16, torch.float16):
        value = value.float()
    return np.asarray(value.detach().resolve_neg().numpy())


def _stored_bytes(path: Path, content: bytes) -> int:
    """Size of the one tensor as the directory of the archive states it."""
    try:
        entries = zipfile.ZipFile(io.BytesIO(content)).infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        raise FormatError(
            f"{path} is no whole torch file ({one_line(error)}); save it again with torch 1.6 or newer"
        ) from error
    data = [entry for entry in entries if re.fullmatch(r"[^/]+/data/\d+", entry.filename)]
    pickles = [entry for entry in entries if entry.filename.endswith("/data.pkl")]
    if len(data) != 1 or len(pickles) != 1 or pickles[0].file_size > _MOST_PICKLE_BYTES:
        raise FormatError(f"{path} must hold exactly one tensor, it holds {len(data)}")
    if any(entry.compress_type != zipfile.ZIP_STORED or entry.file_size > len(content) for entry in entries):
        raise FormatError(f"{path} is compressed, which torch never does")
    check_memory(path, 2 * len(content))
    if b"big" in _byte_order(content, entries):
        raise FormatError(f"{path} was saved on a big-endian machine; save it again on another")
    return data[0].file_size


def _byte_order(content: bytes, entries: list[zipfile.ZipInfo]) -> bytes:
    """Torch would swap the bytes before their number could be checked here."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return b"".join(archive.read(entry) for entry in entries if entry.filename.endswith("/byteorder"))


TENSORS = Reader(
    name="MAG-PM tensors", looks_for="P_X_vec.pt, P_Y.pt, P_E.pt", recognises=_recognises, read=_read
)
