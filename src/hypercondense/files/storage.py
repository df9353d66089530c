"""Folders of tensors and a manifest that are either whole or not there."""

import json
import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hypercondense.errors import FormatError, one_line
from hypercondense.files.drafts import exchange, workplace
from hypercondense.files.regular import BASE, GROWTH, JSON_COSTS, open_regular, read_regular
from hypercondense.runtime.memory import format_size

MANIFEST = "manifest.json"
#: The file of tensors that stands beside a manifest of each format.
TENSORS_OF = {
    "hypercondense.hypergraph": "hypergraph.safetensors",
    "hypercondense.condensed": "condensed.safetensors",
}
_NUMBERS = {"BOOL", "U8", "I8", "U16", "I16", "U32", "I32", "U64", "I64", "F16", "F32", "F64"}
_EXISTS = "exists already; choose another place, or replace it (--force, overwrite=True)"


@contextmanager
def replaced_folder(path: Path, *, overwrite: bool = False, ours: Collection[str] = ()) -> Iterator[Path]:
    """Give an empty folder to fill; when the block ends well it is flushed and renamed to ``path``.

    A reader sees all or nothing. If the block fails, nothing is left behind and an old folder stays.

    Args:
        path: The folder.
        overwrite: Whether an existing one may be replaced.
        ours: Names of files that may be replaced with it, beside those a manifest of ours stands for.

    Raises:
        FileExistsError: As :func:`check_target` tells.
    """
    path = Path(os.path.abspath(path))  # noqa: PTH100 (resolve() would follow a link at the target)
    check_target(path, overwrite=overwrite, ours=ours)
    with workplace(path) as place:
        draft = place / "new"
        draft.mkdir()
        yield draft
        for file in draft.iterdir():
            file.chmod(0o666 & ~_umask())  # libraries may have made it for this user only
            _flush(file)
        _flush(draft)
        check_target(path, overwrite=overwrite, ours=ours)  # filling the draft may have taken hours
        if os.path.lexists(path):
            exchange(draft, path)
        else:
            draft.rename(path)
        _flush(path.parent)


def check_file_target(path: Path, *, overwrite: bool = False) -> None:
    """Refuse a place where a file cannot be put without losing something.

    Raises:
        FileExistsError: Something is there and ``overwrite`` is not set, or it is not a file.
    """
    if os.path.lexists(path) and not overwrite:
        raise FileExistsError(f"{path} {_EXISTS}")
    if path.exists() and not path.is_file():
        raise FileExistsError(f"{path} is not a file; choose another place or remove it first")


def check_target(path: Path, *, overwrite: bool = False, ours: Collection[str] = ()) -> None:
    """Refuse a place where a folder of ours cannot be put without losing something.

    Raises:
        FileExistsError: Something is there and ``overwrite`` is not set, or it is not an empty folder and
            not one that holds our files only, or it is the current folder or one around it.
    """
    if not os.path.lexists(path):
        return
    if not overwrite:
        raise FileExistsError(f"{path} {_EXISTS}")
    if not path.is_dir():
        raise FileExistsError(f"{path} is not a folder; choose another place or remove it first")
    current = Path.cwd()
    if path.resolve() in (current, *current.parents):
        raise FileExistsError(f"{path} is the current folder or holds it; choose another place")
    if others := [name for name in _other_files(path) if name not in ours]:
        listed = ", ".join(others[:3]) + (", ..." if len(others) > 3 else "")
        raise FileExistsError(f"{path} holds other files ({listed}); choose another place or remove it first")


def _other_files(folder: Path) -> list[str]:
    """Names in ``folder`` that we did not write: all of them where the manifest is not ours."""
    entries = sorted(folder.iterdir())
    written = _written_with(folder / MANIFEST)
    return [entry.name for entry in entries if not entry.is_file() or entry.name not in written]


def _written_with(manifest: Path) -> tuple[str, ...]:
    """The files that a manifest of ours stands for, itself included; none if it is not one of ours."""
    try:
        return (MANIFEST, TENSORS_OF[read_json(manifest)["format"]])
    except (FormatError, OSError, KeyError, TypeError):
        return ()


@contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """Give the name of a file to write; when the block ends well it is flushed and renamed to ``path``.

    It is in a folder of its own beside ``path``, as are the files that a library makes on the way to it, so
    that what a killed process leaves behind can be told by its name: the next writer removes it.
    """
    with workplace(path) as place:
        draft = place / path.name
        yield draft
        draft.chmod(0o666 & ~_umask())
        _flush(draft)
        draft.replace(path)
        _flush(path.parent)


def write_tensors(path: Path, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Write arrays as safetensors and return the SHA-256 of the file.

    Raises:
        OSError: The file cannot be written, for example because the disk is full.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    try:
        save_file({key: np.ascontiguousarray(array) for key, array in arrays.items()}, path)
    except SafetensorError as error:
        raise _system_error(str(error), path) from error
    return file_digest(path)


def _system_error(message: str, path: Path) -> OSError:
    """The error of the system that safetensors tells of in words only."""
    found = re.search(r"\(os error (\d+)\)", message)
    if found is None or os.name != "posix":  # elsewhere the numbers are not those of errno
        return OSError(f"{path} cannot be written ({message})")
    return OSError(int(found[1]), os.strerror(int(found[1])), str(path))


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Read every tensor of a safetensors file."""
    from safetensors import SafetensorError, safe_open
    from safetensors.numpy import load_file

    open_regular(path).close()
    try:
        with safe_open(path, "np") as file:
            kinds = {key: file.get_slice(key).get_dtype() for key in file.keys()}  # noqa: SIM118
        if strange := [key for key, kind in kinds.items() if kind not in _NUMBERS]:
            raise FormatError(
                f"{path}: {strange[0][:40]!r} has numbers of type {kinds[strange[0]]}, which are not read; "
                "make it again"
            )
        return dict(load_file(path))
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        told = one_line(error, longest=120)
        raise FormatError(f"{path} is not a whole safetensors file ({told}); make it again") from error


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON object for people to read."""
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n", "utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object."""
    try:
        raw = read_regular(path)
        check_json(path, raw)
        content = json.loads(raw.decode("utf-8"))
    except RecursionError as error:
        raise FormatError(f"{path} is nested too deeply") from error
    except ValueError as error:
        raise FormatError(f"{path} is not a JSON file ({error})") from error
    if not isinstance(content, dict):
        raise FormatError(f"{path} must hold a JSON object, not a {type(content).__name__}")
    return content


def check_json(path: Path, raw: bytes) -> None:
    """Refuse JSON that becomes much more in memory than it is in a file, before it does.

    Raises:
        FormatError: The text tells the size, and what is allowed.
    """
    needed = sum(cost * raw.count(sign) for sign, cost in JSON_COSTS.items())
    allowed = BASE + GROWTH * len(raw)
    if needed > allowed:
        raise FormatError(
            f"{path} would take {format_size(needed)} of memory, more than the {format_size(allowed)} that a "
            "file of its size may; check it"
        )


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    total = sha256()
    with open_regular(path) as file:
        while block := file.read(1 << 20):
            total.update(block)
    return total.hexdigest()


def arrays_digest(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """SHA-256 of named arrays: safetensors would not notice a changed bit."""
    total = sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])  # as it is written: a single number is a list of one
        total.update(f"{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        total.update(array.tobytes())
    return total.digest()


def _flush(path: Path) -> None:
    """Force a file or the entries of a folder to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def user_cache(kind: str) -> Path:
    """The folder for ``kind`` of files in the cache of the user, by the custom of the system."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        given = Path(os.environ.get("XDG_CACHE_HOME", ""))
        base = given if given.is_absolute() else Path.home() / ".cache"  # relative ones are to be ignored
    return base / "hypercondense" / kind


def make_private(folder: Path) -> None:
    """Make a folder, if it is missing, that nobody else may look into or write to."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
