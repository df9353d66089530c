"""How a plan wants its runs shown: the axes of its tables, and its figure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypercondense.experiments.published import QUANTITIES
from hypercondense.experiments.toml_reader import Table

AXES = ("dataset", "ratio", "variant", "model", "task", "quantity")
KINDS = ("ratio", "sweep", "bars", "size")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """A table per combination of ``sections``, with these rows and columns.

    Axes that are named nowhere have one value only. ``datasets`` and ``variants`` restrict what is shown;
    ``paper`` says for which variants the published figure and the difference are shown.
    """

    sections: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    quantities: tuple[str, ...]
    datasets: Mapping[str, tuple[float, ...]] | None = None
    variants: tuple[str, ...] | None = None
    paper: tuple[str, ...] | None = None
    average: bool = False


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of a plan.

    ``kind`` is ``ratio`` (score against ratio), ``sweep`` (score against the option ``option``), ``bars``
    (variants side by side) or ``size`` (seconds and memory against the incidences of the source).
    """

    kind: str
    variants: tuple[str, ...]
    option: str = ""
    label: str = ""


def read_layouts(
    plan: Table, datasets: Mapping[str, Any], variants: Collection[str], *, ordinary_rows: Sequence[str]
) -> dict[str, Layout]:
    """The layouts ``table`` (how the plan is shown) and, if there is one, ``readme``."""
    wanted = {"table": "layout", "readme": "readme"}
    return {
        name: _layout(plan.table(key), datasets, variants, ordinary_rows)
        for name, key in wanted.items()
        if name == "table" or key in plan.content
    }


def _layout(
    table: Table, datasets: Mapping[str, Any], variants: Collection[str], ordinary_rows: Sequence[str]
) -> Layout:
    table.allow(("sections", "rows", "columns", "quantities", "datasets", "variants", "paper", "average"))
    layout = Layout(
        sections=table.items_of("sections", str, ("dataset",)),
        rows=table.items_of("rows", str, ordinary_rows),
        columns=table.items_of("columns", str, ("ratio",)),
        quantities=table.items_of("quantities", str, ("score",)),
        datasets=_ratios(table, datasets),
        variants=_names(table, "variants", variants),
        paper=_names(table, "paper", variants),
        average=table.get("average", bool, False),
    )
    axes = (*layout.sections, *layout.rows, *layout.columns)
    for axis in axes:
        if axis not in AXES:
            raise table.error(f"unknown axis {axis!r}; the axes are {', '.join(AXES)}")
    if len(set(axes)) < len(axes):
        raise table.error(f"an axis is named twice in {', '.join(axes)}; name each once")
    for quantity in layout.quantities:
        if quantity not in QUANTITIES:
            raise table.error(f"unknown quantity {quantity!r}; there are {', '.join(QUANTITIES)}")
    return layout


def _ratios(table: Table, datasets: Mapping[str, Any]) -> Mapping[str, tuple[float, ...]] | None:
    if "datasets" not in table.content:
        return None
    inner = table.table("datasets").allow(datasets)
    return {key: inner.items_of(key, float) for key in inner.content}


def _names(table: Table, key: str, variants: Collection[str]) -> tuple[str, ...] | None:
    if key not in table.content:
        return None
    names = table.items_of(key, str)
    for name in names:
        if name not in variants:
            raise table.error(
                f"{key} names {name!r}, which is no variant of this plan: {', '.join(variants)}"
            )
    return names


def read_figure(plan: Table, variants: Collection[str]) -> Figure | None:
    """The figure of a plan, if it has one."""
    if "figure" not in plan.content:
        return None
    table = plan.table("figure").allow(("kind", "variants", "option", "label"))
    kind = table.need("kind", str)
    if kind not in KINDS:
        raise table.error(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    return Figure(
        kind=kind,
        variants=_names(table, "variants", variants) or tuple(variants),
        option=table.need("option", str) if kind == "sweep" else "",
        label=table.get("label", str, ""),
    )
