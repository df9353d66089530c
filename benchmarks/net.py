"""Digests of what every method makes, to see that a change of the code changes no result.

    python benchmarks/net.py --data-dir DIR --out net.jsonl     write the digests, resumable
    python benchmarks/net.py --compare benchmarks/net.jsonl net.jsonl

Digests depend on the processor, so both files must come from one machine. What is written is one JSON line
for each case, data set, seed and number of threads.
"""

import argparse
import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from hypercondense.catalogue import make_method
from hypercondense.data import load, synthetic
from hypercondense.hypergraph import Hypergraph, split

# name of the case: method, options
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "ahgcdd": ("ahgcdd", {}),
    "ahgcdd-raw": ("ahgcdd", {"relative_step": False, "unit_vectors": False, "centered": False}),
    "ahgcdd-all": ("ahgcdd", {"candidates": None, "sharpen": False, "spanned": False, "threshold": "shared"}),
    "ahgcdd-power": ("ahgcdd", {"propagation": "power", "start": "kmeans", "schedule": "linear"}),
    "ahgcdd-x": ("ahgcdd-x", {}),
    "ahgcdd-x-single": ("ahgcdd-x", {"start": "single", "propagation": "vanilla", "average_others": False}),
    "ridge": ("ridge", {}),
    "ridge-start": ("ridge", {"epochs": 0, "self_select": False, "start": "uniform"}),
    "ridge-learnt": ("ridge", {"soft_labels": True, "also": "both", "walks": True}),
    "ridge-smoothed": ("ridge", {"soft_labels": True, "label_step": 0.0, "also": "half"}),
    "ridge-squared": ("ridge", {"objective": "squared", "propagation": "none"}),
    "ridge-structure": ("ridge", {"structure": True, "epochs": 40}),
    "unrolled": ("unrolled", {}),
    "unrolled-last": ("unrolled", {"epochs": 0, "unrolled_epochs": 30, "hidden": 64, "self_select": False}),
    "taught": ("taught", {"unrolled_epochs": 40, "soft_labels": True, "also": "half"}),
    "taught-mlp": ("taught", {"unrolled_epochs": 20, "teacher": "mlp", "teachers": 1}),
    "bundled": ("bundled", {"unrolled_epochs": 30}),
    "bundled-walks": ("bundled", {"unrolled_epochs": 0, "walks": True, "soft_labels": True}),
    "random": ("random", {}),
    "herding": ("herding", {}),
    "herding-hgnn": ("herding", {"embedding": "hgnn", "epochs": 30}),
    "k-center": ("k-center", {"embedding": "diffused"}),
    "hgcpa": ("hgcpa", {}),
    "hg-cond": ("hg-cond", {"epochs": 40, "linker_steps": 60, "experts": 2}),
    "hg-cond-nhl": ("hg-cond-nhl", {"epochs": 40, "linker_steps": 60, "experts": 2}),
    "auto": ("auto", {}),
    "auto-3": ("auto", {"budget": "3"}),
    "auto-20": ("auto", {"budget": "20", "finalists": 3}),
}
SIZES = {"cora": 0.01, "zoo": 0.15, "digits": 0.01, "soft": 0.05}
SLOW = {("auto-20", "cora")}  # minutes, and what it does is also done elsewhere


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
    method, options = CASES[place["case"]]
    begin = time.perf_counter()
    result = make_method(method, options).condense(
        source, split(source, seed=place["seed"]), ratio=SIZES[place["data"]], seed=place["seed"]
    )
    members = hashlib.sha256(json.dumps([ids.tolist() for ids in result.members]).encode()).hexdigest()
    found = {"digest": result.hypergraph.digest[:16], "members": members[:16]}
    return {**place, **found, "seconds": round(time.perf_counter() - begin, 2)}


def compare(ours: Path, theirs: Path) -> None:
    """Print what differs."""
    old, new = (
        {tuple(row[key] for key in ("case", "data", "seed", "threads")): row for row in map(json.loads, file)}
        for file in (path.read_text().splitlines() for path in (ours, theirs))
    )
    both = [key for key in old if key in new]
    other = [key for key in both if any(old[key][part] != new[key][part] for part in ("digest", "members"))]
    for key in other:
        print("differs:", *key)
    print(f"{len(both)} compared, {len(other)} differ, {len(old) - len(both)} are missing")


def main() -> None:
    """Write digests, or compare two files of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", nargs="*", help="cases; all by default")
    parser.add_argument("--compare", type=Path, nargs=2)
    given = parser.parse_args()
    if given.compare:
        compare(*given.compare)
        return
    done = [json.loads(text) for text in given.out.read_text().splitlines()] if given.out.exists() else []
    known = [{key: row[key] for key in ("case", "data", "seed", "threads")} for row in done]
    sources = {data: None if data == "soft" else load(data, data_dir=given.data_dir) for data in SIZES}
    sources["soft"] = soft_source()
    for place in wanted():
        if place in known or (given.only and place["case"] not in given.only):
            continue
        with given.out.open("a") as file:
            file.write(json.dumps(line(place, sources[place["data"]])) + "\n")


if __name__ == "__main__":
    main()
