"""Results made in no time, of any size and with any names."""

from dataclasses import replace

import msgspec
import numpy as np

from hypercondense.catalogue import condense
from hypercondense.condensation import Condensation
from hypercondense.data import synthetic
from hypercondense.evaluation.tuning import RankedConfiguration, Ranking, configurations
from hypercondense.hypergraph import Hypergraph

HOSTILE = (
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=2>",
    "\u202egnol yrev",  # what follows would be read from right to left
    "אבג",
    "a" * 10_000,
)


def hostile_source() -> Hypergraph:
    """A source whose classes and nodes have names that would do harm where text is not escaped."""
    plain = synthetic(num_nodes=120, num_hyperedges=60, num_features=8, num_classes=len(HOSTILE), seed=0)
    return Hypergraph(
        features=plain.features,
        labels=plain.labels,
        incidence=plain.incidence,
        num_hyperedges=plain.num_hyperedges,
        label_names=HOSTILE,
        node_names=[f"{HOSTILE[node % len(HOSTILE)]}{node}" for node in range(plain.num_nodes)],
        name=HOSTILE[0],
        notes=(HOSTILE[1],),
    )


def result_of_size(nodes: int, classes: int) -> Condensation:
    """A result as if so many nodes had been condensed, in pairs, without condensing anything."""
    small = condense(
        synthetic(num_nodes=60, num_hyperedges=30, num_classes=2, seed=0), nodes=4, method="means"
    )
    generator = np.random.default_rng(0)
    pairs = np.arange(nodes) // 2
    condensed = Hypergraph(
        features=generator.normal(size=(nodes, 4)).astype(np.float32),
        labels=np.arange(nodes) % classes,
        incidence=(np.arange(nodes), pairs, np.ones(nodes, np.float32)),
        num_hyperedges=int(pairs.max()) + 1,
        label_names=[f"class {label}" for label in range(classes)],
    )
    ids = tuple(np.array([node], np.int64) for node in range(nodes))
    provenance = msgspec.structs.replace(
        small.provenance, num_source_nodes=10 * nodes, source_name="gone", source_location="/nowhere/gone"
    )
    return replace(small, hypergraph=condensed, members=ids, provenance=provenance)


def ranking() -> Ranking:
    """Configurations with scores as a ranking has them, without a training."""
    scored = [
        RankedConfiguration(one, validation=0.9 - 0.01 * place, whole_validation=0.9, whole_test=0.8)
        for place, one in enumerate(configurations(["mlp"]))
    ]
    return Ranking(tuple(scored), seconds=1.5, whole_seconds=60.0, tau=0.5, regret=-0.001)
