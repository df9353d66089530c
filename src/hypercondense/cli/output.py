"""What people see: notes, tables, progress. JSON goes to standard output, messages to standard error."""

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from hypercondense.runtime.progress import Progress as Report
from hypercondense.runtime.progress import silent

_LINE_EVERY = 5.0  # seconds between two plain lines where there is no terminal


def print_json(value: Any) -> None:
    """Put exactly one JSON value on standard output."""
    escape = not (sys.stdout.encoding or "").lower().startswith("utf")
    sys.stdout.write(json.dumps(value, ensure_ascii=escape, allow_nan=False) + "\n")


def note(message: str, *, quiet: bool = False) -> None:
    """Say something on standard error."""
    if not quiet:
        sys.stderr.write(f"{message}\n")


def warn(message: str) -> None:
    """Say something that must not be missed, even with --quiet."""
    sys.stderr.write(f"warning: {message}\n")


def print_table(
    rows: Sequence[Mapping[str, Any]], *, title: str | None = None, right: Sequence[str] = ()
) -> None:
    """Show rows as a table on standard output; columns are the keys of the first row."""
    columns = list(rows[0]) if rows else []
    table = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(str(row[column]) for column in columns))
    console = Console()
    if not console.is_terminal:
        console = Console(width=max(100, console.width))
    console.print(table)


def print_facts(facts: Mapping[str, Any]) -> None:
    """Show names and values, aligned, on standard output."""
    width = max(len(name) for name in facts)
    for name, value in facts.items():
        sys.stdout.write(f"{name:<{width}}  {value}\n")


@contextmanager
def progress(*, quiet: bool) -> Iterator[Report]:
    """A bar with the time left on a terminal, plain lines elsewhere, nothing if quiet."""
    if quiet:
        yield silent
    elif sys.stderr.isatty():
        columns = ("{task.description}", BarColumn(), "{task.percentage:>3.0f}%", TimeRemainingColumn())
        with Progress(*columns, TextColumn("{task.fields[figures]}"), console=Console(stderr=True)) as bars:
            yield _Bars(bars)
    else:
        yield _Lines()


class _Bars:
    """One bar per stage."""

    def __init__(self, bars: Progress) -> None:
        self.bars = bars
        self.tasks: dict[str, TaskID] = {}

    def __call__(self, stage: str, done: int, total: int, /, **figures: float) -> None:
        if stage not in self.tasks:
            self.tasks[stage] = self.bars.add_task(stage, figures="")
        self.bars.update(self.tasks[stage], completed=done, total=total, figures=_figures(figures))


class _Lines:
    """A line every few seconds, and none for work that is over before the first."""

    def __init__(self) -> None:
        self.began: dict[str, tuple[float, int]] = {}
        self.last = time.monotonic()

    def __call__(self, stage: str, done: int, total: int, /, **figures: float) -> None:
        now = time.monotonic()
        began, before = self.began.setdefault(stage, (now, done))
        if now - self.last < _LINE_EVERY:
            return
        self.last = now
        left = (
            f", about {(now - began) * (total - done) / (done - before):.0f} s left" if done > before else ""
        )
        note(f"{stage} {done}/{total}{left} {_figures(figures)}".rstrip())


def _figures(figures: Mapping[str, float]) -> str:
    return " ".join(f"{name} {value:.4g}" for name, value in figures.items())
