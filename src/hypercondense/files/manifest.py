"""The manifest of a folder of ours: JSON that is read as a typed value and tells its own checksum."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from hypercondense.errors import FormatError
from hypercondense.files.storage import MANIFEST, read_json, write_json
from hypercondense.typed import Value, digest_of, read
from hypercondense.version import __version__

M = TypeVar("M", bound=Value)

CHECKSUM = "checksum"  # the field with the SHA-256 of all others; older manifests have none


def write_manifest(folder: Path, content: Mapping[str, Any]) -> None:
    """Write the manifest of ``folder``, with its checksum."""
    write_json(folder / MANIFEST, sealed(content))


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Content with its checksum."""
    written = json.loads(json.dumps(content, allow_nan=False))  # as it will be read: no tuples, no numpy
    return {**written, CHECKSUM: digest_of(written)}


def unsealed(content: Mapping[str, Any]) -> dict[str, Any] | None:
    """What :func:`sealed` was given; ``None`` if it was changed since, or never sealed."""
    others = {name: value for name, value in content.items() if name != CHECKSUM}
    return others if content.get(CHECKSUM, "") == _checksum(others) else None


def read_manifest(
    folder: Path,
    kind: type[M],
    *,
    format: str,
    version_field: str,
    newest: int,
    prepare: Callable[[dict[str, Any]], None] = lambda content: None,
) -> M:
    """The manifest of ``folder`` as a ``kind``; other formats and versions from the future are refused.

    Args:
        folder: Where it is.
        kind: What to make of it.
        format: What it must say as ``format``.
        version_field: The field with the version.
        newest: The last version that can be read.
        prepare: Puts into old content, which may be anything yet, what a ``kind`` has since.

    Raises:
        FormatError: It is not such a manifest; the text tells the field, what was expected and what came.
    """
    path = folder / MANIFEST
    content = read_json(path)
    told = content.pop(CHECKSUM, None)
    if content.get("format") != format:
        raise FormatError(f"{path} must say format {format!r}, it says {str(content.get('format'))[:60]!r}")
    version = content.get(version_field)
    if type(version) is int and version > newest:
        raise FormatError(
            f"{path} has {version_field} {str(version)[:20]}, hypercondense {__version__} reads 1 to "
            f"{newest}; install a newer hypercondense"
        )
    checksum = _checksum(content)
    prepare(content)
    manifest = read(content, kind, where=str(path), error=FormatError)
    if told is not None and told != checksum:
        raise FormatError(
            f"{path} was changed after it was written; make it again, or remove its field {CHECKSUM!r} if "
            "the change was meant"
        )
    return manifest


def _checksum(content: Mapping[str, Any]) -> str | None:
    """The checksum of what was read; ``None`` for numbers that are never written."""
    try:
        return digest_of(content)
    except (ValueError, OverflowError, RecursionError, msgspec.MsgspecError):
        return None


def says_format(manifest: Path, format: str) -> bool:
    """Whether a file is a manifest of this format."""
    try:
        return read_json(manifest).get("format") == format
    except (FormatError, OSError):
        return False
