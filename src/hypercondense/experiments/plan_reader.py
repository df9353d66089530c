"""Reading a plan: what its file says becomes what is run and shown."""

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from hypercondense.catalogue import make_method
from hypercondense.condensing.settings import defaults_of
from hypercondense.data.registry import lookup
from hypercondense.data.synthetic import synthetic
from hypercondense.errors import ConfigError, FormatError, one_line
from hypercondense.evaluation.tasks import TASKS
from hypercondense.experiments.layout import Figure, Layout
from hypercondense.experiments.plan import Plan, PlannedSource, Variant
from hypercondense.experiments.plan_file import PlanFile, SourceTable, VariantTable
from hypercondense.experiments.settings import WHOLE
from hypercondense.files.regular import read_regular
from hypercondense.nn import model_class
from hypercondense.typed import Value, content_of, flat, read

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MOST_RUNS = 100_000  # of a plan: each takes about a second at least

#: What ``generator`` may say: what :func:`synthetic` takes.
_Generator = msgspec.defstruct(
    "_Generator",
    [
        (name, option.annotation, option.default)
        for name, option in inspect.signature(synthetic, eval_str=True).parameters.items()
        if name != "name"
    ],
    bases=(Value,),
)


def read_plan(path: Path) -> Plan:
    """Read and check a plan.

    Raises:
        ConfigError: A key is unknown or missing, or has a wrong value.
    """
    with _said_of(str(path)):
        plan = _plan(read(_toml(path), PlanFile))
        if plan.num_runs > MOST_RUNS:
            raise ConfigError(
                f"it asks for {plan.num_runs:,} runs, and {MOST_RUNS:,} are the most of one plan; "
                "use fewer seeds, or split it"
            )
        return plan


@contextmanager
def _said_of(place: str) -> Iterator[None]:
    """Errors of the block begin with the place that they are about."""
    try:
        yield
    except (ConfigError, ValueError) as error:
        raise ConfigError(f"{place}: {one_line(error)}") from error
    except RecursionError as error:
        raise ConfigError(f"{place}: it is nested too deeply") from error


def _toml(path: Path) -> Any:
    try:
        return tomllib.loads(read_regular(path).decode("utf-8").replace("\r\n", "\n"))
    except FormatError as error:
        raise ConfigError(error) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"it is not a TOML file ({one_line(error)})") from error


def _plan(said: PlanFile) -> Plan:
    for model in said.models:
        model_class(model)
    for task in said.tasks:
        if task not in TASKS:
            raise ConfigError(f"unknown task {task!r}; the tasks are {', '.join(TASKS)}")
    return Plan(
        name=said.name,
        title=said.title,
        paper=said.paper,
        notes=said.notes,
        models=said.models,
        tasks=said.tasks,
        over=said.over,
        split_seeds=said.split_seeds,
        cache=said.cache,
        datasets={key: _source(key, table) for key, table in said.datasets.items()},
        variants={key: _variant(key, table, said) for key, table in said.variants.items()},
        published=said.published,
        layouts=dict(_layouts(said)),
        figure=_figure(said),
    )


def _source(key: str, said: SourceTable) -> PlannedSource:
    given = said.source or key
    known = lookup(given)
    if said.generator:
        if known is None or known.name != "synthetic":
            raise ConfigError(f'datasets.{key}: generator is for source = "synthetic" only')
        read(said.generator, _Generator, where=f"datasets.{key}.generator")
    return PlannedSource(
        key=key,
        label=said.label or key,
        source=given if known is None else known.name,
        generator=said.generator,
        ratios=said.ratios,
    )


def _variant(key: str, said: VariantTable, plan: PlanFile) -> Variant:
    method = said.method or key
    whole = method == WHOLE
    if whole and (said.options or said.select or said.budget or said.allocate != "proportional"):
        raise ConfigError(
            f"variants.{key}: the whole source has no options, no selection and no allocation; leave them out"
        )
    with _said_of(f"variants.{key}"):
        options, defaults = ({}, {}) if whole else _options(method, said)
    select = plan.select if said.select is None else said.select
    return Variant(
        key=key,
        label=said.label or key,
        method=method,
        options=options,
        defaults=defaults,
        select=select and not whole,
        allocate=said.allocate,
        seeds=said.seeds or (1 if whole else plan.seeds),
        runs=said.runs or plan.runs,
        only=said.only,
        reference=whole if said.reference is None else said.reference,
    )


def _options(name: str, said: VariantTable) -> tuple[dict[str, Any], dict[str, Any]]:
    """Every field of a variant's method, and their defaults."""
    method: Any = make_method(name, said.options, budget=said.budget)
    preset: Any = make_method(name)
    if type(method) is not type(preset):  # the search of a grid, whose recipe is a part of it
        return flat(content_of(method)), flat(content_of(preset))
    return flat(content_of(method)), defaults_of(method, preset)


def _layouts(said: PlanFile) -> Iterator[tuple[str, Layout]]:
    """The layouts ``table``, which is how the plan is shown, and ``readme``, if there is one."""
    several = [axis for axis, names in (("model", said.models), ("task", said.tasks)) if len(names) > 1]
    for place, layout in said.layouts.items():
        with _said_of(place):
            completed = layout.completed(("variant", *several))
        yield {"layout": "table"}.get(place, place), completed


def _figure(said: PlanFile) -> Figure | None:
    if said.figure is None:
        return None
    return msgspec.structs.replace(said.figure, variants=said.figure.variants or tuple(said.variants))
