"""Seeded generators, and the one place that touches torch's global generator."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum, unique
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


@unique
class Stream(IntEnum):
    """Independent sources of chance under one seed; what is drawn in one condensation has a name each."""

    SPLIT = 0
    START = 1
    DUAL_LEVEL = 2
    RANDOM_NODES = 3
    HGCPA = 4
    HG_COND = 5
    BATCHES = 6  # of source rows that are to be predicted; of pairs that HG-Cond's linker learns from
    LEARNERS = 7  # networks that learn from rows: the judge of predictions, HG-Cond's experts
    SEARCH_JUDGE = 8
    BUNDLES = 9
    TEACHERS = 10
    GRID = 11


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Run a block that draws from torch's global generator; leave that generator as it was.

    Building a layer and dropout draw from the global generator, so a ``torch.Generator`` alone does not
    make a run repeatable.

    >>> import torch
    >>> with seeded(0): a = torch.rand(1)
    >>> with seeded(0): b = torch.rand(1)
    >>> bool(a == b)
    True
    """
    import torch  # splits need numpy's generator only

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def generator(seed: int, stream: Stream) -> "torch.Generator":
    """A torch generator for one stream of a seed; different streams are independent."""
    import torch

    mixed = np.random.SeedSequence([seed, stream]).generate_state(1, np.uint64)[0]
    return torch.Generator().manual_seed(int(mixed) % 2**63)


def numpy_generator(seed: int, stream: Stream | int = Stream.SPLIT) -> np.random.Generator:
    """A numpy generator for one stream of a seed."""
    return np.random.default_rng([seed, stream])
