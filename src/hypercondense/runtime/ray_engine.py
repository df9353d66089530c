"""Work shared by the machines of a Ray cluster, or by a Ray started on this machine."""

import _thread
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any
from uuid import uuid4

from hypercondense.errors import ConfigError, EngineError, HypercondenseError, one_line
from hypercondense.runtime.code_version import code_checksum
from hypercondense.runtime.engine import ATTEMPTS, Engine, Result, Shared, Task, checked_number

_PATIENCE = 10.0  # seconds until a machine answers
_AHEAD = 2  # tasks handed out for each that runs: results that wait for their turn stay few
_GLANCE = 0.5  # seconds between two looks of a task whether it is still wanted
_GIVEN_UP = "hypercondense"  # where a cluster notes calls of which nothing is wanted any more


class RayEngine(Engine):
    """Tasks of Ray. What they share is sent to each machine once and read there in place.

    A task whose process or machine dies is run again, elsewhere if need be. Tasks that are not wanted any
    more, because of an error or Ctrl-C, end themselves within a second. ``ray.cancel`` is not used for it: a
    task that ends while it is cancelled makes Ray abort the process that asked (Ray 2.60, in any mode).

    Args:
        workers: Tasks at a time; the default is as many as the cluster has processors.
        address: Of a cluster that is there (``auto`` looks for one on this machine). Without it Ray is
            started on this machine for as long as the engine is open, unless this process has one already.
    """

    remote = True

    def __init__(self, *, workers: int | None = None, address: str | None = None) -> None:
        self.ray = _library()
        self.workers = None if workers is None else checked_number("workers", workers)
        self.owns = not self.ray.is_initialized()
        self._given_up: list[str] = []
        if self.owns:
            self._connect(address)

    def map(
        self, work: Callable[[Shared, Task], Result], tasks: Iterable[Task], *, shared: Shared
    ) -> Iterator[Result]:
        """As :meth:`Engine.map` says."""
        for _, result in self._results(work, tasks, shared, ordered=True):
            yield result

    def each(
        self, work: Callable[[Shared, Task], Result], tasks: Iterable[Task], *, shared: Shared
    ) -> Iterator[tuple[Task, Result]]:
        """As :meth:`Engine.each` says."""
        return self._results(work, tasks, shared, ordered=False)

    def _results(
        self,
        work: Callable[[Shared, Task], Result],
        tasks: Iterable[Task],
        shared: Shared,
        *,
        ordered: bool,
    ) -> Iterator[tuple[Task, Result]]:
        there = self.ray.remote(max_retries=ATTEMPTS - 1, num_cpus=1)(_there)
        call = uuid4().hex
        # In a list Ray leaves it alone: each process fetches and opens it once, not for every task.
        common = call, [self.ray.put(shared)], code_checksum(), work
        waiting: dict[Any, Task] = {}  # in the order of the tasks
        left = iter(tasks)
        try:
            # With a number of workers that was asked for, Ray would run what waits, too.
            at_once = self.slots if self.workers else _AHEAD * self.slots
            for task in islice(left, at_once):
                waiting[there.remote(*common, task)] = task
            while waiting:
                one = next(iter(waiting)) if ordered else self._first(list(waiting))
                result = self._result(one)
                done = waiting.pop(one)
                for task in islice(left, 1):
                    waiting[there.remote(*common, task)] = task
                yield done, result
        finally:
            if waiting:
                with suppress(Exception):  # the cluster may be gone as well
                    _notes()._internal_kv_put(call, b"", namespace=_GIVEN_UP)
                    self._given_up.append(call)

    def _first(self, waiting: list[Any]) -> Any:
        """Whichever ends first."""
        ready, _ = self.ray.wait(waiting, num_returns=1)
        return ready[0]

    def close(self) -> None:
        """Leave the cluster, without notes of ours; a Ray that was started here ends."""
        for call in self._given_up:
            with suppress(Exception):
                _notes()._internal_kv_del(call, namespace=_GIVEN_UP)
        self._given_up.clear()
        if self.owns and self.ray.is_initialized():
            self.ray.shutdown()

    def __enter__(self) -> "RayEngine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def slots(self) -> int:
        """As many as asked for, or as the cluster has processors now."""
        processors = max(1, int(self.ray.cluster_resources().get("CPU", 1)))
        return processors if self.workers is None else min(self.workers, processors)

    def _result(self, one: Any) -> Any:
        try:
            return self.ray.get(one)
        except self.ray.exceptions.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, HypercondenseError):
                raise type(cause)(f"on a machine of the cluster: {cause}") from error
            raise EngineError(f"a task failed on the cluster: {one_line(cause, kind=True)}") from error
        except self.ray.exceptions.RayError as error:
            raise EngineError(
                f"a task was lost {ATTEMPTS} times ({one_line(error, kind=True, longest=200)}); "
                "look at `ray status`, or use fewer workers"
            ) from error

    def _connect(self, address: str | None) -> None:
        # Workers of a Ray of our own are as urgent as we are, who only wait; by default they are less.
        own = {"_system_config": {"worker_niceness": 0}} if address is None else {}
        quiet = {"log_to_driver": False, "include_dashboard": False, "logging_level": "ERROR"}
        try:
            if address is not None:
                _knock(address)
            self.ray.init(address=address or "local", **quiet, **own)  # not one of somebody else on it
        except (ConnectionError, ValueError, RuntimeError, OSError, OverflowError) as error:
            where = "on this machine" if address is None else f"at {address!r}"
            raise ConfigError(
                f"no Ray cluster can be used {where} ({one_line(error, longest=160)}); start one with "
                "`ray start --head`, or leave --address out to start one here"
            ) from error


def _knock(address: str) -> None:
    """Find out within seconds that nobody listens at a host and port: Ray tries for ten minutes.

    Raises:
        OSError: Nobody does.
        OverflowError: There is no such port.
    """
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if port.isdecimal():  # others, such as auto, are names that Ray itself looks up
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()


def _library() -> Any:
    try:
        import ray
    except ImportError as error:
        raise ConfigError(
            "the engine ray needs Ray; install it with pip install 'hypercondense[ray]'"
        ) from error
    return ray


_opened: dict[str, Any] = {}  # in a process of the cluster: what its tasks share, by the name of the object


def _there(call: str, shared: list[Any], code: str, work: Callable[[Any, Any], Any], task: Any) -> Any:
    """What a machine of the cluster does, with the same code as here or not at all."""
    from hypercondense.runtime.threads import one_thread

    if (own := code_checksum()) != code:
        raise ConfigError(
            f"it has another version of hypercondense, {own[:40]}, not {code[:40]}; install the same on all"
        )
    with suppress(_GivenUp), _while_wanted(call), one_thread():
        name = shared[0].hex()
        if name not in _opened:
            _opened.clear()
            _opened[name] = _fetched(shared[0])
        return work(_opened[name], task)
    return None


class _GivenUp(BaseException):
    """Nobody wants the result any more."""


@contextmanager
def _while_wanted(call: str) -> Iterator[None]:
    """What is done inside ends with :class:`_GivenUp` soon after nothing of a call is wanted any more."""
    ended, one_at_a_time = threading.Event(), threading.Lock()

    def look() -> None:
        while not ended.wait(_GLANCE):
            if _is_given_up(call):
                with one_at_a_time:
                    if not ended.is_set():
                        _interrupt()
                return

    if _is_given_up(call):
        raise _GivenUp
    before = signal.signal(_SIGNAL, _give_up)
    watch = threading.Thread(target=look, daemon=True)
    watch.start()
    try:
        yield
    finally:
        with one_at_a_time:
            ended.set()
        signal.signal(_SIGNAL, before)


_SIGNAL = getattr(signal, "SIGUSR2", signal.SIGINT)  # the processes of a cluster may be deaf to SIGINT


def _give_up(*_: object) -> None:
    raise _GivenUp


def _interrupt() -> None:
    if hasattr(signal, "pthread_kill") and (main := threading.main_thread().ident) is not None:
        signal.pthread_kill(main, _SIGNAL)  # which ends a sleep, too
    else:
        _thread.interrupt_main(_SIGNAL)


def _is_given_up(call: str) -> bool:
    with suppress(Exception):  # a cluster that cannot be asked will be noticed by others
        return bool(_notes()._internal_kv_exists(call, namespace=_GIVEN_UP))
    return False


def _notes() -> Any:
    """What all processes of a cluster can write and read."""
    _library()
    from ray.experimental import internal_kv

    return internal_kv


def _fetched(one: Any) -> Any:
    """What is shared, opened here; what Ray makes of an error in it begins with the error itself."""
    ray = _library()
    try:
        return ray.get(one)
    except ray.exceptions.RaySystemError as error:
        reason = str(error).removeprefix("System error: ").partition("\ntraceback:")[0]
        raise ConfigError(f"it cannot open what tasks share: {reason}") from error
