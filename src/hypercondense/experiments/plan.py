"""A plan: what to run, how to show it, and the published figures to put beside it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from hypercondense.experiments.layout import Figure, Layout
from hypercondense.experiments.published import Published
from hypercondense.experiments.settings import WHOLE, Over, Settings
from hypercondense.frozen import Frozen
from hypercondense.names import Allocation
from hypercondense.nn import model_class


@dataclass(frozen=True, kw_only=True)
class PlannedSource(Frozen):
    """A hypergraph of a plan and the ratios it is condensed to."""

    key: str
    label: str
    source: str
    generator: Mapping[str, Any]
    ratios: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Variant(Frozen):
    """A method with options, as one row or column of a table.

    ``only`` restricts it to some ratios of some data sets; a ``reference`` does not compete for the best.
    """

    key: str
    label: str
    method: str
    options: Mapping[str, Any]
    defaults: Mapping[str, Any]
    select: bool
    allocate: Allocation
    seeds: int
    runs: int
    only: Mapping[str, tuple[float, ...]] | None
    reference: bool

    def covers(self, dataset: str, ratio: float) -> bool:
        """Whether the variant is run there."""
        return self.only is None or ratio in self.only.get(dataset, ())


@dataclass(frozen=True, kw_only=True)
class Place:
    """The cell of a table that a run belongs to."""

    dataset: str
    ratio: float
    variant: str
    model: str
    task: str


@dataclass(frozen=True, kw_only=True)
class Plan(Frozen):
    """What to run and how to show it."""

    name: str
    title: str
    paper: str
    notes: tuple[str, ...]
    models: tuple[str, ...]
    tasks: tuple[str, ...]
    over: Over
    split_seeds: tuple[int, ...]
    cache: bool
    datasets: Mapping[str, PlannedSource]
    variants: Mapping[str, Variant]
    published: Published
    layouts: Mapping[str, Layout]
    figure: Figure | None

    def places(self, *, planned: bool = True) -> Iterator[Place]:
        """Every cell, in the order of the plan; with ``planned=False`` those too that no variant covers."""
        for dataset in self.datasets.values():
            axes = (dataset.ratios, self.variants, self.models, self.tasks)
            for ratio, variant, model, task in product(*axes):
                place = Place(dataset=dataset.key, ratio=ratio, variant=variant, model=model, task=task)
                if not planned or self.is_planned(place):
                    yield place

    def is_planned(self, place: Place) -> bool:
        """Whether the variant is run there."""
        return self.variants[place.variant].covers(place.dataset, place.ratio)

    @property
    def num_runs(self) -> int:
        """How many runs it wants at most, counted without making them."""
        cells = len(self.models) * len(self.tasks) * sum(len(one.ratios) for one in self.datasets.values())
        return cells * len(self.split_seeds) * sum(variant.seeds for variant in self.variants.values())

    def settings_at(self, place: Place) -> list[Settings]:
        """The runs of a cell: all split seeds and condensations."""
        dataset, variant = self.datasets[place.dataset], self.variants[place.variant]
        whole = variant.method == WHOLE
        return [
            Settings(
                source=dataset.source,
                generator=dataset.generator,
                split_seed=split_seed,
                ratio=None if whole else place.ratio,
                method=variant.method,
                options=variant.options,
                select=variant.select,
                allocate=variant.allocate,
                cached=self.cache or whole,
                seed=seed,
                model=place.model,
                defaults_version=model_class(place.model).defaults_version,
                task=place.task,
                over=self.over if place.task != "classify" else "test",
                runs=variant.runs,
            )
            for split_seed in self.split_seeds
            for seed in range(variant.seeds)
        ]
