"""``python -m faults``: many kills, and a table of what came of them."""

import argparse
import sys
import tempfile
from pathlib import Path
from random import Random

from faults.kills import Kill, kill, reference
from faults.scenarios import SCENARIOS, prepare
from makers.processes import memory_disk


def main() -> int:
    """Print the table; the exit status tells whether something went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50, help="in all, shared out over the scenarios")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scenarios", default=",".join(SCENARIOS))
    asked = parser.parse_args()
    names = asked.scenarios.split(",")
    rng = Random(asked.seed)
    wrong: list[Kill] = []
    sys.stdout.write(f"{'scenario':<12}{'kills':>8}{'hit':>8}{'equal bits':>12}{'wrong':>8}\n")
    with tempfile.TemporaryDirectory(dir=memory_disk()) as root:
        prepare(Path(root) / "base")
        for position, name in enumerate(names):
            count = len(range(position, asked.kills, len(names)))
            known = reference(SCENARIOS[name], Path(root) / "base", Path(root) / "run")
            found = [kill(known, Path(root) / "run", rng) for _ in range(count)]
            bad = [one for one in found if one.wrong]
            hits = sum(one.hit for one in found)
            sys.stdout.write(f"{name:<12}{count:>8}{hits:>8}{count - len(bad):>12}{len(bad):>8}\n")
            sys.stdout.flush()
            wrong += bad
    for one in wrong:
        sys.stdout.write(f"{one.scenario}, {one.signal} at {one.share:.0%}: {'; '.join(one.wrong)}\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
