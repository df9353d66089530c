"""The manifest of a folder of ours: JSON that is read as a typed value."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from hypercondense.errors import FormatError
from hypercondense.files.storage import MANIFEST, read_json
from hypercondense.typed import Value, read
from hypercondense.version import __version__

M = TypeVar("M", bound=Value)


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
    if content.get("format") != format:
        raise FormatError(f"{path} must say format {format!r}, it says {str(content.get('format'))[:60]!r}")
    version = content.get(version_field)
    if type(version) is int and version > newest:
        raise FormatError(
            f"{path} has {version_field} {str(version)[:20]}, hypercondense {__version__} reads 1 to "
            f"{newest}; install a newer hypercondense"
        )
    prepare(content)
    return read(content, kind, where=str(path), error=FormatError)


def says_format(manifest: Path, format: str) -> bool:
    """Whether a file is a manifest of this format."""
    try:
        return read_json(manifest).get("format") == format
    except (FormatError, OSError):
        return False
