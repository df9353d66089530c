"""What a format is: a name, how to recognise it, and how to read it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hypercondense.hypergraph import Hypergraph


@dataclass(frozen=True, kw_only=True)
class FeatureRecipe:
    """How to make features from labels, for formats that store none."""

    noise: float = 0.6
    width: int = 100
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Reader:
    """One format.

    Attributes:
        name: Short name.
        looks_for: The files it needs, for people.
        recognises: Whether a file or folder is, or is meant to be, of this format; does not change anything.
        read: Reads it; gets the path, what to call the result (if given) and the recipe for features.
    """

    name: str
    looks_for: str
    recognises: Callable[[Path], bool]
    read: Callable[[Path, str | None, FeatureRecipe], Hypergraph]
