"""Ids of other libraries become names of ours, and names become ids again."""

import re
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Any

import numpy as np

from hypercondense.hypergraph import Ids
from hypercondense.interchange.problems import Problems, shown

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")


def numbered(
    what: str, ids: Sequence[Any], problems: Problems, *, known: dict[Any, int] | None = None
) -> tuple[Ids, dict[Any, int]]:
    """The number of each id, and the table of all, in the order they first come.

    Ids may be anything hashable. With ``known`` they must be in that table.
    """
    try:
        table = dict(known) if known is not None else number_all(ids)
        positions = np.fromiter((table.get(given, -1) for given in ids), np.int64, len(ids))
    except TypeError:
        plain = [_hashable(given) for given in ids]
        for place in np.flatnonzero(~np.array(plain)).tolist():
            kind = type(ids[place]).__name__
            problems.add(
                f"{what} {shown(ids[place])} (entry {place}) is a {kind}, which cannot be an id; use "
                "texts or whole numbers"
            )
        table = dict(known) if known is not None else number_all(compress(ids, plain))
        known_or_told = (table.get(one, -1) if own else 0 for one, own in zip(ids, plain, strict=True))
        positions = np.fromiter(known_or_told, np.int64, len(ids))
    unknown = list(dict.fromkeys(ids[place] for place in np.flatnonzero(positions < 0).tolist()))
    for given in unknown[:3]:
        missing = name_of(given) is None
        problems.add(
            f"an entry of the incidences has no {what} id ({shown(given)}, entry {_place(ids, given)})"
            if missing
            else f"{what} {shown(given)} of the incidences (entry {_place(ids, given)}) is not among the "
            f"{what}s given{_alike(given, table)}"
        )
    if len(unknown) > 3:
        problems.add(f"{len(unknown) - 3:,} more {what}s of the incidences are not among those given")
    return positions, table


def number_all(ids: Iterable[Any]) -> dict[Any, int]:
    """Distinct ids by the order they come in."""
    return {given: number for number, given in enumerate(dict.fromkeys(ids))}


def names_of(what: str, ids: Iterable[Any], problems: Problems) -> tuple[str, ...] | None:
    """What things with these ids are called; ``None`` where each id is the number of its place.

    >>> names_of("node", ["ann", 7, 8.0], Problems("these")), names_of("node", range(3), Problems("these"))
    (('ann', '7', '8'), None)
    """
    if isinstance(ids, range) and ids == range(len(ids)):
        return None
    given = list(ids)
    names = [name_of(one) for one in given]
    bad = [place for place, name in enumerate(names) if name is None]
    for place in bad[:3]:
        problems.add(
            f"{what} id {shown(given[place])} ({what} {place}) is no id; use texts or whole numbers, "
            "and leave out rows without one"
        )
    if len(bad) > 3:
        problems.add(f"{len(bad) - 3} more {what} ids are none")
    first: dict[str, int] = {}
    for place, name in enumerate(names):
        if name is not None and first.setdefault(name, place) != place:
            problems.add(
                f"{what} ids {shown(given[first[name]])} and {shown(given[place])} would both be called "
                f"{name[:40]!r}; rename one"
            )
    told = [name or "" for name in names]
    return None if all(name == str(place) for place, name in enumerate(told)) else tuple(told)


def name_of(given: Any) -> str | None:
    """What something with this id is called, or ``None`` where it is no id."""
    if isinstance(given, str):
        return given or None
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        return str(int(given))
    if isinstance(given, float | np.floating):
        return str(int(given)) if np.isfinite(given) and given == np.floor(given) else None
    if given is None or isinstance(given, bytes | bool | np.bool_) or not _hashable(given):
        return None
    if isinstance(given, frozenset):  # the order of its text changes from run to run
        return "{" + ", ".join(sorted(map(str, given))) + "}"
    return None if _is_nameless(given) else str(given) or None


def ids_of(names: Sequence[str] | None, size: int) -> list[Any]:
    """Ids for another library: names, but whole numbers where all are such or where there are no names.

    >>> ids_of(None, 2), ids_of(("7", "9"), 2), ids_of(("7", "nine"), 2)
    ([0, 1], [7, 9], ['7', 'nine'])
    """
    if names is None:
        return list(range(size))
    if all(_WHOLE.fullmatch(name) for name in names):
        return [int(name) for name in names]
    return list(names)


def _is_nameless(given: Any) -> bool:
    """Whether pandas means nothing by it, or its text is a place in memory, another one in each run."""
    kind: Any = type(given)
    own = (kind.__str__, kind.__repr__)
    return kind.__name__ in ("NAType", "NaTType") or own == (object.__str__, object.__repr__)


def _hashable(given: Any) -> bool:
    try:
        hash(given)
    except TypeError:
        return False
    return True


def _alike(given: Any, table: dict[Any, int]) -> str:
    """A hint where only the types differ: 7 and '7' are two ids."""
    name = name_of(given)
    other = next((one for one in table if name_of(one) == name), None)
    if other is None:
        return ""
    kinds = f"{type(other).__name__}, and this a {type(given).__name__}"
    return f": there {shown(other)} is a {kinds}; make them of one type"


def _place(ids: Sequence[Any], given: Any) -> int:
    return next((place for place, one in enumerate(ids) if one is given), 0)
