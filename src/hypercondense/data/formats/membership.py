"""Memberships as files give them: perhaps repeated, perhaps with hyperedge ids that have gaps."""

import numpy as np

from hypercondense.hypergraph import Ids


def without_duplicates(node_ids: Ids, hyperedge_ids: Ids) -> tuple[Ids, Ids, list[str]]:
    """Each membership once, sorted by hyperedge, and a note if some were there more than once.

    Ids that no hypergraph can have are given back as they are, to be refused by their place in the file.
    """
    num_nodes = int(node_ids.max(initial=0)) + 1
    num_hyperedges = int(hyperedge_ids.max(initial=0)) + 1
    smallest = min(node_ids.min(initial=0), hyperedge_ids.min(initial=0))
    if smallest < 0 or num_nodes * num_hyperedges >= 2**62:
        return node_ids, hyperedge_ids, []
    memberships = np.sort(hyperedge_ids * num_nodes + node_ids)  # one number each: sorted in one go
    kept = memberships[np.diff(memberships, prepend=-1) != 0]
    count = len(memberships) - len(kept)
    notes = [f"{count} repeated members of a hyperedge were dropped"] if count else []
    return kept % num_nodes, kept // num_nodes, notes


def renumbered(hyperedge_ids: Ids) -> tuple[Ids, int]:
    """Hyperedge ids ``0 ..`` without gaps, in the same order, and their number."""
    kept, ids = np.unique(hyperedge_ids, return_inverse=True)
    return ids.astype(np.int64), len(kept)


def empty_note(num_declared: int, num_kept: int) -> list[str]:
    """A note if some of the declared hyperedges had no members."""
    count = num_declared - num_kept
    return [f"{count} empty hyperedges were dropped"] if count else []
