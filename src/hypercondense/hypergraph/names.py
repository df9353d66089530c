"""What nodes and hyperedges are called: checked, found by name, and kept as arrays of text."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from hypercondense.hypergraph.arrays import Ids
from hypercondense.hypergraph.given import texts

#: What may be called something; the names of arrays begin with it.
NAMED = ("node_names", "hyperedge_names")
_SHOWN = 40  # letters of a name in a message


class StoredNames(Sequence[str]):
    """Names that stay in their file: each is read when it is asked for."""

    def __init__(self, text: NDArray[np.uint8], starts: NDArray[np.int64]) -> None:
        self.text, self.starts = text, starts

    @classmethod
    def of(cls, key: str, arrays: Mapping[str, NDArray[Any]]) -> "StoredNames | None":
        """The names in the arrays of :func:`to_text_arrays`, which have been checked; ``None`` for none."""
        return cls(arrays[f"{key}.text"], arrays[f"{key}.row_starts"]) if f"{key}.text" in arrays else None

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...

    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice):
            return tuple(self[one] for one in range(*place.indices(len(self))))
        start, end = self.starts[range(len(self))[place]], self.starts[range(len(self))[place] + 1]
        return self.text[start:end].tobytes().decode("utf-8", "surrogatepass")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, StoredNames):
            return np.array_equal(self.starts, other.starts) and np.array_equal(self.text, other.text)
        return isinstance(other, tuple) and self[:] == other

    def __hash__(self) -> int:
        return hash(self[:])


Names: TypeAlias = tuple[str, ...] | StoredNames


def checked_own_names(what: str, names: Iterable[Any] | None, size: int) -> tuple[str, ...] | None:
    """A name for each of ``size`` things, no two alike, or ``None``.

    >>> checked_own_names("node", ["ann", 7], 2)
    ('ann', '7')
    """
    given = texts(f"{what} names", names)
    if given is None:
        return None
    if len(given) != size:
        raise ValueError(f"{len(given)} {what} names for {size} {what}s")
    first: dict[str, int] = {}
    for position, name in enumerate(given):
        if first.setdefault(name, position) != position:
            raise ValueError(
                f"{what} names must differ: {what}s {first[name]} and {position} are both called "
                f"{name[:_SHOWN]!r}"
            )
        if not name:
            raise ValueError(f"{what} names must not be empty: that of {what} {position} is")
    return tuple(given)


def unless_numbers(names: Sequence[str]) -> tuple[str, ...] | None:
    """The names, or ``None`` where each is the number of its own place: then they say nothing.

    >>> unless_numbers(["0", "1"]), unless_numbers(["1", "0"])
    (None, ('1', '0'))
    """
    return None if all(name == str(place) for place, name in enumerate(names)) else tuple(names)


def ids_of(what: str, wanted: Sequence[Any], names: Names | None, size: int) -> Ids:
    """The numbers of things that are given by name, or by number where they have no names.

    Raises:
        ValueError: One of them does not exist; the text names it and its place.
    """
    if names is None:
        return _numbers(what, wanted, size)
    places = dict.fromkeys(map(str, wanted), -1)  # of those alone: there may be many others
    places.update((name, place) for place, name in enumerate(names) if name in places)
    found = np.fromiter((places[str(name)] for name in wanted), np.int64, len(wanted))
    unknown = np.flatnonzero(found < 0)
    if len(unknown):
        name = str(wanted[int(unknown[0])])
        raise ValueError(
            f"there is no {what} called {name[:_SHOWN]!r} (entry {unknown[0]}); {what}s are called like "
            f"{names[0][:_SHOWN]!r}"
        )
    return found


def _numbers(what: str, wanted: Sequence[Any], size: int) -> Ids:
    ids = np.empty(len(wanted), np.int64)
    for entry, given in enumerate(wanted):
        text = str(given).strip()
        if not (text.isascii() and text.isdecimal() and len(text) < 19 and int(text) < size):
            raise ValueError(
                f"there is no {what} {text[:_SHOWN]!r} (entry {entry}); {what}s have no names here, only "
                f"numbers from 0 to {size - 1}"
            )
        ids[entry] = int(text)
    return ids


def to_text_arrays(key: str, names: Names | None) -> dict[str, NDArray[Any]]:
    """Names as bytes of UTF-8 and where each begins; nothing for no names."""
    if names is None:
        return {}
    if isinstance(names, StoredNames):
        return {f"{key}.text": names.text, f"{key}.row_starts": names.starts}
    encoded = [name.encode("utf-8", "surrogatepass") for name in names]
    starts = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    arrays: dict[str, NDArray[Any]] = {
        f"{key}.text": np.frombuffer(b"".join(encoded), np.uint8),
        f"{key}.row_starts": starts,
    }
    for array in arrays.values():
        array.flags.writeable = False
    return arrays


def from_text_arrays(key: str, arrays: Mapping[str, NDArray[Any]]) -> tuple[str, ...] | None:
    """The inverse of :func:`to_text_arrays`; the arrays may come from anywhere."""
    text, starts = arrays.get(f"{key}.text"), arrays.get(f"{key}.row_starts")
    if text is None and starts is None:
        return None
    if text is None or starts is None or text.dtype != np.uint8 or starts.dtype != np.int64:
        raise ValueError(
            f"{key}.text must be bytes and {key}.row_starts whole numbers of 64 bits, both there"
        )
    if text.ndim != 1 or starts.ndim != 1 or len(starts) == 0 or starts[0] != 0 or starts[-1] != len(text):
        raise ValueError(f"{key}.row_starts must rise from 0 to {text.size}, the bytes of {key}.text")
    if (np.diff(starts) < 0).any():
        raise ValueError(f"{key}.row_starts must not fall")
    content, places = text.tobytes(), starts.tolist()
    try:
        return tuple(content[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(places))
    except UnicodeDecodeError as error:
        raise ValueError(f"{key}.text is not UTF-8: byte {error.start} of a name") from error


def is_beside_content(key: str) -> bool:
    """Whether an array holds names of nodes or hyperedges, or parts of a split, which no digest covers."""
    return key.partition(".")[0] in (*NAMED, "parts")
