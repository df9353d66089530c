"""What a method is asked to do, and what it makes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
import torch
from torch import Tensor

from hypercondense.condensing.checkpoint import Checkpoint
from hypercondense.condensing.material import Material
from hypercondense.frozen import Frozen
from hypercondense.hypergraph import Hypergraph, Ids
from hypercondense.names import Metric
from hypercondense.runtime.clock import began_at
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
        began: When the command began, from which a budget of time counts.
    """

    material: Material
    labels: Ids
    seed: int = 0
    select: bool = True
    progress: Progress = field(default=silent)
    checkpoint: Checkpoint | None = None
    began: float = field(default_factory=began_at)

    @property
    def metric(self) -> Metric:
        """What is chosen for."""
        return self.material.metric

    @property
    def whole_training(self) -> bool:
        """Whether networks may be trained on everything."""
        return self.material.whole_training

    @property
    def chooses(self) -> bool:
        """Whether candidates are chosen on validation nodes: they may be, and there are some."""
        return self.select and len(self.material.split.validation_ids) > 0


@dataclass(frozen=True, kw_only=True)
class Made(Frozen):
    """What a method made.

    ``judge`` is who scored it on validation nodes; the guard asks the same one about random nodes.
    """

    hypergraph: Hypergraph
    members: tuple[Ids, ...]  # source node ids
    history: tuple[Mapping[str, float], ...] = ()
    start_validation: float | None = None
    final_validation: float | None = None
    judge: Scorer | None = None
    warnings: tuple[str, ...] = ()
    choice: Mapping[str, Any] | None = None  # what a search chose, and among what


def remembered(made: Made) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """What a method made as tensors and facts, for a checkpoint; who judged it is not kept."""
    arrays, facts = made.hypergraph.to_arrays()
    arrays = {f"made.{name}": array for name, array in arrays.items()}
    arrays |= {f"members.{number}": ids for number, ids in enumerate(made.members)}
    told = {name: getattr(made, name) for name in _TOLD}
    graph = {"facts": facts, "name": made.hypergraph.name, "notes": made.hypergraph.notes}
    return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}, {
        **told,
        "graph": graph,
    }


def recalled(tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> Made:
    """The inverse of :func:`remembered`."""
    graph = facts["graph"]
    arrays = {
        name.removeprefix("made."): tensor.numpy()
        for name, tensor in tensors.items()
        if name.startswith("made.")
    }
    hypergraph = Hypergraph.from_arrays(arrays, graph["facts"], name=graph["name"], notes=graph["notes"])
    members = tuple(tensors[f"members.{number}"].numpy() for number in range(hypergraph.num_nodes))
    told: dict[str, Any] = {name: facts[name] for name in _TOLD}
    told |= {name: tuple(told[name]) for name in ("history", "warnings")}
    return Made(hypergraph=hypergraph, members=members, **told)


_TOLD = ("history", "start_validation", "final_validation", "warnings", "choice")


class Method(Protocol):
    """A way to condense: a value whose fields are its options."""

    @property
    def empty_structure(self) -> str | None:
        """What to try when no hyperedge joins two nodes; ``None`` where no structure is meant."""

    @property
    def one_thread_up_to(self) -> int:
        """Up to so many condensed nodes one thread is faster than several that wait for each other."""

    @property
    def trains_on_whole(self) -> str | None:
        """Who of it is trained on everything; ``None`` if nobody is, or it can do without."""

    def run(self, job: Job) -> Made:
        """Do the work."""
