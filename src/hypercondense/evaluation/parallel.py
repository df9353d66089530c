"""Trainings one after the other or shared by processes, with the same bits either way.

Each training uses one torch thread: sums are then added in one order whatever the number of cores, and on
a few cores two trainings at a time are faster than two threads for one. Threads could not share the work,
because layers and dropout draw from torch's one global generator.
"""

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from hypercondense.evaluation.kept import KeptScore, Shelf
from hypercondense.evaluation.tasks import Outcome, task_named
from hypercondense.frozen import Frozen
from hypercondense.hypergraph import UNKNOWN, Hypergraph, Ids, Split
from hypercondense.names import Metric
from hypercondense.nn.streamed import inputs_of
from hypercondense.nn.training import Configuration, Inputs, train
from hypercondense.runtime.engine import Engine, Processes, checked_number
from hypercondense.runtime.progress import Progress, silent
from hypercondense.runtime.threads import one_thread

Over: TypeAlias = Literal["test", "all"]
_PARTS = 100  # of a training, in what is told of it


@dataclass(frozen=True)
class TrainingRun:
    """One training to do: of which network, on the condensed hypergraph or on the whole source.

    ``number`` tells those of one network on one hypergraph apart, from 1. ``expected`` are the seconds that
    it will take; without a forecast all trainings count alike.
    """

    configuration: Configuration
    whole: bool
    seed: int
    number: int = 1
    expected: float = 1.0

    @property
    def stage(self) -> str:
        """What it is called while it runs, with all others of this network on this hypergraph."""
        return f"{self.configuration.model} on {'the whole' if self.whole else 'condensed nodes'}"


@dataclass(frozen=True)
class Finished(Frozen):
    """What one training gave.

    ``seconds`` are those of the training, whenever that was; ``spent`` those that it took now, with the
    score: 0 where it was kept from before.
    """

    outcome: Outcome
    validation: float
    epoch: int
    options: Mapping[str, Any]
    seconds: float
    spent: float = 0.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Bench:
    """Everything the trainings of one evaluation share; tensors are made once per process."""

    condensed: Hypergraph
    source: Hypergraph
    split: Split
    task: str
    over: Over = "test"
    metric: Metric = "accuracy"  # what the epoch is chosen for
    device: str = "cpu"
    shelf: Shelf | None = None
    memory: int | None = None  # bytes that a process may take where the source is mapped
    scratch: Path | None = None  # for files that are needed meanwhile

    @cached_property
    def source_inputs(self) -> Inputs:
        """The source as networks see it."""
        return inputs_of(self.source, device=self.device, memory=self.memory, scratch=self.scratch)

    @cached_property
    def condensed_inputs(self) -> Inputs:
        """The condensed hypergraph on the device."""
        return (
            self.source_inputs
            if self.condensed is self.source
            else Inputs.of(self.condensed, device=self.device)
        )

    @property
    def scored_ids(self) -> Ids:
        """The nodes a trained network is asked about."""
        if self.over == "test":
            return self.split.test_ids
        return np.flatnonzero(self.source.labels != UNKNOWN)

    def graph(self, run: TrainingRun) -> Inputs:
        """What a training learns from."""
        return self.source_inputs if run.whole else self.condensed_inputs

    def finish(self, run: TrainingRun, progress: Progress = silent) -> Finished:
        """Train and score once; only the score looks at test labels."""
        with one_thread():
            begin = time.perf_counter()
            trained = train(
                run.configuration,
                self.graph(run),
                self.source_inputs,
                self.split,
                seed=run.seed,
                metric=self.metric,
                progress=progress,
            )
            seconds = time.perf_counter() - begin
            outcome = task_named(self.task).score(
                trained.model, self.source_inputs, self.scored_ids, run.seed
            )
        return Finished(
            outcome,
            trained.validation,
            trained.epoch,
            trained.configuration.options,
            seconds,
            spent=time.perf_counter() - begin,
        )

    def kept(self, run: TrainingRun) -> Finished | None:
        """What a training on the whole source gave before, if that was kept."""
        if self.shelf is None or not self._is_of_source(run):
            return None
        found = self.shelf.load(run.configuration, run.seed)
        if found is None:
            return None
        outcome = Outcome(found.value, found.macro_f1, found.calibration, found.predicted)
        validation = math.nan if found.validation is None else found.validation
        return Finished(outcome, validation, found.epoch, found.options, found.seconds)

    def keep(self, run: TrainingRun, done: Finished) -> None:
        """Keep what a training on the whole source gave."""
        if self.shelf is None or not self._is_of_source(run):
            return
        score = KeptScore(
            value=done.outcome.value,
            macro_f1=done.outcome.macro_f1,
            calibration=done.outcome.calibration,
            predicted=done.outcome.predicted,
            validation=None if math.isnan(done.validation) else done.validation,
            epoch=done.epoch,
            options=dict(done.options),
            seconds=done.seconds,
        )
        self.shelf.save(run.configuration, run.seed, score)

    def _is_of_source(self, run: TrainingRun) -> bool:
        return run.whole or self.condensed is self.source


def run_all(
    bench: Bench,
    runs: Sequence[TrainingRun],
    progress: Progress,
    *,
    workers: int,
    engine: Engine | None = None,
) -> list[Finished]:
    """Do all trainings, in the given order of results; with more than one worker in that many processes.

    Those on the whole source that were kept from before are not done again. An engine of other machines does
    all of them there.
    """
    checked_number("workers", workers)
    finished = [bench.kept(run) for run in runs]
    todo = [run for run, kept in zip(runs, finished, strict=True) if kept is None]
    count = Count(todo, progress)
    if engine is None and (workers == 1 or len(todo) <= 1):
        results: Iterator[Finished] = (bench.finish(run, count.within(run)) for run in todo)
    else:
        results = (engine or Processes(workers)).map(_finish, todo, shared=bench)
    done = iter([_ended(bench, run, one, count) for run, one in zip(todo, results, strict=True)])
    return [next(done) if kept is None else kept for kept in finished]


class Count:
    """Tells how far the trainings of each stage are.

    Args:
        todo: The trainings that are done.
        progress: Who is told.
    """

    def __init__(self, todo: Sequence[TrainingRun], progress: Progress) -> None:
        self.progress = progress
        self.number = Counter(run.stage for run in todo)
        self.total: dict[str, float] = {}
        self.done: dict[str, float] = dict.fromkeys(self.number, 0.0)
        for run in todo:
            self.total[run.stage] = self.total.get(run.stage, 0.0) + run.expected

    def within(self, run: TrainingRun) -> Progress:
        """For a training that tells of its epochs."""

        def tell(_stage: str, done: int, epochs: int, /, **figures: float) -> None:
            self._tell(run, self.done[run.stage] + run.expected * done / epochs, **figures)

        return tell

    def ended(self, run: TrainingRun, score: float) -> None:
        """A training is over."""
        self.done[run.stage] += run.expected
        self._tell(run, self.done[run.stage], score=score)

    def _tell(self, run: TrainingRun, done: float, **figures: float) -> None:
        parts = self.number[run.stage] * _PARTS
        share = done / self.total[run.stage]
        self.progress(run.stage, min(parts, round(parts * share)), parts, run=run.number, **figures)


def _ended(bench: Bench, run: TrainingRun, done: Finished, count: Count) -> Finished:
    bench.keep(run, done)
    count.ended(run, done.outcome.value)
    return done


def _finish(bench: Bench, run: TrainingRun) -> Finished:
    return bench.finish(run)
