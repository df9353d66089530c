"""Hyperedges that prefer a class: the structure of a contextual block model."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hypercondense.hypergraph import Ids

Real: TypeAlias = NDArray[np.float64]

_ROUNDS = 30  # redraws of members that are in a hyperedge twice, before the few left are drawn one by one


def block_model(
    rng: np.random.Generator,
    labels: Ids,
    *,
    num_hyperedges: int,
    mean_size: float,
    size_spread: float,
    num_incidences: int | None,
    homophily: float,
    isolated: float,
) -> tuple[Ids, Ids]:
    """Node ids and hyperedge ids; :func:`hypercondense.data.synthetic.synthetic` explains the options."""
    blocks = _blocks(rng, labels, isolated)
    mean = mean_size if num_incidences is None else num_incidences / num_hyperedges
    sizes = _sizes(rng, num_hyperedges, mean=mean, spread=size_spread, largest=int(blocks.counts.min()))
    if num_incidences is not None:
        _correct_total(rng, sizes, total=num_incidences, largest=int(blocks.counts.min()))
    hyperedge_ids = np.repeat(np.arange(num_hyperedges), sizes)
    homes = _homes(rng, num_hyperedges, blocks.counts)[hyperedge_ids]
    members = _Members(hyperedge_ids, _member_classes(rng, homes, blocks.counts, homophily), blocks.counts)
    ranks = _covering(rng, members, _distinct_ranks(rng, members))
    return blocks.order[blocks.starts[members.classes] + ranks], hyperedge_ids


@dataclass(frozen=True)
class _Blocks:
    """The nodes that are not isolated, class by class: node ``order[starts[c] + rank]``."""

    order: Ids
    starts: Ids
    counts: Ids


@dataclass(frozen=True)
class _Members:
    """The hyperedge and the class of each membership, and the number of nodes of each class."""

    hyperedge_ids: Ids
    classes: Ids
    counts: Ids


def _blocks(rng: np.random.Generator, labels: Ids, isolated: float) -> _Blocks:
    num_isolated = round(isolated * len(labels))
    connected = rng.permutation(len(labels))[num_isolated:]
    order = connected[np.argsort(labels[connected], kind="stable")]
    counts = np.bincount(labels[connected], minlength=int(labels.max()) + 1)
    if counts.min() < 2:
        raise ValueError(
            f"isolated = {isolated} leaves {counts.min()} nodes of class {counts.argmin()} for hyperedges, "
            f"and at least 2 are needed; use a smaller share or more nodes"
        )
    return _Blocks(order, np.cumsum(counts) - counts, counts)


def _sizes(rng: np.random.Generator, num_hyperedges: int, *, mean: float, spread: float, largest: int) -> Ids:
    """Hyperedge sizes from 2 to ``largest``."""
    if not 2 <= mean <= largest:
        raise ValueError(
            f"the mean hyperedge size must be from 2 to {largest}, the nodes of the smallest class that are "
            f"not isolated, got {mean:g}"
        )
    rates = np.full(num_hyperedges, mean - 2)
    if spread > 0 and mean > 2:
        rates = rng.gamma(spread**-2, (mean - 2) * spread**2, num_hyperedges)
    return np.minimum(2 + rng.poisson(rates), largest)


def _correct_total(rng: np.random.Generator, sizes: Ids, *, total: int, largest: int) -> None:
    """Change sizes by one here and there until they add up to ``total``."""
    while (gap := total - int(sizes.sum())) != 0:
        movable = np.flatnonzero(sizes < largest if gap > 0 else sizes > 2)
        sizes[rng.permutation(movable)[: abs(gap)]] += np.sign(gap)


def _homes(rng: np.random.Generator, num_hyperedges: int, counts: Ids) -> Ids:
    """A class for each hyperedge, in proportion to the classes: left to chance is only which is where."""
    ends = np.cumsum(counts)
    places = (np.arange(num_hyperedges) + 0.5) / num_hyperedges * ends[-1]
    return rng.permutation(np.searchsorted(ends, places, side="right"))


def _home_probability(counts: Ids, homophily: float) -> Real:
    """For each home class the ``p`` at which two members agree with probability ``homophily``.

    With shares ``q`` of the other classes they agree with ``p^2 + (1 - p)^2 s``, ``s = sum q^2``.
    """
    if len(counts) == 1:
        return np.ones(1)
    others = counts.sum() - counts
    s = ((counts**2).sum() - counts**2) / others**2
    lowest = (s / (1 + s)).max()
    if homophily < lowest:
        raise ValueError(
            f"homophily must be at least {lowest:.3g} with these {len(counts)} classes, where members come "
            f"by chance; got {homophily}; use more classes"
        )
    # Rounding can make the root of the smallest possible homophily slightly imaginary.
    root = np.sqrt(np.maximum(s**2 - (1 + s) * (s - homophily), 0))
    return np.asarray((s + root) / (1 + s))


def _member_classes(rng: np.random.Generator, homes: Ids, counts: Ids, homophily: float) -> Ids:
    """The class of each member, given the home of its hyperedge."""
    at_home = rng.random(len(homes)) < _home_probability(counts, homophily)[homes]
    ends = np.cumsum(counts)
    # A node outside the home class, counted in the order of the classes with the home class cut out.
    outside = rng.random(len(homes)) * (ends[-1] - counts[homes])
    outside += np.where(outside >= (ends - counts)[homes], counts[homes], 0)
    others = np.minimum(np.searchsorted(ends, outside, side="right"), len(counts) - 1)
    return np.where(at_home, homes, others)


def _distinct_ranks(rng: np.random.Generator, members: _Members) -> Ids:
    """A position within its class for each member, none twice in a hyperedge."""
    hyperedge_ids, classes, counts = members.hyperedge_ids, members.classes, members.counts
    ranks = rng.integers(0, counts[classes])
    positions = np.arange(len(ranks))  # members of hyperedges in which a node may be twice
    for _ in range(_ROUNDS):
        redrawn = positions[_repeated(members, ranks, positions)]
        if len(redrawn) == 0:
            return ranks
        ranks[redrawn] = rng.integers(0, counts[classes[redrawn]])
        affected = np.zeros(hyperedge_ids[-1] + 1, bool)
        affected[hyperedge_ids[redrawn]] = True
        positions = positions[affected[hyperedge_ids[positions]]]
    _draw_one_by_one(rng, members, ranks, positions)
    return ranks


def _repeated(members: _Members, ranks: Ids, positions: Ids) -> NDArray[np.bool_]:
    """Which of the members at ``positions`` are in their hyperedge already, at an earlier position."""
    starts = np.cumsum(members.counts) - members.counts
    keys = members.hyperedge_ids[positions] * members.counts.sum()
    keys += starts[members.classes[positions]] + ranks[positions]
    order = np.argsort(keys, kind="stable")
    repeated = np.zeros(len(keys), bool)
    repeated[order[1:]] = keys[order[1:]] == keys[order[:-1]]
    return repeated


def _draw_one_by_one(rng: np.random.Generator, members: _Members, ranks: Ids, positions: Ids) -> None:
    """Draw without replacement: for hyperedges that take in nearly a whole class."""
    groups = members.hyperedge_ids[positions] * len(members.counts) + members.classes[positions]
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order])) + 1
    for group in np.split(positions[order], starts):
        ranks[group] = rng.permutation(members.counts[members.classes[group[0]]])[: len(group)]


def _covering(rng: np.random.Generator, members: _Members, ranks: Ids) -> Ids:
    """``ranks`` in which nodes that are in several hyperedges gave places to nodes that were in none."""
    ranks = ranks.copy()
    for label, count in enumerate(members.counts):
        places = rng.permutation(np.flatnonzero(members.classes == label))
        if len(places) < count:
            raise ValueError(
                f"the hyperedges have {len(places)} places for the {count} nodes of class {label} that are "
                f"not isolated; use more or larger hyperedges, or a larger isolated share"
            )
        covered, first = np.unique(ranks[places], return_index=True)
        absent = np.setdiff1d(np.arange(count), covered)
        # A node in no hyperedge can go anywhere, and all places but one of each node can be spared.
        spare = np.delete(places, first)
        ranks[spare[: len(absent)]] = absent
    return ranks
