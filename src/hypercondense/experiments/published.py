"""Published figures of a plan, to put beside ours."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from msgspec import Meta

from hypercondense.experiments.axes import AXES, Axis, Quantity
from hypercondense.experiments.settings import Ratio
from hypercondense.typed import CountOrZero, Value

_FIGURE = re.compile(r"(-?\d+(?:\.\d+)?)(?:\s*±\s*(\d+(?:\.\d+)?))?")


@dataclass(frozen=True)
class PublishedFigure:
    """A published mean with its deviation, or a word such as OOM where there is no number."""

    text: str
    mean: float | None = None
    std: float | None = None

    @classmethod
    def of(cls, text: str) -> "PublishedFigure":
        """The figure that is written like ``76.48 ± 1.58``."""
        found = _FIGURE.fullmatch(text.strip())
        if found is None:
            return cls(text)
        return cls(text, float(found[1]), None if found[2] is None else float(found[2]))


class Row(Value, kw_only=True):
    """Figures that share coordinates: ``{ dataset = "cora", values = { random = "43.99 ± 2.76" } }``."""

    dataset: str | None = None
    ratio: Ratio | None = None
    variant: str | None = None
    model: str | None = None
    task: str | None = None
    quantity: Quantity | None = None
    values: Mapping[str, Annotated[str, Meta(examples=["76.48 ± 1.58"])]]

    @property
    def coordinates(self) -> dict[str, str]:
        """The coordinates it names, as texts."""
        given = {axis: getattr(self, axis) for axis in AXES}
        return {axis: str(value) for axis, value in given.items() if value is not None}


class Published(Value, dict=True):
    """All published figures: rows, whose values lie along one more axis.

    Coordinates that an entry does not name match everything. ``runs`` is the number of trainings behind
    every figure, for Welch's test.
    """

    runs: CountOrZero = 0
    label: str = "paper"
    along: Axis = "variant"
    rows: tuple[Row, ...] = ()

    @cached_property
    def entries(self) -> tuple[tuple[dict[str, str], PublishedFigure], ...]:
        """Every figure with its coordinates."""
        return tuple(
            ({**row.coordinates, self.along: name}, PublishedFigure.of(text))
            for row in self.rows
            for name, text in row.values.items()
        )

    def at(self, coordinates: dict[str, str]) -> PublishedFigure | None:
        """The figure of a cell."""
        for given, figure in self.entries:
            if all(coordinates.get(axis) == value for axis, value in given.items()):
                return figure
        return None

    def check_names(self, **allowed: Collection[str]) -> None:
        """Refuse coordinates that are not among those of their axis."""
        for place, row in enumerate(self.rows):
            for name in row.values:
                for axis, value in {**row.coordinates, self.along: name}.items():
                    if value not in allowed.get(axis, (value,)):
                        names = ", ".join(allowed[axis])
                        where = f"published.rows[{place}]"
                        raise ValueError(f"{where}: {axis} {value!r} is not in this plan: {names}")
