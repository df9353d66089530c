"""A plan: a TOML file that says what to run, and the published figures to put beside it."""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from hypercondense.catalogue import make_method
from hypercondense.condensing.options import settings_of
from hypercondense.data.registry import lookup
from hypercondense.data.synthetic import synthetic
from hypercondense.errors import ConfigError
from hypercondense.evaluation.tasks import TASKS
from hypercondense.experiments.layout import Figure, Layout, read_figure, read_layouts
from hypercondense.experiments.published import Published, read_published
from hypercondense.experiments.settings import WHOLE, Settings
from hypercondense.experiments.toml_reader import Table, read_toml
from hypercondense.nn import model_class

_KEYS = (
    "name",
    "title",
    "paper",
    "notes",
    "models",
    "tasks",
    "over",
    "seeds",
    "runs",
    "split_seeds",
    "cache",
    "datasets",
    "variants",
    "published",
    "layout",
    "readme",
    "figure",
)


@dataclass(frozen=True, kw_only=True)
class PlannedSource:
    """A hypergraph of a plan and the ratios it is condensed to."""

    key: str
    label: str
    source: str
    generator: dict[str, Any]
    ratios: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A method with options, as one row or column of a table.

    ``only`` restricts it to some ratios of some data sets; a ``reference`` does not compete for the best.
    """

    key: str
    label: str
    method: str
    options: dict[str, Any]
    defaults: dict[str, Any]
    select: bool
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
class Plan:
    """What to run and how to show it."""

    name: str
    title: str
    paper: str
    notes: tuple[str, ...]
    models: tuple[str, ...]
    tasks: tuple[str, ...]
    over: str
    split_seeds: tuple[int, ...]
    cache: bool
    datasets: dict[str, PlannedSource]
    variants: dict[str, Variant]
    published: Published
    layouts: dict[str, Layout]
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


def read_plan(path: Path) -> Plan:
    """Read and check a plan.

    Raises:
        ConfigError: A key is unknown or missing, or has a wrong value.
    """
    table = read_toml(path).allow(_KEYS)
    datasets = {key: _dataset(key, inner) for key, inner in table.tables("datasets").items()}
    if not datasets:
        raise table.error("there are no data sets; add a table such as [datasets.cora] with ratios")
    variants = {key: _variant(key, inner, table, datasets) for key, inner in table.tables("variants").items()}
    if not variants:
        raise table.error("there are no variants; add a table such as [variants.ahgcdd]")
    models, tasks = _models(table), _tasks(table)
    several = [axis for axis, values in (("model", models), ("task", tasks)) if len(values) > 1]
    return Plan(
        name=table.need("name", str),
        title=table.need("title", str),
        paper=table.get("paper", str, ""),
        notes=table.items_of("notes", str),
        models=models,
        tasks=tasks,
        over=_over(table),
        split_seeds=table.choices("split_seeds", int, (0,)),
        cache=table.get("cache", bool, True),
        datasets=datasets,
        variants=variants,
        published=read_published(table.table("published"), datasets, variants),
        layouts=read_layouts(table, datasets, variants, ordinary_rows=("variant", *several)),
        figure=read_figure(table, variants),
    )


def _models(table: Table) -> tuple[str, ...]:
    models = table.choices("models", str, ("hgnn",))
    for model in models:
        try:
            model_class(model)
        except ConfigError as error:
            raise table.error(str(error)) from error
    return models


def _tasks(table: Table) -> tuple[str, ...]:
    tasks = table.choices("tasks", str, ("classify",))
    for task in tasks:
        if task not in TASKS:
            raise table.error(f"unknown task {task!r}; the tasks are {', '.join(TASKS)}")
    return tasks


def _over(table: Table) -> str:
    over: str = table.get("over", str, "test")
    if over not in ("test", "all"):
        raise table.error(f"over must be test or all, got {over!r}")
    return over


def _dataset(key: str, table: Table) -> PlannedSource:
    table.allow(("source", "label", "ratios", "generator"))
    given = table.get("source", str, key)
    known = lookup(given)
    generator = dict(table.table("generator").content)
    if generator and (known is None or known.name != "synthetic"):
        raise table.error('generator is for source = "synthetic" only')
    allowed = [name for name in inspect.signature(synthetic).parameters if name != "name"]
    table.table("generator").allow(allowed)
    ratios = table.items_of("ratios", float)
    if not ratios or not all(0 < ratio <= 1 for ratio in ratios) or len(set(ratios)) < len(ratios):
        raise table.error(f"ratios must be different fractions above 0 and at most 1, got {list(ratios)}")
    return PlannedSource(
        key=key,
        label=table.get("label", str, key),
        source=given if known is None else known.name,
        generator=generator,
        ratios=ratios,
    )


def _variant(key: str, table: Table, plan: Table, datasets: Mapping[str, PlannedSource]) -> Variant:
    table.allow(("method", "label", "options", "select", "seeds", "runs", "only", "reference"))
    method = table.get("method", str, key)
    options, defaults = _options(table, method)
    whole = method == WHOLE
    return Variant(
        key=key,
        label=table.get("label", str, key),
        method=method,
        options=options,
        defaults=defaults,
        select=table.get("select", bool, False),
        seeds=table.count("seeds", 1 if whole else plan.count("seeds", 5)),
        runs=table.count("runs", plan.count("runs", 5)),
        only=_only(table, datasets),
        reference=table.get("reference", bool, whole),
    )


def _options(table: Table, method: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """All options of a method as given, and all by default."""
    given = table.get("options", dict, {})
    if method == WHOLE:
        if given or table.get("select", bool, False):
            raise table.error("the whole source has no options and no selection; leave them out")
        return {}, {}
    try:
        return settings_of(make_method(method, given)), settings_of(make_method(method))
    except ConfigError as error:
        raise table.error(str(error)) from error


def _only(table: Table, datasets: Mapping[str, PlannedSource]) -> Mapping[str, tuple[float, ...]] | None:
    if "only" not in table.content:
        return None
    inner = table.table("only").allow(datasets)
    only = {key: inner.items_of(key, float) for key in inner.content}
    for key, ratios in only.items():
        for ratio in ratios:
            if ratio not in datasets[key].ratios:
                raise inner.error(f"{key} has no ratio {ratio:g} in this plan")
    return only
