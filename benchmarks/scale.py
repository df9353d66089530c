"""Seconds and peak memory from Parquet to a condensed result and its score, by number of incidences.

``python benchmarks/scale.py FOLDER --incidences 1000000 --memory 8GB`` makes tables, converts, condenses and
evaluates, each in a process of its own, and prints a line for every stage. What is done is kept in
``FOLDER/scale.jsonl`` and in folders beside it: the same command goes on where it stopped. ``--memory none``
condenses and evaluates without a budget, and ``--no-select`` without looks at validation nodes meanwhile.

There is a node, and a hyperedge of ten, for every ten incidences. Seven members of a hyperedge are of one
class, three are of others; features are noise with a trace of the class. The parts are not in order.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

CLASSES, FEATURES, MEMBERS, ALIKE, STRIDE = 20, 64, 10, 7, 7919


def make(folder: Path, incidences: int) -> None:
    """Write the tables; the same for the same number."""
    import duckdb

    size = incidences // MEMBERS
    folder.mkdir(exist_ok=True)
    with duckdb.connect(config={"memory_limit": "2GB", "temp_directory": str(folder / "spill")}) as base:
        for slot in range(MEMBERS):
            shift = "0" if slot < ALIKE else f"1 + hash(h, {slot}) % {CLASSES - 1}"
            node = (
                f"{CLASSES} * ((hash(h) + {slot * STRIDE}) % {size // CLASSES}) + (h + {shift}) % {CLASSES}"
            )
            query = f"SELECT ({node})::BIGINT AS node, h::BIGINT AS hyperedge FROM range({size}) AS r(h)"
            base.sql(query).write_parquet(str(folder / f"incidences-{slot}.parquet"))
        trace = f"(CASE WHEN j % {CLASSES} = n % {CLASSES} THEN 0.5 ELSE 0 END)"
        features = f"[((hash(n, j) % 2000) / 1000.0 - 1 + {trace})::FLOAT FOR j IN range({FEATURES})]"
        query = f"SELECT n AS node, n % {CLASSES} AS label, {features} AS features FROM range({size}) AS r(n)"
        base.sql(query).write_parquet(str(folder / "nodes-0.parquet"))


def stages(folder: Path, incidences: int, memory: str, *, select: bool) -> dict[str, list[str]]:
    """The command of every stage, in order."""
    budget = [] if memory == "none" else ["--memory", memory]
    tables, source, small = (str(folder / f"{what}-{incidences}") for what in ("tables", "source", "small"))
    program = [sys.executable, "-m", "hypercondense"]
    return {
        "make": [sys.executable, __file__, str(folder), "--incidences", str(incidences), "--only-make"],
        "convert": [*program, "convert", tables, source, "--mapped", *budget, "--force", "-q"],
        "condense": [
            *(*program, "condense", source, "--nodes", "1000", "--method", "ahgcdd-x", *budget),
            *("--out", small, "--force", "-q", *([] if select else ["--no-select"])),
        ],
        "evaluate": [*program, "evaluate", small, "--source", source, "--runs", "1", "--json", *budget],
    }


def measured(command: list[str]) -> dict[str, object]:
    """Run a command; seconds, peak of its memory in MB (mapped pages count), and what it printed."""
    begin = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    printed = child.stdout.read() if child.stdout else ""
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed ({os.waitstatus_to_exitcode(status)})")
    seconds = time.perf_counter() - begin
    return {
        "seconds": round(seconds, 1),
        "processor_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_mb": usage.ru_maxrss * 1024 // 10**6,
        "printed": printed.strip(),
    }


def digest_of(small: Path) -> str:
    """Of a condensed result: equal where every bit is."""
    return str(json.loads((small / "manifest.json").read_text())["digest"])


def main() -> None:
    """Do what is not done yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--incidences", type=int, default=10**6)
    parser.add_argument("--memory", default="8GB")
    parser.add_argument("--stages", default="make,convert,condense,evaluate")
    parser.add_argument("--no-select", action="store_true")
    parser.add_argument("--only-make", action="store_true")
    asked = parser.parse_args()
    if asked.only_make:
        make(asked.folder / f"tables-{asked.incidences}", asked.incidences)
        return
    asked.folder.mkdir(parents=True, exist_ok=True)
    kept = asked.folder / "scale.jsonl"
    lines = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    done = {(line["incidences"], line["memory"], line["stage"]) for line in lines}
    commands = stages(asked.folder, asked.incidences, asked.memory, select=not asked.no_select)
    for stage, command in commands.items():
        if stage not in asked.stages.split(",") or (asked.incidences, asked.memory, stage) in done:
            continue
        line = {"incidences": asked.incidences, "memory": asked.memory, "stage": stage, **measured(command)}
        if stage == "condense":
            line["digest"] = digest_of(asked.folder / f"small-{asked.incidences}")
        with kept.open("a") as file:
            file.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
