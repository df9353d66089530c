"""Names that users give, for help texts and types: nothing heavy is imported to know them."""

from typing import Literal, TypeAlias, get_args

NetworkName: TypeAlias = Literal["hgnn", "hcha", "unigcnii", "allset", "edhnn", "mlp"]
#: What is searched and chosen for on validation nodes.
Metric: TypeAlias = Literal["accuracy", "macro-f1"]
METRICS: tuple[Metric, ...] = get_args(Metric)
#: How condensed nodes are shared out between classes.
Allocation: TypeAlias = Literal["proportional", "equal", "adaptive"]
ALLOCATIONS: tuple[Allocation, ...] = get_args(Allocation)
#: Who shares out work: threads and processes of this machine, or the machines of a Ray cluster.
EngineName: TypeAlias = Literal["local", "ray"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
NETWORKS: tuple[NetworkName, ...] = get_args(NetworkName)
#: What is condensed by unless a method is named.
DEFAULT_METHOD = "auto"
METHODS = (
    DEFAULT_METHOD,
    *("ahgcdd", "ahgcdd-x", "ahgcdd-paper", "ahgcdd-x-paper"),
    *("means", "k-means", "ridge", "unrolled", "learnt", "taught", "bundled"),
    *("random", "herding", "k-center", "hgcpa", "hg-cond", "hg-cond-nhl"),
)
#: Those whose grid the paper gives.
WITH_GRID = ("ahgcdd-paper", "ahgcdd-x-paper")
#: Those that take a budget.
SEARCHES = (DEFAULT_METHOD, *WITH_GRID)
