"""A cluster of three nodes that loses one in the middle of the diffusion, and one in the middle of a search.

``python three_nodes.py [SOURCE [NODES]]`` prints the digests of the result that such a cluster gives and of
the one made here, what was lost, and seconds of both. SOURCE is a data set or a folder; the default is small.
It is a process of its own because a process can have one Ray only.
"""

import json
import sys
import time
from itertools import pairwise

from ray.cluster_utils import Cluster

import hypercondense as hc
from hypercondense.data import synthetic
from hypercondense.runtime.ray_engine import RayEngine
from hypercondense.search.ahead import Ahead


class Losing:
    """Progress that takes a node away when the first block of columns is there."""

    def __init__(self, cluster, nodes):
        self.cluster, self.nodes, self.lost = cluster, nodes, []

    def __call__(self, stage, done, total, /, **figures):
        if stage == "diffuse" and "diffuse" not in self.lost:
            self.lose(stage)

    def lose(self, stage):
        self.lost.append(stage)
        self.cluster.remove_node(self.nodes.pop(), allow_graceful=False)
        self.nodes.insert(0, self.cluster.add_node(num_cpus=1))


def main(given=None, nodes="9"):
    small = {"num_nodes": 300, "num_hyperedges": 200, "num_features": 12, "num_classes": 3}
    source = synthetic(**small, noise=2.0, seed=1) if given is None else hc.load(given)
    split = hc.split(source)
    how = {"nodes": int(nodes), "method": "ahgcdd-x-paper", "settings": {"goal.epochs": 3}, "budget": 3}
    times = [time.perf_counter()]
    here = hc.condense(source, split, **how)
    times.append(time.perf_counter())
    cluster = Cluster()
    cluster.add_node(num_cpus=0, _system_config={"worker_niceness": 0})
    losing = Losing(cluster, [cluster.add_node(num_cpus=1) for _ in range(2)])
    taken = Ahead.outcome

    def outcome(self, recipe):
        found = taken(self, recipe)
        if "search" not in losing.lost:
            losing.lose("search")  # while the next trial is under way
        return found

    Ahead.outcome = outcome
    with RayEngine(address=cluster.address) as engine:
        there = hc.condense(source, split, **how, engine=engine, progress=losing)
    times.append(time.perf_counter())
    cluster.shutdown()
    results = {"here": here, "there": there}
    digests = {name: result.hypergraph.digest for name, result in results.items()}
    trials = [[trial["score"] for trial in result.choice["trials"]] for result in results.values()]
    seconds = [round(end - begin, 1) for begin, end in pairwise(times)]
    told = {**digests, "lost": losing.lost, "trials": trials, "seconds": seconds}
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
