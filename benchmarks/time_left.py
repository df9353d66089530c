"""Whether the time left that `evaluate` tells is true, by a real clock.

    python benchmarks/time_left.py [--data digits] [--models hgnn hcha unigcnii allset edhnn] [--runs 3]

All trainings of `evaluate --model all --whole` are done once. Printed are what was told before they began
beside what they took, and the largest and smallest ratio of the time left that was told to the truth, from a
fifth of the run on; both should be between 0.5 and 2.
"""

import argparse
import time

import hypercondense as hc
from hypercondense.evaluation.forecast import seconds_by_stage
from hypercondense.evaluation.protocol import prepare
from hypercondense.runtime.estimate import TimeLeft


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", default="digits")
    parser.add_argument("--models", nargs="+", default=["hgnn", "hcha", "unigcnii", "allset", "edhnn"])
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    source = hc.load(given.data)
    split = hc.split(source)
    result = hc.condense(source, split, ratio=0.01, method="means")
    planned = prepare(result, source, split, models=given.models, runs=given.runs, whole=True)
    expected = seconds_by_stage(planned.bench, planned.runs)
    left, told = TimeLeft(expected), []
    begin = time.monotonic()

    def watch(stage: str, done: int, total: int, /, **figures: float) -> None:
        left.told(stage, done, total)
        told.append((time.monotonic() - begin, left.seconds()))

    planned.scores(progress=watch)
    took = time.monotonic() - begin
    ratios = [
        seconds / (took - at)
        for at, seconds in told
        if seconds is not None and 0.2 * took <= at <= 0.95 * took
    ]
    print(f"told before {sum(expected.values()):.0f} s, took {took:.0f} s")
    print(f"time left / truth from a fifth on: {min(ratios):.2f} to {max(ratios):.2f}, {len(ratios)} reports")


if __name__ == "__main__":
    main()
