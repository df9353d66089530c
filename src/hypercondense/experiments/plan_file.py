"""What a plan file may say: every key, its type and its bounds."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from msgspec import Meta, field

from hypercondense.experiments.axes import QUANTITIES
from hypercondense.experiments.layout import Figure, LayoutTable
from hypercondense.experiments.published import Published
from hypercondense.experiments.settings import Over, Ratio
from hypercondense.files.names import check_file_name
from hypercondense.names import Allocation
from hypercondense.typed import Count, Value, Whole


class SourceTable(Value, kw_only=True):
    """A table ``datasets.NAME``; source and label are its name unless they are given."""

    source: str = ""
    label: str = ""
    ratios: tuple[Ratio, ...]
    generator: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_different(ratios=self.ratios)


class VariantTable(Value):
    """A table ``variants.NAME``; method and label are its name unless they are given.

    ``select``, ``seeds`` and ``runs`` are those of the plan unless they are given.
    """

    method: str = ""
    label: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    budget: str | Count | None = None
    select: bool | None = None
    allocate: Allocation = "proportional"
    seeds: Count | None = None
    runs: Count | None = None
    only: Mapping[str, tuple[Ratio, ...]] | None = None
    reference: bool | None = None


class PlanFile(Value):
    """A whole plan file."""

    name: Annotated[str, Meta(examples=["main"])]
    title: str
    paper: str = ""
    notes: tuple[str, ...] = ()
    models: tuple[str, ...] = ("hgnn",)
    tasks: tuple[str, ...] = ("classify",)
    over: Over = "test"
    select: bool = True
    seeds: Count = 5
    runs: Count = 5
    split_seeds: tuple[Whole, ...] = (0,)
    cache: bool = True
    datasets: Mapping[str, SourceTable] = field(default_factory=dict)
    variants: Mapping[str, VariantTable] = field(default_factory=dict)
    published: Published = Published()
    layout: LayoutTable = LayoutTable()
    readme: LayoutTable | None = None
    figure: Figure | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_file_name(self.name, taken=("README",))  # pages and figures are called so
        _check_different(models=self.models, tasks=self.tasks, split_seeds=self.split_seeds)
        if not self.datasets:
            raise ValueError("there are no data sets; add a table such as [datasets.cora] with ratios")
        if not self.variants:
            raise ValueError("there are no variants; add a table such as [variants.ahgcdd]")
        self._check_names()

    @property
    def layouts(self) -> dict[str, LayoutTable]:
        """The layouts that the file names, by the names of their tables."""
        return {"layout": self.layout} | ({} if self.readme is None else {"readme": self.readme})

    def _check_names(self) -> None:
        for place, names in self._variant_lists():
            for name in names:
                if name not in self.variants:
                    known = ", ".join(self.variants)
                    raise ValueError(f"{place} names {name!r}, which is no variant of this plan: {known}")
        for place, table in self._ratio_tables():
            for key, ratios in table.items():
                self._check_ratios(place, key, ratios)
        self.published.check_names(dataset=self.datasets, variant=self.variants, quantity=QUANTITIES)

    def _variant_lists(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        for place, layout in self.layouts.items():
            yield f"{place}.variants", layout.variants or ()
            yield f"{place}.paper", layout.paper or ()
        if self.figure is not None:
            yield "figure.variants", self.figure.variants

    def _ratio_tables(self) -> Iterator[tuple[str, Mapping[str, tuple[float, ...]]]]:
        for key, variant in self.variants.items():
            yield f"variants.{key}.only", variant.only or {}
        for place, layout in self.layouts.items():
            yield f"{place}.datasets", layout.datasets or {}

    def _check_ratios(self, place: str, key: str, ratios: tuple[float, ...]) -> None:
        if key not in self.datasets:
            raise ValueError(f"unknown data set {key!r} in {place}; there are {', '.join(self.datasets)}")
        for ratio in ratios:
            if ratio not in self.datasets[key].ratios:
                has = ", ".join(f"{one:g}" for one in self.datasets[key].ratios)
                raise ValueError(f"{place}: {key} has no ratio {ratio:g} in this plan; it has {has}")


def _check_different(**lists: tuple[object, ...]) -> None:
    for name, entries in lists.items():
        if not entries or len(set(entries)) < len(entries):
            raise ValueError(f"{name} must have at least one entry and none twice, got {list(entries)}")
