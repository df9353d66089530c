"""The fuzzer: good files changed at random, bombs, and everything ever found, by reader."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from fuzz.bombs import BOMBS
from fuzz.contract import Case, Verdict, verdicts
from fuzz.corpus import CORPUS
from fuzz.mutators import mutated
from fuzz.targets import CHECKS, WRITERS, beginnings


@dataclass
class Tally:
    """What became of the cases of a reader."""

    tried: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    slowest: tuple[float, str] = (0.0, "")
    peak: tuple[int, str] = (0, "")
    defects: list[tuple[Case, str]] = field(default_factory=list)

    def add(self, case: Case, verdict: Verdict) -> None:
        self.tried += 1
        self.kinds[verdict.kind] += 1
        self.slowest = max(self.slowest, (verdict.seconds, case.label))
        self.peak = max(self.peak, (verdict.peak, case.label))
        if verdict.kind == "defect":
            self.defects.append((case, verdict.told))


def random_cases(reader: str, count: int, seed: int) -> Iterator[Case]:
    """Changed files; equal seeds give equal cases."""
    rng = Random(f"{reader} {seed}")
    for number in range(count):
        yield Case(reader, f"#{number}", dict(mutated(rng.choice(beginnings(reader)), rng)))


def bomb_cases(each: int, seed: int) -> Iterator[Case]:
    """Some of each kind of bomb."""
    rng = Random(seed)
    for bomb in BOMBS:
        yield from (bomb(rng) for _ in range(each))


def cases_of(count: int, bombs: int, seed: int, readers: Sequence[str] = tuple(WRITERS)) -> Iterator[Case]:
    """All cases of a run."""
    yield from (case for case in CORPUS() if case.reader in readers)
    yield from (case for case in bomb_cases(bombs, seed) if case.reader in readers)
    for reader in readers:
        yield from random_cases(reader, count, seed)


def fuzz(cases: Sequence[Case], *, peaks: bool = False) -> dict[str, Tally]:
    """Try cases, and tell what became of them by reader."""
    found: dict[str, Tally] = {reader: Tally() for reader in WRITERS}
    for case, verdict in zip(cases, verdicts(cases, CHECKS, peaks=peaks), strict=True):
        found[case.reader].add(case, verdict)
    return found
