"""Coresets: training nodes of every class, with their own features and the hyperedges they share.

docs/baselines.md lists what the descriptions of these methods leave open.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from hypercondense.condensing.assembly import induced
from hypercondense.condensing.base import Condenser, Outcome, Task
from hypercondense.condensing.baselines.embedding import EMBEDDINGS, Embedding
from hypercondense.condensing.baselines.selection import (
    Choose,
    check_enough,
    herding,
    k_center,
    positions_by_class,
    random_positions,
)
from hypercondense.condensing.guard import RANDOM_STREAM
from hypercondense.condensing.options import check_options, choice
from hypercondense.hypergraph import Ids
from hypercondense.runtime.rng import numpy_generator


@dataclass(frozen=True, kw_only=True)
class Coreset(Condenser):
    """Chosen training nodes and the structure they induce."""

    empty_structure: ClassVar[str | None] = (
        "no two chosen nodes share a hyperedge, which is usual for few nodes; ask for more condensed nodes"
    )

    @abstractmethod
    def choose(self, task: Task) -> Ids:
        """Positions of the chosen training nodes, one for each of ``task.labels``."""

    def run(self, task: Task) -> Outcome:
        """Choose, then cut the chosen nodes out of the source."""
        check_enough(task.train_labels, task.labels)  # before an embedding is trained in vain
        node_ids = task.split.train_ids[self.choose(task)]
        hypergraph = induced(task.source, node_ids)
        score = None
        if task.select is not None:
            with task.stage("select"):
                score = task.select(hypergraph)
        members = tuple(node_ids[place : place + 1] for place in range(len(node_ids)))
        return Outcome(hypergraph=hypergraph, members=members, start_validation=score, final_validation=score)


@dataclass(frozen=True, kw_only=True)
class Random(Coreset):
    """Training nodes drawn uniformly without replacement."""

    name: ClassVar[str] = "random"
    is_random: ClassVar[bool] = True

    def choose(self, task: Task) -> Ids:
        """Any nodes of the right classes."""
        return random_positions(task.train_labels, task.labels, numpy_generator(task.seed, RANDOM_STREAM))


@dataclass(frozen=True, kw_only=True)
class EmbeddedCoreset(Coreset):
    """Nodes chosen by where they are in an embedding.

    Args:
        embedding: ``raw`` features, ``diffused`` features, or the hidden layer of an ``hgnn`` trained on the
            source's training nodes.
        time: Diffusion time of ``diffused``.
        epochs: Training epochs of ``hgnn``.
    """

    chooser: ClassVar[Choose]

    embedding: Embedding = choice("raw", EMBEDDINGS)
    time: float = 2.0
    epochs: int = 100

    def __post_init__(self) -> None:
        check_options(self, above={"time": 0}, at_least={"epochs": 0})

    def choose(self, task: Task) -> Ids:
        """The nodes that represent the rows of their class."""
        rows = self.embedding(task, self.time, self.epochs)
        with task.stage("choose"):
            return positions_by_class(rows, task.train_labels, task.labels, type(self).chooser)


@dataclass(frozen=True, kw_only=True)
class Herding(EmbeddedCoreset):
    """Nodes whose mean stays close to the mean of their class (Welling, 2009)."""

    name: ClassVar[str] = "herding"
    chooser: ClassVar[Choose] = staticmethod(herding)


@dataclass(frozen=True, kw_only=True)
class KCenter(EmbeddedCoreset):
    """Nodes that leave no node of their class far away (Sener and Savarese, 2018)."""

    name: ClassVar[str] = "k-center"
    chooser: ClassVar[Choose] = staticmethod(k_center)
