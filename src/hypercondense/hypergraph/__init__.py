"""The one data type, its checks, its split into parts and its statistics."""

from hypercondense.hypergraph.arrays import UNKNOWN, UNNAMED, Dense, Features, Ids, Incidence
from hypercondense.hypergraph.hypergraph import Hypergraph, digest
from hypercondense.hypergraph.splits import Split, split, split_from_ids

__all__ = [
    "UNKNOWN",
    "UNNAMED",
    "Dense",
    "Features",
    "Hypergraph",
    "Ids",
    "Incidence",
    "Split",
    "digest",
    "split",
    "split_from_ids",
]
