"""Condensing from the outside: sizes, the one rule of choosing and guarding, cost and provenance."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from hypercondense.condensation import Condensation, Provenance
from hypercondense.condensing import guard
from hypercondense.condensing.allotment import RatioOf, condensed_labels
from hypercondense.condensing.checkpoint import Checkpoint
from hypercondense.condensing.job import Job, Made, Method
from hypercondense.condensing.material import Material
from hypercondense.errors import CondensationError
from hypercondense.hypergraph import Hypergraph, Ids, Split
from hypercondense.hypergraph import split as split_by_seed
from hypercondense.runtime import memory as memory_use
from hypercondense.runtime.clock import TOTAL
from hypercondense.runtime.progress import Progress, silent
from hypercondense.runtime.threads import one_thread
from hypercondense.typed import content_of


def condense_by(
    method: Method,
    source: Hypergraph,
    split: Split | None = None,
    *,
    name: str = "recipe",
    ratio: float | None = None,
    nodes: int | None = None,
    ratio_of: RatioOf = "all",
    seed: int = 0,
    select: bool = True,
    progress: Progress | None = None,
    checkpoint: Path | str | None = None,
    resume: bool = False,
    checkpoint_every: float = 5.0,
    memory: int | str | None = None,
    cache_dir: Path | str | None = None,
    device: str = "cpu",
) -> Condensation:
    """Carry out a method; :func:`hypercondense.condense` tells of the arguments.

    The rule, for the command line, Python and plans alike: with ``select`` and validation nodes, candidates
    are scored on them, as many as the method says and by the judge of its goal, and the same judge is asked
    whether random training nodes would have been better. Otherwise no validation label is read.
    """
    split = split_by_seed(source) if split is None else split
    progress = progress or silent
    labels = condensed_labels(
        source.labels[split.train_ids],
        num_nodes=source.num_nodes,
        ratio=ratio,
        nodes=nodes,
        ratio_of=ratio_of,
    )
    provenance = Provenance(
        method=name,
        settings=content_of(method),
        seed=seed,
        source_name=source.name,
        source_digest=source.digest,
        num_source_nodes=source.num_nodes,
        split_digest=split.digest,
        split_seed=split.seed,
        ratio=ratio,
        ratio_of=ratio_of,
    )
    identity = _identity(provenance, labels, select=select)
    keeper = None
    if checkpoint is not None:
        keeper = Checkpoint(Path(checkpoint), identity, resume=resume, every=checkpoint_every)
    material = Material(
        source,
        split,
        device=device,
        memory=memory_use.parse_size(memory) if isinstance(memory, str) else memory,
        cache_dir=None if cache_dir is None else Path(cache_dir),
        progress=progress,
    )
    job = Job(
        material=material,
        labels=labels,
        seed=seed,
        select=select,
        progress=progress,
        checkpoint=keeper,
    )
    memory_use.reset_peak()
    with material.clock.stage(TOTAL), _memory_explained(), thread_limit(method, job):
        made = method.run(job)
    peak_memory = memory_use.peak_bytes()
    with material.clock.stage("guard"):
        warnings = tuple(_warnings(method, made, job))
    return Condensation(
        hypergraph=made.hypergraph,
        members=made.members,
        provenance=provenance,
        history=made.history,
        seconds=dict(material.clock.seconds),
        peak_memory_mb=peak_memory / 1e6,
        start_validation=made.start_validation,
        final_validation=made.final_validation,
        warnings=(*made.warnings, *warnings),
        choice=made.choice,
    )


def thread_limit(method: Method, job: Job) -> AbstractContextManager[None]:
    """One thread where more of them would wait for each other."""
    return one_thread() if len(job.labels) <= method.one_thread_up_to else nullcontext()


def _warnings(method: Method, made: Made, job: Job) -> Iterator[str]:
    """What is wrong with a result."""
    material = job.material
    yield from guard.wrong_classes(made.hypergraph, material.split, material.train_labels)
    yield from guard.constant_features(made.hypergraph, material.source, made.members)
    yield from guard.empty_structure(made.hypergraph, method.empty_structure)
    if job.chooses:
        yield from guard.worse_than_random(
            made.hypergraph,
            material.source,
            material.split,
            score=made.final_validation,
            judge=made.judge or material.short_trainings,
            seed=job.seed,
        )


def _identity(provenance: Provenance, labels: Ids, *, select: bool) -> dict[str, Any]:
    """What must be equal for a checkpoint to be continued."""
    keys = ("settings", "seed", "source_digest", "split_digest")
    return {
        **{key: getattr(provenance, key) for key in keys},
        "labels": labels.tolist(),
        "selection": select,
    }


@contextmanager
def _memory_explained() -> Iterator[None]:
    """Turn running out of memory into an error that says what lowers the need."""
    advice = "ask for fewer condensed nodes or fewer structure.candidates, or give a memory for the diffusion"
    try:
        yield
    except MemoryError as error:
        raise CondensationError(f"out of memory ({error}); {advice}") from error
    except RuntimeError as error:  # what torch raises on the CPU, and its subclass on a GPU
        if "memory" not in str(error):
            raise
        raise CondensationError(f"out of memory ({str(error).splitlines()[0]}); {advice}") from error
