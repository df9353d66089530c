"""Estimate / truth of `condense` and `evaluate`, by size and method, in one run.

    python benchmarks/estimate.py [--sizes 10000 100000] [--data cora] [--methods ahgcdd-x learnt auto]

Sizes are nodes of synthetic sources with 64 features. Seconds are those of the processor, in the estimate and
in the truth, so that other work on the machine is neither's fault; `--wall` takes those of the clock. Memory
is compared with the peak that the result tells. The last column is the share of the stage that takes most.
"""

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import hypercondense as hc
from hypercondense.data import synthetic


def main() -> None:
    """Estimate, do it, and print both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", nargs="*", type=int, default=[2_000, 20_000, 100_000])
    parser.add_argument("--data", nargs="*", default=["digits"])
    parser.add_argument("--data-dir")
    parser.add_argument("--methods", nargs="+", default=["ahgcdd-x", "learnt", "auto"])
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--wall", action="store_true")
    asked = parser.parse_args()
    if not asked.wall:
        time.perf_counter = time.process_time  # for every clock of the package
    hc.condense(synthetic(num_nodes=300), nodes=10, method="learnt", settings={"goal.training.epochs": 1})
    print(
        f"{'source':<12} {'method':<9} condense est / true    evaluate est / true    memory est / true   most"
    )
    sources = {f"{size:,}": synthetic(num_nodes=size, num_hyperedges=size, num_features=64, num_classes=10)
               for size in asked.sizes}  # fmt: skip
    sources |= {name: hc.load(name, data_dir=asked.data_dir) for name in asked.data}
    for name, source in sources.items():
        split = hc.split(source)
        for method in asked.methods:
            begin = time.perf_counter()
            told = hc.estimate(source, split, nodes=asked.nodes, method=method, runs=asked.runs)
            measuring = time.perf_counter() - begin
            with TemporaryDirectory() as folder:
                begin = time.perf_counter()
                result = hc.condense(source, split, nodes=asked.nodes, method=method, cache_dir=Path(folder))
                condensed = time.perf_counter() - begin
            begin = time.perf_counter()
            hc.evaluate(result, source, split, runs=asked.runs)
            evaluated = time.perf_counter() - begin
            stage, share = max(told.condense.shares.items(), key=lambda one: one[1])
            pairs = [(told.condense.seconds["total"], condensed), (told.evaluate.seconds["total"], evaluated),
                     (told.condense.memory / 1e6, result.peak_memory_mb)]  # fmt: skip
            shown = "  ".join(f"{est:7.1f} /{true:7.1f} ={est / true:5.2f}" for est, true in pairs)
            print(
                f"{name:<12} {method:<9} {shown}  {stage} {share:.0%} (measured {measuring:.1f} s)",
                flush=True,
            )


if __name__ == "__main__":
    main()
