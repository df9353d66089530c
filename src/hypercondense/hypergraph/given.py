"""What people pass: tables, lists of pairs, matrices. It works as meant, or is refused with advice."""

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

_MEANT = "incidence must be (node ids, hyperedge ids) or (node ids, hyperedge ids, weights)"
_PAIRS = "for a list of pairs give tuple(zip(*pairs))"


def incidence_parts(incidence: Any) -> tuple[Any, ...]:
    """The two or three parts of an incidence; whatever could be meant otherwise is refused."""
    if sp.issparse(incidence):
        raise ValueError(
            f"{_MEANT}, got a sparse matrix; for a matrix H of nodes x hyperedges give H.tocoo().coords"
        )
    if hasattr(incidence, "columns") and hasattr(incidence, "dtypes"):
        raise ValueError(
            f"{_MEANT}, got a table; give two of its columns, (table['node'], table['hyperedge'])"
        )
    if isinstance(incidence, str | Mapping | set | frozenset) or not isinstance(incidence, Iterable):
        raise ValueError(f"{_MEANT}, got a {type(incidence).__name__}")
    parts = tuple(incidence)
    if len(parts) not in (2, 3):
        shape = getattr(incidence, "shape", None)
        came = f"{len(parts)} parts" if shape is None else f"shape {tuple(shape)}"
        raise ValueError(f"{_MEANT}, got {came}; {_PAIRS}")
    if _could_be_pairs(incidence, parts):
        raise ValueError(
            f"{_MEANT}; {len(parts)} parts of length {len(parts[0])} could be pairs as well, or a "
            f"matrix: give a tuple (node ids, hyperedge ids) to say what is meant, and {_PAIRS}"
        )
    return parts


def _could_be_pairs(incidence: Any, parts: Sequence[Any]) -> bool:
    """Whether somebody may have meant a row per membership; the documented form is a tuple of lists."""
    if isinstance(incidence, list):
        return all(isinstance(part, tuple | list) and len(part) == 2 for part in parts)
    return tuple(getattr(incidence, "shape", ())) in ((2, 2), (3, 2), (3, 3))  # or a matrix of 0 and 1


def whole_number(what: str, given: Any) -> int:
    """A number that is whole; 2.7 is not cut off to 2.

    >>> whole_number("num_nodes", np.int32(3))
    3
    """
    try:
        if not isinstance(given, bool | np.bool_):
            return operator.index(given)
    except TypeError:
        pass
    raise ValueError(f"{what} must be a whole number, got {given!r:.60}")


def seed_number(given: Any) -> int:
    """A seed: a whole number from 0 on.

    >>> seed_number(3)
    3
    """
    seed = whole_number("seed", given)
    if seed < 0:
        raise ValueError(f"seed must be 0 or more, got {seed}")
    return seed


def texts(what: str, given: Any) -> list[str] | None:
    """Names as a list: an index of pandas too, but no text (its letters) and no mapping (its keys)."""
    if given is None:
        return None
    if isinstance(given, str | bytes):
        raise ValueError(f"{what} must be a list with a name for each, got the text {given[:40]!r}")
    if isinstance(given, Mapping):
        raise ValueError(f"{what} must be a list in the order of the numbers, got a mapping; give its values")
    return [str(name) for name in given]


def is_frame(given: Any) -> bool:
    """Whether this is a table of pandas, or behaves like one."""
    return all(hasattr(given, name) for name in ("columns", "dtypes", "index", "to_numpy"))


def frame_numbers(frame: Any) -> Any:
    """The numbers of a table; a column of anything else is refused by name, with how to encode it."""
    for column in frame.columns:
        values = frame[column]
        if getattr(values, "ndim", 1) != 1:
            raise ValueError(f"the table of features has two columns {str(column)[:40]!r}; rename one")
        if problem := _not_numbers(values, f"table[{column!r:.40}]"):
            raise ValueError(f"features must be real numbers: column {str(column)[:40]!r} {problem}")
    return frame.to_numpy(dtype=np.float64)


def _not_numbers(values: Any, place: str) -> str:
    """What is wrong with a column, and how to encode it; nothing for numbers."""
    kind = str(values.dtype)
    if kind == "category" or kind.startswith("interval"):
        return f"holds categories; encode it, as one column per category: pandas.get_dummies({place})"
    missing = np.flatnonzero(np.asarray(values.isna()))
    known = values.dropna().tolist()[:1]
    if len(missing) and not (known and isinstance(known[0], str)):
        return f"has no value in row {missing[0]}; fill it, as {place}.fillna(0), or leave the node out"
    if kind.lower().startswith("bool"):
        return f"holds booleans; encode it as 0 and 1: {place}.astype(int)"
    if kind.lower().startswith(("int", "uint", "float")):
        return ""
    return (
        f"has type {kind} (the first value is {known[0] if known else None!r:.40}); make numbers of it, by "
        f"pandas.to_numeric({place}), or a column per category, by pandas.get_dummies({place})"
    )


def check_rows_alike(frame: Any, labels: Any) -> None:
    """Refuse labels of pandas whose rows are called otherwise than those of the table: order decides here."""
    rows = labels.index if hasattr(labels, "iloc") else None
    if rows is None or len(rows) != len(frame.index) or frame.index.equals(rows):
        return
    place = next(
        place for place, both in enumerate(zip(frame.index, rows, strict=True)) if both[0] != both[1]
    )
    raise ValueError(
        f"rows of features and labels must be in the same order: row {place} is {frame.index[place]!r:.40} "
        f"and {rows[place]!r:.40}; give labels.reindex(features.index), or labels.to_numpy() if the order is "
        "right"
    )


def frame_names(frame: Any) -> tuple[list[str], list[str] | None]:
    """What a table calls its columns, and its rows: ``None`` where these are numbered or some are alike."""
    rows = [str(name) for name in frame.index]
    numbered = all(name == str(place) for place, name in enumerate(rows))
    return [str(name) for name in frame.columns], None if numbered or len(set(rows)) < len(rows) else rows
