"""Features on one scale: which columns are off, and standardizing them as a part of a result."""

import csv
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hypercondense.errors import ConfigError
from hypercondense.files.maps import release
from hypercondense.files.storage import replaced_file
from hypercondense.frozen import Frozen
from hypercondense.hypergraph.arrays import Dense
from hypercondense.hypergraph.checks import BLOCK_ROWS
from hypercondense.hypergraph.hypergraph import Hypergraph

#: How features are scaled: as they are, or to mean 0 and deviation 1.
Scaling: TypeAlias = Literal["none", "standard"]
FAR_APART = 100.0  # of the ranges of two columns: larger ones drown the others
_KEYS = ("scale.means", "scale.deviations")
_SHOWN = 3  # columns in a warning


@dataclass(frozen=True, eq=False, repr=False)
class Scale(Frozen):
    """What is subtracted from each column, and what it is divided by; both float32."""

    means: Dense
    deviations: Dense

    @classmethod
    def of(cls, hypergraph: Hypergraph) -> "Scale":
        """The scale that gives every column mean 0 and deviation 1 over all nodes.

        Of sparse features only the deviation is made 1, so that they stay sparse. A constant column is not
        divided by anything.
        """
        columns = Columns.of(hypergraph)
        means = np.zeros_like(columns.means) if hypergraph.is_sparse else columns.means
        deviations = np.where(columns.deviations > 0, columns.deviations, 1.0)
        return cls(means.astype(np.float32), deviations.astype(np.float32))

    def __repr__(self) -> str:
        return f"Scale({len(self.means):,} features)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scale) and all(
            np.array_equal(ours, theirs)
            for ours, theirs in ((self.means, other.means), (self.deviations, other.deviations))
        )

    def __hash__(self) -> int:
        return hash((self.means.tobytes(), self.deviations.tobytes()))

    def applied(self, hypergraph: Hypergraph) -> Hypergraph:
        """The hypergraph with scaled features.

        Raises:
            ValueError: It has another number of features.
        """
        if hypergraph.num_features != len(self.means):
            raise ValueError(
                f"the scale is for {len(self.means)} features, but {hypergraph.name} has "
                f"{hypergraph.num_features}"
            )
        if hypergraph.is_sparse and not self.means.any():
            given = hypergraph.features
            values = given.data / self.deviations[given.indices]
            features: Any = sp.csr_array((values, given.indices, given.indptr), shape=given.shape)
        else:
            features = (hypergraph.dense_features() - self.means) / self.deviations
        return dataclasses.replace(hypergraph, features=features, num_nodes=hypergraph.num_nodes)

    def to_csv(self, path: Path, feature_names: Sequence[str] | None = None) -> None:
        """Write ``feature``, ``mean`` and ``deviation``, a line per feature, for other programs."""
        names = feature_names or [f"x{column}" for column in range(len(self.means))]
        with replaced_file(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["feature", "mean", "deviation"])
            numbers = (map("{:.9g}".format, array.tolist()) for array in (self.means, self.deviations))
            writer.writerows(zip(names, *numbers, strict=True))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The two lists, by the names they have in files."""
        return dict(zip(_KEYS, (self.means, self.deviations), strict=True))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], num_features: int) -> "Scale | None":
        """The scale of stored arrays, which may come from anywhere; ``None`` if there is none."""
        if not any(key in arrays for key in _KEYS):
            return None
        means, deviations = (arrays.get(key, np.empty(0)) for key in _KEYS)
        for array in (means, deviations):
            if array.shape != (num_features,) or array.dtype != np.float32 or not np.isfinite(array).all():
                raise ValueError(f"{' and '.join(_KEYS)} must be {num_features} finite float32 numbers each")
        if (deviations <= 0).any():
            raise ValueError(f"{_KEYS[1]} must be above 0")
        return cls(means, deviations)


def check_scaling(hypergraph: Hypergraph, scaling: Scaling, *, within_memory: bool) -> None:
    """Refuse what cannot be done before any work.

    Raises:
        ValueError: There is no such scaling.
        ConfigError: The features stay on disk, within a budget of memory.
    """
    if scaling not in get_args(Scaling):
        raise ValueError(f"scale must be one of {', '.join(get_args(Scaling))}, got {scaling!r}")
    if scaling != "none" and within_memory and hypergraph.is_mapped:
        raise ConfigError(
            "the features of a source that stays on disk are not standardized within --memory; "
            "standardize the tables, or leave --memory out"
        )


def standardized(hypergraph: Hypergraph, scaling: Scaling) -> Hypergraph:
    """The hypergraph with features of mean 0 and deviation 1, or as it is."""
    return hypergraph if scaling == "none" else Scale.of(hypergraph).applied(hypergraph)


@dataclass(frozen=True, eq=False)
class Columns(Frozen):
    """Range, mean and deviation of every column of features."""

    smallest: NDArray[np.float64]
    largest: NDArray[np.float64]
    means: NDArray[np.float64]
    deviations: NDArray[np.float64]

    @classmethod
    def of(cls, hypergraph: Hypergraph) -> "Columns":
        """Read the features twice, a block of rows at a time; sparse ones once."""
        if hypergraph.is_sparse:
            return cls._of_sparse(hypergraph.features)
        features, count = hypergraph.features, hypergraph.num_nodes
        blocks = [slice(start, start + BLOCK_ROWS) for start in range(0, count, BLOCK_ROWS)]
        sums = np.zeros(features.shape[1])
        smallest, largest = np.full(features.shape[1], np.inf), np.full(features.shape[1], -np.inf)
        for block in blocks:
            rows = features[block]
            sums += rows.sum(0, dtype=np.float64)
            smallest, largest = np.minimum(smallest, rows.min(0)), np.maximum(largest, rows.max(0))
            release(features)
        means = sums / count
        squares = np.zeros_like(means)
        for block in blocks:
            squares += np.square(features[block] - means).sum(0)
            release(features)
        constant = smallest == largest  # of which the mean may differ by rounding
        return cls(smallest, largest, means, np.where(constant, 0.0, np.sqrt(squares / count)))

    @classmethod
    def _of_sparse(cls, features: Any) -> "Columns":
        parts = (features.data.astype(np.float64), features.indices.astype(np.int64), features.indptr)
        exact = sp.csr_array(parts, shape=features.shape)  # scipy wants indices of one type
        means = np.asarray(exact.mean(axis=0)).reshape(-1)
        mean_squares = np.asarray(exact.multiply(exact).mean(axis=0)).reshape(-1)
        smallest, largest = (
            np.asarray(edge.toarray()).reshape(-1) for edge in (exact.min(axis=0), exact.max(axis=0))
        )
        deviations = np.sqrt(np.maximum(mean_squares - means**2, 0.0))
        return cls(smallest, largest, means, np.where(smallest == largest, 0.0, deviations))


def scale_warnings(hypergraph: Hypergraph, columns: Columns) -> Iterator[str]:
    """What is wrong with the scale of features, with what to do."""
    constant = np.flatnonzero(columns.deviations == 0)
    if len(constant) and not hypergraph.is_sparse:
        yield f"{_listed(hypergraph, constant)} the same for all nodes: nothing can be learnt from it"
    yield from far_apart(hypergraph, columns)


def far_apart(hypergraph: Hypergraph, columns: Columns) -> Iterator[str]:
    """Whether some columns drown others, by their ranges: rare values make small deviations, not ranges."""
    ranges = columns.largest - columns.smallest
    varying = np.flatnonzero(ranges > 0)
    if hypergraph.is_sparse or len(varying) < 2:
        return
    ordered = varying[np.argsort(ranges[varying])]
    low, high = int(ordered[0]), int(ordered[-1])
    ratio = ranges[high] / ranges[low]
    if ratio > FAR_APART:
        yield (
            f"features are on different scales: {_name(hypergraph, high)} spans {ratio:,.0f} times as much "
            f"as {_name(hypergraph, low)} and drowns it; condense with scale=standard (--standardize)"
        )


def _name(hypergraph: Hypergraph, column: int) -> str:
    return repr(hypergraph.feature_names[column][:40]) if hypergraph.feature_names else f"column {column}"


def _listed(hypergraph: Hypergraph, columns: NDArray[np.int64]) -> str:
    names = ", ".join(_name(hypergraph, int(column)) for column in columns[:_SHOWN])
    if len(columns) > _SHOWN:
        return f"{len(columns)} features ({names}, ...) are"
    return f"{names} {'are' if len(columns) > 1 else 'is'}"
