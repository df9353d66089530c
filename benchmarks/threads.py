"""How much torch threads gain: the default, 1 and 2, idle or beside a busy process.

    python benchmarks/threads.py [--data digits cora pubmed coauthor_dblp] [--busy] [--repeats 3]

Every measurement is a process of its own. Printed are seconds by the clock with each number of threads, the
ratio of the default to the better of 1 and 2, which should be at most 1.1, and processor seconds, which tell
what threads cost others. Only ratios mean anything on another machine.
"""

import argparse
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RATIOS = {"digits": "0.01", "cora": "0.01", "pubmed": "0.005", "coauthor_dblp": "0.005"}


def busy() -> None:
    """Keep one core busy for ever."""
    while True:
        sum(range(10_000))


def command(kind: str, name: str, folder: Path, threads: int | None) -> list[str]:
    """What is measured; evaluation has a process per free core by default, and so many of one thread else."""
    if kind == "condense":
        chosen = [] if threads is None else ["--threads", str(threads)]
        out = folder / f"out-{time.monotonic_ns()}"
        return ["condense", name, "--ratio", RATIOS[name], "--out", str(out), "--no-cache", "-q", *chosen]
    workers = [] if threads is None else ["--workers", str(threads)]
    return ["evaluate", str(folder / name), "--runs", "4", "--whole", "--no-cache", "-q", *workers]


def seconds(arguments: list[str], threads: int | None) -> tuple[float, float]:
    """Seconds of a command in a process of its own, by the clock and of processors."""
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    if threads is not None:
        environment["OMP_NUM_THREADS"] = str(threads)
    begin, before = time.perf_counter(), _processor()
    subprocess.run(
        [sys.executable, "-m", "hypercondense", *arguments],
        check=True,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - begin, _processor() - before


def _processor() -> float:
    """Processor seconds of all processes that were started here and are over."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(RATIOS), choices=list(RATIOS))
    parser.add_argument("--kinds", nargs="+", default=["condense", "evaluate"])
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--busy", action="store_true", help="beside a process that keeps a core busy")
    given = parser.parse_args()
    other = multiprocessing.Process(target=busy, daemon=True)
    if given.busy:
        other.start()
    print(
        f"{os.cpu_count()} cores, {'one of them busy' if given.busy else 'nothing else started here'}, "
        f"load {os.getloadavg()[0]:.1f}"
    )
    print("seconds by the clock, and of processors in brackets")
    print("work      data                  default               1               2  default / best")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name in given.data:
            ratio = RATIOS[name]
            base = ["condense", name, "--ratio", ratio, "--method", "means", "--no-cache", "-q"]
            seconds([*base, "--out", str(folder / name)], None)
            for kind in given.kinds:
                taken: dict[int | None, list[tuple[float, float]]] = {None: [], 1: [], 2: []}
                for _ in range(given.repeats):
                    for threads, values in taken.items():
                        values.append(seconds(command(kind, name, folder, threads), threads))
                medians = [
                    tuple(map(statistics.median, zip(*values, strict=True))) for values in taken.values()
                ]
                shown = " ".join(f"{wall:8.1f} ({used:4.1f})" for wall, used in medians)
                default, one, two = (wall for wall, _ in medians)
                print(f"{kind:<9} {name:<13} {shown} {default / min(one, two):14.2f}", flush=True)
    if given.busy:
        other.terminate()


if __name__ == "__main__":
    main()
