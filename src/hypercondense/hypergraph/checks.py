"""Checks at the door of a hypergraph; every error names the offending value and its place."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypercondense.hypergraph.arrays import NO_PART, PARTS, UNKNOWN, Dense, Features, Ids, Incidence, Parts
from hypercondense.hypergraph.given import frame_numbers, incidence_parts, is_frame, texts
from hypercondense.hypergraph.magnitude import check_length, check_weights

SHARE_TOLERANCE = 1e-4  # of the sum of a row of class shares: float32, perhaps rounded by whoever wrote it
_ENCODE = (
    "; encode them: labels, label_names = pandas.factorize(labels, sort=True), which makes missing ones -1"
)
_NAMES = "; number them, or let hypercondense.from_pandas do it for tables with names"
BLOCK_ROWS = 65_536  # features are read this many rows at a time, so that a memory map stays on disk


def csr_from_parts(values: Any, columns: Any, row_starts: Any, *, shape: Sequence[Any]) -> Any:
    """A ``scipy.sparse.csr_array`` whose parts may come from anywhere: every index is checked first.

    Scipy trusts the parts and reads outside of them if they are wrong.
    """
    columns, row_starts = _integers("columns", columns), _integers("row starts", row_starts)
    num_rows, num_columns = (int(size) for size in shape)
    if num_rows < 0 or num_columns < 0:
        raise ValueError(f"a matrix cannot have {num_rows} rows and {num_columns} columns")
    if len(row_starts) != num_rows + 1 or row_starts[0] != 0 or row_starts[-1] != len(columns):
        raise ValueError(
            f"row starts must be {num_rows + 1} numbers from 0 to {len(columns)}, "
            f"got {len(row_starts)} from {row_starts[:1]} to {row_starts[-1:]}"
        )
    falling = np.flatnonzero(np.diff(row_starts) < 0)
    if len(falling):
        raise ValueError(f"row starts must not fall: they do after row {falling[0]}")
    bad = np.flatnonzero((columns < 0) | (columns >= num_columns))
    if len(bad):
        raise ValueError(f"columns must be 0 to {num_columns - 1}: entry {bad[0]} is {columns[bad[0]]}")
    values = np.asarray(values)
    if values.shape != columns.shape:
        raise ValueError(f"{len(columns)} columns but values of shape {values.shape}")
    return sp.csr_array((values, columns, row_starts), shape=(num_rows, num_columns))


def read_only(array: Any) -> Any:
    """A view that cannot be written through."""
    view = array.view()
    view.flags.writeable = False
    return view


def _to_numpy(value: Any) -> Any:
    """Numpy or scipy form of ``value``; torch tensors (dense or sparse) are brought to the CPU."""
    import torch

    if not isinstance(value, torch.Tensor):
        return value
    value = value.detach().cpu()
    if value.layout == torch.strided:
        return value.numpy()
    coo = value.to_sparse_coo().coalesce()
    rows, columns = coo.indices().numpy()
    return sp.coo_array((coo.values().numpy(), (rows, columns)), shape=tuple(value.shape))


def checked_features(features: Any) -> Features:
    """Finite float32 features, dense or sparse, read-only."""
    features = frame_numbers(features) if is_frame(features) else _to_numpy(features)
    if sp.issparse(features):
        return _checked_sparse(features)
    matrix = features if isinstance(features, np.ndarray) else np.asarray(features)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ValueError(
            f"features must be a matrix with a row per node and at least one column, got shape {matrix.shape}"
        )
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"features must be real numbers, got type {matrix.dtype}")
    for start in range(0, len(matrix), BLOCK_ROWS):
        # Checked before the conversion: a number too large for float32 is named as it was given.
        block = matrix[start : start + BLOCK_ROWS]
        with np.errstate(over="ignore"):
            bad = np.argwhere(~np.isfinite(block.astype(np.float32, copy=False)))
        if len(bad):
            row, column = bad[0]
            raise ValueError(
                f"features must be finite float32 numbers: node {start + row}, column {column} "
                f"is {block[row, column]}"
            )
    matrix = matrix.astype(np.float32, copy=False)
    check_length(matrix[start : start + BLOCK_ROWS] for start in range(0, len(matrix), BLOCK_ROWS))
    return read_only(matrix)


def _checked_sparse(features: Any) -> Any:
    if features.ndim != 2 or features.shape[1] == 0:
        raise ValueError(f"features must be a matrix with at least one column, got shape {features.shape}")
    if features.dtype.kind not in "fiub":
        raise ValueError(f"features must be real numbers, got type {features.dtype}")
    if features.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(f"features must have fewer than 2**31 columns, got {features.shape[1]}")
    if features.format in ("csr", "csc"):
        # Scipy reads outside of the arrays if an index is wrong. Its check may exchange the arrays of what
        # it checks, so that is a wrapper of ours.
        wrapper = sp.csr_array if features.format == "csr" else sp.csc_array
        wrapper(features).check_format(full_check=True)
    with np.errstate(over="ignore"):
        matrix = sp.csr_array(features).astype(np.float32, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if len(bad):
        row = np.searchsorted(matrix.indptr, bad[0], side="right") - 1
        raise ValueError(
            f"features must be finite float32 numbers: node {row}, column {matrix.indices[bad[0]]} "
            f"is {matrix.data[bad[0]]}"
        )
    check_length([matrix.data])
    # One index type whatever came in: otherwise equal content could have two digests.
    shape = matrix.shape
    parts = (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int64))
    for part in parts:
        part.flags.writeable = False
    matrix = sp.csr_array(shape, dtype=np.float32)
    matrix.data, matrix.indices, matrix.indptr = parts
    return matrix


def _integers(what: str, values: Any) -> Ids:
    """``values`` as int64; numbers that are not whole are named with their place."""
    array = np.asarray(_to_numpy(values))
    if array.ndim != 1:
        raise ValueError(f"{what} must be a flat list, got shape {array.shape}")
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            bad = np.flatnonzero(~np.isfinite(array) | (array != np.floor(array)) | (np.abs(array) >= 2**53))
        if len(bad):
            missing = "; give -1 for an unknown label" if what == "labels" else ""
            raise ValueError(f"{what} must be whole numbers: entry {bad[0]} is {array[bad[0]]}{missing}")
    elif array.dtype.kind not in "iu":
        advice = _ENCODE if what == "labels" else _NAMES if what in ("node ids", "hyperedge ids") else ""
        raise ValueError(
            f"{what} must be whole numbers, got type {array.dtype} (entry 0 is {array[0]!r:.40}){advice}"
        )
    elif array.dtype.kind == "u" and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{what} must fit in 63 bits: entry {int(array.argmax())} is {array.max()}")
    return array.astype(np.int64)


def checked_labels(given: Any, num_nodes: int, num_names: int = 0) -> Ids:
    """One class per node, some of them known, read-only; named classes may be without nodes."""
    labels = _integers("labels", given)
    if len(labels) != num_nodes:
        raise ValueError(f"{len(labels)} labels for {num_nodes} nodes; give -1 for an unknown label")
    negative = np.flatnonzero(labels < UNKNOWN)
    if len(negative):
        raise ValueError(
            f"labels must be -1 (unknown) or at least 0: node {negative[0]} has {labels[negative[0]]}"
        )
    if not (labels != UNKNOWN).any() and not num_names:  # named classes may be asked about
        raise ValueError(f"none of the {num_nodes} nodes has a label; at least one is needed")
    if labels.max() >= max(num_nodes, num_names, 2):
        node = int(labels.argmax())
        raise ValueError(
            f"labels must be numbered from 0 without large gaps: node {node} has {labels[node]}, "
            f"but there are only {num_nodes} nodes"
        )
    labels.flags.writeable = False
    return labels


def checked_soft_labels(given: Any, num_nodes: int, num_classes: int) -> Dense | None:
    """Class shares of every node, read-only, or ``None``: none below 0, and those of a node add up to 1."""
    if given is None:
        return None
    shares = np.asarray(_to_numpy(given))
    if shares.shape != (num_nodes, num_classes):
        raise ValueError(
            f"soft labels must have a row per node and a column per class, {num_nodes} x {num_classes}, "
            f"got shape {shares.shape}"
        )
    if shares.dtype.kind not in "fiub":
        raise ValueError(f"soft labels must be real numbers, got type {shares.dtype}")
    with np.errstate(over="ignore"):
        shares = shares.astype(np.float32)
    bad = np.argwhere(~(np.isfinite(shares) & (shares >= 0)))
    if len(bad):
        row, column = bad[0]
        raise ValueError(
            f"soft labels must be finite and at least 0: node {row}, class {column} has {shares[row, column]}"
        )
    sums = shares.sum(1, dtype=np.float64)
    wrong = np.flatnonzero(np.abs(sums - 1) > SHARE_TOLERANCE)
    if len(wrong):
        raise ValueError(
            f"soft labels of a node must add up to 1: those of node {wrong[0]} give {sums[wrong[0]]:g}"
        )
    return np.asarray(read_only(shares))


def checked_parts(given: Any, labels: Ids) -> Parts | None:
    """The part of every node, read-only; a node in a part has a label, and one is for training."""
    if given is None:
        return None
    parts = _integers("parts", given)
    if len(parts) != len(labels):
        raise ValueError(f"{len(parts)} parts for {len(labels)} nodes; give -1 for a node in none")
    bad = np.flatnonzero((parts < NO_PART) | (parts >= len(PARTS)))
    if len(bad):
        raise ValueError(
            "parts must be 0 (training), 1 (validation), 2 (test) or -1 (none): "
            f"node {bad[0]} has {parts[bad[0]]}"
        )
    bad = np.flatnonzero((parts != NO_PART) & (labels == UNKNOWN))
    if len(bad):
        raise ValueError(f"node {bad[0]}, given for {PARTS[parts[bad[0]]]}, has no label; give it part -1")
    if not (parts == 0).any():
        raise ValueError("parts must have a training node, 0")
    return np.asarray(read_only(parts.astype(np.int8)))


def checked_incidence(incidence: Sequence[Any], num_nodes: int, num_hyperedges: int) -> Incidence:
    """Memberships in range, without repeats and empty hyperedges, sorted by hyperedge, then node."""
    if num_hyperedges < 0:
        raise ValueError(f"num_hyperedges must be at least 0, got {num_hyperedges}")
    parts = incidence_parts(incidence)
    node_ids = _integers("node ids", parts[0])
    hyperedge_ids = _integers("hyperedge ids", parts[1])
    weights = parts[2] if len(parts) == 3 else None
    if len(node_ids) != len(hyperedge_ids):
        raise ValueError(f"{len(node_ids)} node ids but {len(hyperedge_ids)} hyperedge ids")
    for what, ids, size in (("node", node_ids, num_nodes), ("hyperedge", hyperedge_ids, num_hyperedges)):
        bad = np.flatnonzero((ids < 0) | (ids >= size))
        if len(bad):
            raise ValueError(
                f"{what} ids must be 0 to {size - 1}: incidence {bad[0]} has {what} {ids[bad[0]]}"
            )
    if num_nodes * num_hyperedges < 2**62:
        # One number per membership; the stable sort is quick on memberships that are in order.
        order = np.argsort(hyperedge_ids * num_nodes + node_ids, kind="stable")
    else:
        order = np.lexsort((node_ids, hyperedge_ids))
    node_ids, hyperedge_ids = node_ids[order], hyperedge_ids[order]
    same = np.flatnonzero((np.diff(node_ids) == 0) & (np.diff(hyperedge_ids) == 0))
    if len(same):
        first = same[0]
        raise ValueError(
            f"duplicate incidence: node {node_ids[first]} is in hyperedge {hyperedge_ids[first]} twice "
            f"(entries {order[first]} and {order[first + 1]})"
        )
    # Without a table of the declared size: a file may declare any number.
    present = hyperedge_ids[np.diff(hyperedge_ids, prepend=-1) != 0]
    if len(present) != num_hyperedges:
        first_empty = np.flatnonzero(np.append(present, -1) != np.arange(len(present) + 1))[0]
        raise ValueError(
            f"{num_hyperedges - len(present)} of {num_hyperedges} hyperedges are empty, the first is "
            f"hyperedge {first_empty}; leave empty hyperedges out and number the rest from 0"
        )
    if weights is not None:
        weights = read_only(_checked_weights(weights, len(order))[order])
    return Incidence(read_only(node_ids), read_only(hyperedge_ids), weights)


def _checked_weights(given: Any, num_incidences: int) -> Dense:
    numbers = np.asarray(_to_numpy(given))
    if numbers.dtype.kind not in "fiub":
        raise ValueError(f"weights must be real numbers, got type {numbers.dtype}")
    if numbers.shape != (num_incidences,):
        raise ValueError(f"weights have shape {numbers.shape} but there are {num_incidences} incidences")
    with np.errstate(over="ignore"):
        weights: Dense = numbers.astype(np.float32)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if len(bad):
        raise ValueError(f"weights must be positive and finite: incidence {bad[0]} has {numbers[bad[0]]}")
    check_weights(weights)
    return weights


def checked_names(
    what: str, names: Iterable[str] | None, size: int, *, exact: bool
) -> tuple[str, ...] | None:
    """Names, at least or exactly one for each of ``size`` things."""
    given = texts(f"{what} names", names)
    if given is None:
        return None
    if len(given) < size or (exact and len(given) != size):
        raise ValueError(f"{len(given)} {what} names for {size} {what}s")
    return tuple(checked_text(f"a {what} name", name) for name in given)


def checked_text(what: str, text: object) -> str:
    """A text that can be written to a file: half of a pair of UTF-16 is no letter."""
    text = str(text)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{what} has {text[error.start]!r} in it, which is no letter; rename it") from None
    return text
