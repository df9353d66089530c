"""Cells arranged in tables: sections, rows and columns as a plan's layout says."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from hypercondense.errors import ConfigError
from hypercondense.experiments.axes import AXES
from hypercondense.experiments.cells import SIGNIFICANT, Cell, make_cells
from hypercondense.experiments.labels import HEADERS, QUANTITY_LABELS, label_of
from hypercondense.experiments.layout import Layout
from hypercondense.experiments.line import Line
from hypercondense.experiments.notes import notes_of
from hypercondense.experiments.plan import Plan

MISSING = "—"


@dataclass(frozen=True)
class Text:
    """What stands in one place of a table."""

    text: str
    bold: bool = False


@dataclass(frozen=True)
class Grid:
    """A table of texts: the first ``labels`` columns name the row."""

    title: str
    labels: int
    header: tuple[str, ...]
    rows: tuple[tuple[Text, ...], ...]


@dataclass(frozen=True)
class Report:
    """All tables of a plan, and what a reader must know."""

    title: str
    grids: tuple[Grid, ...]
    notes: tuple[str, ...]
    cells: tuple[Cell, ...] = field(repr=False, default=())


def make_report(plan: Plan, lines: Sequence[Line], layout: str = "table") -> Report:
    """The tables of a plan from the lines of a results file."""
    shown = plan.layouts[layout]
    cells = [cell for cell in make_cells(plan, lines, shown.quantities) if _is_shown(cell, shown)]
    _check_one_each(_grouped(plan, cells, (*shown.sections, *shown.rows, *shown.columns)), shown)
    begun = any(cell.values for cell in cells)
    sections = _grouped(plan, cells, shown.sections)
    grids = [
        _grid(plan, shown, key, group, begun=begun)
        for key, group in sections.items()
        if _is_there(group, begun=begun)
    ]
    title = f"{plan.title} ({plan.paper})" if plan.paper else plan.title
    return Report(title, tuple(grids), tuple(notes_of(plan, cells)), tuple(cells))


def _is_shown(cell: Cell, layout: Layout) -> bool:
    place = cell.place
    if layout.datasets is not None and place.ratio not in layout.datasets.get(place.dataset, ()):
        return False
    return layout.variants is None or place.variant in layout.variants


def _is_there(cells: Sequence[Cell | None], *, begun: bool) -> bool:
    """Whether a section, row or column has something to show: a run; before the first, a published figure."""
    return any(cell and (cell.values or (not begun and cell.published)) for cell in cells)


def _grouped(plan: Plan, cells: Sequence[Cell], axes: Sequence[str]) -> dict[tuple[str, ...], list[Cell]]:
    """Cells by their values of some axes, in the order of the plan."""
    orders = {
        "dataset": list(plan.datasets),
        "variant": list(plan.variants),
        "model": list(plan.models),
        "task": list(plan.tasks),
        "ratio": [str(ratio) for ratio in sorted({cell.place.ratio for cell in cells})],
        "quantity": list(QUANTITY_LABELS),
    }
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for cell in cells:
        groups.setdefault(tuple(cell.coordinates[axis] for axis in axes), []).append(cell)
    return dict(
        sorted(
            groups.items(),
            key=lambda item: [orders[axis].index(value) for axis, value in zip(axes, item[0], strict=True)],
        )
    )


def _labels(plan: Plan, axes: Sequence[str], values: Sequence[str]) -> list[str]:
    return [label_of(plan, axis, value) for axis, value in zip(axes, values, strict=True)]


def _grid(plan: Plan, layout: Layout, section: tuple[str, ...], cells: list[Cell], *, begun: bool) -> Grid:
    columns = [
        key for key, group in _grouped(plan, cells, layout.columns).items() if _is_there(group, begun=begun)
    ]
    names = [", ".join(_labels(plan, layout.columns, key)) or "ours" for key in columns]
    rows = []
    for key, group in _grouped(plan, cells, layout.rows).items():
        by_column = _grouped(plan, group, layout.columns)
        own = [by_column[column][0] if column in by_column else None for column in columns]
        if _is_there(own, begun=begun):
            rows.append((_labels(plan, layout.rows, key), own))
    title = ", ".join(_labels(plan, layout.sections, section))
    header = [HEADERS[axis] for axis in layout.rows]
    return _arranged(title, header, names, rows, layout, label=plan.published.label)


def _check_one_each(groups: dict[tuple[str, ...], list[Cell]], layout: Layout) -> None:
    for group in groups.values():
        if len(group) > 1:
            named = (*layout.sections, *layout.rows, *layout.columns)
            free = [
                axis
                for axis in AXES
                if axis not in named and len({cell.coordinates[axis] for cell in group}) > 1
            ]
            raise ConfigError(
                f"several {' and '.join(free)}s fall into one cell; name {', '.join(free)} among the "
                "sections, rows or columns of the layout"
            )


_Rows = Sequence[tuple[list[str], list[Cell | None]]]


def _arranged(
    title: str, header: list[str], names: list[str], rows: _Rows, layout: Layout, *, label: str
) -> Grid:
    """Published figures and differences in columns of their own, or in rows where there are many columns."""
    compared = [
        any(_compared(cell, layout) for cell in column)
        for column in zip(*(cells for _, cells in rows), strict=True)
    ]
    averages = ["average", "spread"] if layout.average else []
    if len(names) + len(averages) <= 3 or layout.paper is not None:
        paired = zip(names, compared, strict=True)
        wide = [part for name, more in paired for part in ([name, label, "difference"] if more else [name])]
        texts = [
            _texts(labels)
            + [
                text
                for cell, more in zip(cells, compared, strict=True)
                for text in _three(cell, layout, more)
            ]
            for labels, cells in rows
        ]
        return Grid(title, len(header), (*header, *wide), tuple(map(tuple, texts)))
    deep = [line for labels, cells in rows for line in _three_rows(labels, cells, layout, label)]
    extra = [""] if any(compared) else []
    if not extra:
        deep = [line[: len(header)] + line[len(header) + 1 :] for line in deep]
    return Grid(
        title, len(header) + len(extra), (*header, *extra, *names, *averages), tuple(map(tuple, deep))
    )


def _compared(cell: Cell | None, layout: Layout) -> bool:
    if cell is None or cell.published is None:
        return False
    return layout.paper is None or cell.place.variant in layout.paper


def _texts(labels: Sequence[str]) -> list[Text]:
    return [Text(label) for label in labels]


def _three(cell: Cell | None, layout: Layout, more: bool) -> list[Text]:
    """Ours and, where a column shows them, the published figure and the difference."""
    if not more:
        return [ours(cell)]
    if cell is None or not _compared(cell, layout):
        return [ours(cell), Text(""), Text("")]
    return [ours(cell), published(cell), difference(cell)]


def _three_rows(labels: list[str], cells: list[Cell | None], layout: Layout, label: str) -> list[list[Text]]:
    """A row of ours and, where there are published figures, a row of them and one of differences."""
    means = [cell.spread.mean if cell and cell.spread else None for cell in cells]
    rows = [[*_texts(labels), Text("ours"), *map(ours, cells), *_average(means, layout)]]
    if any(_compared(cell, layout) for cell in cells):
        blank = _texts([""] * len(labels))
        theirs = [cell.published.mean if cell and cell.published else None for cell in cells]
        rows.append([*blank, Text(label), *map(published, cells), *_average(theirs, layout)])
        gaps = [Text("")] * 2 if layout.average else []
        rows.append([*blank, Text("difference"), *map(difference, cells), *gaps])
    return rows


def _average(means: Sequence[float | None], layout: Layout) -> list[Text]:
    """Mean and deviation of means, if all are there; as in the paper, of a population, not of a sample."""
    if not layout.average:
        return []
    known = [mean for mean in means if mean is not None]
    if len(known) < len(means):
        return [Text(MISSING)] * 2
    return [Text(f"{statistics.fmean(known):.2f}"), Text(f"{statistics.pstdev(known):.2f}")]


def ours(cell: Cell | None) -> Text:
    """Our mean and deviation, and how many of the planned values there are if not all."""
    if cell is None:
        return Text("")
    spread = cell.spread
    if spread is None:
        return Text(MISSING if cell.expected else "")
    deviation = f" ± {spread.std:.2f}" if len(cell.values) > 1 else ""
    partly = f" [{len(cell.values)} of {cell.expected}]" if len(cell.values) < cell.expected else ""
    return Text(f"{spread.mean:.2f}{deviation}{partly}", cell.best)


def published(cell: Cell | None) -> Text:
    """The published figure as it is."""
    return Text("" if cell is None or cell.published is None else cell.published.text)


def difference(cell: Cell | None) -> Text:
    """Ours minus published, with a star where Welch's test finds it significant."""
    if cell is None or cell.difference is None:
        return Text("")
    star = "*" if cell.p_value is not None and cell.p_value < SIGNIFICANT else ""
    return Text(f"{cell.difference:+.2f}{star}")
