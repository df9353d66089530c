"""A short run of the fuzzer, the same every time; ``make fuzz`` runs a long one."""

import faulthandler
import os
import sys
from pathlib import Path
from random import Random

import pytest

from fuzz.bombs import BOMBS
from fuzz.contract import Case, Inconsistent, Verdict, verdicts
from fuzz.corpus import CORPUS
from fuzz.run import bomb_cases, fuzz, random_cases
from fuzz.targets import WRITERS, warm_up
from hypercondense.errors import ConfigError, FormatError

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits as Linux has them")

CASES = 60  # changed files of each reader


@pytest.fixture(scope="module", autouse=True)
def imported() -> None:
    """Good files are accepted, and everything that reads them is imported before processes are forked."""
    warm_up()


def wrong(cases: list[Case]) -> list[str]:
    found = fuzz(cases)
    return [f"{case.reader}, {case.label}: {told}" for one in found.values() for case, told in one.defects]


def test_everything_ever_found_is_refused_cleanly_or_accepted() -> None:
    assert wrong(CORPUS()) == []


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb.__name__)
def test_small_files_that_declare_much_take_little(bomb: object) -> None:
    assert wrong([bomb(Random(seed)) for seed in range(2)]) == []  # type: ignore[operator]


@pytest.mark.parametrize("reader", WRITERS)
def test_changed_files_are_refused_cleanly_or_accepted(reader: str) -> None:
    assert wrong(list(random_cases(reader, CASES, seed=0))) == []


def test_equal_seeds_give_equal_cases() -> None:
    for reader in ("native", "npz", "HyperGCN", "plan"):
        assert list(random_cases(reader, 20, seed=1)) == list(random_cases(reader, 20, seed=1))
    assert [case.label for case in bomb_cases(1, 0)] == [case.label for case in bomb_cases(1, 0)]


def _hang(folder: Path) -> None:
    while True:
        pass


def _allocate(folder: Path) -> None:
    try:
        bytearray(2 * 10**9)
    except MemoryError as error:
        raise FormatError("it does not fit into memory") from error


def _execute(folder: Path) -> None:
    os.system("true")


def _write(folder: Path) -> None:
    path = folder / ".." / ".." / f"elsewhere-{os.getpid()}"
    path.open("w").close()
    path.unlink()


def _crash(folder: Path) -> None:
    faulthandler.disable()  # the crash is meant
    os.abort()


def _raise(error: Exception) -> object:
    def check(folder: Path) -> None:
        raise error

    return check


@pytest.mark.parametrize(
    ("check", "told"),
    [
        (_allocate, "more memory"),
        (_execute, "executed os.system"),
        (_write, "wrote to"),
        (_crash, "crash by signal 6"),
        (_raise(KeyError("x")), "KeyError is not our own error"),
        (_raise(ConfigError("a" * 301)), "more than 300 letters"),
        (_raise(Inconsistent("another digest")), "another digest"),
    ],
)
def test_the_contract_can_be_broken(check: object, told: str, tmp_path: Path) -> None:
    """Whoever breaks it is seen, and the next case is tried."""
    cases = [Case("bad", "bad", {"x": b""}), Case("good", "good", {"x": b""})]
    found = list(verdicts(cases, {"bad": check, "good": lambda folder: None}))  # type: ignore[dict-item]
    assert found[0].kind == "defect" and told in found[0].told
    assert found[1].kind == "accepted"


def test_whoever_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.contract.CPU_SECONDS", 0.2)
    assert list(verdicts([Case("bad", "bad", {})], {"bad": _hang})) == [Verdict("defect", "hangs")]
