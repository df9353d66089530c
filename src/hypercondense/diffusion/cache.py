"""Diffused features kept between runs, under the digest of their source and the polynomial."""

import json
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from zlib import crc32

import numpy as np

from hypercondense.diffusion.blocked import diffuse
from hypercondense.diffusion.filters import Kernel, Polynomial
from hypercondense.diffusion.mapped import open_map
from hypercondense.errors import ConfigError, FormatError
from hypercondense.files.regular import open_regular
from hypercondense.files.storage import make_private, read_json, replaced_file, write_json
from hypercondense.hypergraph import Dense, Hypergraph
from hypercondense.runtime.engine import Engine
from hypercondense.runtime.progress import Progress, silent

_log = logging.getLogger(__name__)
_VERSION = 2  # raise when the same source and polynomial give other numbers than before


def cached_diffusion(
    source: Hypergraph,
    kernel: Kernel,
    *,
    cache_dir: Path | None,
    self_loops: bool = True,
    walks: bool = False,
    memory: int | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
    progress: Progress = silent,
) -> Dense:
    """What :func:`diffuse` returns, from the cache if it is there.

    An entry that is damaged is made again. A cache that cannot be written is warned of and done without.
    Delete the folder to free its space.

    Args:
        source: As for :func:`diffuse`, like all that is not named here.
        kernel: The polynomial; part of what an entry is kept under.
        cache_dir: Folder of the entries, made if missing; ``None`` keeps nothing.
        self_loops: Part of what an entry is kept under.
        walks: Part of it too.
        memory: Bytes it may take; not needed for an entry that is there.
        threads: Number of threads.
        engine: Of other machines, which do the work.
        progress: Not called for an entry that is there.

    Returns:
        A read-only memory map, or a matrix in memory if nothing is kept.

    Raises:
        ConfigError: ``memory`` is too small, or too small without the cache that cannot be written.
    """
    polynomial = Polynomial.of(kernel)
    work = partial(
        diffuse,
        source,
        polynomial,
        self_loops=self_loops,
        walks=walks,
        memory=memory,
        scratch=cache_dir,
        threads=threads,
        engine=engine,
        progress=progress,
    )
    if cache_dir is None:
        return work()
    entry = cache_dir / _entry_name(source, polynomial, self_loops, walks)
    found = _read(entry, (source.num_nodes, source.num_features))
    return _made(entry, work) if found is None else found


def _made(entry: Path, work: Callable[..., Dense]) -> Dense:
    """Do the work into the entry, or in memory where that cannot be written."""
    try:
        make_private(entry.parent)
        matrix = work(out=entry)
    except OSError as error:
        trouble = f"{entry.parent} cannot be written ({error.strerror or error})"
    else:
        with suppress(OSError):  # an entry without a checksum is made again the next time
            _write_checksum(entry)
        return matrix
    _log.warning("the cache %s; going on without it", trouble)
    try:
        return work()
    except ConfigError as error:
        raise ConfigError(f"{error}; the cache {trouble}") from error


def _entry_name(source: Hypergraph, polynomial: Polynomial, self_loops: bool, walks: bool) -> str:
    kind = [name for name, told in (("walks", walks), ("chebyshev", polynomial.chebyshev)) if told]
    key = json.dumps([_VERSION, source.digest, polynomial.weights, self_loops, *kind])
    return f"{sha256(key.encode()).hexdigest()[:32]}.npy"


def _read(entry: Path, shape: tuple[int, int]) -> Dense | None:
    """The entry if it is whole: a matrix of this shape with not one byte missing or changed."""
    try:
        # Before anything in it is believed: numpy may raise anything while it reads a damaged header.
        if read_json(_checksum_file(entry)).get("crc32") != _checksum(entry):
            return None
        matrix = open_map(entry)
    except (OSError, ValueError, EOFError, FormatError):  # not there, or not what it declares to be
        return None
    whole = entry.stat().st_size == matrix.offset + matrix.nbytes
    return matrix if whole and matrix.shape == shape and matrix.dtype == np.float32 else None


def _write_checksum(entry: Path) -> None:
    with replaced_file(_checksum_file(entry)) as draft:
        write_json(draft, {"crc32": _checksum(entry)})


def _checksum_file(entry: Path) -> Path:
    return entry.with_suffix(".json")


def _checksum(entry: Path) -> int:
    """CRC-32 of the file: fast, and enough against damage by accident."""
    total = 0
    with open_regular(entry) as file:
        while block := file.read(1 << 20):
            total = crc32(block, total)
    return total
