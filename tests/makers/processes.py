"""Processes that start in a moment: one server imports everything, and forks."""

import ctypes
import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

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


def command(
    arguments: Sequence[str], *, folder: Path, limit: int | None = None, permitted: bool = True
) -> Any:
    """The process of a command: its messages go to ``folder/stderr``, its own cache is in ``folder/cache``.

    ``limit`` is the largest file it may write, as if the disk were full then; without ``permitted`` it may no
    more than what the files say, even if it is root.
    """
    return started(_command, list(arguments), folder, limit, permitted)


def memory_disk() -> str | None:
    """Where flushing costs nothing; where there is none, the usual place of temporary files."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def _command(arguments: list[str], folder: Path, limit: int | None, permitted: bool) -> None:
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
    sys.exit(run(arguments))


def _drop_privileges() -> None:
    """Take the two capabilities from root that let it write and read whatever permissions say (Linux)."""
    library = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()
    assert library.capget(header, sets) == 0
    sets[0] &= ~0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH of the effective ones
    assert library.capset(header, sets) == 0
