"""What must hold for every file: refused in one clean line, or accepted and consistent, within bounds.

Cases run in forked processes, so that one that takes all memory, hangs or crashes is one defect and no more.
"""

import os
import pickle
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypercondense.errors import HypercondenseError

MEMORY, GROWTH = 500 * 10**6, 10  # bytes beside so many times the files
CPU_SECONDS, WALL_SECONDS = 10, 30  # of the processor; and on the clock, for what waits for ever
LONGEST_ERROR = 300
_MEMORY_DISK = "/dev/shm" if Path("/dev/shm").is_dir() else None  # where flushing costs nothing


@dataclass(frozen=True)
class Case:
    """Files to read: a name with ``None`` is a pipe that nobody writes to."""

    reader: str
    label: str
    files: dict[str, bytes | None]

    @property
    def size(self) -> int:
        return sum(len(content or b"") for content in self.files.values())


@dataclass(frozen=True)
class Verdict:
    """What became of a case: ``refused``, ``accepted`` or ``defect``, and what is wrong."""

    kind: str
    told: str
    seconds: float = 0.0
    peak: int = 0  # bytes beside what the process had before


Check = Callable[[Path], None]  # reads a folder; raises what the reader raises, or Inconsistent


class Inconsistent(Exception):
    """It was accepted, and what was written of it is not what is read again."""


def verdicts(cases: Sequence[Case], checks: dict[str, Check], *, peaks: bool = False) -> Iterator[Verdict]:
    """What becomes of each case, in order."""
    done = 0
    while done < len(cases):
        with tempfile.TemporaryDirectory(prefix="f", dir=_MEMORY_DISK) as root:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that forking a process with threads is risky
                child = _Child(cases[done:], checks, peaks, Path(root))
            for verdict in child.verdicts():
                done += 1
                yield verdict
            death = child.cause_of_death()
        if done < len(cases):  # it died on this one
            yield death
            done += 1


class _Child:
    def __init__(self, cases: Sequence[Case], checks: dict[str, Check], peaks: bool, root: Path) -> None:
        self.link, there = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            os.close(self.link)
            status = 1
            try:
                _work(cases, checks, peaks, root, there)
                status = 0
            finally:
                os._exit(status)
        os.close(there)

    def verdicts(self) -> Iterator[Verdict]:
        with os.fdopen(self.link, "rb") as link:
            while True:
                try:
                    yield pickle.load(link)
                except EOFError:
                    return

    def cause_of_death(self) -> Verdict:
        _, status = os.waitpid(self.process, 0)
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            told = {signal.SIGPROF: "hangs", signal.SIGALRM: "waits for ever", signal.SIGKILL: "memory"}
            return Verdict("defect", told.get(signal.Signals(number), f"crash by signal {number}"))
        return Verdict("defect", f"the process ended with status {os.WEXITSTATUS(status)}")


def _work(cases: Sequence[Case], checks: dict[str, Check], peaks: bool, root: Path, link: int) -> None:
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # which ends the process, whatever it is at
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    devnull = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(devnull, stream)
    watch = _Watch(root)
    sys.addaudithook(watch)
    for number, case in enumerate(cases):
        folder = root / f"{number:x}"
        os.write(link, pickle.dumps(_judged(case, checks[case.reader], folder, watch, peaks)))
        shutil.rmtree(folder)


def _judged(case: Case, check: Check, folder: Path, watch: "_Watch", peaks: bool) -> Verdict:
    folder.mkdir()
    for name, content in case.files.items():
        if content is None:
            os.mkfifo(folder / name)
        else:
            (folder / name).write_bytes(content)
    watch.seen.clear()
    before = _resident() if peaks else 0
    if peaks:
        Path("/proc/self/clear_refs").write_text("5")
    begin = time.process_time()
    kind, told = _contract(case, check, folder, watch)
    seconds = time.process_time() - begin
    peak = max(0, _told("VmHWM") - before) if peaks else 0
    if kind != "defect" and peak > MEMORY + GROWTH * case.size:
        kind, told = "defect", f"took {peak / 1e6:.0f} MB"
    return Verdict(kind, told, seconds, peak)


def _contract(case: Case, check: Check, folder: Path, watch: "_Watch") -> tuple[str, str]:
    unlimited = resource.getrlimit(resource.RLIMIT_AS)
    fence = _told("VmSize") + MEMORY + GROWTH * case.size
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, WALL_SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (fence, unlimited[1]))
    try:
        watch.on = True
        check(folder)
        error: BaseException | None = None
    except BaseException as caught:
        error = caught
    finally:
        watch.on = False
        resource.setrlimit(resource.RLIMIT_AS, unlimited)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    return _told_by(error, watch)


def _told_by(error: BaseException | None, watch: "_Watch") -> tuple[str, str]:
    wrong = None
    if watch.seen:
        wrong = watch.seen[0]
    elif any(isinstance(cause, MemoryError) for cause in _causes(error)):
        wrong = "asked for more memory than allowed"
    elif isinstance(error, Inconsistent):
        wrong = f"inconsistent: {error}"
    elif not isinstance(error, HypercondenseError | FileNotFoundError | None):
        wrong = f"{type(error).__name__} is not our own error"
    if wrong is not None:
        return "defect", wrong
    return ("accepted", "") if error is None else _clean(str(error))


def _clean(text: str) -> tuple[str, str]:
    if len(text) > LONGEST_ERROR:
        return "defect", f"an error of more than {LONGEST_ERROR} letters: {text[:60]} ... {text[-150:]}"
    if not text or not all(letter.isprintable() or letter == "\u00a0" for letter in text):
        return "defect", "an error with control characters"
    return "refused", text


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _told(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    raise AssertionError(name)


def _resident() -> int:
    return _told("VmRSS")


class _Watch:
    """Notices that something is executed, connected to, or written elsewhere."""

    _NEVER = ("os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen", "socket.connect")
    _WRITES = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate")

    def __init__(self, root: Path) -> None:
        self.root = str(root)
        self.on = False
        self.seen: list[str] = []

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event.startswith(self._NEVER):
            self.seen.append(f"executed {event}")
        elif event in self._WRITES and arguments[-1] in (-1, None) and not self._inside(arguments[0]):
            self.seen.append(f"{event} of {arguments[0]!r}")
        elif event == "open":
            path, mode, flags = arguments
            writing = (
                flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) if isinstance(flags, int) else mode != "r"
            )
            if writing and not self._inside(path):
                self.seen.append(f"wrote to {path!r}")

    def _inside(self, path: object) -> bool:
        if isinstance(path, int):  # a file that is open, whose opening was looked at
            return True
        if str(path) == os.devnull:
            return True
        whole = os.path.abspath(os.fsdecode(path))  # type: ignore[arg-type]  # noqa: PTH100 (without links)
        return whole.startswith(f"{self.root}{os.sep}")
