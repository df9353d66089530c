"""Tables and arrays that cannot be changed, for values that cannot be changed.

A frozen dataclass or struct with a dictionary in it is neither fixed nor hashable. Its tables are frozen when
it is made: they are read, compared, written as JSON and pickled as dictionaries are. Its arrays of numpy are
views that cannot be written through. (Tensors of torch have no such view.)
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NoReturn, TypeVar

K = TypeVar("K")
V = TypeVar("V")


def _refuse(table: Any, *_: Any, **__: Any) -> NoReturn:
    raise TypeError("a frozen table cannot be changed; change a copy of it, dict(table)")


class Table(dict[K, V]):
    """A dictionary that stays as it was made.

    >>> table = frozen({"maps": [{"time": 1.0}]})
    >>> table["maps"][0]["time"], hash(table) == hash(frozen({"maps": [{"time": 1.0}]}))
    (1.0, True)
    """

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


def frozen(content: Any) -> Any:
    """The content with a :class:`Table` for every dictionary, a tuple for every list, and fixed arrays."""
    if isinstance(content, str | int | float | Table):
        return content
    if isinstance(content, Mapping):
        return Table({name: frozen(value) for name, value in content.items()})
    if isinstance(content, list):
        return tuple(map(frozen, content))
    if type(content) is tuple:  # one that holds neither stays the same object
        parts = tuple(map(frozen, content))
        return content if all(new is old for new, old in zip(parts, content, strict=True)) else parts
    if hasattr(content, "setflags") and content.flags.writeable:  # of numpy, which is not imported here
        content = content.view()
        content.setflags(write=False)
    return content


class Frozen:
    """The base of a frozen dataclass whose tables and arrays are frozen when it is made."""

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            given = getattr(self, field.name)
            if (kept := frozen(given)) is not given:
                object.__setattr__(self, field.name, kept)
