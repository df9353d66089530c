"""``python -m fuzz``: a long run, and a table of what became of its cases."""

import argparse
import sys
from collections import Counter

from fuzz.run import Tally, cases_of, fuzz
from fuzz.targets import WRITERS, warm_up

_COLUMNS = ("reader", "tried", "refused", "accepted", "defects", "slowest s", "peak MB")


def main() -> int:
    """Print the table; the exit status tells whether there was a defect."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000, help="changed files per reader")
    parser.add_argument("--bombs", type=int, default=20, help="small files that declare much, of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--readers", default=",".join(WRITERS))
    asked = parser.parse_args()
    warm_up()
    readers = asked.readers.split(",")
    found = fuzz(list(cases_of(asked.cases, asked.bombs, asked.seed, readers)), peaks=True)
    _line(*_COLUMNS)
    for reader in readers:
        _row(reader, found[reader])
    for reader in readers:
        kinds = Counter(told for _, told in found[reader].defects)
        for told, count in kinds.most_common(8):
            case = next(case for case, other in found[reader].defects if other == told)
            sys.stdout.write(f"  {reader}: {count} x {told} (first: {case.label})\n")
    return int(any(found[reader].defects for reader in readers))


def _row(reader: str, tally: Tally) -> None:
    counts = (tally.kinds[kind] for kind in ("refused", "accepted", "defect"))
    _line(reader, tally.tried, *counts, f"{tally.slowest[0]:.2f}", f"{tally.peak[0] / 1e6:.0f}")


def _line(first: object, *others: object) -> None:
    sys.stdout.write(f"{first:<12}" + "".join(f"{other:>11}" for other in others) + "\n")


sys.exit(main())
