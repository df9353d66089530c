"""A few faults of every kind; ``make faults`` makes fifty kills."""

import json
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from faults.kills import copied, drafts_in, kill, reference
from faults.scenarios import SCENARIOS, prepare
from hypercondense.condensation import load_condensed
from hypercondense.data.formats import read_native
from hypercondense.errors import HypercondenseError
from hypercondense.experiments.results import ResultsFile, read_lines
from hypercondense.experiments.settings import Settings
from makers.experiment_cases import content
from makers.processes import Blow, command, memory_disk

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals and limits of Linux")


@pytest.fixture(scope="module")
def base() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=memory_disk()) as root:
        prepare(Path(root) / "base")
        yield Path(root) / "base"


@pytest.fixture
def place(base: Path) -> Path:
    """A folder for this test, where flushing is quick."""
    return Path(tempfile.mkdtemp(dir=base.parent))


@pytest.mark.parametrize("name", ["condense", "cache", "convert"])
def test_a_kill_at_any_moment_changes_no_bit_and_leaves_nothing(name: str, base: Path, place: Path) -> None:
    known = reference(SCENARIOS[name], base, place / "run")
    assert [kill(known, place / "run", Random(seed)).wrong for seed in range(2)] == [[], []]


def test_what_a_killed_database_left_is_removed_by_the_next_run(base: Path, place: Path) -> None:
    scenario, folder = SCENARIOS["mapped"], copied(base, place / "run")
    fall = Blow(signal.SIGKILL, "hypercondense.data.gathering:_Tables._fill_nodes")
    process = command(scenario.command, folder=folder, blow=fall)
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert drafts_in(folder) != [] and not (folder / "out").exists()
    again = command(scenario.again, folder=folder)
    again.join()
    assert again.exitcode == 0, (folder / "stderr").read_text()
    scenario.whole(folder)
    assert drafts_in(folder) == []


@pytest.mark.slow
def test_workers_end_with_the_process_that_started_them(base: Path, place: Path) -> None:
    known = reference(SCENARIOS["evaluate"], base, place / "run")
    assert kill(known, place / "run", Random(3)).wrong == []


@pytest.mark.parametrize(("name", "limit"), [("condense", 300), ("convert", 100_000), ("run", 200)])
def test_a_full_disk_is_told_and_leaves_nothing(name: str, limit: int, base: Path, place: Path) -> None:
    scenario, folder = SCENARIOS[name], copied(base, place / "run")
    arguments = [*scenario.command]
    if name == "run":
        arguments[arguments.index("--workers") + 1] = "1"
    process = command(arguments, folder=folder, limit=limit)
    process.join()
    told = (folder / "stderr").read_text()
    assert process.exitcode == 2, told
    assert ("File too large" in told or "No space left" in told) and told.count("\n") == 1
    scenario.whole(folder)
    assert not (folder / "out").exists()
    assert drafts_in(folder) == []


def test_a_full_disk_of_the_cache_is_done_without(base: Path, place: Path) -> None:
    scenario, folder = SCENARIOS["cache"], copied(base, place / "run")
    (folder / "cache").write_text("a file in place of the folder")
    process = command(scenario.command, folder=folder)
    process.join()
    assert process.exitcode == 0
    assert "going on without it" in (folder / "stderr").read_text()
    assert scenario.bits(folder)


@pytest.mark.parametrize("name", ["condense", "convert", "run"])
def test_a_folder_that_cannot_be_written_is_told(name: str, base: Path, place: Path) -> None:
    scenario, folder = SCENARIOS[name], copied(base, place / "run")
    (folder / "stdout").touch()
    (folder / "stderr").touch()
    folder.chmod(0o555)
    process = command(scenario.command, folder=folder, permitted=False)
    process.join()
    folder.chmod(0o755)
    told = (folder / "stderr").read_text()
    assert process.exitcode == 2, told
    assert "ermission" in told and told.count("\n") == 1
    assert not (folder / "out").exists() and drafts_in(folder) == []


def test_of_many_that_write_one_folder_one_does(base: Path, place: Path) -> None:
    """The others are told so, and nobody's work is half there."""
    known = SCENARIOS["condense"]
    folder = copied(base, place / "run")
    places = []
    for number in range(6):
        place = folder / f"process-{number}"
        place.mkdir()
        places.append(place)
    asked = [argument.replace("source", str(folder / "source")) for argument in known.command]
    asked[asked.index("out")] = str(folder / "out")
    processes = [command(asked, folder=place) for place in places]
    for process in processes:
        process.join()
    told = [(place / "stderr").read_text() for place in places]
    assert sorted(process.exitcode for process in processes) == [0, 2, 2, 2, 2, 2], told
    for text in told:
        assert not text or "another process is condensing" in text or "exists already" in text
    load_condensed(folder / "out")
    assert drafts_in(folder) == []


def _native(folder: Path) -> Any:
    found = read_native(folder / "source")
    return found.digest, found.name, found.notes


def _condensed(folder: Path) -> Any:
    found = load_condensed(folder / "condensed")
    return found.hypergraph.digest, found.provenance, found.seconds, found.history, found.warnings


def _results(folder: Path) -> Any:
    found = read_lines(folder / "results.jsonl")
    if found.warning:  # the last line does not count, and the user is told
        raise HypercondenseError(found.warning)
    return [line.content for line in found.lines]


@pytest.mark.parametrize(
    ("file", "look"),
    [
        ("source/manifest.json", _native),
        ("source/hypergraph.safetensors", _native),
        ("condensed/manifest.json", _condensed),
        ("condensed/condensed.safetensors", _condensed),
        ("results.jsonl", _results),
    ],
)
def test_a_changed_bit_is_noticed_or_changes_nothing(
    file: str, look: Callable[[Path], Any], base: Path, place: Path
) -> None:
    for name in ("source", "condensed"):
        shutil.copytree(base / name, place / name)
    results = ResultsFile(place / "results.jsonl")
    for seed in range(2):
        results.append(content(Settings(source="digits", ratio=0.01, method="random", seed=seed)))
    path, expected, rng = place / file, look(place), Random(0)
    whole = path.read_bytes()
    for _ in range(150):
        changed = bytearray(whole)
        changed[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(changed)
        try:
            found = look(place)
        except HypercondenseError:
            continue
        assert json.dumps(str(found)) == json.dumps(str(expected))
