"""The checks of a hypergraph whose arrays stay in their file, a piece at a time."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hypercondense.files.maps import chunks, release
from hypercondense.hypergraph.arrays import UNKNOWN, Features, Ids
from hypercondense.hypergraph.magnitude import HEAVIEST, LIGHTEST, LONGEST

_ROWS = 65_536


def num_entries(features: Features) -> int:
    """How many features are not 0; of sparse ones, how many are stored."""
    if sp.issparse(features):
        return int(features.nnz)
    found = 0
    for rows in chunks(len(features), _ROWS):
        found += int(np.count_nonzero(features[rows]))
        release(features)
    return found


def hyperedge_sizes(hyperedge_ids: Ids, num_hyperedges: int) -> NDArray[np.int64]:
    """How many members every hyperedge has; memberships are sorted by hyperedge, perhaps in a file."""
    sizes = np.zeros(num_hyperedges, np.int64)
    for some in chunks(len(hyperedge_ids)):
        ids = np.asarray(hyperedge_ids[some])
        sizes[ids[0] : ids[-1] + 1] += np.bincount(ids - ids[0])
        release(hyperedge_ids)
    return sizes


def check_streamed(arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
    """Refuse arrays that are not a hypergraph of these sizes: what a constructor would, without memory.

    Raises:
        ValueError: The text names what is wrong and where.
    """
    num_nodes, num_hyperedges, num_features = (
        facts[f"num_{what}"] for what in ("nodes", "hyperedges", "features")
    )
    shapes = {
        "features": (num_nodes, num_features),
        "labels": (num_nodes,),
        "incidence.hyperedge_ids": arrays["incidence.node_ids"].shape,
    }
    if "incidence.weights" in arrays:
        shapes["incidence.weights"] = arrays["incidence.node_ids"].shape
    for key, shape in shapes.items():
        if arrays[key].shape != shape or len(shape) != (2 if key == "features" else 1):
            raise ValueError(f"{key} must have shape {shape}, it has {arrays[key].shape}")
    if num_features < 1:
        raise ValueError("there must be at least one column of features")
    check_features(arrays["features"])
    _check_labels(arrays["labels"], max(num_nodes, len(facts.get("label_names") or ()), 2))
    check_memberships(
        arrays["incidence.node_ids"],
        arrays["incidence.hyperedge_ids"],
        num_nodes=num_nodes,
        num_hyperedges=num_hyperedges,
    )
    if "incidence.weights" in arrays:
        check_weights_streamed(arrays["incidence.weights"])
    for what in ("node", "hyperedge"):
        _check_names(what, arrays, facts[f"num_{what}s"])


def check_features(features: NDArray[Any]) -> None:
    """Finite float32 numbers that can be computed with."""
    total = 0.0
    for rows in chunks(len(features), _ROWS):
        block = features[rows]
        bad = np.argwhere(~np.isfinite(block))
        if len(bad):
            row, column = bad[0]
            raise ValueError(
                f"features must be finite float32 numbers: node {rows.start + row}, column {column} is "
                f"{block[row, column]}"
            )
        total += float(np.square(block, dtype=np.float64).sum())
        release(features)
    if total > LONGEST**2:
        raise ValueError(f"features are too large to compute with: their length is {total**0.5:.3g}")


def _check_labels(labels: NDArray[Any], bound: int) -> None:
    known = False
    for some in chunks(len(labels)):
        block = labels[some]
        bad = np.flatnonzero((block < UNKNOWN) | (block >= bound))
        if len(bad):
            raise ValueError(
                f"labels must be -1 to {bound - 1}: node {some.start + bad[0]} has {block[bad[0]]}"
            )
        known |= bool((block != UNKNOWN).any())
        release(labels)
    if not known:
        raise ValueError(f"none of the {len(labels)} nodes has a label; at least one is needed")


def check_memberships(
    node_ids: NDArray[Any], hyperedge_ids: NDArray[Any], *, num_nodes: int, num_hyperedges: int
) -> None:
    """In range, sorted by hyperedge, then node, none twice, and no hyperedge left out."""
    last_node, last_hyperedge = -1, -1
    for some in chunks(len(node_ids)):
        nodes, hyperedges = node_ids[some].astype(np.int64), hyperedge_ids[some].astype(np.int64)
        bad = np.flatnonzero((nodes < 0) | (nodes >= num_nodes))
        if len(bad):
            raise ValueError(
                f"node ids must be 0 to {num_nodes - 1}: incidence {some.start + bad[0]} has {nodes[bad[0]]}"
            )
        step = np.diff(hyperedges, prepend=last_hyperedge)
        rise = np.diff(nodes, prepend=last_node)
        bad = np.flatnonzero((step < 0) | ((step == 0) & (rise <= 0)) | (step > 1))
        if len(bad):
            first = bad[0]
            what = (
                f"hyperedge {hyperedges[first] - 1} is empty"
                if step[first] > 1
                else f"node {nodes[first]} is in hyperedge {hyperedges[first]} twice"
                if step[first] == 0 and rise[first] == 0
                else "they are not sorted by hyperedge, then node"
            )
            raise ValueError(f"the memberships are wrong at {some.start + first}: {what}")
        last_node, last_hyperedge = int(nodes[-1]), int(hyperedges[-1])
        release(node_ids)
        release(hyperedge_ids)
    if last_hyperedge != num_hyperedges - 1:
        raise ValueError(f"there are {last_hyperedge + 1} hyperedges, {num_hyperedges} are declared")


def check_weights_streamed(weights: NDArray[Any]) -> None:
    """Positive, finite, and neither they nor their sum outside of what can be computed with."""
    total = 0.0
    for some in chunks(len(weights)):
        block = weights[some]
        bad = np.flatnonzero(~(np.isfinite(block) & (block >= LIGHTEST)))
        if len(bad):
            raise ValueError(
                f"weights must be positive and finite, at least {LIGHTEST:g}: incidence "
                f"{some.start + bad[0]} has {block[bad[0]]}"
            )
        total += float(block.sum(dtype=np.float64))
        release(weights)
    if total > HEAVIEST:
        raise ValueError(f"weights must add up to at most {HEAVIEST:g}, they add up to {total:.3g}")


def _check_names(what: str, arrays: Mapping[str, NDArray[Any]], size: int) -> None:
    """Texts of UTF-8, one for each, none empty. Whether two are alike is not looked at."""
    key = f"{what}_names"
    text, starts = arrays.get(f"{key}.text"), arrays.get(f"{key}.row_starts")
    if text is None and starts is None:
        return
    if text is None or starts is None or text.dtype != np.uint8 or starts.dtype != np.int64:
        raise ValueError(f"{key}.text must be bytes and {key}.row_starts numbers of 64 bits, both there")
    if starts.shape != (size + 1,) or text.ndim != 1 or starts[0] != 0 or starts[-1] != len(text):
        raise ValueError(f"{key}.row_starts must rise from 0 to {text.size} in {size} steps")
    for some in chunks(size):
        bounds = starts[some.start : some.stop + 1]
        if (np.diff(bounds) <= 0).any():
            raise ValueError(f"{what} names must not be empty: one after number {some.start} is")
        block = text[bounds[0] : bounds[-1]].tobytes()
        block.decode("utf-8", "surrogatepass")
        # A name must not begin in the middle of a letter.
        if (text[bounds[:-1]] & 0xC0 == 0x80).any():
            raise ValueError(f"{key}.row_starts cut a letter of UTF-8")
        release(text)
        release(starts)
