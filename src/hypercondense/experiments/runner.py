"""Running plans: what is missing in the results file is done and appended."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypercondense.data.locate import find
from hypercondense.data.registry import lookup
from hypercondense.errors import ConfigError
from hypercondense.experiments.claims import Claims
from hypercondense.experiments.line import Line
from hypercondense.experiments.plan import Place, Plan
from hypercondense.experiments.results import FinishedRuns, ResultsFile
from hypercondense.experiments.settings import Settings
from hypercondense.experiments.work import RunGroup, jobs_of
from hypercondense.experiments.workers import perform_all
from hypercondense.runtime.engine import Engine
from hypercondense.runtime.memory import available_bytes

FILTERS = ("dataset", "variant", "method", "model", "task", "ratio", "seed", "split_seed")
_BASE = 400e6  # bytes of a process that has loaded torch and scikit-learn
_UNKNOWN = 2e9  # bytes for a source of unknown size


@dataclass
class Agenda:
    """What plans want, sorted by what is to be done about it."""

    finished: list[Settings] = field(default_factory=list)
    pending: list[Settings] = field(default_factory=list)
    absent: dict[str, int] = field(default_factory=dict)  # source -> runs that cannot be made here


@dataclass
class Summary:
    """What a call of :func:`run_plans` did."""

    done: int = 0
    elsewhere: int = 0  # runs that another process did meanwhile, or is doing
    failed: list[dict[str, Any]] = field(default_factory=list)


def make_agenda(
    plans: Sequence[Plan],
    finished: FinishedRuns,
    *,
    only: Mapping[str, Sequence[str]] | None = None,
    data_dir: Path | None = None,
    limit: int | None = None,
) -> Agenda:
    """Sort the runs of plans into finished, pending and impossible here; a run of two plans counts once.

    Args:
        plans: Whose runs.
        finished: What need not be done again.
        only: For some of :data:`FILTERS`, the values to keep.
        data_dir: Where data sets are looked for first.
        limit: The most runs to leave pending.
    """
    check_filters(only or {})
    agenda = Agenda()
    seen: set[str] = set()
    here: dict[str, bool] = {}
    for plan in plans:
        for place in plan.places():
            defaults = plan.variants[place.variant].defaults
            for run in plan.settings_at(place):
                if run.key in seen or not _kept(run, place, only or {}):
                    continue
                seen.add(run.key)
                if finished.has(run, defaults):
                    agenda.finished.append(run)
                elif here.setdefault(run.source, is_here(run.source, data_dir)):
                    agenda.pending.append(run)
                else:
                    agenda.absent[run.source] = agenda.absent.get(run.source, 0) + 1
    agenda.pending = agenda.pending[:limit]
    return agenda


def check_filters(only: Mapping[str, Sequence[str]]) -> None:
    """Refuse a filter that does not exist."""
    for name in only:
        if name not in FILTERS:
            raise ConfigError(f"there is no filter {name!r}; the filters are {', '.join(FILTERS)}")


def _kept(run: Settings, place: Place, only: Mapping[str, Sequence[str]]) -> bool:
    shown = {name: str(getattr(place, name, None)) for name in FILTERS}
    own = {name: str(getattr(run, name)) for name in ("method", "seed", "split_seed")}
    return all({**shown, **own}[name] in map(_plain, wanted) for name, wanted in only.items())


def _plain(value: str) -> str:
    """A number as Python writes it, so that 1e-2 is 0.01; any other text as it is."""
    try:
        return value if value.isdigit() else str(float(value))
    except ValueError:
        return value


def is_here(source: str, data_dir: Path | None) -> bool:
    """Whether a source can be loaded on this machine."""
    dataset = lookup(source)
    if dataset is None:
        return Path(source).exists()
    return dataset.embedded or find(dataset, data_dir) is not None


def run_plans(
    agenda: Agenda,
    results: ResultsFile,
    *,
    data_dir: Path | None = None,
    workers: int = 1,
    engine: Engine | None = None,
    report: Callable[[dict[str, Any], int, int], None] | None = None,
) -> Summary:
    """Do what is pending and append a line after every run; failures are recorded and the others go on.

    Args:
        agenda: What to do.
        results: Where to append.
        data_dir: Where data sets are looked for first.
        workers: Processes that work at the same time.
        engine: Other machines that do the work; this process alone writes the file.
        report: Told each line, how many runs are done and of how many.
    """
    summary, claims = Summary(), Claims(results.path)
    total = len(agenda.pending)
    jobs = _free(jobs_of(agenda.pending, data_dir), results, claims, summary)
    with closing(claims), closing(perform_all(jobs, workers, engine)) as reports:
        for job, line in reports:
            _check_source(line, results)
            results.append(line)
            if line["key"] == job.runs[-1].key:
                claims.release(job.first.condensation)
            if "error" in line:
                summary.failed.append(line)
            else:
                summary.done += 1
            if report is not None:
                report(line, summary.done + len(summary.failed), total - summary.elsewhere)
    return summary


def _check_source(line: Mapping[str, Any], results: ResultsFile) -> None:
    """Refuse a source that is not the one of earlier lines: `table` could show neither beside the other."""
    source, generator = line["settings"]["source"], line["settings"]["generator"]
    for other in results.lines:
        same = (other.settings.source, other.settings.generator) == (source, generator)
        if same and not other.failed and "error" not in line:
            before, now = other.result.source_digest, line["source_digest"]
            if before != now:
                raise ConfigError(
                    f"{source} on this machine is not that of {results.path} (digest {now[:12]}, and "
                    f"{before[:12]} in line {other.number}); use another results file, or the data of before"
                )
            return


def _free(
    jobs: Sequence[RunGroup], results: ResultsFile, claims: Claims, summary: Summary
) -> Iterator[RunGroup]:
    """Jobs that no other process has done or is doing at the moment they are asked for."""
    for job in jobs:
        name = job.first.condensation
        taken = claims.take(name)
        results.refresh()
        runs = tuple(run for run in job.runs if not results.finished.has_key(run)) if taken else ()
        summary.elsewhere += len(job.runs) - len(runs)
        if runs:
            yield RunGroup(runs, job.data_dir)
        elif taken:
            claims.release(name)


def choose_workers(pending: Sequence[Settings], lines: Sequence[Line]) -> int:
    """As many processes as there are cores, and as memory is enough for the largest source."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    free = available_bytes()
    if free is None or not pending:
        return cores
    largest = max(_memory_need(source, lines) for source in {run.source for run in pending})
    return max(1, min(cores, int(0.8 * free / largest)))


def _memory_need(source: str, lines: Sequence[Line]) -> float:
    """Bytes a run on a source takes: the most seen before, else a guess from its size."""
    same = (line.result for line in lines if line.settings.source == source and not line.failed)
    seen = [result.run_memory_mb * 1e6 for result in same]
    if any(seen):
        return max(seen)
    expected = getattr(lookup(source), "expected", None)
    if expected is None or expected.num_nodes is None:
        return _UNKNOWN
    return float(_BASE + 16 * expected.num_nodes * (expected.num_features or 100))
