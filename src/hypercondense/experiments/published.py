"""Published figures of a plan, to put beside ours."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from hypercondense.experiments.toml_reader import Table

AXES = ("dataset", "ratio", "variant", "model", "task", "quantity")
QUANTITIES = ("score", "seconds", "memory", "training")
_FIGURE = re.compile(r"(-?\d+(?:\.\d+)?)(?:\s*±\s*(\d+(?:\.\d+)?))?")


@dataclass(frozen=True)
class PublishedFigure:
    """A published mean with its deviation, or a word such as OOM where there is no number."""

    text: str
    mean: float | None = None
    std: float | None = None


@dataclass(frozen=True)
class Published:
    """All published figures. Coordinates that an entry does not name match everything.

    ``runs`` is the number of trainings behind every figure, for Welch's test.
    """

    runs: int = 0
    label: str = "paper"
    entries: tuple[tuple[dict[str, str], PublishedFigure], ...] = ()

    def at(self, coordinates: dict[str, str]) -> PublishedFigure | None:
        """The figure of a cell."""
        for given, figure in self.entries:
            if all(coordinates.get(axis) == value for axis, value in given.items()):
                return figure
        return None


def read_published(table: Table, datasets: Collection[str], variants: Collection[str]) -> Published:
    """Read the table ``published``: rows with coordinates, and ``values`` along one more axis.

    A row is ``{ dataset = "cora", ratio = 0.01, values = { random = "43.99 ± 2.76" } }``.
    """
    table.allow(("runs", "label", "along", "rows"))
    along = table.get("along", str, "variant")
    if along not in AXES:
        raise table.error(f"along must be one of {', '.join(AXES)}, got {along!r}")
    entries = []
    for place, content in enumerate(table.items_of("rows", dict)):
        row = Table(content, f"{table.where}.rows[{place}]").allow((*AXES, "values"))
        given = {
            axis: str(row.get(axis, float if axis == "ratio" else str)) for axis in AXES if axis in content
        }
        for name, text in row.need("values", dict).items():
            coordinates = {**given, along: name}
            _check_names(row, coordinates, datasets, variants)
            entries.append((coordinates, _figure(row, name, text)))
    return Published(table.get("runs", int, 0), table.get("label", str, "paper"), tuple(entries))


def _check_names(
    row: Table, coordinates: dict[str, str], datasets: Collection[str], variants: Collection[str]
) -> None:
    allowed = {"dataset": datasets, "variant": variants, "quantity": QUANTITIES}
    for axis, names in allowed.items():
        if coordinates.get(axis, next(iter(names))) not in names:
            raise row.error(f"{axis} {coordinates[axis]!r} is not in this plan: {', '.join(names)}")


def _figure(row: Table, name: str, text: object) -> PublishedFigure:
    if not isinstance(text, str):
        raise row.error(f'the figure of {name} must be a text such as "76.48 ± 1.58", got {text!r}')
    found = _FIGURE.fullmatch(text.strip())
    if found is None:
        return PublishedFigure(text)
    return PublishedFigure(text, float(found[1]), None if found[2] is None else float(found[2]))
