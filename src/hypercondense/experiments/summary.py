"""What a results file holds, without a plan."""

from collections.abc import Mapping, Sequence
from typing import Any

from hypercondense.evaluation import Spread
from hypercondense.experiments.cells import check_mixture
from hypercondense.experiments.grid import Grid, Report, Text
from hypercondense.experiments.labels import METRICS, MODEL_LABELS
from hypercondense.experiments.line import Line
from hypercondense.experiments.settings import WHOLE, Settings

_HEADER = ("source", "ratio", "method", "options", "model", "metric", "score", "trainings", "condense s")


def summarize(lines: Sequence[Line]) -> Report:
    """One row for all seeds of the same settings.

    Raises:
        ConfigError: Lines of two versions, sources or splits would be averaged.
    """
    groups: dict[tuple[str, ...], dict[str, Line]] = {}
    good = [line for line in lines if not line.failed]
    varied = _varied(good)
    for line in good:
        same = groups.setdefault((*_labels(line, varied), str(line.settings.runs)), {})
        same.setdefault(line.settings.key, line)
    rows = []
    for labels, group in groups.items():
        check_mixture(list(group.values()), " ".join(labels))
        rows.append(_row(labels[:-1], list(group.values())))
    notes = dict.fromkeys(f"{line.settings.source}: {note}" for line in good for note in line.result.notes)
    grid = Grid("", 6, _HEADER, tuple(rows))
    return Report(f"{len(good)} runs", (grid,), tuple(notes))


def _method(settings: Settings) -> str:
    """The method, and in what its run differs from an ordinary one."""
    chosen = "" if settings.select or settings.method == WHOLE else " unselected"
    return settings.method + chosen + ("" if settings.cached else " uncached")


def _labels(line: Line, varied: set[tuple[str, str]]) -> tuple[str, ...]:
    settings = line.settings
    source = settings.source
    if settings.generator:
        source += " " + " ".join(f"{name}={value}" for name, value in sorted(settings.generator.items()))
    return (
        source,
        "" if settings.ratio is None else f"{100 * settings.ratio:g} %",
        _method(settings),
        " ".join(
            f"{name}={value}" for name, value in settings.options.items() if (settings.method, name) in varied
        ),
        MODEL_LABELS.get(settings.model, settings.model)
        + (f" (defaults {settings.defaults_version})" if settings.defaults_version > 1 else ""),
        METRICS.get(settings.task, settings.task) + (" over all" if settings.over == "all" else ""),
    )


def _varied(lines: Sequence[Line]) -> set[tuple[str, str]]:
    """Methods and those of their options that are not the same in all of their lines."""
    first: dict[str, Mapping[str, Any]] = {}
    found = set()
    for line in lines:
        method, options = line.settings.method, line.settings.options
        other = first.setdefault(method, options)
        found |= {(method, name) for name in {*options, *other} if options.get(name) != other.get(name)}
    return found


def _row(labels: Sequence[str], lines: Sequence[Line]) -> tuple[Text, ...]:
    values = [100 * value for line in lines for value in line.result.values]
    spread = Spread.of(values)
    seconds = Spread.of([line.result.condense_seconds for line in lines])
    shown = (f"{spread.mean:.2f} ± {spread.std:.2f}", f"{len(values)}", f"{seconds.mean:.2f}")
    return tuple(Text(text) for text in (*labels, *shown))
