"""Processes that start in a moment: one server imports everything, and forks."""

import ctypes
import multiprocessing
import os
import pkgutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

PATIENCE = 600.0  # seconds until something counts as never happening, however busy the machine is

_PRELOADED = [
    "typer",
    "rich.progress",
    "hypercondense.experiments.runner",
    "hypercondense.experiments.plan_reader",
    "sklearn.cluster",
    "sklearn.metrics",
    "safetensors.numpy",
    "torch._dynamo",  # which the first optimizer imports, in two seconds
    "typer._adapters",
    "makers.processes",
]


def context() -> Any:
    """A way to start processes whose imports are done."""
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)  # the server imports by it
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(_PRELOADED)
    return found


def started(target: Callable[..., None], *arguments: object) -> Any:
    """A process that runs a function at the top of a module."""
    process = context().Process(target=target, args=arguments)
    process.start()
    return process


@dataclass(frozen=True)
class Blow:
    """A signal that a process sends to itself when a function has returned so many times.

    It can neither come too early nor too late, which signals of another process can on a busy machine.
    """

    signal: signal.Signals
    function: str  # as in "package.module:Class.method"
    calls: int = 1
    to_group: bool = False  # to its workers, too, as a terminal does

    def prepare(self) -> None:
        """Let it fall in this process."""
        owner, _, name = self.function.replace(":", ".", 1).rpartition(".")
        holder: Any = pkgutil.resolve_name(owner)
        function, left = getattr(holder, name), iter(range(self.calls - 1, -1, -1))

        @wraps(function)
        def fatal(*arguments: Any, **more: Any) -> Any:
            found = function(*arguments, **more)
            if next(left, None) == 0:
                (os.killpg if self.to_group else os.kill)(os.getpid(), self.signal)
            return found

        setattr(holder, name, fatal)


def command(
    arguments: Sequence[object],
    *,
    folder: Path,
    limit: int | None = None,
    permitted: bool = True,
    blow: Blow | None = None,
) -> Any:
    """The process of a command: its messages go to ``folder/stderr``, its own cache is in ``folder/cache``.

    ``limit`` is the largest file it may write, as if the disk were full then; without ``permitted`` it may no
    more than what the files say, even if it is root.
    """
    return started(_command, [str(argument) for argument in arguments], folder, limit, permitted, blow)


def told(process: Any, folder: Path) -> tuple[int, str, str]:
    """How a command ended, and what it printed."""
    process.join(PATIENCE)
    return process.exitcode, (folder / "stdout").read_text(), (folder / "stderr").read_text()


def left_of(group: int) -> list[int]:
    """The processes of a group that are still there after a while."""
    deadline = time.monotonic() + PATIENCE
    while members := list(_members(group)):
        if time.monotonic() > deadline:
            return members
        time.sleep(0.05)
    return []


def _members(group: int) -> Iterator[int]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _parent, its_group = path.read_text().rpartition(")")[2].split()[:3]
        except OSError:  # it has just ended
            continue
        if int(its_group) == group and state != "Z":
            yield int(path.parent.name)


def memory_disk() -> str | None:
    """Where flushing costs nothing; where there is none, the usual place of temporary files."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def _command(
    arguments: list[str], folder: Path, limit: int | None, permitted: bool, blow: Blow | None
) -> None:
    import resource

    import torch

    from hypercondense.cli import run

    torch.set_num_threads(1)
    os.setpgrp()
    os.chdir(folder)
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    for stream, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), stream)
    if not permitted:
        _drop_privileges()
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    if blow is not None:
        blow.prepare()
    sys.exit(run(arguments))


def _drop_privileges() -> None:
    """Take the two capabilities from root that let it write and read whatever permissions say (Linux)."""
    library = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()
    assert library.capget(header, sets) == 0
    sets[0] &= ~0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH of the effective ones
    assert library.capset(header, sets) == 0
