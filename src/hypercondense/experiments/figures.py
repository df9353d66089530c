"""Figures of plans. The same lines give the same bytes with the same version of matplotlib."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypercondense.errors import ConfigError
from hypercondense.experiments.cells import Cell, make_cells
from hypercondense.experiments.labels import METRICS, label_of
from hypercondense.experiments.layout import Figure
from hypercondense.experiments.line import Line
from hypercondense.experiments.plan import Plan
from hypercondense.experiments.settings import WHOLE

# Okabe and Ito's colours can be told apart by colour-blind people; markers and hatches without any colour.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_STROKES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 2)))
_HATCHES = ("", "//", "..", "\\\\", "xx", "--", "oo", "++")
_STYLE = {
    "svg.hashsalt": "hypercondense",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 8,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.constrained_layout.use": True,
}


def draw(plan: Plan, lines: Sequence[Line], paths: Sequence[Path]) -> None:
    """Draw the figure of a plan into files whose names end in ``.svg``, ``.pdf`` or ``.png``.

    Raises:
        ConfigError: The plan has no figure, there is nothing to draw, or a name ends otherwise.
    """
    if plan.figure is None:
        raise ConfigError(f"the plan {plan.name} has no figure; add a table [figure] to it")
    for path in paths:
        if path.suffix not in (".svg", ".pdf", ".png"):
            raise ConfigError(f"a figure is a .svg, .pdf or .png file, got {path.name!r}")
    cells = [cell for cell in make_cells(plan, lines, _QUANTITIES[plan.figure.kind]) if cell.values]
    cells = [cell for cell in cells if cell.place.variant in plan.figure.variants]
    if not cells:
        raise ConfigError(f"no run of the plan {plan.name} is in the results, so there is nothing to draw")
    with _canvas() as pyplot:
        figure = _KINDS[plan.figure.kind](pyplot, plan, plan.figure, cells)
        for path in paths:
            _save(figure, path)


@contextmanager
def _canvas() -> Iterator[Any]:
    """Matplotlib with our style and without a screen; afterwards everything is as it was."""
    import matplotlib as mpl
    from matplotlib import pyplot

    before = mpl.get_backend()
    pyplot.switch_backend("Agg")
    try:
        with mpl.rc_context(_STYLE):
            yield pyplot
    finally:
        pyplot.close("all")
        pyplot.switch_backend(before)


def _save(figure: Any, path: Path) -> None:
    from hypercondense.files.storage import replaced_file

    nothing = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {"Software": None}}
    with replaced_file(path) as draft:
        figure.savefig(draft, format=path.suffix[1:], dpi=150, metadata=nothing[path.suffix])


def _panels(pyplot: Any, count: int, *, width: float = 2.6) -> tuple[Any, list[Any]]:
    """A row of axes, or several of at most three."""
    columns = min(count, 3)
    rows = -(-count // columns)
    size = (max(4.0, width * columns), 2.3 * rows + 0.6)
    figure, grid = pyplot.subplots(rows, columns, figsize=size, squeeze=False)
    axes = list(grid.flat)
    for spare in axes[count:]:
        spare.set_visible(False)
    return figure, axes[:count]


def _by(cells: Sequence[Cell], axis: str) -> dict[str, list[Cell]]:
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.coordinates[axis], []).append(cell)
    return groups


def _look(plan: Plan, variant: str) -> dict[str, Any]:
    """Colour, marker and stroke of a variant: the same in all panels."""
    assert plan.figure is not None
    place = plan.figure.variants.index(variant) % len(_COLOURS)
    return {"color": _COLOURS[place], "marker": _MARKERS[place], "linestyle": _STROKES[place]}


def _curve(axes: Any, horizontal: Sequence[float], cells: Sequence[Cell], **look: Any) -> None:
    spreads = [cell.spread for cell in cells if cell.spread]
    means, deviations = [one.mean for one in spreads], [one.std for one in spreads]
    axes.errorbar(
        horizontal, means, yerr=deviations, capsize=2, markersize=4, linewidth=1, elinewidth=0.6, **look
    )


def _legend(figure: Any, axes: Sequence[Any]) -> None:
    """One legend below all panels."""
    found: dict[str, Any] = {}
    for one in axes:
        handles, labels = one.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    if len(found) > 1:
        columns = min(len(found), max(2, int(figure.get_figwidth() / 1.4)))
        figure.legend(found.values(), found.keys(), loc="outside lower center", ncol=columns, frameon=False)


def _metric(plan: Plan) -> str:
    return f"{' and '.join(METRICS[task] for task in plan.tasks)}, percent"


def _ratio(pyplot: Any, plan: Plan, wanted: Figure, cells: Sequence[Cell]) -> Any:
    """Score against ratio: ours filled, published figures hollow, the whole data as horizontal lines."""
    groups = _by(cells, "dataset")
    figure, panels = _panels(pyplot, len(groups))
    for axes, (dataset, group) in zip(panels, groups.items(), strict=True):
        for variant, own in _by(group, "variant").items():
            if plan.variants[variant].method == WHOLE:
                _whole(axes, own[0])
                continue
            ratios = [100 * cell.place.ratio for cell in own]
            look = _look(plan, variant)
            _curve(axes, ratios, own, label=plan.variants[variant].label, **look)
            _published(axes, plan, own[0], look)
        axes.set_title(plan.datasets[dataset].label)
        axes.set_xscale("log")
        ticks = [100 * ratio for ratio in plan.datasets[dataset].ratios]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_xticks([], minor=True)
        axes.set_xlabel("condensed nodes, % (hollow: paper)")
        axes.set_ylabel(_metric(plan))
    _legend(figure, panels)
    return figure


def _published(axes: Any, plan: Plan, cell: Cell, look: dict[str, Any]) -> None:
    """The published figures of a variant at all ratios, those too that were not run."""
    known = []
    for ratio in plan.datasets[cell.place.dataset].ratios:
        figure = plan.published.at({**cell.coordinates, "ratio": str(ratio)})
        if figure and figure.mean is not None:
            known.append((100 * ratio, figure.mean))
    if known:
        axes.plot(*zip(*known, strict=True), **look, linewidth=0.5, markersize=4, fillstyle="none")


def _whole(axes: Any, cell: Cell) -> None:
    if cell.spread:
        axes.axhline(cell.spread.mean, color="black", linewidth=1, label="whole data")
    if cell.published and cell.published.mean is not None:
        axes.axhline(
            cell.published.mean, color="black", linewidth=1, linestyle=":", label="whole data, paper"
        )


def _sweep(pyplot: Any, plan: Plan, wanted: Figure, cells: Sequence[Cell]) -> Any:
    """Score against an option, a panel for each data set."""
    groups = _by(cells, "dataset")
    figure, panels = _panels(pyplot, len(groups))
    for axes, (dataset, group) in zip(panels, groups.items(), strict=True):
        values = [plan.variants[cell.place.variant].options.get(wanted.option) for cell in group]
        if any(not isinstance(value, int | float) for value in values):
            raise ConfigError(f"the option {wanted.option} of the plan {plan.name} is not a number")
        _curve(axes, [float(value or 0) for value in values], group, color=_COLOURS[0], marker="o")
        axes.set_xticks([float(value or 0) for value in values])
        axes.set_title(
            f"{plan.datasets[dataset].label}, {label_of(plan, 'ratio', str(group[0].place.ratio))}"
        )
        axes.set_xlabel(wanted.label or wanted.option)
        axes.set_ylabel(_metric(plan))
    return figure


def _bars(pyplot: Any, plan: Plan, wanted: Figure, cells: Sequence[Cell]) -> Any:
    """Variants side by side, in groups by network; a black line shows the published figure."""
    groups = _by(cells, "dataset")
    models = [model for model in plan.models if model in _by(cells, "model")]
    variants = [variant for variant in wanted.variants if variant in _by(cells, "variant")]
    figure, panels = _panels(pyplot, len(groups), width=2.6 if len(models) == 1 else 3.6)
    width = 0.8 / len(variants)
    for axes, (dataset, group) in zip(panels, groups.items(), strict=True):
        for cell in group:
            place = variants.index(cell.place.variant)
            middle = models.index(cell.place.model) + (place - (len(variants) - 1) / 2) * width
            label = plan.variants[cell.place.variant].label
            _bar(axes, cell, middle=middle, width=width, place=place, label=label)
        axes.set_title(
            f"{plan.datasets[dataset].label}, {label_of(plan, 'ratio', str(group[0].place.ratio))}"
        )
        axes.set_xticks(range(len(models)), [label_of(plan, "model", model) for model in models])
        axes.set_ylim(*_range(group))
        axes.set_ylabel(_metric(plan))
    _legend(figure, panels)
    return figure


def _bar(axes: Any, cell: Cell, *, middle: float, width: float, place: int, label: str) -> None:
    spread = cell.spread
    assert spread is not None
    axes.bar(
        middle,
        spread.mean,
        width,
        yerr=spread.std,
        capsize=2,
        color=_COLOURS[place % len(_COLOURS)],
        hatch=_HATCHES[place % len(_HATCHES)],
        edgecolor="white",
        error_kw={"elinewidth": 0.6},
        label=label,
    )
    if cell.published and cell.published.mean is not None:
        ends = (middle - width / 2, middle + width / 2)
        axes.plot(ends, [cell.published.mean] * 2, color="black", linewidth=1.5, label="paper")


def _range(cells: Sequence[Cell]) -> tuple[float, float]:
    """Bars that begin at 0 hide differences of a point: begin a little below the lowest."""
    lows, highs = [], []
    for cell in cells:
        if cell.spread:
            lows.append(cell.spread.mean - cell.spread.std)
            highs.append(cell.spread.mean + cell.spread.std)
        if cell.published and cell.published.mean is not None:
            lows.append(cell.published.mean)
            highs.append(cell.published.mean)
    margin = max(0.5, 0.15 * (max(highs) - min(lows)))
    return max(0.0, min(lows) - margin), min(100.0, max(highs) + margin)


def _size(pyplot: Any, plan: Plan, wanted: Figure, cells: Sequence[Cell]) -> Any:
    """Seconds and memory against the incidences of the source, both on log scales."""
    figure, panels = _panels(pyplot, 2, width=3.4)
    labels = {"seconds": "seconds of a condensation", "memory": "peak memory, MB"}
    for axes, quantity in zip(panels, labels, strict=True):
        shown = [cell for cell in cells if cell.quantity == quantity]
        for variant, own in _by(shown, "variant").items():
            sizes = [cell.lines[0].result.num_source_incidences for cell in own]
            _curve(axes, sizes, own, label=plan.variants[variant].label, **_look(plan, variant))
        axes.set_xlabel("incidences of the source, with self-loops")
        axes.set_ylabel(labels[quantity])
    _training(panels[0], [cell for cell in cells if cell.quantity == "training"], plan)
    for axes in panels:
        _logarithmic(axes)
    _legend(figure, panels)
    return figure


def _logarithmic(axes: Any) -> None:
    """Log scales with room around the points, even where there is only one."""
    points = [tuple(point) for curve in axes.lines for point in curve.get_xydata() if min(point) > 0]
    for place, axis in enumerate("xy"):
        values = [point[place] for point in points] or [1.0]
        axes.set(**{f"{axis}lim": (min(values) / 1.5, max(values) * 1.5), f"{axis}scale": "log"})


def _training(axes: Any, cells: Sequence[Cell], plan: Plan) -> None:
    """What a training on the whole source takes, beside the condensations."""
    whole = [cell for cell in cells if plan.variants[cell.place.variant].method == WHOLE]
    if whole:
        sizes = [cell.lines[0].result.num_source_incidences for cell in whole]
        _curve(axes, sizes, whole, label="training on the whole", color="black", marker="x", linestyle=":")


_KINDS: dict[str, Callable[[Any, Plan, Figure, Sequence[Cell]], Any]] = {
    "ratio": _ratio,
    "sweep": _sweep,
    "bars": _bars,
    "size": _size,
}
_QUANTITIES = {
    "ratio": ("score",),
    "sweep": ("score",),
    "bars": ("score",),
    "size": ("seconds", "memory", "training"),
}
