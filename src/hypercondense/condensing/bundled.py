"""Bundled: each optimized row is shown as several noisy nodes that a hyperedge joins.

Rows of diffused features are means over neighbours. A network that convolves first meets such means on the
source too; one that begins with a nonlinearity meets single nodes there, whose features may be mostly noise,
and has never seen any. So every row becomes a bundle of nodes: the row, plus differences between raw features
of training nodes of its class, which add up to 0. A convolution over the hyperedge of a bundle returns the
row; whatever looks at single nodes learns to look through the noise.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from hypercondense.condensing.assembly import condensed_like
from hypercondense.condensing.base import Outcome, Task
from hypercondense.condensing.options import check_options
from hypercondense.condensing.problem import Problem
from hypercondense.condensing.ridge import Ridge
from hypercondense.condensing.unrolled import Unrolled
from hypercondense.hypergraph import Dense, Hypergraph, Ids, Incidence
from hypercondense.runtime.rng import numpy_generator

_NOISE_STREAM = 9
_GRIP = 10.0  # weight of a bundle's hyperedge beside the self-loops of its nodes


@dataclass(frozen=True, kw_only=True)
class Bundled(Unrolled):
    """Fewer rows, optimized as by :class:`Unrolled`, and several nodes for each.

    Args:
        bundle: Nodes of a bundle; classes whose number of nodes is no multiple have smaller ones too.
        noise: Share of the differences between raw features that the nodes of a bundle differ by.
        smoothing: Share of every label that is spread evenly over all classes at the end. Rows are never
            ambiguous, nodes of the source are: a network never asked to be quite sure concludes better.
    """

    name: ClassVar[str] = "bundled"

    bundle: int = 2
    noise: float = 0.5
    smoothing: float = 0.02

    def __post_init__(self) -> None:
        super().__post_init__()
        check_options(self, at_least={"bundle": 1, "noise": 0, "smoothing": 0})
        if self.smoothing > 1:
            raise ValueError(f"smoothing is a share and at most 1, got {self.smoothing}")
        if self.structure:
            raise ValueError("bundled makes hyperedges of its own; leave structure off")

    def run(self, task: Task) -> Outcome:
        """Optimize one row for every bundle; what ``select`` scores and what is returned has the noise.

        Where the method selects by itself it scores rows: to a convolution they are the same.
        """
        bundles = bundles_of(task.labels, self.bundle)
        sizes = [len(bundle) for bundle in bundles]
        row_of_node = np.repeat(np.arange(len(bundles)), sizes)
        noise, noise_ids = self._noise(bundles, task)
        hyperedges = _hyperedges([bundle for bundle in bundles if len(bundle) > 1])

        def unfolded(rows: Hypergraph) -> Hypergraph:
            shares = self._shares(rows)
            return condensed_like(
                task.source,
                features=rows.dense_features()[row_of_node] + noise,
                labels=task.labels,
                soft_labels=None if shares is None else shares[row_of_node],
                incidence=hyperedges,
                num_hyperedges=sum(size > 1 for size in sizes),
            )

        select = task.select
        outcome = super().run(
            replace(
                task,
                labels=task.labels[[bundle[0] for bundle in bundles]],
                select=select and (lambda rows: select(unfolded(rows))),
            )
        )
        members = [
            np.union1d(outcome.members[row], ids) for row, ids in zip(row_of_node, noise_ids, strict=True)
        ]
        warnings = outcome.warnings
        if self.bundle > max(sizes) == 1:
            warnings += ("no class has two condensed nodes, so there are no bundles; ask for more nodes",)
        return replace(
            outcome, hypergraph=unfolded(outcome.hypergraph), members=tuple(members), warnings=warnings
        )

    def accuracy(self, problem: Problem, candidate: Hypergraph) -> float:
        """That of the closed form, where nothing else is done."""
        if self.unrolled_epochs == 0:
            return Ridge.accuracy(self, problem, candidate)
        return super().accuracy(problem, candidate)

    def _shares(self, rows: Hypergraph) -> Dense | None:
        """Of the classes in every row, smoothed, (rows, C); ``None`` if all are plain."""
        shares = rows.soft_labels
        if self.smoothing == 0:
            return shares
        if shares is None:
            shares = np.eye(rows.num_classes, dtype=np.float32)[rows.labels]
        return (1 - self.smoothing) * shares + self.smoothing / rows.num_classes

    def _noise(self, bundles: list[Ids], task: Task) -> tuple[Dense, list[Ids]]:
        """What each node is apart from its row, (n, d), and the source nodes that this was made from."""
        rng = numpy_generator(task.seed, _NOISE_STREAM)
        noise = np.zeros((len(task.labels), task.source.num_features), np.float32)
        noise_ids: list[Ids] = [np.zeros(0, np.int64)] * len(task.labels)
        for bundle in bundles:
            of_class = task.split.train_ids[task.train_labels == task.labels[bundle[0]]]
            if len(bundle) == 1 or self.noise == 0:
                continue
            drawn = rng.choice(of_class, len(bundle), replace=len(of_class) < len(bundle))
            raw = task.source.dense_features(drawn)
            noise[bundle] = self.noise * (raw - raw.mean(0))
            for node in bundle:
                noise_ids[node] = np.unique(drawn)
        return noise, noise_ids


def _hyperedges(bundles: list[Ids]) -> Incidence:
    """One hyperedge for each bundle."""
    node_ids = np.concatenate([np.zeros(0, np.int64), *bundles])
    hyperedge_ids = np.repeat(np.arange(len(bundles)), [len(bundle) for bundle in bundles])
    return Incidence(node_ids, hyperedge_ids, np.full(len(node_ids), _GRIP, np.float32))


def bundles_of(labels: Ids, size: int) -> list[Ids]:
    """Nodes of one class in as few groups of at most ``size`` as can be; ``labels`` are sorted.

    >>> [bundle.tolist() for bundle in bundles_of(np.array([0, 0, 0, 0, 1]), 3)]
    [[0, 1], [2, 3], [4]]
    """
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    classes = np.split(np.arange(len(labels)), starts[1:])
    return [bundle for ids in classes for bundle in np.array_split(ids, -(-len(ids) // size))]
