"""The cells of a table: means of lines beside published figures. Pure functions of a plan and lines."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hypercondense.errors import ConfigError
from hypercondense.evaluation import Spread
from hypercondense.experiments.line import Line
from hypercondense.experiments.plan import Place, Plan
from hypercondense.experiments.published import PublishedFigure
from hypercondense.experiments.settings import WHOLE, is_same

SIGNIFICANT = 0.05  # level of Welch's test


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One quantity at one place: ours, and what was published.

    ``count`` of ``expected`` values are there; scores are in percent, memory in MB. ``p_value`` is that of
    Welch's test of ours against the published mean.
    """

    place: Place
    quantity: str
    values: tuple[float, ...] = ()
    expected: int = 0
    lines: tuple[Line, ...] = ()
    published: PublishedFigure | None = None
    p_value: float | None = None
    best: bool = False

    @property
    def spread(self) -> Spread | None:
        """Mean and deviation of a sample; ``None`` where nothing was run."""
        return Spread.of(self.values) if self.values else None

    @property
    def difference(self) -> float | None:
        """Our mean minus the published one."""
        if self.spread is None or self.published is None or self.published.mean is None:
            return None
        return self.spread.mean - self.published.mean

    @property
    def coordinates(self) -> dict[str, str]:
        """Where it is, as published figures name places."""
        return {**{axis: str(value) for axis, value in vars(self.place).items()}, "quantity": self.quantity}


def make_cells(plan: Plan, lines: Sequence[Line], quantities: Iterable[str]) -> list[Cell]:
    """All cells of a plan.

    Raises:
        ConfigError: Lines of two versions, sources or splits would be averaged.
    """
    by_core: dict[str, list[Line]] = {}
    for line in lines:
        if not line.failed:
            by_core.setdefault(line.settings.core, []).append(line)
    cells = []
    for place in plan.places(planned=False):
        found, expected = _lines_at(plan, place, by_core) if plan.is_planned(place) else ((), 0)
        made = [_cell(plan, place, quantity, found, expected) for quantity in quantities]
        cells += [cell for cell in made if plan.is_planned(place) or cell.published]
    _check_sources(cells)
    best = _best(plan, cells)
    return [replace(cell, best=number in best) for number, cell in enumerate(cells)]


def _lines_at(plan: Plan, place: Place, by_core: dict[str, list[Line]]) -> tuple[tuple[Line, ...], int]:
    """The line of every run of a cell that is there, and how many trainings were planned."""
    defaults = plan.variants[place.variant].defaults
    wanted = plan.settings_at(place)
    same = [
        [line for line in by_core.get(run.core, ()) if is_same(line.settings, run, defaults)]
        for run in wanted
    ]
    check_mixture([line for group in same for line in group], str(vars(place)))
    return tuple(group[-1] for group in same if group), sum(run.runs for run in wanted)


def check_mixture(lines: Sequence[Line], where: str) -> None:
    """Refuse to average lines of two versions, sources, or splits of one seed."""
    _refuse(lines, where, "versions of hypercondense", [line.result.version for line in lines])
    _refuse(lines, where, "sources", [line.result.source_digest[:12] for line in lines])
    for seed in {line.settings.split_seed for line in lines}:
        same = [line for line in lines if line.settings.split_seed == seed]
        _refuse(same, where, "splits", [line.result.split_digest[:12] for line in same])


def _refuse(lines: Sequence[Line], where: str, what: str, found: Sequence[str]) -> None:
    kinds = dict.fromkeys(found)
    if len(kinds) < 2:
        return
    places = {
        kind: [line.where for line, other in zip(lines, found, strict=True) if other == kind]
        for kind in kinds
    }
    shown = "; ".join(f"{kind} in {', '.join(some[:5])}" for kind, some in places.items())
    raise ConfigError(
        f"two {what} would be averaged at {where} ({shown}); remove the lines of one of them, "
        "or keep them in files of their own"
    )


def _check_sources(cells: Sequence[Cell]) -> None:
    """Cells of one data set stand beside each other: they must be of one source."""
    for dataset in dict.fromkeys(cell.place.dataset for cell in cells):
        lines = {line.number: line for cell in cells if cell.place.dataset == dataset for line in cell.lines}
        digests = [line.result.source_digest[:12] for line in lines.values()]
        _refuse(list(lines.values()), dataset, "sources", digests)


def _cell(plan: Plan, place: Place, quantity: str, lines: tuple[Line, ...], expected: int) -> Cell:
    bare = Cell(place=place, quantity=quantity)
    published = plan.published.at(bare.coordinates)
    whole = plan.variants[place.variant].method == WHOLE
    if quantity in ("seconds", "memory") and whole:
        return replace(bare, published=published)  # nothing was condensed
    values = tuple(value for line in lines for value in _values(line, quantity))
    if quantity != "score" and expected:
        expected = len(plan.settings_at(place))
    p_value = welch(values, published, plan.published.runs) if published else None
    return replace(bare, values=values, expected=expected, lines=lines, published=published, p_value=p_value)


def _values(line: Line, quantity: str) -> list[float]:
    result = line.result
    if quantity == "score":
        return [100 * value for value in result.values]
    if quantity == "seconds":
        return [result.condense_seconds]
    if quantity == "memory":
        return [] if result.peak_memory_mb is None else [result.peak_memory_mb]
    return [result.train_seconds / line.settings.runs]


def welch(values: Sequence[float], published: PublishedFigure, runs: int) -> float | None:
    """The p-value of Welch's t-test of values against a published mean, deviation and number of runs.

    Trainings count as independent, which those of one condensation are not quite.
    """
    from scipy.stats import ttest_ind_from_stats

    if len(values) < 2 or runs < 2 or published.mean is None or published.std is None:
        return None
    ours = Spread.of(values)
    if ours.std == 0 and published.std == 0:
        return None
    p_value = ttest_ind_from_stats(
        ours.mean, ours.std, len(values), published.mean, published.std, runs, equal_var=False
    ).pvalue
    return None if math.isnan(p_value) else float(p_value)


def _best(plan: Plan, cells: Sequence[Cell]) -> set[int]:
    """Positions of the best of the variants that compete at each place, by what is shown of them."""
    groups: dict[tuple[str, ...], dict[int, float]] = {}
    for number, cell in enumerate(cells):
        if cell.spread is not None and not plan.variants[cell.place.variant].reference:
            rest = {axis: value for axis, value in cell.coordinates.items() if axis != "variant"}
            groups.setdefault(tuple(rest.values()), {})[number] = round(cell.spread.mean, 2)
    best: set[int] = set()
    for means in groups.values():
        quantity = cells[min(means)].quantity
        top = max(means.values()) if quantity == "score" else min(means.values())
        if len(means) > 1:
            best |= {number for number, mean in means.items() if mean == top}
    return best
