"""How many threads torch uses, for a while."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Run a block with one torch thread, and set the number back.

    Sums are then added in one order whatever the number of cores. Small matrices are also faster: threads
    that wait for each other on a busy machine made a condensation of 27 nodes twenty times slower.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
