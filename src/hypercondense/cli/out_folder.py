"""The folder that a run of ``condense`` writes, and the state of an interrupted run beside it."""

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hypercondense.cli import output


def default_out(
    source: str, ratio: float | None, nodes: int | None, retain: float | None = None, *, resume: bool
) -> Path:
    """``SOURCE-RATIO`` in the current folder, or the next name that is free; nothing is overwritten.

    An interrupted run is continued where its checkpoint lies.
    """
    size = f"{nodes}-nodes" if ratio is None else f"{ratio:g}"
    if retain is not None:
        size = f"retain-{retain:g}"
    stem = f"{Path(source).name.partition('.')[0] or 'source'}-{size}"
    for number in itertools.count(1):
        folder = Path(stem if number == 1 else f"{stem}-{number}")
        beside = checkpoint_folder(folder)
        if not os.path.lexists(folder) and (resume or not beside.exists()):
            return folder
        if not resume and _is_begun(beside):
            output.warn(f"an interrupted run into {folder} could go on with --resume; this is a new one")
    raise AssertionError  # there is always a next name


def _is_begun(folder: Path) -> bool:
    """Whether a run left its state here, and is not at work any more."""
    from hypercondense.condensing.checkpoint import holds_checkpoint
    from hypercondense.files.locking import BusyError, exclusive

    if not holds_checkpoint(folder):
        return False
    try:
        with exclusive(folder / "lock", remove=True):
            return True
    except (BusyError, OSError):
        return False


def checkpoint_folder(out: Path) -> Path:
    """Where the state of an interrupted run is kept: beside ``out``, which may be ``.``."""
    from hypercondense.errors import ConfigError

    out = Path(os.path.abspath(out))  # noqa: PTH100 (resolve() would follow a link at the target)
    if not out.name:
        raise ConfigError(f"--out must be a folder that can be replaced, got {out}; choose another place")
    return out.with_name(f"{out.name}.partial")


def check_begun(out: Path, *, resume: bool, force: bool) -> None:
    """Refuse to begin anew where an interrupted run could go on, unless it is to be discarded."""
    from hypercondense.condensing.checkpoint import holds_checkpoint, remove_checkpoint
    from hypercondense.errors import ConfigError

    folder = checkpoint_folder(out)
    if resume or not holds_checkpoint(folder):
        return
    if not force:
        raise ConfigError(
            f"an interrupted run into {out} could go on from {folder}; continue it with --resume, or discard "
            "it with --force"
        )
    output.warn(f"the interrupted run in {folder} is discarded, as --force asks")
    remove_checkpoint(folder)


@contextmanager
def sole_writer(out: Path) -> Iterator[None]:
    """Keep other processes from condensing into the same folder; forget the checkpoint if all goes well."""
    from hypercondense.condensing.checkpoint import remove_checkpoint
    from hypercondense.errors import CondensationError
    from hypercondense.files.locking import BusyError, exclusive

    folder = checkpoint_folder(out)
    try:
        with exclusive(folder / "lock", remove=True):
            yield
            remove_checkpoint(folder)
    except BusyError as error:
        raise CondensationError(
            f"another process is condensing into {out}; wait for it, or choose another --out"
        ) from error
    finally:
        with suppress(OSError):  # a checkpoint, or a file of somebody else, is kept
            folder.rmdir()
