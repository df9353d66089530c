"""Digests of what every method makes, to see that a change of the code changes no result.

    OMP_WAIT_POLICY=passive python benchmarks/net.py --data-dir DIR --out net.jsonl [--data zoo ...]
                                                    write the digests, resumable; threads that wait
                                                    for each other take a busy machine otherwise
    python benchmarks/net.py --compare benchmarks/net.jsonl net.jsonl [--expected CASE ...]

Comparing exits with 1 where something differs that is not expected to.

Digests depend on the processor, so both files must come from one machine. What is written is one JSON line
for each case, data set, seed and number of threads; ``since`` is the version that made it, if not 0.1.0.
CONTRIBUTING.md tells which lines are committed. Seconds are of the processor.
"""

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from hypercondense.catalogue import condense
from hypercondense.data import load, synthetic
from hypercondense.hypergraph import Hypergraph, split
from hypercondense.version import __version__

_HALF: dict[str, Any] = {"time": 1.0}
_RAW: dict[str, Any] = {"kernel": "none"}
_FEW_STEPS = {"epochs": 40, "linker_steps": 60, "experts": 2}

# name of the case: method, settings. Cases in LAST return the last state and read no validation label, unless
# they are in CHOSEN.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "ahgcdd": ("ahgcdd", {}),
    "ahgcdd-raw": (
        "ahgcdd",
        {"goal.relative": False, "goal.unit_vectors": False, "goal.centered": False},
    ),
    "ahgcdd-all": (
        "ahgcdd",
        {
            "candidates": None,
            "structure.warm.sharpen": False,
            "spanned": False,
            "structure.threshold": "shared",
        },
    ),
    "ahgcdd-power": ("ahgcdd", {"map.kernel": "power", "start": "k-means", "schedule": "linear"}),
    "ahgcdd-x": ("ahgcdd-x", {}),
    "ahgcdd-x-single": (
        "ahgcdd-x",
        {"start": "single", "map.kernel": "vanilla", "average_others": False},
    ),
    "ridge": ("ridge", {}),
    "ridge-start": ("ridge", {"goal": None, "start.kind": "means", "start.samples": 100}),
    "ridge-learnt": (
        "ridge",
        {"goal.labels": "learnt", "goal.also": [_RAW, _HALF, {"walks": True}]},
    ),
    "ridge-smoothed": ("ridge", {"goal.labels": "smoothed", "goal.also": [_HALF]}),
    "ridge-structure": ("ridge", {"structure": "default", "goal.closed_form.epochs": 40}),
    "learnt": ("learnt", {}),
    "unrolled": ("unrolled", {}),
    "unrolled-last": (
        "unrolled",
        {"goal.closed_form": None, "goal.training.epochs": 30, "goal.training.hidden": 64, "looks": 0},
    ),
    "taught": (
        "taught",
        {"goal.training.epochs": 40, "goal.labels": "learnt", "goal.also": [_HALF]},
    ),
    "taught-mlp": (
        "taught",
        {"goal.training.epochs": 20, "goal.teachers.network": "mlp", "goal.teachers.number": 1},
    ),
    "bundled": ("bundled", {"goal.training.epochs": 30}),
    "bundled-walks": (
        "bundled",
        {
            "goal.training": None,
            "goal.labels": "learnt",
            "goal.also": [{"kernel": "power", "walks": True}],
        },
    ),
    "random": ("random", {}),
    "herding": ("herding", {}),
    "herding-hgnn": ("herding", {"embedding.kind": "trained", "embedding.epochs": 30}),
    "k-center": ("k-center", {"embedding": "diffused"}),
    "hgcpa": ("hgcpa", {}),
    "hg-cond": ("hg-cond", _FEW_STEPS),
    "hg-cond-nhl": ("hg-cond-nhl", _FEW_STEPS),
    "auto": ("auto", {}),
    "auto-3": ("auto", {"budget": "3"}),
    "auto-20": ("auto", {"budget": "20"}),
    "ahgcdd-chosen": ("ahgcdd", {}),
    "ahgcdd-paper": ("ahgcdd-paper", {}),
    "ahgcdd-x-paper": ("ahgcdd-x-paper", {}),
    "ahgcdd-paper-grid": ("ahgcdd-paper", {}),
}
CHOSEN = ("ahgcdd-chosen", "ahgcdd-paper-grid")
BUDGETS = {"ahgcdd-paper-grid": 3}
LAST = ("ahgcdd", "hgcpa", "hg-cond", "random", "herding", "k-center")
SIZES = {"cora": 0.01, "zoo": 0.15, "digits": 0.01, "soft": 0.05}
# They take long, and what they do is also done elsewhere.
SLOW = {("auto-20", "cora"), ("ahgcdd-paper-grid", "cora"), ("ahgcdd-paper-grid", "digits")}


def soft_source() -> Hypergraph:
    """A synthetic hypergraph whose nodes have shares of classes."""
    plain = synthetic(num_nodes=400, num_hyperedges=300, num_features=16, num_classes=4, noise=1.5, seed=3)
    shares = np.random.default_rng(0).dirichlet(np.ones(4), plain.num_nodes)
    shares = 0.3 * shares + 0.7 * np.eye(4)[plain.labels]
    return Hypergraph(
        features=plain.features,
        labels=plain.labels,
        soft_labels=shares.astype(np.float32),
        incidence=plain.incidence,
        num_hyperedges=plain.num_hyperedges,
        name="soft",
    )


def wanted() -> Iterator[dict[str, Any]]:
    """Every line that should be there."""
    for data in SIZES:
        for case in CASES:
            for seed in (0, 1):
                for threads in (1, 2):
                    if (case, data) not in SLOW:
                        yield {"case": case, "data": data, "seed": seed, "threads": threads}


def line(place: dict[str, Any], source: Hypergraph) -> dict[str, Any]:
    """Condense once."""
    torch.set_num_threads(place["threads"])
    case = place["case"]
    method, options = CASES[case]
    begin = time.process_time()
    result = condense(
        source,
        split(source, seed=place["seed"]),
        ratio=SIZES[place["data"]],
        method=method,
        settings=options,
        budget=BUDGETS.get(case),
        seed=place["seed"],
        select=case in CHOSEN or not case.startswith(LAST),
        threads=place["threads"],
    )
    members = hashlib.sha256(json.dumps([ids.tolist() for ids in result.members]).encode()).hexdigest()
    found = {"digest": result.hypergraph.digest[:16], "members": members[:16]}
    return {**place, **found, "seconds": round(time.process_time() - begin, 2), "since": __version__}


def compare(ours: Path, theirs: Path, *, expected: Sequence[str] = ()) -> bool:
    """Print what differs, and tell whether that is expected: all of it, by the names of cases."""
    old, new = (
        {tuple(row[key] for key in ("case", "data", "seed", "threads")): row for row in map(json.loads, file)}
        for file in (path.read_text().splitlines() for path in (ours, theirs))
    )
    both = [key for key in old if key in new]
    other = [key for key in both if any(old[key][part] != new[key][part] for part in ("digest", "members"))]
    for key in other:
        print("differs as expected:" if key[0] in expected else "differs:", *key)
    print(f"{len(both)} compared, {len(other)} differ, {len(old) - len(both)} are missing")
    return all(key[0] in expected for key in other)


def main() -> None:
    """Write digests, or compare two files of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", nargs="*", help="cases; all by default")
    parser.add_argument("--data", nargs="*", default=list(SIZES), choices=SIZES, help="all by default")
    parser.add_argument("--compare", type=Path, nargs=2)
    parser.add_argument("--expected", nargs="*", default=(), help="cases that may differ")
    given = parser.parse_args()
    if given.compare:
        sys.exit(0 if compare(*given.compare, expected=given.expected) else 1)
    done = [json.loads(text) for text in given.out.read_text().splitlines()] if given.out.exists() else []
    known = [{key: row[key] for key in ("case", "data", "seed", "threads")} for row in done]
    sources = {
        data: soft_source() if data == "soft" else load(data, data_dir=given.data_dir) for data in given.data
    }
    for place in wanted():
        if place in known or place["data"] not in sources or (given.only and place["case"] not in given.only):
            continue
        with given.out.open("a") as file:
            file.write(json.dumps(line(place, sources[place["data"]])) + "\n")


if __name__ == "__main__":
    main()
