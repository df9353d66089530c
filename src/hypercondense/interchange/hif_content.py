"""What the standard says a HIF file may hold, as types: the rules of its schema, checked while it is decoded.

The schema itself (version 0.1.0, with its licence) lies in ``hif_standard``; tests hold the two together.
"""

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any, Literal, NoReturn

import msgspec
from msgspec import UNSET, Struct, UnsetType

from hypercondense.errors import ConversionError
from hypercondense.interchange.problems import Problems

VERSION = "0.1.0"  # of the standard
# Of whole numbers as ids: that of 64 bits. Of larger ones so many can be found that a table of Python tells
# only by comparing them all.
_LARGEST = 2**64

#: JSON has one kind of number, so 7.0 is whole; what is not is told after decoding.
Id = int | str | float


class Incidence(Struct, forbid_unknown_fields=True, gc=False):
    """A node in a hyperedge."""

    edge: Id
    node: Id
    weight: float | UnsetType = UNSET
    direction: Literal["head", "tail"] | UnsetType = UNSET
    attrs: dict[str, Any] | UnsetType = UNSET


class Node(Struct, forbid_unknown_fields=True):
    """A node with what is told of it."""

    node: Id
    weight: float | UnsetType = UNSET
    attrs: dict[str, Any] | UnsetType = UNSET


class Edge(Struct, forbid_unknown_fields=True):
    """A hyperedge with what is told of it."""

    edge: Id
    weight: float | UnsetType = UNSET
    attrs: dict[str, Any] | UnsetType = UNSET


class _Outline(Struct, forbid_unknown_fields=True, rename={"network_type": "network-type"}):
    """A file whose records were not looked at yet."""

    incidences: list[Any]
    network_type: Literal["undirected", "directed", "asc"] | UnsetType = UNSET
    metadata: dict[str, Any] | UnsetType = UNSET
    nodes: list[Any] | UnsetType = UNSET
    edges: list[Any] | UnsetType = UNSET


class Hif(_Outline, forbid_unknown_fields=True, rename={"network_type": "network-type"}):
    """All of a file."""

    incidences: list[Incidence]
    nodes: list[Node] | UnsetType = UNSET
    edges: list[Edge] | UnsetType = UNSET


_RECORDS: dict[str, tuple[type[Struct], tuple[str, ...]]] = {
    "incidences": (Incidence, ("node", "edge")),
    "nodes": (Node, ("node",)),
    "edges": (Edge, ("edge",)),
}


def decoded(text: bytes | bytearray | memoryview) -> Hif:
    """The content of a file.

    Raises:
        ConversionError: It is not JSON, or not what the standard allows; the text names every place.
    """
    try:
        return _with_whole_ids(msgspec.json.decode(text, type=Hif))
    except msgspec.ValidationError as error:
        try:
            found = _problems(msgspec.json.decode(text))
        except (msgspec.MsgspecError, UnicodeError, RecursionError):  # a number that nobody can hold
            found = []
        _refuse(found or [str(error)])
    except RecursionError:
        _refuse(["it is nested too deeply"])
    except (msgspec.DecodeError, UnicodeError) as error:
        _refuse([f"it is not JSON ({error})"])


def converted(given: Mapping[str, Any]) -> Hif:
    """The content of a dictionary, as other libraries make them.

    Raises:
        ConversionError: It is not what the standard allows; the text names every place.
    """
    try:
        return _with_whole_ids(msgspec.convert(dict(given), Hif))
    except msgspec.ValidationError as error:
        _refuse(_problems(dict(given)) or [str(error)])
    except RecursionError:
        _refuse(["it is nested too deeply"])


def schema() -> dict[str, Any]:
    """The schema of the standard, as its authors publish it."""
    place = files("hypercondense.interchange") / "hif_standard" / f"hif_schema_v{VERSION}.json"
    content: dict[str, Any] = json.loads(place.read_text("utf-8"))
    return content


def _refuse(found: Iterable[str]) -> NoReturn:
    problems = Problems(f"this is no HIF of version {VERSION}")
    problems.found |= dict.fromkeys(found)
    problems.raise_any()
    raise ConversionError(problems.what)


def _problems(content: Any) -> list[str]:
    """Everything that the standard does not allow: record by record, because decoding stops at the first."""
    found = [*_problem(content, _Outline, "$")]
    if isinstance(content, dict):
        for section, (kind, _) in _RECORDS.items():
            records = content.get(section)
            for place, record in enumerate(records if isinstance(records, list) else ()):
                found += _problem(record, kind, f"$.{section}[{place}]")
    return found


def _problem(content: Any, kind: type[Struct], where: str) -> list[str]:
    try:
        made = msgspec.convert(content, kind)
    except msgspec.ValidationError as error:
        told, at = str(error), " - at `$"
        return [told.replace(at, f" - at `{where}", 1) if at in told else f"{told} - at `{where}`"]
    keys = dict(_RECORDS.values()).get(kind, ())
    return [problem for key in keys for problem in _strange(getattr(made, key), f"{where}.{key}")]


def _strange(given: Id, where: str) -> list[str]:
    """What to say about an id that is none."""
    if _is_plain(int(given) if isinstance(given, float) and given.is_integer() else given):
        return []
    return [f"an id must be a text or a whole number of 64 bits, got {_short(given)} - at `{where}`"]


def _short(given: Id) -> str:
    return f"one of {given.bit_length():,} bits" if isinstance(given, int) else repr(given)


def _is_plain(given: Id) -> bool:
    return type(given) is str or (type(given) is int and -_LARGEST < given < _LARGEST)


def _with_whole_ids(content: Hif) -> Hif:
    """The same with 7 for 7.0; other ids that are no whole numbers are told."""
    found: list[str] = []
    for section, (_, keys) in _RECORDS.items():
        records: Any = getattr(content, section)
        for key in keys if records is not UNSET else ():
            for place, record in enumerate(records):
                given = getattr(record, key)
                if not _is_plain(given):
                    found += _strange(given, f"$.{section}[{place}].{key}")
                    setattr(record, key, str(given) if found else int(given))
    if found:
        _refuse(found)
    return content
