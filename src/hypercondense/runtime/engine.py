"""One way of sharing work: ``engine.map``, by threads, by processes, or by the machines of a Ray cluster.

Results come in the order of the tasks, whoever was first: sums over them are always taken in one order, so
one thread and a cluster give the same bits. A task gets what all tasks share, and itself; it must not change
what is shared.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from hypercondense.errors import ConfigError, EngineError
from hypercondense.names import ENGINES
from hypercondense.runtime.processes import interrupts_held_back, serve_parent

Shared = TypeVar("Shared")
Task = TypeVar("Task")
Result = TypeVar("Result")

ATTEMPTS = 4  # of a task whose process or machine dies; a task that fails is not run again


class Engine(ABC):
    """Shares work.

    Attributes:
        remote: Whether tasks may run on other machines: what they share is then sent, not inherited.
        slots: Tasks at a time.
    """

    remote = False

    @property
    def slots(self) -> int:
        """Tasks at a time."""
        return 1

    @abstractmethod
    def map(
        self, work: Callable[[Shared, Task], Result], tasks: Iterable[Task], *, shared: Shared
    ) -> Iterator[Result]:
        """``work(shared, task)`` for every task, in their order.

        Tasks may be taken from their iterator some time before they begin. ``work`` is a function of a module
        where tasks run in other processes. An error of a task is raised here, and the others are given up.
        """

    def each(
        self, work: Callable[[Shared, Task], Result], tasks: Iterable[Task], *, shared: Shared
    ) -> Iterator[tuple[Task, Result]]:
        """The same, each with its task as soon as it is there, in whatever order; here in theirs."""
        given = deque[Task]()

        def noted() -> Iterator[Task]:
            for task in tasks:
                given.append(task)
                yield task

        for result in self.map(work, noted(), shared=shared):
            yield given.popleft(), result

    def close(self) -> None:  # noqa: B027 (most have nothing to give back)
        """Give back what the engine holds."""


class Here(Engine):
    """One task after the other, in this thread."""

    def map(
        self, work: Callable[[Shared, Task], Result], tasks: Iterable[Task], *, shared: Shared
    ) -> Iterator[Result]:
        """As :meth:`Engine.map` says."""
        return (work(shared, task) for task in tasks)


class Threads(Engine):
    """So many threads that each use one torch thread; for work that spends its time outside of Python.

    >>> list(Threads(2).map(lambda add, number: number + add, [1, 2, 3], shared=10))
    [11, 12, 13]
    """

    def __init__(self, number: int) -> None:
        self.number = checked_number("threads", number)

    @property
    def slots(self) -> int:
        """As many as threads."""
        return self.number

    def map(
        self, work: Callable[[Shared, Task], Result], tasks: Iterable[Task], *, shared: Shared
    ) -> Iterator[Result]:
        """As :meth:`Engine.map` says."""
        with _single_threaded(self.number) as pool:
            try:
                yield from pool.map(lambda task: work(shared, task), tasks)
            finally:
                pool.shutdown(cancel_futures=True)


class Processes(Engine):
    """So many processes, started anew, none of which outlives this one.

    What is shared is sent to each of them once. Tasks of a process that dies are run again.
    """

    def __init__(self, number: int) -> None:
        self.number = checked_number("workers", number)

    @property
    def slots(self) -> int:
        """As many as processes."""
        return self.number

    def map(
        self, work: Callable[[Shared, Task], Result], tasks: Iterable[Task], *, shared: Shared
    ) -> Iterator[Result]:
        """As :meth:`Engine.map` says."""
        done, tasks = 0, list(tasks)
        if not tasks:
            return
        for attempt in range(1, ATTEMPTS + 1):
            try:
                for result in self._attempt(work, tasks[done:], shared):
                    yield result
                    done += 1
                return
            except BrokenProcessPool as error:
                if attempt == ATTEMPTS:
                    raise EngineError(
                        f"a process died {ATTEMPTS} times at task {done + 1} of {len(tasks)}, perhaps for "
                        "memory; use fewer workers"
                    ) from error

    def _attempt(
        self, work: Callable[[Shared, Task], Result], tasks: Sequence[Task], shared: Shared
    ) -> Iterator[Result]:
        number = min(self.number, len(tasks))
        context = get_context("spawn")
        pool = ProcessPoolExecutor(number, mp_context=context, initializer=_adopt, initargs=(shared,))
        others, workers = set(active_children()), set[BaseProcess]()
        with pool:
            try:
                with interrupts_held_back():  # workers are started here
                    results = pool.map(_there, [work] * len(tasks), tasks)
                    workers = set(active_children()) - others
                yield from results
            except BaseException:
                for worker in workers:
                    worker.terminate()  # nobody wants what they are at
                pool.shutdown(cancel_futures=True)
                raise


def engine_named(name: str, *, workers: int = 1, address: str | None = None) -> Engine:
    """The engine of a command: ``local`` or ``ray``.

    Args:
        name: Which.
        workers: Processes here; tasks at a time on a cluster, where 1 means as many as it has processors.
        address: Of a cluster that is there; without it Ray is started on this machine.

    Raises:
        ConfigError: There is no such engine, Ray is not installed, or no cluster is there.
    """
    if name not in ENGINES:
        raise ConfigError(f"engine must be one of {', '.join(ENGINES)}, got {name!r}")
    if name == "ray":
        from hypercondense.runtime.ray_engine import RayEngine

        return RayEngine(workers=None if workers == 1 else workers, address=address)
    if address is not None:
        raise ConfigError("an address is that of a Ray cluster; add --engine ray, or leave --address out")
    return Here() if workers == 1 else Processes(workers)


def checked_number(what: str, number: int) -> int:
    """A number of threads or processes.

    Raises:
        ValueError: It is less than 1.
    """
    if number < 1:
        raise ValueError(f"{what} must be at least 1, got {number}")
    return number


@contextmanager
def _single_threaded(number: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that each use one torch thread; the number torch is set to is the same afterwards."""
    import torch

    before = torch.get_num_threads()
    try:
        with ThreadPoolExecutor(number, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield pool
    finally:
        # A thread that sets its own number also sets it for the threads still to come.
        torch.set_num_threads(before)


_adopted: list[Any] = []  # in a worker process: what all its tasks share


def _adopt(shared: Any) -> None:
    serve_parent()
    _adopted[:] = [shared]


def _there(work: Callable[[Any, Any], Any], task: Any) -> Any:
    return work(_adopted[0], task)
