"""The work itself: one condensation and the trainings on it, as lines for the results file."""

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from hypercondense.catalogue import condense, method_from, recorded_name
from hypercondense.condensation import Condensation, package_versions
from hypercondense.condensing.run import condense_by
from hypercondense.data import load, synthetic
from hypercondense.evaluation import evaluate
from hypercondense.experiments.settings import WHOLE, Settings
from hypercondense.files.storage import user_cache
from hypercondense.hypergraph import Hypergraph, Split, split
from hypercondense.runtime import memory
from hypercondense.runtime.code_version import code_version
from hypercondense.runtime.threads import one_thread
from hypercondense.typed import content_of, nested


@dataclass(frozen=True)
class RunGroup:
    """Runs that share one condensation."""

    runs: tuple[Settings, ...]
    data_dir: Path | None = None

    @property
    def first(self) -> Settings:
        """Any of the runs: what the condensation depends on is the same in all."""
        return self.runs[0]


def perform(job: RunGroup) -> Iterator[dict[str, Any]]:
    """Condense once, train every model for every task, and give a line after each."""
    _warm_up()
    with one_thread():
        memory.reset_peak()
        source, parts, condensed = condensed_for(job)
        facts = _facts(condensed, source, parts)
        before = facts.get("peak_memory_mb", 0.0)
        for run in job.runs:
            yield {**_header(run), **_score(run, condensed, source, parts), **facts, **_memory(before)}


def condensed_for(job: RunGroup) -> tuple[Hypergraph, Split, Condensation | Hypergraph]:
    """The source of a job, its split, and what the trainings of the job are on."""
    source = load_source(job.first, job.data_dir)
    parts = split(source, seed=job.first.split_seed)
    return source, parts, _condensed(job.first, source, parts)


@lru_cache(maxsize=1)
def _warm_up() -> None:
    """Load what methods load when first used, which would count as seconds of the first run."""
    source = synthetic(num_nodes=60, num_hyperedges=40, num_features=8)
    condense(source, nodes=10, method="ahgcdd", settings={"goal.epochs": 1, "structure.warm.steps": 1})


def failure(run: Settings, reason: str) -> dict[str, Any]:
    """The line of a run that broke down."""
    return {**_header(run), "error": reason}


def load_source(run: Settings, data_dir: Path | None) -> Hypergraph:
    """The source of a run; the last one is kept, because the next run usually has the same."""
    return _load(run.source, tuple(sorted(run.generator.items())), data_dir)


@lru_cache(maxsize=1)
def _load(source: str, generator: tuple[tuple[str, Any], ...], data_dir: Path | None) -> Hypergraph:
    if generator:
        return synthetic(**dict(generator))
    return load(source, data_dir=data_dir)


def _condensed(run: Settings, source: Hypergraph, parts: Split) -> Condensation | Hypergraph:
    if run.method == WHOLE:
        return source
    return condense_by(
        method_from(run.method, nested(run.options)),
        source,
        parts,
        name=recorded_name(run.method),
        ratio=run.ratio,
        seed=run.seed,
        select=run.select,
        allocate=run.allocate,
        cache_dir=user_cache("diffusion") if run.cached else None,
    )


def _header(run: Settings) -> dict[str, Any]:
    """What is known before the work."""
    machine = {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "threads": 1,
    }
    return {
        "key": run.key,
        "settings": content_of(run),
        "code": code_version(),
        "versions": package_versions(),
        "machine": machine,
    }


def _score(
    run: Settings, condensed: Condensation | Hypergraph, source: Hypergraph, parts: Split
) -> dict[str, Any]:
    score = evaluate(
        condensed,
        source,
        parts,
        model=run.model,
        task=run.task,
        over="all" if run.over == "all" else "test",
        runs=run.runs,
        seed=run.seed,
    )
    shown = score.to_dict()
    kept = ("metric", "values", "validation", "macro_f1", "missing_classes", "notes")
    return {**{key: shown[key] for key in kept}, "train_seconds": score.seconds}


def _facts(condensed: Condensation | Hypergraph, source: Hypergraph, parts: Split) -> dict[str, Any]:
    """What is the same for all runs of a condensation."""
    origin = {
        "source_digest": source.digest,
        "split_digest": parts.digest,
        "num_source_nodes": source.num_nodes,
        "num_source_incidences": source.with_self_loops[0].num_incidences,
    }
    if isinstance(condensed, Hypergraph):
        return {"num_nodes": len(parts.train_ids), "condense_seconds": 0.0, "warnings": [], **origin}
    return {
        "num_nodes": condensed.hypergraph.num_nodes,
        "num_hyperedges": condensed.hypergraph.num_hyperedges,
        "mean_hyperedge_size": condensed.mean_hyperedge_size,
        "condense_seconds": condensed.seconds["total"],
        "stage_seconds": condensed.seconds,
        "peak_memory_mb": condensed.peak_memory_mb,
        "warnings": list(condensed.warnings),
        **origin,
    }


def _memory(before: float) -> dict[str, float]:
    """Peak of the whole run, trainings and all: how much a worker needs."""
    return {"run_memory_mb": max(before, memory.peak_bytes() / 1e6)}


def limit_threads() -> None:
    """One torch thread for this process: several work side by side."""
    torch.set_num_threads(1)


def jobs_of(runs: Sequence[Settings], data_dir: Path | None) -> list[RunGroup]:
    """Group runs by their condensation, in the order of the first of each."""
    groups: dict[str, list[Settings]] = {}
    for run in runs:
        groups.setdefault(run.condensation, []).append(run)
    return [RunGroup(tuple(group), data_dir) for group in groups.values()]
