"""Bundles: each optimized row is shown as several noisy nodes that a hyperedge joins.

Rows of diffused features are means over neighbours. A network that convolves first meets such means on the
source too; one that begins with a nonlinearity meets single nodes there, whose features may be mostly noise,
and has never seen any. So every row becomes a bundle of nodes: the row, plus differences between raw features
of training nodes of its class, which add up to 0. A convolution over the hyperedge of a bundle returns the
row; whatever looks at single nodes learns to look through the noise.
"""

from dataclasses import replace

import numpy as np

from hypercondense.condensing.assembly import condensed_like
from hypercondense.condensing.job import Job, Made
from hypercondense.hypergraph import Dense, Hypergraph, Ids, Incidence
from hypercondense.runtime.rng import Stream, numpy_generator
from hypercondense.typed import Count, NotNegative, Positive, Share, Value


class Bundles(Value):
    """Fewer rows, and several nodes for each.

    Args:
        size: Nodes of a bundle; classes whose number of nodes is no multiple have smaller ones too.
        noise: Share of the differences between raw features that the nodes of a bundle differ by.
        smoothing: Share of every label that is spread evenly over all classes at the end. Nodes of the
            source can be ambiguous, and a network that learns from smoothed labels predicts these better.
        grip: Weight of a bundle's hyperedge beside the self-loops of its nodes.
    """

    size: Count = 2
    noise: NotNegative = 0.5
    smoothing: Share = 0.02
    grip: Positive = 10.0

    def row_labels(self, labels: Ids) -> Ids:
        """The class of every row, given those of the nodes."""
        return labels[[bundle[0] for bundle in bundles_of(labels, self.size)]]

    def unfold(self, made: Made, job: Job) -> Made:
        """What rows were made into, as nodes with noise.

        Rows were chosen by their own score: to a convolution they are the same.
        """
        bundles = bundles_of(job.labels, self.size)
        sizes = [len(bundle) for bundle in bundles]
        row_of_node = np.repeat(np.arange(len(bundles)), sizes)
        noise, noise_ids = self._noise(bundles, job)
        shares = self._shares(made.hypergraph)
        members = [
            np.union1d(made.members[row], ids) for row, ids in zip(row_of_node, noise_ids, strict=True)
        ]
        warnings = made.warnings
        if self.size > max(sizes) == 1:
            warnings += ("no class has two condensed nodes, so there are no bundles; ask for more nodes",)
        hypergraph = condensed_like(
            job.material.source,
            features=made.hypergraph.dense_features()[row_of_node] + noise,
            labels=job.labels,
            soft_labels=None if shares is None else shares[row_of_node],
            incidence=_hyperedges([bundle for bundle in bundles if len(bundle) > 1], weight=self.grip),
            num_hyperedges=sum(size > 1 for size in sizes),
        )
        return replace(made, hypergraph=hypergraph, members=tuple(members), warnings=warnings)

    def _shares(self, rows: Hypergraph) -> Dense | None:
        """Of the classes in every row, smoothed, (rows, C); ``None`` if all are plain."""
        shares = rows.soft_labels
        if self.smoothing == 0:
            return shares
        if shares is None:
            shares = np.eye(rows.num_classes, dtype=np.float32)[rows.labels]
        return (1 - self.smoothing) * shares + self.smoothing / rows.num_classes

    def _noise(self, bundles: list[Ids], job: Job) -> tuple[Dense, list[Ids]]:
        """What each node is apart from its row, (n, d), and the source nodes that this was made from."""
        material, labels = job.material, job.labels
        rng = numpy_generator(job.seed, Stream.BUNDLES)
        noise = np.zeros((len(labels), material.source.num_features), np.float32)
        noise_ids: list[Ids] = [np.zeros(0, np.int64)] * len(labels)
        for bundle in bundles:
            of_class = material.split.train_ids[material.train_labels == labels[bundle[0]]]
            if len(bundle) == 1 or self.noise == 0:
                continue
            drawn = rng.choice(of_class, len(bundle), replace=len(of_class) < len(bundle))
            raw = material.source.dense_features(drawn)
            noise[bundle] = self.noise * (raw - raw.mean(0))
            for node in bundle:
                noise_ids[node] = np.unique(drawn)
        return noise, noise_ids


def _hyperedges(bundles: list[Ids], *, weight: float) -> Incidence:
    """One hyperedge for each bundle."""
    node_ids = np.concatenate([np.zeros(0, np.int64), *bundles])
    hyperedge_ids = np.repeat(np.arange(len(bundles)), [len(bundle) for bundle in bundles])
    return Incidence(node_ids, hyperedge_ids, np.full(len(node_ids), weight, np.float32))


def bundles_of(labels: Ids, size: int) -> list[Ids]:
    """Nodes of one class in as few groups of at most ``size`` as can be; ``labels`` are sorted.

    >>> [bundle.tolist() for bundle in bundles_of(np.array([0, 0, 0, 0, 1]), 3)]
    [[0, 1], [2, 3], [4]]
    """
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    classes = np.split(np.arange(len(labels)), starts[1:])
    return [bundle for ids in classes for bundle in np.array_split(ids, -(-len(ids) // size))]
