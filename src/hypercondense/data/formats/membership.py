"""Memberships as files give them: perhaps repeated, perhaps with hyperedge ids that have gaps."""

import numpy as np

from hypercondense.hypergraph import Ids


def without_duplicates(node_ids: Ids, hyperedge_ids: Ids) -> tuple[Ids, Ids, list[str]]:
    """Each membership once, sorted by hyperedge, and a note if some were there more than once."""
    order = np.lexsort((node_ids, hyperedge_ids))
    node_ids, hyperedge_ids = node_ids[order], hyperedge_ids[order]
    repeated = np.zeros(len(order), bool)
    repeated[1:] = (node_ids[1:] == node_ids[:-1]) & (hyperedge_ids[1:] == hyperedge_ids[:-1])
    count = int(repeated.sum())
    notes = [f"{count} repeated members of a hyperedge were dropped"] if count else []
    return node_ids[~repeated], hyperedge_ids[~repeated], notes


def renumbered(hyperedge_ids: Ids) -> tuple[Ids, int]:
    """Hyperedge ids ``0 ..`` without gaps, in the same order, and their number."""
    kept, ids = np.unique(hyperedge_ids, return_inverse=True)
    return ids.astype(np.int64), len(kept)


def empty_note(num_declared: int, num_kept: int) -> list[str]:
    """A note if some of the declared hyperedges had no members."""
    count = num_declared - num_kept
    return [f"{count} empty hyperedges were dropped"] if count else []
