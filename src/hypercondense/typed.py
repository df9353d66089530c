"""Values with types: recipes, plans, manifests and settings are made of them.

A :class:`Value` is frozen with all tables in it, and checked in the same way whether it is made in Python or
read from a file: types, bounds (``Annotated[int, Meta(ge=1)]``), unknown fields and finite numbers.
msgspec does the reading; here its errors get the place, what was expected, what came and what is allowed.
"""

import math
import re
import reprlib
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct

from hypercondense.errors import ConfigError
from hypercondense.frozen import frozen

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_):
        """For type checkers only: it tells them what values inherit from :class:`Value`."""
        return lambda kind: kind


T = TypeVar("T")

_FINITE = (str, int, bool, NoneType)

#: Numbers with bounds, for fields.
Count = Annotated[int, Meta(ge=1, le=10**6)]  # of rounds, runs, columns: more is a slip, and never ends
CountOrZero = Annotated[int, Meta(ge=0, le=10**6)]
Whole = Annotated[int, Meta(ge=0, le=2**53)]  # seeds and sizes that are told, not asked for
Positive = Annotated[float, Meta(gt=0)]
NotNegative = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]

_LONGEST_PLACE, _LONGEST_LIST = 80, 160  # letters of a path and of a list of names in an error

_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "none",
}


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Value(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A frozen value whose fields are checked when it is made."""

    def __post_init__(self) -> None:
        for name, kind, sound in _field_types(type(self)):
            given = getattr(self, name)
            if type(given) in sound:
                continue
            try:
                value = msgspec.convert(given, kind)
            except msgspec.ValidationError as error:
                raise ValueError(explained(str(error), given, kind, root=name)) from None
            if problem := _not_finite(value, name):
                raise ValueError(problem)
            if (kept := frozen(value)) is not given:
                # 2 becomes 2.0 where a float is meant: equal values are written alike
                msgspec.structs.force_setattr(self, name, kept)


def _not_finite(content: Any, place: str = "") -> str:
    """What to say about the first number in JSON-like content that is infinite or none; else nothing."""
    if isinstance(content, float):
        where = place.lstrip(".")[:_LONGEST_PLACE]
        return "" if math.isfinite(content) else f"{where} must be a finite number, got {content}"
    if isinstance(content, dict):
        inner = ((f".{name}", value) for name, value in content.items() if type(value) not in _FINITE)
    elif isinstance(content, list | tuple):
        inner = ((f"[{index}]", value) for index, value in enumerate(content) if type(value) not in _FINITE)
    else:
        return ""
    for step, value in inner:
        if problem := _not_finite(value, place + step):
            return problem
    return ""


@cache
def _field_types(kind: type[Struct]) -> tuple[tuple[str, Any, frozenset[type]], ...]:
    """Names and types of fields, and the types of which any value is sound there."""
    return tuple(
        (field.name, field.type, frozenset(_sound(field.type))) for field in msgspec.structs.fields(kind)
    )


def _sound(kind: Any) -> Iterator[type]:
    """Without bounds, and not to be changed; other values were checked when they were made."""
    if get_origin(kind) in (Union, UnionType):
        for part in get_args(kind):
            yield from _sound(part)
    elif kind in _FINITE or (isinstance(kind, type) and issubclass(kind, Value)):
        yield kind


def read(
    content: Any, kind: type[T], *, where: str = "", text: bool = False, error: type[Exception] = ConfigError
) -> T:
    """Make a ``kind`` from JSON-like content.

    Args:
        content: Dictionaries, lists, texts and numbers.
        kind: What to make.
        where: The beginning of an error: a file, an option.
        text: Whether numbers may be texts, as they are on the command line.
        error: What is raised if the content does not fit.
    """
    try:
        message = _not_finite(content)
        if not message:
            return msgspec.convert(content, kind, strict=not text)
    except msgspec.ValidationError as problem:
        message = explained(str(problem), content, kind, strict=not text)
    except RecursionError:
        message = "it is nested too deeply"
    except UnicodeError:
        message = "it has a text with half of a letter in it (a lone surrogate)"
    raise error(f"{where}: {message}" if where else message)


def content_of(value: Any) -> Any:
    """A value as dictionaries, lists, texts and numbers; :func:`read` is the inverse."""
    return msgspec.json.decode(msgspec.json.encode(value))


def digest_of(value: Any) -> str:
    """SHA-256 of the content of a value, which does not depend on the order of fields."""
    return sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()


def flat(content: Any, prefix: str = "") -> dict[str, Any]:
    """Nested tables as one table with dotted names; lists stay as they are.

    >>> flat({"goal": {"epochs": 5}, "looks": 4})
    {'goal.epochs': 5, 'looks': 4}
    """
    if not isinstance(content, Mapping):
        return {prefix: content}
    found: dict[str, Any] = {}
    for name, value in content.items():
        found |= flat(value, f"{prefix}.{name}" if prefix else name)
    return found


def nested(names: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of :func:`flat`.

    >>> nested({"goal.epochs": 5, "looks": 4})
    {'goal': {'epochs': 5}, 'looks': 4}
    """
    found: dict[str, Any] = {}
    for name, value in names.items():
        *outer, last = name.split(".")
        place = found
        for step in outer:
            place = place.setdefault(step, {})
        place[last] = value
    return found


def structs_in(kind: Any) -> Iterator[type[Struct]]:
    """The kinds of values that may stand where ``kind`` is declared."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        yield kind
    elif get_origin(kind) in (Annotated, Union, UnionType, tuple, list):
        for part in get_args(kind):
            yield from structs_in(part)


def tag_of(kind: type[Struct]) -> str | None:
    """The text that tells this kind from others in its place."""
    tag = kind.__struct_config__.tag
    return tag if isinstance(tag, str) else None


def explained(message: str, content: Any, kind: Any, *, root: str = "", strict: bool = True) -> str:
    """An error of msgspec in words: the place, what was expected, what came and what is allowed."""
    found = re.fullmatch(r"(?s)(.*) - at `\$(.*)`", message)
    reason, path = (found[1], found[2]) if found else (message, "")
    reason = reason.replace("Number out of range", "Expected a finite number")
    if "[...]" in path and (precise := _in_table(content, kind, path, root=root, strict=strict)):
        return precise
    place = (root + path).lstrip(".")[-_LONGEST_PLACE:]
    value, kinds = _walk(content, kind, path)
    named = f"{place} " if place else ""
    in_place = f" in {place}" if place else ""
    if unknown := re.fullmatch(r"Object contains unknown field `(.*)`", reason):
        structs = (struct for one in kinds for struct in _fitting(value, one))
        names = sorted(field.encode_name for one in structs for field in msgspec.structs.fields(one))
        return f"unknown field {unknown[1][:40]!r}{in_place}; there are {', '.join(names)[:_LONGEST_LIST]}"
    if missing := re.fullmatch(r"Object missing required field `(.*)`", reason):
        return f"{missing[1]} is missing{in_place}"
    if reason.startswith(("Invalid value ", "Invalid enum value ")):
        return f"{named}must be one of {', '.join(_choices(content, kind, path))}, got {_short(value)}"
    if expected := re.match(r"Expected (.*?)(?:, got (`.*`|\d+))?$", reason):
        words = re.sub(r"`([^`]*)`", lambda part: _in_words(part[1]), expected[1])
        return f"{named}must be {words}{_example(kinds)}, got {_short(value)}"
    return f"{place}: {reason}" if place else reason


def _in_table(content: Any, kind: Any, path: str, *, root: str, strict: bool) -> str | None:
    """The error with the name of the entry: msgspec writes ``[...]`` for any entry of a table."""
    head, _, _ = path.partition("[...]")
    table, kinds = _walk(content, kind, head)
    for name, value in table.items() if isinstance(table, Mapping) else ():
        for inner in (inner for one in kinds for inner in _inside(one, table, name)):
            try:
                msgspec.convert(value, inner, strict=strict)
            except msgspec.ValidationError as error:
                return explained(str(error), value, inner, root=f"{root}{head}.{name}", strict=strict)
    return None


def _in_words(names: str) -> str:
    """The names of types; that a field may be left out goes without saying."""
    kinds = names.removesuffix(" | null").split(" | ")
    return " or ".join(_WORDS.get(name, name) for name in kinds)


def _example(kinds: list[Any]) -> str:
    """An example of what is expected, if the type gives one."""
    metas = (meta for kind in kinds for meta in getattr(kind, "__metadata__", ()))
    examples = [example for meta in metas if isinstance(meta, Meta) for example in meta.examples or ()]
    return f" such as {examples[0]!r}" if examples else ""


def _short(value: Any) -> str:
    text = repr(value) if isinstance(value, str | int | float | bool | NoneType) else reprlib.repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _steps(path: str) -> list[str | int]:
    return [
        int(index) if index else name
        for name, index in re.findall(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]", path)
        if name or index.isdigit()
    ]


def _walk(content: Any, kind: Any, path: str) -> tuple[Any, list[Any]]:
    """What lies at a path of the content, and the types that are declared there."""
    kinds = [kind]
    for step in _steps(path):
        kinds = [inner for one in kinds for inner in _inside(one, content, step)]
        content = _item(content, step)
    return content, kinds


def _inside(kind: Any, content: Any, step: str | int) -> Iterator[Any]:
    """The types declared for one item of a content of this type."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        yield from _inside(parts[0], content, step)
    elif origin in (Union, UnionType):
        structs = _fitting(content, kind)
        others = [part for part in parts if not list(structs_in(part))]
        for part in (*structs, *others):
            yield from _inside(part, content, step)
    elif origin in (dict, Mapping):
        yield parts[1]
    elif origin in (tuple, list) and isinstance(step, int):
        yield parts[step] if origin is tuple and ... not in parts else parts[0]
    elif isinstance(kind, type) and issubclass(kind, Struct):
        yield from (field.type for field in msgspec.structs.fields(kind) if field.encode_name == step)


def _item(content: Any, step: str | int) -> Any:
    if isinstance(content, Struct) and isinstance(step, str):
        return getattr(content, step, None)
    try:
        return content[step]
    except (KeyError, IndexError, TypeError):
        return None


def _fitting(content: Any, kind: Any) -> list[type[Struct]]:
    """The kinds of values that may be where ``kind`` is declared; only that of its tag if it has one."""
    found = list(structs_in(kind))
    if isinstance(content, Mapping):
        tagged = [
            one
            for one in found
            if tag_of(one) and content.get(str(one.__struct_config__.tag_field)) == tag_of(one)
        ]
        return tagged or found
    return found


def _choices(content: Any, kind: Any, path: str) -> list[str]:
    """What may stand at a path that wants one of several texts."""
    parent, _, last = path.rpartition(".")
    above, owners = _walk(content, kind, parent)
    structs = (struct for one in owners for struct in _fitting(above, one))
    tags = [str(tag_of(one)) for one in structs if last and one.__struct_config__.tag_field == last]
    return tags or [text for one in _walk(content, kind, path)[1] for text in _texts(one)]


def _texts(kind: Any) -> list[str]:
    """The texts that a type of literal texts allows."""
    found: list[str] = []
    for part in get_args(kind):
        found += [part] if isinstance(part, str) else _texts(part)
    return found
