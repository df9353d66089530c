"""Jobs one after the other, or in several processes that cannot outlive this one."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any, TypeAlias

from hypercondense.errors import one_line
from hypercondense.experiments.work import RunGroup, failure, limit_threads, perform
from hypercondense.runtime.engine import Engine
from hypercondense.runtime.processes import interrupts_held_back, serve_parent

#: A line of the results file, and the job it belongs to.
Reported: TypeAlias = tuple[RunGroup, dict[str, Any]]


def perform_all(
    jobs: Iterator[RunGroup], workers: int, engine: Engine | None = None
) -> Generator[Reported, None, None]:
    """Do all jobs and give each line as soon as it is there; a run that breaks down gives a line too.

    A job is asked for when it can begin, not before. One whose cost is to be measured, which is one that may
    not use the cache, has a new process of its own: an old one holds memory of earlier jobs. Other machines
    do the same, each with one job at a time, and give all lines of a job together.
    """
    if engine is not None:
        for job, lines in engine.each(_lines, jobs, shared=None):
            yield from ((job, line) for line in lines)
        return
    if workers < 1:
        raise ValueError(f"workers must be at least 1, got {workers}")
    if workers > 1:
        yield from _in_processes(jobs, workers)
        return
    for job in jobs:
        if job.first.cached:
            yield from ((job, line) for line in guarded(job))
        else:
            yield from _in_processes(iter([job]), 1)


def _lines(_shared: None, job: RunGroup) -> list[dict[str, Any]]:
    return [line for _, line in perform_all(iter([job]), 1)]


def guarded(job: RunGroup) -> Iterator[dict[str, Any]]:
    """The lines of a job; after an error those of the runs that it kept from being done."""
    left = list(job.runs)
    try:
        for line in perform(job):
            left.pop(0)
            yield line
    except Exception as error:  # whatever it is, the other jobs go on and the user is told
        reason = one_line(error, kind=True)
        yield from (failure(run, reason) for run in left)


def _in_processes(jobs: Iterator[RunGroup], workers: int) -> Iterator[Reported]:
    crew: list[_Worker] = []
    try:
        while True:
            idle = [worker for worker in crew if worker.job is None]
            for job in islice(jobs, workers - len(crew) + len(idle)):
                if idle and (job.first.cached or idle[-1].is_new):
                    worker = idle.pop()
                else:
                    _dismiss(crew, idle[-1:])
                    worker = _Worker()
                    crew.append(worker)
                    del idle[-1:]
                worker.begin(job)
            busy = [worker for worker in crew if worker.job]
            if not busy:
                return
            for worker in wait_for(busy):
                yield from worker.reports()
            _dismiss(crew, [worker for worker in crew if worker.is_spent()])
    finally:
        _dismiss(crew, list(crew))


def _dismiss(crew: "list[_Worker]", workers: "Sequence[_Worker]") -> None:
    for worker in workers:
        worker.end()
        crew.remove(worker)


class _Worker:
    """A process that does one job after the other."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.link, there = context.Pipe()
        self.job: RunGroup | None = None
        self.left = 0
        self.is_new, self.used_up = True, False
        self.process = context.Process(target=_serve, args=(there,), daemon=True)
        with interrupts_held_back():
            self.process.start()
        there.close()  # so that the link breaks when the process ends

    def is_spent(self) -> bool:
        """Whether it is dead, or has done a job that had to have a process of its own."""
        return self.job is None and (self.used_up or not self.process.is_alive())

    def begin(self, job: RunGroup) -> None:
        self.job, self.left = job, len(job.runs)
        self.is_new, self.used_up = False, not job.first.cached
        with suppress(OSError):  # it died meanwhile; waiting for it will tell
            self.link.send(job)

    def reports(self) -> Iterator[Reported]:
        """The line it has for us; failures for all that is left of the job if it has died."""
        job = self.job
        assert job is not None
        try:
            lines = [self.link.recv()]
        except (EOFError, OSError):
            self.process.join()
            reason = (
                f"the process ended with status {self.process.exitcode} (killed, perhaps for memory); "
                "use fewer workers"
            )
            lines = [failure(run, reason) for run in job.runs[len(job.runs) - self.left :]]
        self.left -= len(lines)
        if self.left == 0:
            self.job = None
        for line in lines:
            yield job, line

    def end(self) -> None:
        self.process.terminate()
        self.process.join()
        self.link.close()


def wait_for(workers: Sequence[_Worker]) -> list[_Worker]:
    """The workers that have something to say."""
    ready = set(map(id, wait([worker.link for worker in workers])))
    return [worker for worker in workers if id(worker.link) in ready]


def _serve(link: Connection) -> None:
    """What a worker process does until it is told to end or its parent is gone."""
    serve_parent()
    limit_threads()
    with suppress(EOFError, OSError):
        while True:
            for line in guarded(link.recv()):
                link.send(line)
