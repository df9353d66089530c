"""HIF files, ``.json``, ``.json.gz`` and ``.json.zst``: read within a budget of memory, and written."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypercondense.condensation import Condensation
from hypercondense.data.formats.made import facts_with, hypergraph_in
from hypercondense.data.formats.packed import packed, read_unpacked
from hypercondense.data.formats.reader import Reader, Reading
from hypercondense.errors import ConversionError, FormatError
from hypercondense.files.regular import JSON_COSTS
from hypercondense.files.storage import check_file_target, replaced_file
from hypercondense.hypergraph import Hypergraph
from hypercondense.interchange.columns import Choices, Missing, Text
from hypercondense.interchange.hif import content_of_hypergraph, encoded, hypergraph_of
from hypercondense.interchange.hif_content import converted, decoded

_ENDINGS = (".json", ".json.gz", ".json.zst", ".hif", ".hif.gz", ".hif.zst")
_MARK = b"\xef\xbb\xbf"  # that some programs put before UTF-8


def from_hif(
    given: Path | str | Mapping[str, Any],
    *,
    text: Text = "drop",
    missing: Missing = "zero",
    name: str | None = None,
    memory: int | None = None,
) -> Hypergraph:
    """A hypergraph from a HIF file, or from a dictionary of what is in one.

    Args:
        given: A file ``.json``, ``.json.gz`` or ``.json.zst``, or what ``json.load`` makes of one. Of a node
            ``attrs.label`` is the class, where it is known, and every other numeric attribute a feature.
        text: What to do with attributes that are no numbers: ``"drop"`` them, as HyperTorch does, which a
            warning tells, ``"one-hot"`` or ``"error"``.
        missing: What to take where a node lacks an attribute that others have: ``"zero"``, as HyperTorch
            does, which a warning tells, ``"mean"`` or ``"error"``.
        name: What to call it.
        memory: Bytes that reading may take, where that is more than 400 MB and ten times the file.

    Raises:
        ConversionError: It is no HIF, or valid HIF that networks cannot learn from; the text says which,
            and names every place, id and attribute.
        FormatError: The file cannot be read, or would take too much memory.

    >>> from_hif({
    ...     "nodes": [{"node": "ann", "attrs": {"age": 31, "label": "a"}}, {"node": 7, "attrs": {"age": 4}}],
    ...     "incidences": [{"node": "ann", "edge": "club"}, {"node": 7, "edge": "club"}],
    ... })
    Hypergraph('unnamed', 2 nodes, 1 hyperedges, 2 incidences, 1 features, 1 classes)
    """
    choices = Choices(text, missing)
    if isinstance(given, Mapping):
        return hypergraph_of(converted(given), choices, name)
    return _from_file(Path(given), choices, name, Reading(memory=memory))


def to_hif(
    given: Hypergraph | Condensation, path: Path | str | None = None, *, overwrite: bool = False
) -> dict[str, Any] | None:
    """What a HIF file of a hypergraph holds, or with ``path`` such a file, packed by its ending.

    Nothing is lost: what HIF has no place for is an attribute, or told in ``metadata``.
    """
    if path is None:
        return content_of_hypergraph(hypergraph_in(given), facts_with(given))
    write_hif(given, Path(path), overwrite=overwrite)
    return None


def write_hif(given: Hypergraph | Condensation, path: Path, *, overwrite: bool = False) -> None:
    """Write the file ``path``: whole or not at all. An existing one stays unless ``overwrite``.

    Raises:
        FileExistsError: Something is there and ``overwrite`` is not set, or it is not a file.
        FormatError: A name cannot be written as UTF-8.
    """
    check_file_target(path, overwrite=overwrite)
    content = content_of_hypergraph(hypergraph_in(given), facts_with(given))
    try:
        written = packed(encoded(content), path.name)
    except UnicodeError as error:
        raise FormatError(f"{path}: a name has half of a letter in it, which JSON cannot hold") from error
    with replaced_file(path) as draft:
        draft.write_bytes(written)


def _from_file(path: Path, choices: Choices, name: str | None, reading: Reading) -> Hypergraph:
    text = read_unpacked(path, reading)
    needed = 2 * len(text) + sum(cost * text.count(mark) for mark, cost in JSON_COSTS.items())
    reading.check(path, needed, file_size=path.stat().st_size)
    content = decoded(memoryview(text)[len(_MARK) if text.startswith(_MARK) else 0 :])
    del text
    return hypergraph_of(content, choices, name, otherwise=_stem(path))


def _stem(path: Path) -> str:
    ending = max((one for one in _ENDINGS if path.name.lower().endswith(one)), key=len, default=path.suffix)
    return path.name[: len(path.name) - len(ending)] or path.name


def _read(path: Path, name: str | None, reading: Reading) -> Hypergraph:
    try:
        return _from_file(path, Choices("drop", "zero"), name, reading)
    except ConversionError as error:
        raise FormatError(f"{path}: {error}") from error


def _recognises(path: Path) -> bool:
    return path.is_file() and (path.name.lower().endswith(_ENDINGS) or _is_object(path))


def _is_object(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(1000).removeprefix(_MARK).lstrip()[:1] == b"{"


HIF = Reader(name="HIF", looks_for="a file .json, .json.gz or .json.zst", recognises=_recognises, read=_read)
