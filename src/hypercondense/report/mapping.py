"""A map of source and condensed nodes in two dimensions.

Networks see nodes through two steps of message passing, and so does the map: rows of both hypergraphs are
propagated twice and projected on the two directions in which those of the source differ most. A projection
and propagation may change places, so only a few columns are ever propagated.
"""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from hypercondense.condensation import Condensation
from hypercondense.diffusion import diffuse
from hypercondense.diffusion.mapped import new_map
from hypercondense.files.maps import chunks, release
from hypercondense.frozen import Frozen
from hypercondense.hypergraph import Dense, Hypergraph, Ids
from hypercondense.nn.streamed import within

MOST_CONDENSED, MOST_SOURCE, MOST_MEMBERS = 800, 2_500, 6
_FITTED_ROWS, _COLUMNS = 1_000, 32
_ROWS = 65_536  # that are projected together
_TWO_STEPS = (0.0, 0.0, 1.0)
_OUTSIDE = 0.1  # percent on either side that may lie beyond the edge, where they are put
SIDE = 1000  # coordinates are whole numbers from 0 to this


@dataclass(frozen=True, eq=False, kw_only=True)
class NodeMap(Frozen):
    """Where nodes lie.

    Args:
        source_ids: The source nodes that are shown.
        source: Their places, two whole numbers each.
        condensed_ids: The condensed nodes that are shown.
        condensed: Their places.
        shown_share: Of the variance of propagated features, what the two directions hold.
    """

    source_ids: Ids
    source: NDArray[np.int64]
    condensed_ids: Ids
    condensed: NDArray[np.int64]
    shown_share: float


def node_map(
    result: Condensation, source: Hypergraph | None, *, seed: int = 0, memory: int | str | None = None
) -> NodeMap:
    """Places of nodes; without a source those of condensed nodes alone.

    ``memory`` are bytes that the process may take where the source is mapped.
    """
    generator = np.random.default_rng(seed)
    condensed = result.hypergraph
    condensed_ids = _some(generator, condensed.num_nodes, MOST_CONDENSED)
    scaled = source if source is None or result.scale is None else result.scale.applied(source)
    directions = _directions(condensed if scaled is None else scaled, generator)
    own = _propagated(condensed, directions, condensed_ids)
    if scaled is None:
        source_ids, rows = np.empty(0, np.int64), np.empty((0, own.shape[1]), np.float32)
    else:
        source_ids = _shown_source(result, condensed_ids, scaled.num_nodes, generator)
        rows = _propagated(scaled, directions, source_ids, memory=memory)
    places, share = _flattened(rows if len(rows) else own, np.concatenate([rows, own]))
    return NodeMap(
        source_ids=source_ids,
        source=places[: len(rows)],
        condensed_ids=condensed_ids,
        condensed=places[len(rows) :],
        shown_share=share,
    )


def _some(generator: np.random.Generator, number: int, most: int) -> Ids:
    if number <= most:
        return np.arange(number)
    return np.sort(generator.choice(number, most, replace=False))


def _shown_source(result: Condensation, shown: Ids, number: int, generator: np.random.Generator) -> Ids:
    """A sample of the source, and the first few nodes that each shown condensed node was made of."""
    members = [result.members[node][:MOST_MEMBERS] for node in shown]
    return np.unique(np.concatenate([_some(generator, number, MOST_SOURCE), *members]))


def _directions(hypergraph: Hypergraph, generator: np.random.Generator) -> Dense:
    """The few columns that rows differ most in, (features, columns)."""
    from sklearn.utils.extmath import randomized_svd

    rows = hypergraph.dense_features(_some(generator, hypergraph.num_nodes, _FITTED_ROWS))
    rows = rows - rows.mean(0)
    most = min(_COLUMNS, *rows.shape)
    if most == hypergraph.num_features:
        return np.eye(most, dtype=np.float32)
    _, _, found = randomized_svd(rows, most, random_state=0)
    return np.asarray(found.T, np.float32)


def _propagated(
    hypergraph: Hypergraph, directions: Dense, ids: Ids, *, memory: int | str | None = None
) -> Dense:
    """Rows of some nodes after two steps; of a mapped source from files."""
    if not hypergraph.is_mapped:
        projected = np.asarray(hypergraph.features @ directions, np.float32)
        return diffuse(hypergraph, _TWO_STEPS, node_ids=ids, features=projected)
    with TemporaryDirectory(prefix="hypercondense-map-") as folder:
        filed = new_map(Path(folder) / "projected.npy", (hypergraph.num_nodes, directions.shape[1]))
        for rows in chunks(len(filed), _ROWS):
            filed[rows] = hypergraph.dense_features(np.arange(rows.start, rows.stop)) @ directions
            release(hypergraph.features)
            release(filed)
        how = within(hypergraph, memory, scratch=Path(folder))
        return diffuse(hypergraph, _TWO_STEPS, node_ids=ids, features=filed, **how)


def _flattened(reference: Dense, rows: Dense) -> tuple[NDArray[np.int64], float]:
    """Two coordinates for every row, as the reference differs most, and the share of its variance in them."""
    centre = reference.mean(0, dtype=np.float64)
    _, strength, found = np.linalg.svd(reference.astype(np.float64) - centre, full_matrices=False)
    flat = (rows - centre) @ found[:2].T
    flat = np.pad(flat, ((0, 0), (0, 2 - flat.shape[1])))
    total = float((strength**2).sum())
    share = float((strength[:2] ** 2).sum()) / total if total else 1.0
    low, high = np.percentile(flat, [_OUTSIDE, 100 - _OUTSIDE], axis=0)
    span = np.where(high - low > 1e-12, high - low, 1.0)
    placed = np.clip((flat - low) / span, 0.0, 1.0)
    placed[:, high - low <= 1e-12] = 0.5
    margin = 0.03
    return np.rint((margin + (1 - 2 * margin) * placed) * SIDE).astype(np.int64), share
