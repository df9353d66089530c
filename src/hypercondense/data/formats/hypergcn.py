"""HyperGCN pickles: ``features.pickle``, ``labels.pickle`` and ``hypergraph.pickle`` in one folder."""

from collections.abc import Collection, Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from hypercondense.data.formats.files import (
    containing_folder,
    default_name,
    file_names,
    one_line_errors,
)
from hypercondense.data.formats.membership import empty_note, renumbered, without_duplicates
from hypercondense.data.formats.reader import Reader, Reading
from hypercondense.data.formats.safe_pickle import read_pickle
from hypercondense.data.formats.stand_ins import SparseRows, as_array
from hypercondense.errors import FormatError
from hypercondense.hypergraph import Hypergraph, Ids
from hypercondense.hypergraph.checks import csr_from_parts

_FEATURES, _LABELS, _HYPEREDGES = _FILES = ("features.pickle", "labels.pickle", "hypergraph.pickle")

# Bytes made of a number, as often as it is referred to: 100,000 references to one list are 100,000 lists.
_NUMBER_BYTES, _MEMBER_BYTES = 24, 64


def _recognises(path: Path) -> bool:
    return any(name in _FILES for name in ([path.name] if path.is_file() else file_names(path)))


def _read(path: Path, name: str | None, reading: Reading) -> Hypergraph:
    folder = containing_folder(path)
    features = _features(folder / _FEATURES, reading)
    labels = _labels(folder / _LABELS, reading)
    with one_line_errors(folder / _HYPEREDGES):
        given_node_ids, given_hyperedge_ids, num_given = _memberships(folder / _HYPEREDGES, reading)
        hyperedge_ids, num_hyperedges = renumbered(given_hyperedge_ids)
        node_ids, hyperedge_ids, notes = without_duplicates(given_node_ids, hyperedge_ids)
    return Hypergraph(
        features=features,
        labels=labels,
        incidence=(node_ids, hyperedge_ids),
        num_hyperedges=num_hyperedges,
        name=name or default_name(folder),
        notes=[*notes, *empty_note(num_given, num_hyperedges)],
    )


def _features(path: Path, reading: Reading) -> Any:
    value, made = read_pickle(path, reading)
    if isinstance(value, SparseRows):
        state = value.state
        parts = [as_array(state.get(key)) for key in ("data", "indices", "indptr")]
        shape = state.get("_shape", state.get("shape"))
        if not all(isinstance(part, np.ndarray) for part in parts) or not isinstance(shape, tuple):
            raise FormatError(f"{path} holds a csr matrix that lacks data, indices, indptr or its shape")
        with one_line_errors(path):
            return csr_from_parts(*parts, shape=shape)
    if isinstance(value, np.ndarray) and value.ndim == 2:
        return value
    if isinstance(value, list):
        return _rows(path, value, reading, made)
    raise FormatError(f"{path} must hold a csr matrix or a table of numbers, not a {type(value).__name__}")


def _labels(path: Path, reading: Reading) -> Any:
    """Whole numbers; rows of a one-hot table become the place of their 1."""
    value, made = read_pickle(path, reading)
    if isinstance(value, list) and value and not isinstance(as_array(value[0]), list | tuple | np.ndarray):
        return _flat(path, value)
    table = _rows(path, value, reading, made) if isinstance(value, list) else value
    if not isinstance(table, np.ndarray) or table.ndim not in (1, 2) or table.size == 0:
        raise FormatError(f"{path} must hold a list of labels, not a {type(value).__name__}")
    if table.ndim == 1 or table.shape[1] == 1:
        return table.reshape(-1)
    bad = np.flatnonzero(((table != 0) & (table != 1)).any(axis=1) | (table.sum(axis=1) != 1))
    if len(bad):
        raise FormatError(f"{path}: the labels of node {bad[0]} are {table[bad[0]]}, not one-hot")
    return table.argmax(axis=1)


def _flat(path: Path, values: Collection[Any]) -> "np.ndarray[Any, Any]":
    """Numbers as an array; a list within the list (perhaps the list itself) is refused."""
    strange = [kind.__name__ for kind in set(map(type, values)) - {int, float}]
    if strange:
        raise FormatError(f"{path} must hold numbers, it also holds a {strange[0]}")
    return np.asarray(list(values))


def _rows(path: Path, given: list[Any], reading: Reading, made: int) -> "np.ndarray[Any, Any]":
    rows = [_row(path, row) for row in given]
    reading.check(path, made + _NUMBER_BYTES * sum(map(len, rows)), file_size=path.stat().st_size)
    flat = [row if isinstance(row, np.ndarray) else _flat(path, row) for row in rows]
    if len({row.shape for row in flat}) != 1:
        raise FormatError(f"{path} must hold rows of one length")
    return np.stack(flat)


def _row(path: Path, given: Any) -> Any:
    row = as_array(given)
    if not isinstance(row, list | tuple) and not (isinstance(row, np.ndarray) and row.ndim == 1):
        raise FormatError(f"{path} must hold rows of numbers, it also holds a {type(row).__name__}")
    return row


def _memberships(path: Path, reading: Reading) -> tuple[Ids, Ids, int]:
    """Node ids, hyperedge ids (in the order of the file) and the number of hyperedges."""
    value, made = read_pickle(path, reading)
    if not isinstance(value, dict | list):
        raise FormatError(f"{path} must hold a dict of hyperedges, not a {type(value).__name__}")
    given: Iterable[Any] = value.values() if isinstance(value, dict) else value
    members = [_members(path, group) for group in given]
    sizes = np.fromiter(map(len, members), np.int64, len(members))
    # A short file can refer to one long list many times.
    reading.check(path, made + _MEMBER_BYTES * sum(map(len, members)), file_size=path.stat().st_size)
    lists = (group.tolist() if isinstance(group, np.ndarray) else group for group in members)
    flat = list(chain.from_iterable(lists))
    strange = [kind.__name__ for kind in set(map(type, flat)) - {int}]
    if strange:
        raise FormatError(f"{path}: members of hyperedges must be whole numbers, there is a {strange[0]}")
    return np.asarray(flat, np.int64), np.repeat(np.arange(len(members)), sizes), len(members)


def _members(path: Path, given: Any) -> Any:
    group = as_array(given)
    flat_array = isinstance(group, np.ndarray) and group.ndim == 1
    if not flat_array and not isinstance(group, list | tuple | set | frozenset):
        raise FormatError(f"{path}: a hyperedge must be a list or set of nodes, not a {type(group).__name__}")
    return group


HYPERGCN = Reader(name="HyperGCN pickles", looks_for=", ".join(_FILES), recognises=_recognises, read=_read)
