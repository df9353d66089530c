"""The results file: one JSON line per finished run, never half a line and never one twice."""

import errno
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypercondense.errors import FormatError
from hypercondense.experiments.line import CHECKSUM, Line, checksum
from hypercondense.experiments.settings import Settings, is_same
from hypercondense.files.locking import BusyError, exclusive
from hypercondense.files.regular import open_regular

_PATIENCE = 60.0  # seconds to wait for another process that appends a line


@dataclass
class Lines:
    """The lines of a file, and what was wrong with its end."""

    path: Path
    lines: list[Line] = field(default_factory=list)
    size: int = 0  # bytes of whole lines
    breaks: int = 0  # line breaks in them
    fragment: bytes = b""  # what a crash left of a line

    @property
    def warning(self) -> str | None:
        """What to tell the user about a line that was cut off."""
        if not self.fragment:
            return None
        return (
            f"{self.path} ends in the middle of line {self.breaks + 1} (a crash, or a full disk); "
            "that run does not count"
        )


def read_lines(path: Path) -> Lines:
    """Read a results file; the rest of a line at its end is left out.

    A last line that lacks only its line break is whole: editors leave it out.

    Raises:
        FormatError: A line is not a result.
    """
    found = Lines(path)
    _read_more(found)
    return found


def _read_more(found: Lines) -> list[Line]:
    """Read what was appended since, and return it."""
    with open_regular(found.path) as file:
        file.seek(found.size)
        content = file.read()
    *whole, rest = content.split(b"\n")
    numbered = enumerate(whole, start=found.breaks + 1)
    new = [Line.parse(text, number, found.path) for number, text in numbered if text.strip()]
    found.size += len(content) - len(rest)
    found.breaks += len(whole)
    found.fragment = rest
    if rest and (last := _whole(rest, found.breaks + 1, found.path)):
        new.append(last)
        found.size += len(rest)
        found.fragment = b""
    found.lines += new
    return new


def _whole(text: bytes, number: int, path: Path) -> Line | None:
    try:
        return Line.parse(text, number, path)
    except FormatError:
        return None


class FinishedRuns:
    """Which runs have a good line."""

    def __init__(self, lines: Iterable[Line] = ()) -> None:
        self._settings: dict[str, list[Settings]] = {}
        self.add(lines)

    def add(self, lines: Iterable[Line]) -> None:
        """Take note of more lines."""
        for line in lines:
            if not line.failed:
                self._settings.setdefault(line.settings.core, []).append(line.settings)

    def has(self, wanted: Settings, defaults: Mapping[str, Any]) -> bool:
        """Whether there is a good line of a run; ``defaults`` are those of its method's options."""
        return any(is_same(done, wanted, defaults) for done in self._settings.get(wanted.core, ()))

    def has_key(self, wanted: Settings) -> bool:
        """Whether there is a good line with exactly these settings."""
        return any(done.key == wanted.key for done in self._settings.get(wanted.core, ()))


class ResultsFile:
    """A results file to append to. Several processes may do so at the same time."""

    def __init__(self, path: Path) -> None:
        """Open, or make, the file and repair its end; ``warning`` says if something was cut off."""
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._alone():
            path.touch()
            self.found = read_lines(path)
            self.warning = self.found.warning
            self._repair()
        self.finished = FinishedRuns(self.found.lines)

    @property
    def lines(self) -> list[Line]:
        """All lines read so far."""
        return self.found.lines

    def append(self, content: Mapping[str, Any]) -> bool:
        """Write one line, flushed to disk; ``False`` if there is a good line of that key already.

        Raises:
            FormatError: It is not a result, and nothing was written.
            OSError: There is no space left, or the file cannot be written. All earlier lines are whole.
        """
        told = json.loads(json.dumps(content, allow_nan=False))  # as it will be read: no tuples, no numpy
        told[CHECKSUM] = checksum(told)
        text = json.dumps(told, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        settings = Line.parse(text, self.found.breaks + 1, self.path).settings
        with self._alone():
            self.refresh()
            self._repair()
            if self.finished.has_key(settings):
                return False
            self._write(text)
            self.refresh()
        return True

    def refresh(self) -> None:
        """Read what other processes appended."""
        self.finished.add(_read_more(self.found))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until no other process is appending."""
        lock = self.path.with_name(f".{self.path.name}.lock")
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                with exclusive(lock):
                    yield
                    return
            except BusyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def _repair(self) -> None:
        """Cut off the rest of a line that a crash left, and add the line break a whole one lacks."""
        with self.path.open("r+b") as file:
            file.truncate(self.found.size)
            file.seek(max(0, self.found.size - 1))
            if file.read(1) not in (b"\n", b""):
                file.write(b"\n")
                self.found.size += 1
                self.found.breaks += 1
        self.found.fragment = b""

    def _write(self, text: bytes) -> None:
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            if os.write(handle, text) != len(text):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(handle)
        except OSError as error:
            os.ftruncate(handle, self.found.size)
            kept = f"the {len(self.lines)} lines before it are whole; run the same command again to go on"
            reason = f"{error.strerror} while writing a result; {kept}"
            raise OSError(error.errno, reason, str(self.path)) from error
        finally:
            os.close(handle)
