"""What people see: notes, tables, progress. JSON goes to standard output, messages to standard error."""

import json
import logging
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.cells import cell_len

from hypercondense.errors import safe
from hypercondense.runtime.bars import shown
from hypercondense.runtime.progress import Progress as Report
from hypercondense.runtime.progress import silent

_GAP = "  "  # between two columns
_LEAST = 10  # letters a column of text keeps


def print_json(value: Any) -> None:
    """Put exactly one JSON value on standard output."""
    escape = not (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(value, ensure_ascii=escape, allow_nan=False)
    sys.stdout.write("".join(map(_json_letter, text)) if not text.isprintable() else text)
    sys.stdout.write("\n")


def _json_letter(letter: str) -> str:
    """A letter, or its number where JSON would show it as it is and :func:`safe` would not."""
    return letter if safe(letter) == letter else json.dumps(letter)[1:-1]


def write(text: str) -> None:
    """Put text of one or more lines on standard output."""
    sys.stdout.write(safe(text, keep="\n"))


def show_logs() -> None:
    """Show what the library logs, as :func:`warn` would."""
    log = logging.getLogger("hypercondense")
    if not any(isinstance(handler, _Warnings) for handler in log.handlers):
        log.addHandler(_Warnings())


class _Warnings(logging.Handler):
    """Lines on standard error, whatever that is at the moment."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            warn(record.getMessage())


def note(message: str, *, quiet: bool = False) -> None:
    """Say something on standard error."""
    if not quiet:
        sys.stderr.write(f"{safe(message)}\n")


def answer(message: str) -> None:
    """A line of the answer that was asked for, on standard output: --quiet does not hide it."""
    sys.stdout.write(f"{safe(message)}\n")


def warn(message: str) -> None:
    """Say something that must not be missed, even with --quiet."""
    sys.stderr.write(f"warning: {safe(message)}\n")


def print_table(
    rows: Sequence[Mapping[str, Any]], *, title: str | None = None, right: Sequence[str] = ()
) -> None:
    """Show rows as aligned columns on standard output; columns are the keys of the first row."""
    sys.stdout.write(table_text(rows, title=title, right=right, width=terminal_width()))


def terminal_width() -> int | None:
    """Letters in a line of the terminal that standard output is, or ``None``."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def table_text(
    rows: Sequence[Mapping[str, Any]],
    *,
    title: str | None = None,
    right: Sequence[str] = (),
    width: int | None = None,
) -> str:
    """Rows as aligned columns under a header, without boxes.

    Args:
        rows: Their keys are the columns; a row may lack some.
        title: A line above.
        right: Columns of numbers, which are aligned to the right and never wrapped.
        width: Letters in a line of the terminal, ``None`` where there is none: then nothing is wrapped. In a
            narrow terminal texts are wrapped between words; a word that is wider than its column is cut.

    >>> print(table_text([{"name": "cora", "nodes": "2,708"}], right=["nodes"]), end="")
    name  nodes
    cora  2,708
    """
    rows = [{safe(name): safe(str(value)) for name, value in row.items()} for row in rows]
    right = [safe(name) for name in right]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    cells = {column: [row.get(column, "") for row in rows] for column in columns}
    widths = {column: max(map(cell_len, [column, *cells[column]])) for column in columns}
    if width is not None:
        _narrow(widths, [column for column in columns if column not in right], width)
    lines = [] if title is None else [safe(title)]
    lines += _line({column: column for column in columns}, widths, right)
    for number in range(len(rows)):
        lines += _line({column: cells[column][number] for column in columns}, widths, right)
    return "".join(f"{line}\n" for line in lines)


def _narrow(widths: dict[str, int], flexible: Sequence[str], width: int) -> None:
    """Take from the widest columns of text until a line fits, or no column can give more."""
    gaps = len(_GAP) * (len(widths) - 1)
    while sum(widths.values()) + gaps > width:
        able = [column for column in flexible if widths[column] > max(_LEAST, cell_len(column))]
        if not able:
            return
        widths[max(able, key=lambda column: widths[column])] -= 1


def _line(cells: Mapping[str, str], widths: Mapping[str, int], right: Sequence[str]) -> list[str]:
    """The lines of one row: several where a text is wrapped."""
    wrapped = {column: _wrapped(text, widths[column]) for column, text in cells.items()}
    lines = []
    for number in range(max(map(len, wrapped.values()), default=0)):
        parts = []
        for column, texts in wrapped.items():
            text = texts[number] if number < len(texts) else ""
            blanks = " " * (widths[column] - cell_len(text))
            parts.append(blanks + text if column in right else text + blanks)
        lines.append(_GAP.join(parts).rstrip())
    return lines


def _wrapped(text: str, width: int) -> list[str]:
    if cell_len(text) <= width:
        return [text]
    words = [
        word if len(word) <= width else f"{word[: width // 2]}…{word[-(width - 1 - width // 2) :]}"
        for word in text.split()
    ]
    return textwrap.wrap(" ".join(words), width, break_long_words=False, break_on_hyphens=False) or [""]


def spread(mean: float, std: float, runs: int) -> str:
    """A mean in percent with its deviation, which one run does not have.

    >>> spread(0.5, 0.01, 3), spread(0.5, 0.0, 1)
    ('50.00% ± 1.00%', '50.00%')
    """
    return f"{mean:.2%} ± {std:.2%}" if runs > 1 else f"{mean:.2%}"


def print_facts(facts: Mapping[str, Any]) -> None:
    """Show names and values, aligned, on standard output."""
    width = max(len(name) for name in facts)
    for name, value in facts.items():
        sys.stdout.write(f"{name:<{width}}  {safe(str(value))}\n")


@contextmanager
def progress(*, quiet: bool, expected: Mapping[str, float] | None = None) -> Iterator[Report]:
    """A bar with the time left on a terminal, plain lines elsewhere, nothing if quiet."""
    if quiet:
        yield silent
        return
    with shown(expected) as report:
        yield report
