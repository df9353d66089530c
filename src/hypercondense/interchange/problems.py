"""What is wrong with something given, told all at once; what a conversion loses, told in one warning."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from itertools import islice
from typing import Any, TypeVar

from hypercondense.errors import ConversionError, ConversionWarning, safe

_Made = TypeVar("_Made")
_SHOWN = 8  # problems in a message; more are counted
_LETTERS = 40  # of what was given in a message


class Problems:
    """Collects what is wrong, to be raised together: nobody mends one column per run."""

    def __init__(self, what: str, called: Mapping[str, str] | None = None) -> None:
        self.what = what
        self.called = called or {}  # what a library calls that has another name here
        self.found: dict[str, None] = {}  # in their order; there may be very many

    def of(self, key: str) -> str:
        """How a message names something: as whoever reads it does."""
        return repr(self.called.get(key, key))

    def add(self, problem: str) -> None:
        """One more; the same one twice is told once."""
        self.found[problem] = None

    def add_raised(self, make: Callable[[], _Made]) -> _Made | None:
        """What ``make`` gives, or ``None`` and one more problem, where it refuses what it is given."""
        try:
            return make()
        except (TypeError, ValueError) as error:
            self.add(str(error))
            return None

    def raise_any(self) -> None:
        """Raise :class:`ConversionError` if there was a problem.

        >>> problems = Problems("pandas tables")
        >>> problems.add("column 'age' has no value in row 3")
        >>> problems.raise_any()
        Traceback (most recent call last):
        ...
        hypercondense.errors.ConversionError: pandas tables: column 'age' has no value in row 3
        """
        if not self.found:
            return
        shown = list(islice(self.found, _SHOWN))
        if len(shown) > 1:
            shown = [f"({number}) {problem}" for number, problem in enumerate(shown, start=1)]
        more = len(self.found) - len(shown)
        begin = "" if len(self.found) == 1 else f"{len(self.found)} problems: "
        end = f"; and {more} more" if more else ""
        raise ConversionError(f"{self.what}: {begin}{'; '.join(shown)}{end}")


def tell_lost(where: str, lost: Iterable[str]) -> None:
    """One warning that names all that ``where`` cannot hold; nothing for nothing."""
    if named := list(lost):
        warnings.warn(
            f"{where} cannot hold {', '.join(named)}: not in the result",
            ConversionWarning,
            stacklevel=_caller(),
        )


def tell_unused(what: str, names: Iterable[str]) -> None:
    """One warning that names what a library tells and a hypergraph of ours has no place for."""
    named = list(dict.fromkeys(names))
    if named:
        more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
        tell(f"what was not used of {what}: {', '.join(map(safe, named[:_SHOWN]))}{more}")


def number_in(
    given: Mapping[Any, Any], key: Any, otherwise: float, where: str, problems: "Problems"
) -> float:
    """A number by its key; what is none is told with the place it is in."""
    value = given.get(key, otherwise)
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        problems.add(f"{shown(key)} of {where} must be a number, got {shown(value)}")
        return otherwise


def expect(name: str, given: object, kinds: type | tuple[type, ...], wanted: str) -> None:
    """Raise ``TypeError`` where something of another kind was given.

    >>> expect("given", 5, str, "a text")
    Traceback (most recent call last):
    ...
    TypeError: given must be a text, got a int
    """
    if not isinstance(given, kinds):
        raise TypeError(f"{name} must be {wanted}, got a {type(given).__name__}")


def tell(text: str) -> None:
    """One warning about what was left out or filled in."""
    warnings.warn(text, ConversionWarning, stacklevel=_caller())


def _caller() -> int:
    """How many frames up the first is that is not in this package."""
    import sys

    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("hypercondense"):
        depth, frame = depth + 1, frame.f_back
    return depth


def need(module: str, extra: str) -> Any:
    """A library that is imported only when it is used.

    Raises:
        ImportError: It is not there; the text names what to install.
    """
    try:
        return import_module(module)
    except ImportError as error:
        top = module.partition(".")[0]
        raise ImportError(
            f"{top} is needed for this and cannot be imported ({error}): pip install 'hypercondense[{extra}]'"
        ) from error


def and_more(number: int, what: str) -> str:
    """The end of a sentence about the first of several.

    >>> and_more(2, "are not"), and_more(1, "are not")
    (', and 1 more are not', '')
    """
    return f", and {number - 1:,} more {what}" if number > 1 else ""


def shown(given: object) -> str:
    """What was given, short and harmless."""
    return safe(repr(given))[:_LETTERS]
