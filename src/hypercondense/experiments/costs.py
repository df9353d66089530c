"""What runs have cost: seconds by source and method."""

from collections.abc import Iterable, Sequence

from hypercondense.experiments.grid import Grid, Report, Text
from hypercondense.experiments.line import Line

_HEADER = ("source", "method", "condensations", "trainings", "condensing h", "training h", "core hours")


def core_hours(lines: Iterable[Line]) -> tuple[float, float]:
    """Hours of condensing and of training; a condensation that several lines share counts once."""
    condensing: dict[str, float] = {}
    training = 0.0
    for line in lines:
        if not line.failed:
            condensing[line.settings.condensation] = line.result.condense_seconds
            training += line.result.train_seconds
    return sum(condensing.values()) / 3600, training / 3600


def costs(lines: Sequence[Line]) -> Report:
    """A table of what was spent on what; every run uses one core."""
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        if not line.failed:
            groups.setdefault((line.settings.source, line.settings.method), []).append(line)
    rows = [_row(source, method, group) for (source, method), group in groups.items()]
    total = _row("all", "", [line for group in groups.values() for line in group])
    machines = dict.fromkeys(_machine(line) for group in groups.values() for line in group)
    return Report("What the runs cost", (Grid("", 2, _HEADER, (*rows, total)),), tuple(machines))


def _row(source: str, method: str, lines: Sequence[Line]) -> tuple[Text, ...]:
    condensing, training = core_hours(lines)
    condensations = len({line.settings.condensation for line in lines})
    trainings = sum(line.settings.runs for line in lines)
    hours = (f"{condensing:.2f}", f"{training:.2f}", f"{condensing + training:.2f}")
    return tuple(Text(text) for text in (source, method, str(condensations), str(trainings), *hours))


def _machine(line: Line) -> str:
    machine, versions = line.result.machine, line.result.versions
    packages = ", ".join(f"{name} {version}" for name, version in versions.items())
    return f"{machine.get('system')} {machine.get('processor')}, {machine.get('cores')} cores; {packages}."
