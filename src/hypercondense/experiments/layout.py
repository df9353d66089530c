"""How a plan wants its runs shown: the axes of its tables, and its figure."""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from hypercondense.experiments.axes import Axis, Quantity
from hypercondense.experiments.settings import Ratio
from hypercondense.typed import Value


class _Shown(Value):
    """A table per combination of ``sections``, with these columns, and rows that are named below.

    Axes that are named nowhere have one value only. ``datasets`` and ``variants`` restrict what is shown;
    ``paper`` says for which variants the published figure and the difference are shown.
    """

    sections: tuple[Axis, ...] = ("dataset",)
    columns: tuple[Axis, ...] = ("ratio",)
    quantities: tuple[Quantity, ...] = ("score",)
    datasets: Mapping[str, tuple[Ratio, ...]] | None = None
    variants: tuple[str, ...] | None = None
    paper: tuple[str, ...] | None = None
    average: bool = False


class Layout(_Shown):
    """A table per combination of ``sections``, with these rows and columns, none of them twice."""

    rows: tuple[Axis, ...] = ("variant",)

    def __post_init__(self) -> None:
        super().__post_init__()
        axes = (*self.sections, *self.rows, *self.columns)
        if len(set(axes)) < len(axes):
            raise ValueError(f"an axis is named twice in {', '.join(axes)}; name each once")


class LayoutTable(_Shown):
    """What a plan file says of a layout: rows that are left out are those that the plan has several of."""

    rows: tuple[Axis, ...] | None = None

    def completed(self, ordinary_rows: Sequence[str]) -> Layout:
        """The layout, with ordinary rows where none are named."""
        said = msgspec.structs.asdict(self)
        return Layout(**said | {"rows": tuple(ordinary_rows) if self.rows is None else self.rows})


class Figure(Value):
    """A figure of a plan.

    ``kind`` is ``ratio`` (score against ratio), ``sweep`` (score against the option ``option``), ``bars``
    (variants side by side) or ``size`` (seconds and memory against the incidences of the source). All
    variants are shown if none are named.
    """

    kind: Literal["ratio", "sweep", "bars", "size"]
    variants: tuple[str, ...] = ()
    option: str = ""
    label: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind == "sweep" and not self.option:
            raise ValueError("option is missing; a sweep needs the option that varies, such as 'time'")
        if self.kind != "sweep" and self.option:
            raise ValueError(f"option is for kind = 'sweep' only, and kind is {self.kind!r}")
