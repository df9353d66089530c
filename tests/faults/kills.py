"""Ending a command at any moment, and looking at what is left."""

import os
import shutil
import signal
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from faults.scenarios import Scenario
from makers.processes import command, left_of

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


@dataclass
class Reference:
    """What an undisturbed run of a scenario gives, and how long it takes."""

    scenario: Scenario
    base: Path  # a prepared folder
    bits: str = ""
    seconds: float = 0.0


@dataclass
class Kill:
    """One kill and what came of it; ``wrong`` is empty if all is as promised."""

    scenario: str
    signal: str
    share: float  # of the undisturbed time
    hit: bool  # or was it over before
    wrong: list[str] = field(default_factory=list)


def reference(scenario: Scenario, base: Path, place: Path) -> Reference:
    """Run a scenario without disturbing it."""
    folder = copied(base, place)
    command(["--version"], folder=folder).join()  # whose start is that of the server, too
    begin = time.monotonic()
    process = command(scenario.command, folder=folder)
    process.join()
    seconds = time.monotonic() - begin
    assert process.exitcode == 0, (folder / "stderr").read_text()
    return Reference(scenario, base, scenario.bits(folder), seconds)


def kill(reference: Reference, place: Path, rng: Random) -> Kill:
    """Begin, end it at a random moment, look at what is there, and continue to the end."""
    scenario, folder = reference.scenario, copied(reference.base, place)
    share, how = rng.random(), rng.choice(SIGNALS)
    process = command(scenario.command, folder=folder)
    time.sleep(share * reference.seconds)
    with suppress(ProcessLookupError):  # it was over before
        os.kill(process.pid, how)
    process.join()
    found = Kill(scenario.name, how.name, share, process.exitcode != 0)
    found.wrong += [f"process {number} is left" for number in left_of(process.pid)]
    try:
        scenario.whole(folder)
    except Exception as error:  # whatever it is, something half was left
        found.wrong.append(f"half: {error}")
    again = command(scenario.again, folder=folder)
    again.join()
    if again.exitcode != 0 and not _was_done(folder):
        found.wrong.append(f"status {again.exitcode}: {(folder / 'stderr').read_text()[-200:]}")
    elif scenario.bits(folder) != reference.bits:
        found.wrong.append("other bits")
    found.wrong += [f"{name} is left" for name in drafts_in(folder)]
    return found


def _was_done(folder: Path) -> bool:
    """Whether the killed run had finished its work, so that there was nothing to continue."""
    return "exists already" in (folder / "stderr").read_text()


def copied(base: Path, place: Path) -> Path:
    """A folder of its own for a run."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(base, place)
    return place


def drafts_in(folder: Path) -> list[str]:
    """Hidden things and checkpoints that are still there."""
    names = (path.name for path in folder.rglob("*"))
    return [
        name for name in names if name.endswith(".partial") or (name.startswith(".") and ".lock" not in name)
    ]
