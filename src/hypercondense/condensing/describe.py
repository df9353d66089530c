"""What every field of a method is, in a line: from the docstrings of its parts."""

import inspect
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from hypercondense.condensing.settings import as_text
from hypercondense.typed import Value, content_of, tag_of


class FieldLine(NamedTuple):
    """The path of a field, its value as written on the command line, and what it is."""

    path: str
    value: str
    meaning: str


def field_lines(method: Value, prefix: str = "") -> Iterator[FieldLine]:
    """Every field of a method and of its parts.

    >>> from hypercondense.condensing.recipe import Recipe
    >>> next(field_lines(Recipe())).path
    'map'
    """
    meanings = meanings_of(type(method))
    for field in msgspec.structs.fields(type(method)):
        value = getattr(method, field.name)
        path = f"{prefix}{field.name}"
        shown = tag_of(type(value)) or "" if isinstance(value, Value) else as_text(content_of(value))
        yield FieldLine(path, shown, meanings[field.name])
        if isinstance(value, Value):
            yield from field_lines(value, f"{path}.")


def meanings_of(kind: type[Struct]) -> dict[str, str]:
    """What the docstring of a kind of values says of each field, in its first sentence."""
    text = inspect.getdoc(kind) or ""
    _, _, arguments = text.partition("Args:\n")
    entries = re.findall(r"^    (\w+): ((?:.|\n(?!    \w+: ))*)", arguments, flags=re.M)
    return {name: _first_sentence(" ".join(meaning.split())) for name, meaning in entries}


def _first_sentence(text: str) -> str:
    sentence = re.split(r"(?<=[.;]) (?=[A-Z])", text)[0]
    return re.sub(r"``([^`]*)``", r"\1", sentence)


def summary_of(kind: type[Any]) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(kind) or "").partition("\n")[0]
