"""Coresets: training nodes of every class, with their own features and the hyperedges they share.

docs/baselines.md lists what the descriptions of these methods leave open.
"""

from typing import ClassVar

from hypercondense.condensing.assembly import induced
from hypercondense.condensing.baselines.embedding import Embedding, Raw
from hypercondense.condensing.baselines.selection import (
    Choose,
    check_enough,
    herding,
    k_center,
    positions_by_class,
    random_positions,
)
from hypercondense.condensing.job import Job, Made
from hypercondense.hypergraph import Ids
from hypercondense.runtime.rng import Stream, numpy_generator
from hypercondense.typed import Value

_EMPTY = "no two chosen nodes share a hyperedge, which is usual for few nodes; ask for more condensed nodes"


class Random(Value):
    """Training nodes drawn uniformly without replacement."""

    empty_structure: ClassVar[str] = _EMPTY
    one_thread_up_to: ClassVar[int] = 0
    trains_on_whole: ClassVar[None] = None

    def run(self, job: Job) -> Made:
        """Any nodes of the right classes."""
        rng = numpy_generator(job.seed, Stream.RANDOM_NODES)
        return cut_out(job, random_positions(job.material.train_labels, job.labels, rng))


class Herding(Value):
    """Nodes whose mean stays close to the mean of their class (Welling, 2009).

    Args:
        embedding: Where distances are measured: ``raw`` features, ``diffused`` ones, or the last layer of a
            ``trained`` HGNN.
    """

    empty_structure: ClassVar[str] = _EMPTY
    one_thread_up_to: ClassVar[int] = 0

    embedding: Embedding = Raw()

    @property
    def trains_on_whole(self) -> str | None:
        """The embedding may be."""
        return self.embedding.trains_on_whole

    def run(self, job: Job) -> Made:
        """The nodes that represent the rows of their class."""
        return cut_out(job, _chosen(job, self.embedding, herding))


class KCenter(Value):
    """Nodes that leave no node of their class far away (Sener and Savarese, 2018).

    Args:
        embedding: As for herding.
    """

    empty_structure: ClassVar[str] = _EMPTY
    one_thread_up_to: ClassVar[int] = 0

    embedding: Embedding = Raw()

    @property
    def trains_on_whole(self) -> str | None:
        """The embedding may be."""
        return self.embedding.trains_on_whole

    def run(self, job: Job) -> Made:
        """The nodes that represent the rows of their class."""
        return cut_out(job, _chosen(job, self.embedding, k_center))


def _chosen(job: Job, embedding: Embedding, choose: Choose) -> Ids:
    train_labels = job.material.train_labels
    check_enough(train_labels, job.labels)  # before an embedding is trained in vain
    rows = embedding.rows(job)
    with job.material.clock.stage("choose"):
        return positions_by_class(rows, train_labels, job.labels, choose)


def cut_out(job: Job, positions: Ids) -> Made:
    """The training nodes at ``positions`` with the hyperedges they share."""
    material = job.material
    node_ids = material.split.train_ids[positions]
    hypergraph = induced(material.source, node_ids)
    members = tuple(node_ids[place : place + 1] for place in range(len(node_ids)))
    return Made(hypergraph=hypergraph, members=members)  # nothing was chosen on validation nodes
