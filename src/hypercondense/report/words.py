"""Numbers and foreign text as people read them on a page."""

from collections.abc import Mapping, Sequence
from typing import Any

from hypercondense.errors import safe
from hypercondense.hypergraph import UNKNOWN, Hypergraph

LONGEST = 80  # letters of a name; a file may hold names of any length


def cut(text: object, longest: int = LONGEST) -> str:
    r"""Text that is shown in one place: nothing hides in it, and it is not longer than is read.

    >>> cut("a" * 100, 10), cut("a\u202eb")
    ('aaaaaaaaa…', 'a\\u202eb')
    """
    shown = safe(str(text)[: longest + 1])
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def percent(share: float | None, digits: int = 1) -> str:
    """A share in percent, with a dash where there is none.

    >>> percent(0.98765), percent(None)
    ('98.8 %', '–')
    """
    return "–" if share is None else f"{100 * share:.{digits}f} %"


def points(difference: float | None) -> str:
    """A difference of shares in percentage points, with its sign.

    >>> points(-0.0123), points(0.0)
    ('−1.2', '0.0')
    """
    if difference is None:
        return "–"
    text = f"{100 * difference:+.1f}"
    return "0.0" if float(text) == 0 else text.replace("-", "−")


def seconds(value: float) -> str:
    """A time, as exact as is of use.

    >>> seconds(0.123), seconds(75.0), seconds(4000)
    ('0.12 s', '75 s', '67 min')
    """
    if value < 10:
        return f"{value:.2f} s"
    return f"{value:.0f} s" if value < 600 else f"{value / 60:.0f} min"


def counted(number: int, thing: str) -> str:
    """A number of things, one of them in the singular.

    >>> counted(1, "node"), counted(1797, "node")
    ('1 node', '1,797 nodes')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def class_names(hypergraph: Hypergraph) -> list[str]:
    """What classes are called; the number of one that has no name of its own."""
    names = hypergraph.label_names or [str(label) for label in range(hypergraph.num_classes)]
    return [cut(name) or str(label) for label, name in enumerate(names)]


def class_name(names: Sequence[str], label: int) -> str:
    """The name of a class; nodes without a label have none.

    >>> class_name(["cat"], 0), class_name(["cat"], -1)
    ('cat', 'unknown')
    """
    return "unknown" if label == UNKNOWN else names[label]


def flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Options within options, by their paths.

    >>> flat({"map": {"time": 2.0}, "looks": 5})
    {'map.time': '2.0', 'looks': '5'}
    """
    found: dict[str, str] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = "none" if value is None else str(value)
    return found
