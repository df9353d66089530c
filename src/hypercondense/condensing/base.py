"""The contract of every method, and what they share: sizes, checks, cost and provenance."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
import torch
from torch import Tensor

from hypercondense.condensation import Condensation, Provenance
from hypercondense.condensing import guard
from hypercondense.condensing.allotment import RatioOf, condensed_labels
from hypercondense.condensing.assembly import condensed_like
from hypercondense.condensing.checkpoint import Checkpoint
from hypercondense.condensing.options import settings_of
from hypercondense.diffusion import SelectedRows, cached_diffusion, diffuse
from hypercondense.errors import CondensationError
from hypercondense.hypergraph import Dense, Hypergraph, Ids, Incidence, Split
from hypercondense.runtime import memory as memory_use
from hypercondense.runtime.progress import Progress, silent
from hypercondense.runtime.threads import one_thread

T = TypeVar("T")
#: Scores a candidate, higher is better; whoever wants selection on validation nodes passes one.
Select: TypeAlias = Callable[[Hypergraph], float]


@dataclass(frozen=True, kw_only=True)
class Task:
    """What a method is asked to do. Condensing may read training labels only."""

    source: Hypergraph
    split: Split
    labels: Ids  # class of every condensed node, sorted
    seed: int
    select: Select | None
    progress: Progress
    checkpoint: Checkpoint | None
    memory: int | None
    cache_dir: Path | None
    device: str
    threads: int  # for work on the source
    seconds: dict[str, float] = field(default_factory=dict)
    memo: dict[Any, Any] | None = None  # what several trials on one source share; None shares nothing

    @property
    def train_labels(self) -> Ids:
        """Classes of the training nodes, in the order of ``split.train_ids``."""
        return self.source.labels[self.split.train_ids]

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage of the work."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin

    def diffused(self, coefficients: Sequence[float], *, walks: bool = False) -> Dense:
        """Diffused features of all nodes, shape (nodes, features); perhaps a read-only memory map."""
        with self.stage("diffuse"):
            return cached_diffusion(
                self.source,
                coefficients,
                walks=walks,
                cache_dir=self.cache_dir,
                memory=self.memory,
                threads=self.threads,
                progress=self.progress,
            )

    def shared(self, key: Any, make: Callable[[], T]) -> T:
        """What ``make`` returns; where trials share things, what it returned for this ``key`` before."""
        if self.memo is None:
            return make()
        if key not in self.memo:
            self.memo[key] = make()
        found: T = self.memo[key]
        return found

    def diffused_parts(self, coefficients: Sequence[float], *, walks: bool = False) -> tuple[Dense, Dense]:
        """Diffused features of the training nodes and of the validation nodes."""

        def rows() -> tuple[Dense, Dense]:
            parts = self.split.train_ids, self.split.validation_ids
            if self._nobody_keeps_rows:
                both = self._diffused_at(np.concatenate(parts), coefficients, walks=walks)
                return both[: len(parts[0])], both[len(parts[0]) :]
            diffused = self.diffused(coefficients, walks=walks)
            with self.stage("diffuse"):
                return np.asarray(diffused[parts[0]]), np.asarray(diffused[parts[1]])

        return self.shared(("diffused", tuple(coefficients), walks), rows)

    def diffused_rows(self, coefficients: Sequence[float]) -> Dense | SelectedRows:
        """Diffused features of the training nodes, shape (training nodes, features).

        Under a memory budget they stay in their file and are read a few at a time.
        """
        if self.memo is not None:  # one array for all trials, which also tells their starts apart
            return self.diffused_parts(coefficients)[0]
        if self._nobody_keeps_rows:
            return self._diffused_at(self.split.train_ids, coefficients)
        diffused = self.diffused(coefficients)
        if self.memory is not None and isinstance(diffused, np.memmap):
            return SelectedRows(diffused, self.split.train_ids)
        with self.stage("diffuse"):  # reading the rows of a memory map takes time too
            return np.asarray(diffused[self.split.train_ids])

    @property
    def _nobody_keeps_rows(self) -> bool:
        """Whether rows that are not asked for now need not be made at all."""
        return self.memory is None and self.cache_dir is None

    def _diffused_at(self, node_ids: Ids, coefficients: Sequence[float], *, walks: bool = False) -> Dense:
        with self.stage("diffuse"):
            return diffuse(
                self.source,
                coefficients,
                walks=walks,
                node_ids=node_ids,
                threads=self.threads,
                progress=self.progress,
            )


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a method made."""

    hypergraph: Hypergraph
    members: tuple[Ids, ...]  # source node ids
    history: tuple[dict[str, float], ...] = ()
    start_validation: float | None = None
    final_validation: float | None = None
    warnings: tuple[str, ...] = ()
    choice: dict[str, Any] | None = None  # what a search chose, and among what


class Condenser(ABC):
    """A way to condense. Subclasses are frozen dataclasses whose fields are their options."""

    name: ClassVar[str]
    #: What to try when no hyperedge joins two nodes; ``None`` for a method that makes no structure.
    empty_structure: ClassVar[str | None] = "ask for more condensed nodes"
    is_random: ClassVar[bool] = False
    #: Whether it reads validation labels by itself, so that a caller need not pass ``select``.
    selects_itself: ClassVar[bool] = False
    #: Up to so many condensed nodes one thread is faster than several that wait for each other.
    one_thread_up_to: ClassVar[int] = 0

    @abstractmethod
    def run(self, task: Task) -> Outcome:
        """Do the work; :meth:`condense` is what users call."""

    def condense(
        self,
        source: Hypergraph,
        split: Split,
        *,
        ratio: float | None = None,
        nodes: int | None = None,
        ratio_of: RatioOf = "all",
        seed: int = 0,
        select: Select | None = None,
        progress: Progress = silent,
        checkpoint: Path | None = None,
        resume: bool = False,
        checkpoint_every: float = 5.0,
        memory: int | None = None,
        cache_dir: Path | None = None,
        device: str = "cpu",
    ) -> Condensation:
        """Condense ``source`` to ``ratio`` of its nodes, or to ``nodes`` nodes.

        Args:
            source: The hypergraph.
            split: Its training, validation and test nodes. Only training labels are read; ``select``, and
                ``ridge`` where it chooses snapshots by itself, read those of validation nodes.
            ratio: Condensed nodes / all source nodes (or of the training nodes, see ``ratio_of``).
            nodes: The number of condensed nodes, instead of ``ratio``.
            ratio_of: ``"all"`` or ``"train"``.
            seed: Equal seeds give equal bits on one machine.
            select: Scores snapshots; the best is returned, and the start is always one of them. It also
                scores as many random training nodes, and a result below them gets a warning.
            progress: Called as the work goes on.
            checkpoint: Folder for the state of an interrupted run.
            resume: Continue from the state in ``checkpoint`` if there is one.
            checkpoint_every: Seconds between two writes of the state.
            memory: Bytes the diffusion of the source may use.
            cache_dir: Folder where diffused features are kept between runs; ``None`` keeps nothing.
            device: Any torch device.
        """
        labels = condensed_labels(
            source.labels[split.train_ids],
            num_nodes=source.num_nodes,
            ratio=ratio,
            nodes=nodes,
            ratio_of=ratio_of,
        )
        provenance = Provenance(
            method=self.name,
            settings=settings_of(self),
            seed=seed,
            source_name=source.name,
            source_digest=source.digest,
            num_source_nodes=source.num_nodes,
            split_digest=split.digest,
            split_seed=split.seed,
            ratio=ratio,
            ratio_of=ratio_of,
        )
        keeper = checkpoint and Checkpoint(
            checkpoint, _identity(provenance, labels, select), resume=resume, every=checkpoint_every
        )
        task = Task(
            source=source,
            split=split,
            labels=labels,
            seed=seed,
            select=select,
            progress=progress,
            checkpoint=keeper or None,
            memory=memory,
            cache_dir=cache_dir,
            device=device,
            threads=torch.get_num_threads(),
        )
        memory_use.reset_peak()
        with task.stage("total"), memory_explained(), self.thread_limit(len(labels)):
            outcome = self.run(task)
        peak_memory = memory_use.peak_bytes()
        with task.stage("guard"):
            warnings = tuple(self.warnings(outcome, task))
        return Condensation(
            hypergraph=outcome.hypergraph,
            members=outcome.members,
            provenance=provenance,
            history=outcome.history,
            seconds=task.seconds,
            peak_memory_mb=peak_memory / 1e6,
            start_validation=outcome.start_validation,
            final_validation=outcome.final_validation,
            warnings=(*outcome.warnings, *warnings),
            choice=outcome.choice,
        )

    def thread_limit(self, num_nodes: int) -> AbstractContextManager[None]:
        """One thread where more of them would wait for each other."""
        return one_thread() if num_nodes <= self.one_thread_up_to else nullcontext()

    def warnings(self, outcome: Outcome, task: Task) -> Iterator[str]:
        """What is wrong with a result; costs one more call of ``select`` where there is one."""
        yield from guard.wrong_classes(outcome.hypergraph, task.split, task.train_labels)
        yield from guard.constant_features(outcome.hypergraph, task.source, outcome.members)
        yield from guard.empty_structure(outcome.hypergraph, self.empty_structure)
        if task.select is not None and not self.is_random:
            yield from guard.worse_than_random(
                outcome.hypergraph,
                task.source,
                task.split,
                score=outcome.final_validation,
                select=task.select,
                seed=task.seed,
            )


def assemble(task: Task, features: Tensor, structure: Tensor, shares: Tensor | None = None) -> Hypergraph:
    """A condensed hypergraph from features (n, d) and a dense incidence (n, hyperedges) without self-loops.

    Class shares (n, C), where there are any, become its soft labels.

    Hyperedges without members are left out. If none is left, every node is its own hyperedge: the identity.
    """
    incidence = structure.detach().cpu().numpy()
    node_ids, columns = np.nonzero(incidence)
    hyperedges, hyperedge_ids = np.unique(columns, return_inverse=True)
    return condensed_like(
        task.source,
        features=features.detach().cpu().numpy(),
        labels=task.labels,
        soft_labels=None if shares is None else shares.detach().cpu().numpy(),
        incidence=Incidence(node_ids, hyperedge_ids, incidence[node_ids, columns]),
        num_hyperedges=len(hyperedges),
    )


def _identity(provenance: Provenance, labels: Ids, select: Select | None) -> dict[str, Any]:
    """What must be equal for a checkpoint to be continued."""
    keys = ("method", "settings", "seed", "source_digest", "split_digest")
    return {
        **{key: getattr(provenance, key) for key in keys},
        "labels": labels.tolist(),
        "selection": select is not None,
    }


@contextmanager
def memory_explained() -> Iterator[None]:
    """Turn running out of memory into an error that says what lowers the need."""
    advice = "ask for fewer condensed nodes, lower the option candidates, or give --memory for the diffusion"
    try:
        yield
    except MemoryError as error:
        raise CondensationError(f"out of memory ({error}); {advice}") from error
    except RuntimeError as error:  # what torch raises on the CPU, and its subclass on a GPU
        if "memory" not in str(error):
            raise
        raise CondensationError(f"out of memory ({str(error).splitlines()[0]}); {advice}") from error
