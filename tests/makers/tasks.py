"""Tasks as methods are given them, for tests of what happens inside a method."""

from typing import Any

from hypercondense.condensing.base import Task
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.runtime.progress import silent


def task_of(source: Hypergraph, parts: Split, labels: Any, **changes: Any) -> Task:
    """A task in memory, on one thread, without selection or checkpoint."""
    given: dict[str, Any] = {
        "seed": 0,
        "select": None,
        "progress": silent,
        "checkpoint": None,
        "memory": None,
        "cache_dir": None,
        "device": "cpu",
        "threads": 1,
    }
    return Task(source=source, split=parts, labels=labels, **(given | changes))
