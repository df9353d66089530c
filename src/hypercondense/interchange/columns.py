"""Columns of a node table, or attributes of nodes, become features, labels and parts of a split."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hypercondense.hypergraph import UNKNOWN, Ids
from hypercondense.hypergraph.arrays import NO_PART, PARTS, Parts
from hypercondense.interchange.facts import Facts
from hypercondense.interchange.problems import Problems, and_more, shown, tell

#: What to do with columns of texts and categories: refuse them, make a column of each value, leave them out.
Text: TypeAlias = Literal["error", "one-hot", "drop"]
#: What to do where a number is missing: refuse, take 0, take the mean of the others.
Missing: TypeAlias = Literal["error", "zero", "mean"]

LABEL, SPLIT = "label", "split"
_PART_NAMES = {**{name: number for number, name in enumerate(PARTS)}, "val": 1, "valid": 1, "dev": 1}
_LARGEST = float(np.finfo(np.float32).max)
_MOST_VALUES = 1000  # of a column that becomes one column for each
_LARGEST_LABEL = 2**62  # of those that are numbers


@dataclass(frozen=True)
class Choices:
    """How what is no number is made one; nothing is done unasked."""

    text: Text = "error"
    missing: Missing = "error"

    def __post_init__(self) -> None:
        for name, allowed in (("text", ("error", "one-hot", "drop")), ("missing", ("error", "zero", "mean"))):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {getattr(self, name)!r}")


def features_of(
    columns: Mapping[str, Sequence[Any]], choices: Choices, problems: Problems, *, what: str = "column"
) -> tuple[NDArray[np.float64], list[str]] | None:
    """The numbers of all columns, and their names; ``None`` where no column is left."""
    blocks: list[NDArray[np.float64]] = []
    names: list[str] = []
    for name, values in columns.items():
        made, own = _numbers(str(name), values, choices, problems, what)
        blocks += made
        names += own
    return (np.stack(blocks, axis=1), names) if blocks else None


def _numbers(
    name: str, values: Any, choices: Choices, problems: Problems, what: str
) -> tuple[list[NDArray[np.float64]], list[str]]:
    column = values if isinstance(values, np.ndarray) else _array(values)
    if column.dtype.kind in "iufb":
        return [_filled(name, column.astype(np.float64), choices, problems, what)], [name]
    given = column.tolist() if column.dtype.kind not in "Mm" else list(column)
    kinds = {type(value) for value in given if not is_missing(value)}
    if kinds and all(issubclass(kind, int | float | Decimal | np.number | np.bool_) for kind in kinds):
        numbers = np.array([np.nan if is_missing(value) else _float(value) for value in given])
        return [_filled(name, numbers, choices, problems, what)], [name]
    return _not_numbers(name, given, kinds, choices, problems, what=what)


def _not_numbers(
    name: str, given: list[Any], kinds: set[type], choices: Choices, problems: Problems, *, what: str
) -> tuple[list[NDArray[np.float64]], list[str]]:
    """A column of texts, dates or nothing at all, by choice."""
    if choices.text == "drop":
        tell(f"{what} {name[:40]!r} is no number and was left out (text='drop')")
        return [], []
    is_text = bool(kinds) and all(issubclass(kind, str) for kind in kinds)
    values = sorted({value for value in given if isinstance(value, str)})
    if choices.text == "one-hot" and is_text and len(values) <= _MOST_VALUES:
        if missing := [place for place, value in enumerate(given) if is_missing(value)]:
            tell(f"{what} {name[:40]!r} has no value in {len(missing)} rows: 0 in each of its columns")
        return (
            [np.array([1.0 if value == one else 0.0 for value in given]) for one in values],
            [f"{name}={value}" for value in values],
        )
    first = next((value for value in given if not is_missing(value)), None)
    came = f"holds {type(first).__name__} ({shown(first)})" if kinds else "holds no value at all"
    advice = "text='one-hot' makes a column of each value, text='drop' leaves it out"
    if kinds and not is_text:
        advice = "make numbers of it, or leave it out with text='drop'"
    elif len(values) > _MOST_VALUES:
        advice = f"it has {len(values):,} different texts; encode it, or leave it out with text='drop'"
    problems.add(f"{what} {name[:40]!r} {came}; {advice}")
    return [], []


def _filled(
    name: str, numbers: NDArray[np.float64], choices: Choices, problems: Problems, what: str
) -> NDArray[np.float64]:
    large = np.flatnonzero(np.abs(numbers) > _LARGEST)
    if len(large):
        problems.add(
            f"{what} {name[:40]!r} must hold finite numbers of 32 bits: row {large[0]} is "
            f"{numbers[large[0]]:g}{and_more(len(large), 'are not')}"
        )
    missing = np.flatnonzero(np.isnan(numbers))
    if not len(missing):
        return numbers
    if choices.missing == "error":
        problems.add(
            f"{what} {name[:40]!r} has no value in {len(missing)} rows, the first is {missing[0]}; fill "
            "them, or choose missing='zero' or missing='mean'"
        )
        return numbers
    known = numbers[~np.isnan(numbers)]
    value = known.mean() if choices.missing == "mean" and len(known) else 0.0
    tell(f"{what} {name[:40]!r} has no value in {len(missing)} rows: {value:g} is taken")
    return np.where(np.isnan(numbers), value, numbers)


def labels_of(
    raw: Sequence[Any] | None, size: int, facts: Facts | None, problems: Problems
) -> tuple[Ids, tuple[str, ...] | None]:
    """Classes from 0, -1 where there is none, and their names unless they are numbered from 0.

    >>> labels_of(["b", None, "a"], 3, None, Problems("these"))
    (array([ 1, -1,  0]), ('a', 'b'))
    >>> labels_of([1, -1, 0], 3, None, Problems("these"))
    (array([ 1, -1,  0]), None)
    """
    if raw is None:
        return np.full(size, UNKNOWN, np.int64), None if facts is None else facts.label_names
    listed = raw.tolist() if isinstance(raw, np.ndarray) else raw  # numbers of numpy are slow one by one
    several = next((place for place, one in enumerate(listed) if _is_several(one)), None)
    if several is not None:
        kind = type(listed[several]).__name__
        problems.add(
            f"label {shown(listed[several])} in row {several} is a {kind}; a node has one class, shares "
            "of several belong in soft labels"
        )
        listed = [None if _is_several(one) else one for one in listed]
    values = [None if is_missing(one) or one == "" else _label(one) for one in listed]
    if facts is not None and facts.classes is not None:
        values = [None if one == UNKNOWN and str(UNKNOWN) not in facts.classes else one for one in values]
        return _by_names(values, facts.classes, problems), facts.label_names
    whole = [one for one in values if isinstance(one, int)]
    if len(whole) == sum(one is not None for one in values):
        return _whole_labels(values, whole, facts)
    texts = ["" if one is None else str(one) for one in values]
    names = sorted(set(texts) - {""}, key=lambda name: (not _is_number(name), _number(name), name))
    table = {"": UNKNOWN, **{name: number for number, name in enumerate(names)}}
    return np.array([table[text] for text in texts], np.int64), tuple(names)


def _whole_labels(
    values: list[Any], whole: list[int], facts: Facts | None
) -> tuple[Ids, tuple[str, ...] | None]:
    known = sorted(set(whole) - {UNKNOWN})
    labels = np.array([UNKNOWN if one is None else one for one in values], np.int64)
    if facts is not None and facts.num_classes is not None and (not known or known[-1] < facts.num_classes):
        return labels, facts.label_names
    if known == list(range(len(known))):
        return labels, None
    table = {UNKNOWN: UNKNOWN, **{one: number for number, one in enumerate(known)}}
    renumbered = [UNKNOWN if one is None else table[one] for one in values]
    return np.array(renumbered, np.int64), tuple(map(str, known))


def _by_names(values: list[Any], names: tuple[str, ...], problems: Problems) -> Ids:
    table: dict[Any, int] = {name: number for number, name in enumerate(names)}
    for place, one in enumerate(values):
        if one is not None and str(one) not in table:
            problems.add(
                f"label {shown(one)} in row {place} is none of the {len(names)} classes that were named"
            )
            table[str(one)] = UNKNOWN
    return np.array([UNKNOWN if one is None else table[str(one)] for one in values], np.int64)


def _is_several(given: Any) -> bool:
    """Whether this is no class of a node, but several."""
    if type(given) in (str, int, float, type(None)):  # nearly always, and quick to tell
        return False
    return isinstance(given, list | tuple | set | frozenset | dict) or getattr(given, "ndim", 0) > 0


def _label(given: Any) -> Any:
    given = given.item() if hasattr(given, "item") else given  # of numpy and torch
    if isinstance(given, bool):
        return str(given)
    if isinstance(given, float) and np.isfinite(given) and given == np.floor(given):
        given = int(given)
    if isinstance(given, int) and abs(given) <= _LARGEST_LABEL:
        return given
    return str(given).strip()  # also of numbers that no array holds


def parts_of(raw: Sequence[Any] | None, labels: Ids, problems: Problems) -> Parts | None:
    """The part of every node; nodes without a label are in none."""
    if raw is None or len(labels) == 0:
        return None
    parts = np.full(len(labels), NO_PART, np.int8)
    for place, one in enumerate(raw):
        given = one.item() if hasattr(one, "item") else one  # of numpy and torch
        if is_missing(given) or given in ("", "none", NO_PART):
            continue
        number = given if type(given) is int and 0 <= given < len(PARTS) else None
        number = _PART_NAMES.get(str(given).lower()) if number is None else number
        if number is None:
            problems.add(f"split {shown(given)} in row {place} is none of {', '.join(PARTS)}")
        else:
            parts[place] = number
    return without_unlabelled(parts, labels)


def without_unlabelled(parts: Parts, labels: Ids) -> Parts | None:
    """Parts in which every node has a label; ``None`` where no training node is left."""
    hidden = (parts != NO_PART) & (labels == UNKNOWN)
    if hidden.any():
        tell(f"{int(hidden.sum())} nodes of the split have no label and are in none of its parts")
        parts = np.where(hidden, NO_PART, parts).astype(np.int8)
    if (parts != NO_PART).any() and not (parts == 0).any():
        tell("the split has no training node with a label, and was left out")
    return parts if (parts == 0).any() else None


def is_missing(value: Any) -> bool:
    """None, NaN, and what pandas has for them."""
    if type(value) in (str, int):  # nearly always, and quick to tell
        return False
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _float(given: Any) -> float:
    """As a float; a whole number beyond all floats is infinite."""
    try:
        return float(given)
    except OverflowError:
        return np.inf if given > 0 else -np.inf


def _array(values: Sequence[Any]) -> NDArray[Any]:
    """One-dimensional, of numbers where all are, else of objects."""
    made = np.empty(len(values), object)
    made[:] = list(values)
    if values and all(type(value) in (int, float) for value in values):
        return np.array([_float(value) for value in values])
    return made


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdecimal() and text.isascii() and len(text) < 19


def _number(text: str) -> int:
    return int(text) if _is_number(text) else 0
