"""Diffused features kept between runs, under the digest of their source and the coefficients."""

import json
import logging
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np

from hypercondense.diffusion.blocked import diffuse
from hypercondense.diffusion.filters import Coefficients, checked_coefficients
from hypercondense.diffusion.mapped import open_map
from hypercondense.errors import ConfigError
from hypercondense.hypergraph import Dense, Hypergraph
from hypercondense.progress import Progress, silent

_log = logging.getLogger(__name__)
_VERSION = 1  # raise when the same source and coefficients give other numbers than before


def cached_diffusion(
    source: Hypergraph,
    coefficients: Sequence[float],
    *,
    cache_dir: Path | None,
    self_loops: bool = True,
    memory: int | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> Dense:
    """What :func:`diffuse` returns, from the cache if it is there.

    An entry that is damaged is made again. A cache that cannot be written is warned of and done without.
    Delete the folder to free its space.

    Args:
        source: As for :func:`diffuse`, like all that is not named here.
        coefficients: ``w_0 .. w_K``.
        cache_dir: Folder of the entries, made if missing; ``None`` keeps nothing.
        self_loops: Part of what an entry is kept under.
        memory: Bytes it may take; not needed for an entry that is there.
        threads: Number of threads.
        progress: Not called for an entry that is there.

    Returns:
        A read-only memory map, or a matrix in memory if nothing is kept.

    Raises:
        ConfigError: ``memory`` is too small, or too small without the cache that cannot be written.
    """
    coefficients = checked_coefficients(coefficients)
    work = partial(
        diffuse,
        source,
        coefficients,
        self_loops=self_loops,
        memory=memory,
        threads=threads,
        progress=progress,
    )
    if cache_dir is None:
        return work()
    entry = cache_dir / _entry_name(source, coefficients, self_loops)
    found = _read(entry, (source.num_nodes, source.num_features))
    return _made(entry, work) if found is None else found


def _made(entry: Path, work: Callable[..., Dense]) -> Dense:
    """Do the work into the entry, or in memory where that cannot be written."""
    try:
        return work(out=entry)
    except OSError as error:
        trouble = f"{entry.parent} cannot be written ({error.strerror or error})"
    _log.warning("the cache %s; going on without it, as --no-cache does", trouble)
    try:
        return work()
    except ConfigError as error:
        raise ConfigError(f"{error}; the cache {trouble}") from error


def _entry_name(source: Hypergraph, coefficients: Coefficients, self_loops: bool) -> str:
    key = json.dumps([_VERSION, source.digest, coefficients, self_loops])
    return f"{sha256(key.encode()).hexdigest()[:32]}.npy"


def _read(entry: Path, shape: tuple[int, int]) -> Dense | None:
    """The entry if it is whole: a matrix of this shape and not one byte missing."""
    try:
        matrix = open_map(entry)
        whole = entry.stat().st_size == matrix.offset + matrix.nbytes
    except (OSError, ValueError, EOFError):  # not there, or not a .npy file of the length it declares
        return None
    return matrix if whole and matrix.shape == shape and matrix.dtype == np.float32 else None
