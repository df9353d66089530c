"""Whether the time left that `evaluate`, `tune`, `compare` and `condense` tell is true, by a real clock.

    python benchmarks/time_left.py [evaluate tune compare condense] [--data digits] [--models hgnn edhnn]

Each is done once, the first two on the whole too. Printed are what was told before it began beside what it
took, where anything was told in seconds, and the smallest and largest ratio of the time left that was told to
the truth, from a fifth of the run on; both should be between 0.5 and 2.
"""

import argparse
import time
from collections.abc import Callable, Mapping

import hypercondense as hc
from hypercondense.evaluation.forecast import forecast, seconds_by_stage
from hypercondense.evaluation.protocol import prepare
from hypercondense.evaluation.tuning import configurations, rank
from hypercondense.runtime.estimate import TimeLeft


class Watch:
    """Progress that notes what it would have told, every tenth of a second."""

    def __init__(self, expected: Mapping[str, float] | None = None) -> None:
        self.left = TimeLeft(expected)
        self.before = sum((expected or {}).values())
        self.told: list[tuple[float, float]] = []
        self.begin = time.monotonic()

    def expect(self, seconds: Mapping[str, float]) -> None:
        """Told what stages will take."""
        self.left.expect(seconds)
        self.before = sum(seconds.values())

    def __call__(self, stage: str, done: int, total: int, /, **figures: float) -> None:
        """Told how far it is."""
        self.left.told(stage, done, total)
        at, seconds = time.monotonic() - self.begin, self.left.seconds()
        if seconds is not None and (not self.told or at - self.told[-1][0] > 0.1):
            self.told.append((at, seconds))

    def line(self) -> str:
        """Both ratios."""
        took = time.monotonic() - self.begin
        ratios = [left / (took - at) for at, left in self.told if 0.2 * took <= at <= 0.95 * took]
        if not ratios:
            return f"took {took:.0f} s, nothing told from a fifth on"
        ends = f"{min(ratios):.2f} to {max(ratios):.2f} of the truth from a fifth on"
        return f"told before {self.before:.0f}, took {took:.0f} s; time left {ends}, {len(ratios)} reports"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("commands", nargs="*", default=["evaluate", "tune", "compare", "condense"])
    parser.add_argument("--data", default="digits")
    parser.add_argument("--models", nargs="+", default=["hgnn", "hcha", "unigcnii", "allset", "edhnn"])
    parser.add_argument("--runs", type=int, default=2)
    given = parser.parse_args()
    source = hc.load(given.data)
    split = hc.split(source)
    result = hc.condense(source, split, ratio=0.01, method="means")

    def evaluate() -> Watch:
        planned = forecast(prepare(result, source, split, models=given.models, runs=given.runs, whole=True))
        watch = Watch(seconds_by_stage(planned.runs))
        planned.scores(progress=watch)
        return watch

    def tune() -> Watch:
        watch, forms = Watch(), configurations(given.models)
        rank(forms, result, source, split, runs=1, whole=True, progress=watch)
        return watch

    def compare() -> Watch:
        watch = Watch()
        hc.compare(source, split, ratio=0.01, models=given.models, seeds=1, runs=given.runs, progress=watch)
        return watch

    def condense() -> Watch:
        watch = Watch()
        hc.condense(source, split, ratio=0.01, progress=watch)
        return watch

    works: dict[str, Callable[[], Watch]] = {
        "evaluate": evaluate,
        "tune": tune,
        "compare": compare,
        "condense": condense,
    }
    for name in given.commands:
        print(f"{name:<9} {works[name]().line()}", flush=True)


if __name__ == "__main__":
    main()
