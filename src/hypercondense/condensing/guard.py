"""Warnings about a condensed hypergraph that cannot be good, whatever method made it."""

from collections.abc import Iterable, Iterator

import numpy as np

from hypercondense.condensing.assembly import induced
from hypercondense.condensing.baselines.selection import random_positions
from hypercondense.condensing.job import Scorer
from hypercondense.errors import safe
from hypercondense.hypergraph import Dense, Hypergraph, Ids, Split
from hypercondense.runtime.rng import Stream, numpy_generator

_BLOCK = 1024  # rows compared at a time
_NAME = 40  # letters of a name in a warning


def wrong_classes(condensed: Hypergraph, split: Split, train_labels: Ids) -> Iterator[str]:
    """Whether a class is missing, or there is only one."""
    missing = np.setdiff1d(train_labels, condensed.labels)
    if len(missing):
        yield f"no condensed node of class {_named(condensed, missing)}"
    if split.missing_classes:
        names = _named(condensed, split.missing_classes)
        yield f"no training node of class {names}: nothing can be learnt about it"
    if len(np.unique(train_labels)) == 1:
        yield "the training nodes are all of one class: any network will predict it everywhere"


def _named(condensed: Hypergraph, classes: Iterable[int]) -> str:
    """Classes with their names, where they have any."""
    names = condensed.label_names
    return ", ".join(str(one) if names is None else f"{one} ({safe(names[one])[:_NAME]})" for one in classes)


def blind_validation(validation_labels: Ids, train_labels: Ids) -> Iterator[str]:
    """Whether validation nodes cannot choose, because they know one class only."""
    classes = np.unique(validation_labels)
    if len(classes) == 1 and len(np.unique(train_labels)) > 1:
        yield (
            f"the validation nodes are all of class {classes[0]}, so what was chosen on them may be wrong "
            "about all others; choose without them (--no-select), or split so that every class has some"
        )


def constant_features(condensed: Hypergraph, source: Hypergraph, members: tuple[Ids, ...]) -> Iterator[str]:
    """Whether the condensed nodes, or the source nodes they were made from, cannot be told apart."""
    if condensed.num_nodes == 1:
        return
    if _all_equal(condensed.dense_features()):
        yield "all condensed nodes have the same features; are those of the source constant?"
    # Diffusion and adaptation make small differences out of none: only the source shows it then.
    elif _all_same(source, np.unique(np.concatenate(members))):
        yield "the source nodes all have the same features: a network can only learn from the structure"


def empty_structure(condensed: Hypergraph, advice: str | None) -> Iterator[str]:
    """Whether no hyperedge joins two nodes; ``advice`` is ``None`` where that is meant to be so."""
    if advice is not None and condensed.num_incidences == condensed.num_hyperedges:
        yield f"the structure is empty, no hyperedge joins two nodes: {advice}"


def worse_than_random(
    condensed: Hypergraph,
    source: Hypergraph,
    split: Split,
    *,
    score: float | None,
    judge: Scorer,
    seed: int,
) -> Iterator[str]:
    """Whether a condensed hypergraph scores below as many random training nodes, by one judge.

    The judge is asked about random nodes, and about the result if there is no ``score`` of it yet. With more
    condensed nodes than training nodes there is nothing to compare with, and random nodes are not worse than
    themselves. Of a class that has fewer training nodes than condensed ones all are taken.
    """
    train_labels = source.labels[split.train_ids]
    if condensed.num_nodes > len(train_labels):
        return
    wanted = _available(train_labels, condensed.labels)
    positions = random_positions(train_labels, wanted, numpy_generator(seed, Stream.RANDOM_NODES))
    random = induced(source, split.train_ids[positions])
    if random.digest == condensed.digest:
        return
    score = judge(condensed) if score is None else score
    reference = judge(random)
    if not score >= reference:  # NaN is never good enough
        yield (
            f"worse than random selection: {score:.4f} on validation, and {len(wanted)} random "
            f"training nodes reach {reference:.4f}; try other options, another method or more condensed nodes"
        )


def _available(train_labels: Ids, labels: Ids) -> Ids:
    """The sorted ``labels`` without those that there are not enough training nodes for."""
    classes, sizes = np.unique(labels, return_counts=True)
    return np.repeat(
        classes, [min(size, (train_labels == one).sum()) for one, size in zip(classes, sizes, strict=True)]
    )


def _all_same(source: Hypergraph, node_ids: Ids) -> bool:
    """Whether nodes have equal features; usually the first rows tell that they have not."""
    first = source.dense_features(node_ids[:1])
    blocks = (node_ids[start : start + _BLOCK] for start in range(0, len(node_ids), _BLOCK))
    return len(node_ids) > 1 and all((source.dense_features(block) == first).all() for block in blocks)


def _all_equal(features: Dense) -> bool:
    return len(features) > 1 and bool((features == features[0]).all())
