"""Tables as text, markdown, LaTeX and CSV."""

import csv
import io
import textwrap
from collections.abc import Callable, Sequence

from hypercondense.experiments.axes import AXES
from hypercondense.experiments.cells import Cell
from hypercondense.experiments.grid import Report, Text

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "—": "---",
    "λ": r"$\lambda$",
    "<": r"$<$",
    ">": r"$>$",
}
_MARKDOWN = {
    "\\": "\\\\",
    "|": "\\|",
    "*": "\\*",
    "_": "\\_",
    "<": "&lt;",
    "`": "\\`",
    "[": "\\[",
    "]": "\\]",
}


def as_text(report: Report, *, width: int | None = None) -> str:
    """Aligned columns; the best has a > before it, because plain text has no bold.

    A table that is wider than ``width`` is continued below itself, with its first columns again; title and
    notes go on in the next line.
    """
    parts = [_filled(report.title, width)]
    for grid in report.grids:
        cells = [[f"> {text.text}" if text.bold else text.text for text in row] for row in grid.rows]
        table = [list(grid.header), *cells]
        widths = [max(len(row[place]) for row in table) for place in range(len(grid.header))]
        blocks = [
            _block(table, widths, chosen, grid.labels)
            for chosen in _columns(widths, grid.header, grid.labels, width)
        ]
        parts.append("\n".join(([grid.title] if grid.title else []) + ["\n\n".join(blocks)]))
    notes = [note.replace("is bold", "has a > before it") for note in report.notes]
    return "\n\n".join([*parts, "\n".join(_filled(note, width) for note in notes)]).rstrip() + "\n"


def _filled(text: str, width: int | None) -> str:
    """A text in lines that fit; words are not broken."""
    if width is None:
        return text
    return "\n".join(textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False))


def _columns(widths: Sequence[int], header: Sequence[str], labels: int, width: int | None) -> list[list[int]]:
    """Which columns stand beside each other: the labels, and as many groups of others as fit, at least one.

    A column whose name is there more than once (``paper``) belongs to the one before that is not.
    """
    groups: list[list[int]] = []
    for place in range(labels, len(widths)):
        if groups and header.count(header[place]) > 1:
            groups[-1].append(place)
        else:
            groups.append([place])
    first = list(range(labels))
    blocks = [first + groups[0]] if groups else [first]
    for group in groups[1:]:
        joined = blocks[-1] + group
        if width is not None and sum(widths[place] + 2 for place in joined) - 2 > width:
            joined = first + group
            blocks.append(joined)
        blocks[-1] = joined
    return blocks


def _block(table: Sequence[Sequence[str]], widths: Sequence[int], chosen: Sequence[int], labels: int) -> str:
    own = [widths[place] for place in chosen]
    lines = [_aligned([row[place] for place in chosen], own, labels) for row in table]
    lines.insert(1, "  ".join("-" * width for width in own))
    return "\n".join(lines)


def _aligned(row: Sequence[str], widths: Sequence[int], labels: int) -> str:
    texts = [
        text.ljust(width) if place < labels else text.rjust(width)
        for place, (text, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(texts).rstrip()


def as_markdown(report: Report, *, title: bool = True, level: int = 2) -> str:
    """Tables of GitHub's markdown, their title being a heading of a level."""
    marks = "#" * level
    parts = [f"{marks} {_escape(report.title, _MARKDOWN)}"] if title else []
    for grid in report.grids:
        parts += [f"{marks}# {_escape(grid.title, _MARKDOWN)}"] if grid.title else []
        rule = ["---"] * grid.labels + ["--:"] * (len(grid.header) - grid.labels)
        header = [_escape(name, _MARKDOWN) for name in grid.header]
        rows = [[_marked(text, _MARKDOWN, "**{}**") for text in row] for row in grid.rows]
        parts.append("\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows)))
    parts += ["\n".join(_item(note) for note in report.notes)] if report.notes else []
    return "\n\n".join(parts) + "\n"


def _item(note: str) -> str:
    """A note as an entry of a list, in lines that fit a window."""
    text = _escape(note, _MARKDOWN)
    return textwrap.fill(
        text, 100, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def as_latex(report: Report) -> str:
    """One booktabs table per section."""
    parts = []
    for grid in report.grids:
        columns = "l" * grid.labels + "r" * (len(grid.header) - grid.labels)
        header = " & ".join(_escape(name, _LATEX) for name in grid.header)
        rows = [" & ".join(_marked(text, _LATEX, r"\textbf{{{}}}") for text in row) for row in grid.rows]
        caption = ". ".join(_escape(text, _LATEX) for text in (report.title, grid.title) if text)
        body = "\n".join(f"{row} \\\\" for row in rows)
        parts.append(
            "\\begin{table}\n\\centering\n"
            f"\\caption{{{caption}.}}\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n{header} \\\\\n\\midrule\n"
            f"{body}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}"
        )
    notes = "\n".join(f"% {note}" for note in report.notes)
    return "\n\n".join([*parts, notes]).rstrip() + "\n"


def _escape(text: str, special: dict[str, str]) -> str:
    return "".join(special.get(letter, letter) for letter in text)


def _marked(text: Text, special: dict[str, str], bold: str) -> str:
    escaped = _escape(text.text, special)
    return bold.format(escaped) if text.bold and escaped else escaped


def as_csv(report: Report) -> str:
    """One row per cell with all digits, for spreadsheets and scripts."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    numbers = ("mean", "std", "count", "expected", "published_mean", "published_std", "published")
    writer.writerow([*AXES, *numbers, "difference", "p_value", "best"])
    for cell in report.cells:
        writer.writerow([*(cell.coordinates[name] for name in AXES), *_numbers(cell)])
    return out.getvalue()


def _numbers(cell: Cell) -> list[object]:
    spread, published = cell.spread, cell.published
    mean = (spread.mean, spread.std) if spread else (None, None)
    theirs = (published.mean, published.std, published.text) if published else (None, None, None)
    counts = (len(cell.values), cell.expected)
    return [*mean, *counts, *theirs, cell.difference, cell.p_value, int(cell.best)]


FORMATS: dict[str, Callable[[Report], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "latex": as_latex,
    "csv": as_csv,
}
