"""Small pictures as inline SVG: they need no script, take the colours of the page and print.

Words and numbers stand beside them in HTML, never inside, so that they neither shrink on a phone nor are lost
on those who do not see the picture. Why no library draws them is told in docs/decisions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from hypercondense.hypergraph import Ids

_WIDTH, _HEIGHT = 360, 150  # of a chart with axes, in units of its own
_MOST_POINTS = 300  # of a line: more are not seen
FEWEST_COLUMNS = 5  # that a histogram has room for: one alone is no wall
COLOURS = 10  # of the palette; classes after these are grey


@dataclass(frozen=True)
class Bin:
    """How many values lie from ``low`` to ``high``."""

    low: float
    high: float
    count: int

    @property
    def label(self) -> str:
        """The range in words."""
        return f"{self.low:g}" if self.low == self.high else f"{self.low:g} to {self.high:g}"


def bar(share: float, kind: str) -> Markup:
    """A bar that is as long as a share of its place. ``kind`` is a colour of the style sheet."""
    width = 100 * min(1.0, max(0.0, share))
    return _in_cell(Markup('<rect class="fill-{}" width="{:.2f}" height="10"/>').format(kind, width))


def interval(low: float, middle: float, high: float, *, of: tuple[float, float], kind: str) -> Markup:
    """A mark with what it may as well be, in a range."""
    start, end = of
    places = [100 * (value - start) / ((end - start) or 1.0) for value in (low, middle, high)]
    left, mark, right = (min(99.0, max(1.0, place)) for place in places)
    return _in_cell(
        Markup(
            '<line class="guide" x1="0" x2="100" y1="5" y2="5"/>'
            '<rect class="soft-{0}" x="{1:.2f}" width="{2:.2f}" y="2" height="6"/>'
            '<rect class="fill-{0}" x="{3:.2f}" width="1.6" height="10"/>'
        ).format(kind, left, max(0.5, right - left), mark - 0.8)
    )


def _in_cell(content: Markup) -> Markup:
    start = '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
    return Markup(start) + content + Markup("</svg>")


def lines(series: Mapping[str, Sequence[float]]) -> Markup:
    """Several lines over the same steps, each in its own colour, between the least and the largest value."""
    values = [value for line in series.values() for value in line if np.isfinite(value)]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    drawn = Markup("")
    for colour, line in enumerate(series.values()):
        drawn += Markup('<polyline class="line-{}" points="{}"/>').format(
            colour % COLOURS, _polyline(line, low, high)
        )
    return _framed(drawn)


def _polyline(line: Sequence[float], low: float, high: float) -> str:
    steps = np.unique(np.linspace(0, len(line) - 1, min(len(line), _MOST_POINTS)).astype(int))
    span, last = (high - low) or 1.0, max(1, len(line) - 1)
    return " ".join(
        f"{step / last * _WIDTH:.1f},{_HEIGHT - 4 - (line[step] - low) / span * (_HEIGHT - 8):.1f}"
        for step in steps
        if np.isfinite(line[step])
    )


def columns(bins: Sequence[Bin], kind: str) -> Markup:
    """A histogram."""
    most = max((one.count for one in bins), default=0) or 1
    width = _WIDTH / max(FEWEST_COLUMNS, len(bins))
    drawn = Markup("")
    for place, one in enumerate(bins):
        height = max(1.0, one.count / most * (_HEIGHT - 4)) if one.count else 0.0
        drawn += Markup(
            '<rect class="fill-{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>'
        ).format(kind, place * width + 1, _HEIGHT - height, max(1.0, width - 2), height)
    return _framed(drawn)


def _framed(content: Markup) -> Markup:
    start = '<svg class="chart" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">'
    frame = '<line class="axis" x1="0" x2="{0}" y1="{1}" y2="{1}"/></svg>'
    return Markup(start).format(_WIDTH, _HEIGHT) + content + Markup(frame).format(_WIDTH, _HEIGHT - 0.5)


def size_bins(sizes: Ids) -> list[Bin]:
    """Counts of sizes in bins that double: 1, 2, 3 to 4, 5 to 8, ...

    >>> [(one.label, one.count) for one in size_bins(np.array([1, 2, 2, 4, 9]))]
    [('1', 1), ('2', 2), ('3 to 4', 1), ('5 to 8', 0), ('9 to 16', 1)]
    """
    found, low, high = [], 1, 1
    largest = int(sizes.max()) if len(sizes) else 0
    while low <= largest:
        found.append(Bin(low, high, int(((sizes >= low) & (sizes <= high)).sum())))
        low, high = high + 1, high * 2
    return found


def even_bins(values: Sequence[float], number: int = 12) -> list[Bin]:
    """Counts of values in bins of one width; a single one where all are alike."""
    numbers = np.asarray(values, float)
    if len(numbers) == 0:
        return []
    low, high = float(numbers.min()), float(numbers.max())
    if high - low <= 1e-9 * max(1.0, abs(high)):
        return [Bin(float(f"{low:.3g}"), float(f"{low:.3g}"), len(numbers))]
    counts, edges = np.histogram(numbers, number, (low, high))
    rounded = [float(f"{edge:.3g}") for edge in edges]
    return [Bin(rounded[place], rounded[place + 1], int(count)) for place, count in enumerate(counts)]
