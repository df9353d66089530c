"""Trainings one after the other or shared by processes, with the same bits either way.

Each training uses one torch thread: sums are then added in one order whatever the number of cores, and on
a few cores two trainings at a time are faster than two threads for one. Threads could not share the work,
because layers and dropout draw from torch's one global generator.
"""

import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from multiprocessing import active_children, get_context
from multiprocessing.process import BaseProcess
from typing import Any, Literal, TypeAlias

import numpy as np

from hypercondense.evaluation.tasks import Outcome, task_named
from hypercondense.hypergraph import UNKNOWN, Hypergraph, Ids, Split
from hypercondense.nn.training import Configuration, Inputs, train
from hypercondense.runtime.progress import Progress, silent
from hypercondense.runtime.threads import one_thread

Over: TypeAlias = Literal["test", "all"]


@dataclass(frozen=True)
class TrainingRun:
    """One training to do: on the condensed hypergraph or on the whole source."""

    whole: bool
    seed: int


@dataclass(frozen=True)
class Finished:
    """What one training gave."""

    outcome: Outcome
    validation: float
    epoch: int
    options: Mapping[str, Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class Bench:
    """Everything the trainings of one evaluation share; tensors are made once per process."""

    condensed: Hypergraph
    source: Hypergraph
    split: Split
    configuration: Configuration
    task: str
    over: Over = "test"
    device: str = "cpu"

    @cached_property
    def source_inputs(self) -> Inputs:
        """The source on the device."""
        return Inputs.of(self.source, device=self.device)

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

    def finish(self, run: TrainingRun, progress: Progress = silent) -> Finished:
        """Train and score once; only the score looks at test labels."""
        graph = self.source_inputs if run.whole else self.condensed_inputs
        with one_thread():
            trained = train(
                self.configuration, graph, self.source_inputs, self.split, seed=run.seed, progress=progress
            )
            outcome = task_named(self.task).score(
                trained.model, self.source_inputs, self.scored_ids, run.seed
            )
        return Finished(outcome, trained.validation, trained.epoch, trained.configuration.options)


def run_all(bench: Bench, runs: Sequence[TrainingRun], workers: int, progress: Progress) -> list[Finished]:
    """Do all trainings in the given order of results; with more than one worker in that many processes."""
    if workers < 1:
        raise ValueError(f"workers must be at least 1, got {workers}")
    if workers == 1 or len(runs) == 1:
        return list(_reported(map(partial(_finish_here, bench, progress), runs), len(runs), progress))
    pool = ProcessPoolExecutor(
        min(workers, len(runs)), mp_context=get_context("spawn"), initializer=_adopt, initargs=(bench,)
    )
    others, workers_here = set(active_children()), set[BaseProcess]()
    with pool:
        try:
            with interrupts_held_back():  # workers are started here
                finished = pool.map(_finish_there, runs)
                workers_here = set(active_children()) - others
            return list(_reported(finished, len(runs), progress))
        except BaseException:
            for worker in workers_here:
                worker.terminate()  # nobody wants what they are at
            pool.shutdown(cancel_futures=True)
            raise


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Ctrl-C waits until the block ends; processes started in it never see one, from their first moment.

    A terminal sends Ctrl-C to the workers too, and each would show where it was.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _reported(finished: Iterator[Finished], total: int, progress: Progress) -> Iterator[Finished]:
    for done, one in enumerate(finished, start=1):
        progress("evaluate", done, total, score=one.outcome.value)
        yield one


def _finish_here(bench: Bench, progress: Progress, run: TrainingRun) -> Finished:
    return bench.finish(run, progress)


_adopted: list[Bench] = []  # in a worker process: the bench it was started with


def _adopt(bench: Bench) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    _adopted[:] = [bench]


def _finish_there(run: TrainingRun) -> Finished:
    return _adopted[0].finish(run)
