"""Seconds of a diffusion and of a search: here, and on Ray with one and two workers, in one run.

    python benchmarks/cluster.py [--nodes 20000] [--data wordnet --data-dir DIR]

The first task of a worker imports this package, so each engine does something small before it is timed. The
last column tells whether the bits are those of this machine alone.
"""

import argparse
import time

import hypercondense as hc
from hypercondense.data import synthetic
from hypercondense.diffusion import diffuse, heat_kernel
from hypercondense.runtime.ray_engine import RayEngine


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--features", type=int, default=256)
    parser.add_argument("--data")
    parser.add_argument("--data-dir")
    asked = parser.parse_args()
    small = synthetic(num_nodes=300, num_features=16)
    if asked.data:
        source = hc.load(asked.data, data_dir=asked.data_dir)
    else:
        sizes = {"num_nodes": asked.nodes, "num_hyperedges": asked.nodes, "num_features": asked.features}
        source = synthetic(**sizes, num_classes=10)
    split = hc.split(source)
    search = {"nodes": 50, "method": "ahgcdd-x-paper", "budget": 4}
    digests: dict[str, object] = {}
    for workers in (0, 1, 2):
        engine = RayEngine(workers=workers) if workers else None
        diffuse(small, heat_kernel(2.0), threads=1, engine=engine)
        begin = time.perf_counter()
        diffused = diffuse(source, heat_kernel(2.0), threads=1, engine=engine)
        middle = time.perf_counter()
        result = hc.condense(source, split, **search, engine=engine)
        end = time.perf_counter()
        if engine is not None:
            engine.close()
        found = hash(diffused.tobytes()), result.hypergraph.digest
        same = digests.setdefault("here", found) == found
        name = f"ray, {workers} worker{'s' * (workers > 1)}" if workers else "here, one thread"
        print(f"{name:<16} diffusion {middle - begin:6.1f} s  search {end - middle:6.1f} s  same bits {same}")


if __name__ == "__main__":
    main()
