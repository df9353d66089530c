"""What a method is asked to do, and what it makes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from hypercondense.condensing.checkpoint import Checkpoint
from hypercondense.condensing.material import Material
from hypercondense.hypergraph import Hypergraph, Ids
from hypercondense.runtime.progress import Progress, silent

#: Scores a condensed hypergraph on validation nodes, higher is better.
Scorer: TypeAlias = Callable[[Hypergraph], float]


@dataclass(frozen=True, kw_only=True)
class Job:
    """One condensation: of which material, into nodes of which classes, by which seed.

    Args:
        material: The source and what is made of it.
        labels: Class of every condensed node, sorted.
        seed: Everything random follows from it.
        select: Whether validation labels may choose between candidates.
        progress: Told as the work goes on.
        checkpoint: Where the state of an interrupted run is kept.
    """

    material: Material
    labels: Ids
    seed: int = 0
    select: bool = True
    progress: Progress = field(default=silent)
    checkpoint: Checkpoint | None = None

    @property
    def chooses(self) -> bool:
        """Whether candidates are chosen on validation nodes: they may be, and there are some."""
        return self.select and len(self.material.split.validation_ids) > 0


@dataclass(frozen=True, kw_only=True)
class Made:
    """What a method made.

    ``judge`` is who scored it on validation nodes; the guard asks the same one about random nodes.
    """

    hypergraph: Hypergraph
    members: tuple[Ids, ...]  # source node ids
    history: tuple[dict[str, float], ...] = ()
    start_validation: float | None = None
    final_validation: float | None = None
    judge: Scorer | None = None
    warnings: tuple[str, ...] = ()
    choice: dict[str, Any] | None = None  # what a search chose, and among what


class Method(Protocol):
    """A way to condense: a value whose fields are its options."""

    @property
    def empty_structure(self) -> str | None:
        """What to try when no hyperedge joins two nodes; ``None`` where no structure is meant."""

    @property
    def one_thread_up_to(self) -> int:
        """Up to so many condensed nodes one thread is faster than several that wait for each other."""

    def run(self, job: Job) -> Made:
        """Do the work."""
