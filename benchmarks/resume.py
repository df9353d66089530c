"""Whether resuming saves work: `condense` interrupted at shares of its processor time, then resumed.

    python benchmarks/resume.py cora pubmed --shares 0.3 0.6 0.85

Every run is a process of its own with an empty cache, interrupted as by Ctrl-C. Printed are processor
seconds: of starting and loading alone (the method `random`), of a whole run, until the interrupt, of the
resumed run, and of the latter without the start beside what was left; that should be at most 1.15. Results
must be the same.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hypercondense import load_condensed

_TICKS = os.sysconf("SC_CLK_TCK")


def is_before(process: int, seconds: float) -> bool:
    """Whether a process still runs and took less than so many processor seconds, by the system."""
    fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    return fields[0] != "Z" and (int(fields[11]) + int(fields[12])) / _TICKS < seconds


def seconds_of(words: list[str], cache: Path, *, until: float | None = None) -> float:
    """Processor seconds of a command, which is interrupted after so many of them."""
    command = [sys.executable, "-m", "hypercondense", "condense", *words, "-q"]
    process = subprocess.Popen(command, env={**os.environ, "XDG_CACHE_HOME": str(cache)})
    while until is not None and is_before(process.pid, until):
        time.sleep(0.02)
    if until is not None:
        process.send_signal(signal.SIGINT)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if (process.returncode == 0) is not (until is None):  # a run that was quicker than the whole, too
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", nargs="*", default=["cora", "pubmed"])
    parser.add_argument("--ratio", default="0.01")
    parser.add_argument("--shares", nargs="+", type=float, default=[0.3, 0.6, 0.85])
    given = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what shells let background jobs ignore
    print("| data | start | whole | interrupted at | resumed | (resumed - start) / left |")
    print("|---|--:|--:|--:|--:|--:|")
    for data in given.data:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            size = [data, "--ratio", given.ratio]
            start = seconds_of([*size, "--method", "random", "--out", f"{folder}/random"], folder / "none")
            whole = seconds_of([*size, "--out", f"{folder}/whole"], folder / "cache")
            expected = load_condensed(folder / "whole").hypergraph.digest
            for share in given.shares:
                out, cache = folder / f"part-{share}", folder / f"cache-{share}"
                first = seconds_of([*size, "--out", str(out)], cache, until=share * whole)
                rest = seconds_of([*size, "--out", str(out), "--resume"], cache)
                assert load_condensed(out).hypergraph.digest == expected
                over = (rest - start) / (whole - first)
                print(
                    f"| {data} | {start:.1f} | {whole:.1f} | {first:.1f} | {rest:.1f} | {over:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
