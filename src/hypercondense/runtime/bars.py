"""Progress that people see: a bar in a terminal or a notebook, a line now and then elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import Any

from hypercondense.errors import safe
from hypercondense.runtime.estimate import TimeLeft, in_words
from hypercondense.runtime.progress import Progress, silent

_LINE_EVERY = 5.0  # seconds between two plain lines where there is no terminal
_DRAWN_EVERY = 0.2  # seconds between two states of bars in a notebook


@contextmanager
def shown(expected: Mapping[str, float] | None = None) -> Iterator[Progress]:
    """Show on standard error how far the work is, and how long all of it will still take.

    Args:
        expected: What each stage is expected to take, see :class:`TimeLeft`.
    """
    if _in_notebook():
        with _cell(expected) as cell:
            yield cell
        return
    if not sys.stderr.isatty():
        yield _Lines(expected)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars

    bars = _Bars(expected)
    texts = [TextColumn(f"{{task.{what}}}", markup=False) for what in ("description", "fields[figures]")]
    columns = (texts[0], BarColumn(), "{task.percentage:>3.0f}%", bars.column(), texts[1])
    with Bars(*columns, console=Console(stderr=True)) as bars.shown:
        yield bars


@contextmanager
def watched(progress: "Progress | bool | None") -> Iterator[Progress]:
    """What a caller gave as ``progress``: a function, ``True`` for a bar, or nothing."""
    if progress is True:
        with shown() as bar:
            yield bar
    elif progress and not callable(progress):
        raise TypeError(f"progress must be True, or a function that is told, got {progress!r:.40}")
    else:
        yield progress or silent


def _in_notebook() -> bool:
    """Whether this runs in a notebook, whose kernel has another shell than a terminal."""
    interactive = sys.modules.get("IPython")
    shell = interactive.get_ipython() if interactive is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


@contextmanager
def _cell(expected: Mapping[str, float] | None) -> Iterator[Progress]:
    """Bars in the output of a cell."""
    ipython: Any = import_module("IPython.display")
    output = ipython.display(ipython.HTML(""), display_id=True)
    bars = _CellBars(expected, lambda text: output.update(ipython.HTML(text)))
    try:
        yield bars
    finally:
        bars.draw()


class _CellBars:
    """A bar per stage as HTML: it needs no widgets, and stays where a notebook is saved.

    Args:
        expected: What each stage is expected to take.
        show: Puts a text of HTML in the place of the one before.
    """

    def __init__(self, expected: Mapping[str, float] | None, show: Callable[[str], object]) -> None:
        self.left = TimeLeft(expected, now=time.monotonic)
        self.show = show
        self.rows: dict[str, tuple[int, int, str]] = {}
        self.latest = ""
        self.drawn = float("-inf")

    def expect(self, seconds: Mapping[str, float]) -> None:
        self.left.expect(seconds)

    def __call__(self, stage: str, done: int, total: int, /, **figures: float) -> None:
        self.left.told(stage, done, total)
        self.rows[stage] = (done, total, _figures(figures))
        self.latest = stage
        if self.left.last - self.drawn >= _DRAWN_EVERY:
            self.draw()

    def draw(self) -> None:
        """Show how far everything is now."""
        self.drawn = self.left.last
        seconds = self.left.seconds()
        rows = ""
        for stage, (done, total, figures) in self.rows.items():
            goes_on = stage == self.latest and done < total
            left = f"{in_words(seconds)} left" if goes_on and seconds is not None else ""
            name = escape(safe(stage))
            rows += (
                f'<tr><td style="text-align:left">{name}</td>'
                f'<td><progress value="{done}" max="{max(1, total)}" aria-label="{name}"></progress></td>'
                f"<td>{done}/{total}</td><td>{left}</td>"
                f'<td style="text-align:left">{escape(safe(figures))}</td></tr>'
            )
        self.show(f"<table>{rows}</table>")


class _Bars:
    """One bar per stage; that which moved last tells the time left of everything."""

    def __init__(self, expected: Mapping[str, float] | None) -> None:
        self.left = TimeLeft(expected)
        self.shown: Any = None
        self.tasks: dict[str, Any] = {}
        self.latest: Any = None

    def column(self) -> Any:
        """The time left, in the bar that moved last."""
        from rich.progress import ProgressColumn
        from rich.text import Text

        class Left(ProgressColumn):
            def render(column, task: Any) -> Text:
                seconds = self.left.seconds() if task.id == self.latest else None
                return Text("" if seconds is None else f"{in_words(seconds)} left")

        return Left()

    def expect(self, seconds: Mapping[str, float]) -> None:
        self.left.expect(seconds)

    def __call__(self, stage: str, done: int, total: int, /, **figures: float) -> None:
        self.left.told(stage, done, total)
        if stage not in self.tasks:
            self.tasks[stage] = self.shown.add_task(safe(stage), figures="")
        self.latest = self.tasks[stage]
        self.shown.update(self.latest, completed=done, total=total, figures=_figures(figures))


class _Lines:
    """A line every few seconds, and none for work that is over before the first."""

    def __init__(self, expected: Mapping[str, float] | None) -> None:
        self.left = TimeLeft(expected, now=time.monotonic)
        self.last = time.monotonic()

    def expect(self, seconds: Mapping[str, float]) -> None:
        self.left.expect(seconds)

    def __call__(self, stage: str, done: int, total: int, /, **figures: float) -> None:
        self.left.told(stage, done, total)
        now = self.left.last
        if now - self.last < _LINE_EVERY:
            return
        self.last = now
        seconds = self.left.seconds()
        left = f", about {in_words(seconds)} left" if seconds is not None and done else ""
        told = f": {_figures(figures)}" if figures else ""
        sys.stderr.write(safe(f"{stage} {done}/{total}{left}{told}") + "\n")


def _figures(figures: Mapping[str, float]) -> str:
    return " ".join(f"{name} {value:.4g}" for name, value in figures.items())
