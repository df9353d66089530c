"""How much memory is used and free, and reading sizes like ``2GB``."""

import contextlib
import ctypes
import os
import re
import sys
from pathlib import Path

from hypercondense.errors import ConfigError

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_MOST = 10**18  # bytes that may be asked for: no machine has as many
_STATUS = Path("/proc/self/status")
_MACHINE = Path("/proc/meminfo")
_CLEAR = Path("/proc/self/clear_refs")
_ARENA_MAX = -8  # of glibc's mallopt: heaps that threads share


def parse_size(text: str) -> int:
    """Bytes in a size such as ``500MB``, ``2GB``, ``1.5GiB`` or ``4096``.

    >>> parse_size("2GB"), parse_size("1.5 KiB")
    (2000000000, 1536)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(I?)B?\s*", text.upper())
    if not found or (found[3] and not found[2]):
        raise ConfigError(f"a memory size is a number with a unit such as 500MB or 2GB, got {text!r}")
    unit = _UNITS[found[2]]
    if found[3]:
        unit = 1024 ** list(_UNITS).index(found[2])
    size = float(found[1]) * unit
    if size > _MOST:
        raise ConfigError(f"a memory size is at most {format_size(_MOST)}, got {text[:40]!r}")
    return int(size)


def format_size(num_bytes: float) -> str:
    """A size for people.

    >>> format_size(2_500_000)
    '2.5 MB'
    """
    for unit in ("B", "KB", "MB", "GB"):
        if num_bytes < 1000:
            return f"{num_bytes:.3g} {unit}"
        num_bytes /= 1000
    return f"{num_bytes:.3g} TB"


def reset_peak() -> None:
    """Start measuring the peak anew where the system allows it (Linux)."""
    with contextlib.suppress(OSError):
        _CLEAR.write_text("5")


def peak_bytes() -> int:
    """Largest resident size of this process since :func:`reset_peak`, or since it started."""
    if (told := _told(_STATUS, "VmHWM")) is not None:
        return told
    import resource  # not on every system, and not needed on Linux

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def resident_bytes() -> int:
    """Memory that this process has now (Linux), else the most it has had."""
    told = _told(_STATUS, "VmRSS")
    return peak_bytes() if told is None else told


def give_back() -> None:
    """Let the system have what was freed, and keep one heap from now on (glibc; elsewhere nothing happens).

    A thread has a heap of its own otherwise, and what was freed in it counts as memory of this process.
    """
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError, AttributeError):
        allocator = ctypes.CDLL(None)
        allocator.mallopt(_ARENA_MAX, 1)
        allocator.malloc_trim(0)


def available_bytes(told_by: Path = _MACHINE) -> int | None:
    """Memory that could be used now without swapping (Linux), else all there is; ``None`` if not known."""
    if (told := _told(told_by, "MemAvailable")) is not None:
        return told
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return None


def _told(path: Path, name: str) -> int | None:
    """Bytes that a file of the system tells under this name."""
    with contextlib.suppress(OSError, ValueError):
        for line in path.read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
    return None
