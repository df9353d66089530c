"""Nanoseconds of a sparse product for an incidence and a column, by columns of a block and by size.

    python benchmarks/widths.py [--nodes 10000 100000 1000000]

Ten random hyperedges for every node. Seconds are those of the processor, the best of three.
"""

import argparse
import time

import numpy as np
import torch

from hypercondense.diffusion.compressed import Compressed
from hypercondense.diffusion.shards import rows_of

EACH, WIDTHS = 10, (1, 3, 7, 16, 32, 64)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--nodes", nargs="+", type=int, default=[10_000, 100_000, 1_000_000])
    asked = parser.parse_args()
    torch.set_num_threads(1)
    chance = np.random.default_rng(0)
    print(f"{'incidences':>12} " + " ".join(f"{width:>6}" for width in WIDTHS))
    for nodes in asked.nodes:
        # One in every tenth part of the columns, so that they are sorted and differ.
        columns = chance.integers(0, nodes // EACH, (nodes, EACH)) + np.arange(EACH) * (nodes // EACH)
        starts = np.arange(0, nodes * EACH + 1, EACH, dtype=np.int32)
        values = np.ones(nodes * EACH, np.float32)
        matrix = rows_of(starts, columns.astype(np.int32).ravel(), values)
        found = [seconds(matrix, width) / (nodes * EACH * width) * 1e9 for width in WIDTHS]
        print(f"{nodes * EACH:>12,} " + " ".join(f"{one:6.2f}" for one in found), flush=True)


def seconds(matrix: Compressed, width: int) -> float:
    """Of one product with so many columns."""
    x, best = torch.rand(len(matrix.starts) - 1, width), np.inf
    for _ in range(3):
        begin = time.process_time()
        matrix.times(x)
        best = min(best, time.process_time() - begin)
    return best


if __name__ == "__main__":
    main()
