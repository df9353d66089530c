"""Numbers that are too large, too small or too far from 0 to compute with in single precision."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from hypercondense.files.maps import release
from hypercondense.hypergraph.arrays import Dense

if TYPE_CHECKING:
    from hypercondense.hypergraph.hypergraph import Hypergraph

#: The length of all features taken as one vector. Its square, 1e36, is still a float32, and P makes no vector
#: longer: after any diffusion every number, every squared length and every sum over nodes is finite.
LONGEST = 1e18
#: Weights and their sums at a node or in a hyperedge: they, their squares and their inverses are float32.
LIGHTEST, HEAVIEST = 1e-18, 1e18
#: From this standard deviation on, and up to this mean over it, networks learn as they should (measured: at a
#: fifth of the one, and at four times the other, HGNN is hardly better than guessing).
SMALLEST_SPREAD, LARGEST_OFFSET = 5e-3, 25.0
#: Times the length of most rows: the others are noise beside such a row, and diffusion hands it on.
LARGEST_OUTLIER = 1e6
SAMPLE = 4_000_000  # numbers looked at

_ADVICE = "divide them by their largest, or standardize them (`--standardize`)"


def check_length(blocks: Iterable[Dense]) -> None:
    """Refuse features whose squares are no float32 any more.

    Raises:
        ValueError: The text tells their length and what to do.
    """
    with np.errstate(over="ignore"):
        total = sum(float(np.square(block, dtype=np.float64).sum()) for block in blocks)
    if total > LONGEST**2:
        raise ValueError(
            f"features are too large to compute with in float32: their length (the root of the sum of all "
            f"squares) is {total**0.5:.3g}, and {LONGEST:g} is the most; {_ADVICE}"
        )


def check_weights(weights: Dense) -> None:
    """Refuse weights whose sums or squares are no float32 any more.

    Raises:
        ValueError: The text tells the weight and what to do.
    """
    total = float(weights.sum(dtype=np.float64))
    if total > HEAVIEST or weights.min(initial=1) < LIGHTEST:
        raise ValueError(
            f"weights must be at least {LIGHTEST:g} and add up to at most {HEAVIEST:g} to compute with in "
            f"float32; they are {weights.min():.3g} to {weights.max():.3g}: divide them, only ratios count"
        )


def scale_warnings(hypergraph: "Hypergraph") -> Iterator[str]:
    """Whether features are so small or so far from 0 that networks can hardly learn from them."""
    step = max(1, hypergraph.num_nodes * hypergraph.num_features // SAMPLE)
    rows = hypergraph.dense_features(np.arange(0, hypergraph.num_nodes, step)).astype(np.float64)
    release(hypergraph.features)
    spread, offset = float(rows.std(0).max()), float(np.abs(rows.mean(0)).max())
    if spread == 0:
        return  # constant features are told of elsewhere
    if spread < SMALLEST_SPREAD:
        yield (
            f"the features differ by {spread:.2g} only (the largest standard deviation of a column), and "
            f"networks learn from about 1: {_ADVICE}"
        )
    elif offset > LARGEST_OFFSET * spread:
        yield (
            f"the features are up to {offset:.2g} from 0 and differ by {spread:.2g} only, which networks can "
            "hardly see: standardize them (`--standardize`)"
        )
    lengths = np.sqrt(np.square(rows).sum(1))
    if lengths.max() > LARGEST_OUTLIER * (usual := float(np.median(lengths))) > 0:
        yield (
            f"the features of node {step * int(lengths.argmax())} are {lengths.max() / usual:.2g} times as "
            "long as those of most nodes: check them, or leave that node out"
        )
