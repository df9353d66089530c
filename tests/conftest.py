"""Fixtures shared by all tests."""

import os
import signal
from pathlib import Path

import hypothesis
import pytest
import torch

from hypercondense.data import synthetic
from hypercondense.hypergraph import Hypergraph, Split, split

hypothesis.settings.register_profile("no deadline", deadline=None)  # no test asserts on seconds
hypothesis.settings.load_profile("no deadline")


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """One torch thread: sums are added in one order, and tests do not fight over cores."""
    torch.set_num_threads(1)


@pytest.fixture(autouse=True, scope="session")
def interruptible() -> None:
    """A shell starts what is in the background with SIGINT ignored, and its children inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def source() -> Hypergraph:
    """Three classes that overlap: enough to tell good rows from bad ones, and quick."""
    return synthetic(num_nodes=300, num_hyperedges=200, num_features=12, num_classes=3, noise=2.0, seed=1)


@pytest.fixture(scope="session")
def parts(source: Hypergraph) -> Split:
    """Its training, validation and test nodes."""
    return split(source, seed=0)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets, or a skip with the reason."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "datasets"
    folder = Path(os.environ.get("HYPERCONDENSE_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no real data: set HYPERCONDENSE_DATA, or put the files into {beside}")
    return folder


@pytest.fixture(scope="session")
def ray():
    """A real Ray with two workers on this machine, started once: that takes seconds."""
    from hypercondense.runtime.ray_engine import RayEngine

    with RayEngine(workers=2) as engine:
        yield engine
