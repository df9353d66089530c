"""Condensing from the outside: sizes, the one rule of choosing and guarding, cost and provenance."""

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from hypercondense.condensation import SCALED, UNSCALED, Condensation, Provenance, distinct_members
from hypercondense.condensing import guard
from hypercondense.condensing.allotment import RatioOf, condensed_labels, unusual
from hypercondense.condensing.checkpoint import Checkpoint
from hypercondense.condensing.costs import ledger_of
from hypercondense.condensing.job import Job, Made, Method
from hypercondense.condensing.material import Material
from hypercondense.errors import CondensationError
from hypercondense.hypergraph import Hypergraph, Ids, Split
from hypercondense.hypergraph import split as split_by_seed
from hypercondense.hypergraph.given import seed_number, whole_number
from hypercondense.hypergraph.label_names import label_warnings
from hypercondense.hypergraph.magnitude import scale_warnings
from hypercondense.hypergraph.scaling import Scaling, check_scaling
from hypercondense.names import Allocation, Metric
from hypercondense.nn.scoring import check_metric
from hypercondense.runtime import memory as memory_use
from hypercondense.runtime.arguments import must_be
from hypercondense.runtime.bars import watched
from hypercondense.runtime.clock import TOTAL
from hypercondense.runtime.devices import check_device
from hypercondense.runtime.engine import Engine
from hypercondense.runtime.loading import load_optimizers
from hypercondense.runtime.progress import Progress
from hypercondense.runtime.threads import one_thread
from hypercondense.runtime.threads import threads as using
from hypercondense.typed import content_of

_log = logging.getLogger(__name__)


def condense_by(method: Method, source: Hypergraph, split: Split | None = None, **how: Any) -> Condensation:
    """Carry out a method; :func:`hypercondense.condense` tells of the arguments.

    ``how`` are those of :func:`material_of` and of :func:`condense_material`.
    """
    of_material, of_one = (set(signature(one).parameters) for one in (material_of, condense_material))
    known = sorted((of_material | of_one) - {"method", "material", "source", "split", "name"})
    if unknown := sorted(how.keys() - of_material - of_one):
        raise TypeError(f"condense() has no argument {unknown[0]!r}; there are {', '.join(known)}")
    ours = {name: how.pop(name) for name in of_material & how.keys()}
    with material_of(source, split, **ours) as material:
        return condense_material(method, material, **how)


@contextmanager
def material_of(
    source: Hypergraph,
    split: Split | None = None,
    *,
    metric: Metric = "accuracy",
    whole_training: bool = True,
    memory: int | str | None = None,
    cache_dir: Path | str | None = None,
    device: str = "cpu",
    threads: int | None = None,
    engine: Engine | None = None,
    scale: Scaling = "none",
    progress: Progress | bool | None = None,
) -> Iterator[Material]:
    """What one or several condensations of a source work on, and progress that is shown meanwhile."""
    like = "condense(source, split, ratio=0.01)"
    must_be("source", source, Hypergraph, like=like)
    if split is not None:
        must_be("split", split, Split, like=like)
    check_metric(metric)
    check_device(device)
    check_scaling(source, scale, within_memory=memory is not None)
    if threads is not None and whole_number("threads", threads) < 1:
        raise ValueError(f"threads must be at least 1, got {threads}")
    with watched(progress) as report:
        yield Material(
            source,
            split_by_seed(source) if split is None else split,
            device=device,
            memory=memory_use.parse_size(memory) if isinstance(memory, str) else memory,
            cache_dir=None if cache_dir is None else Path(cache_dir),
            metric=metric,
            whole_training=whole_training,
            scaling=scale,
            threads=threads,
            engine=engine,
            progress=report,
        )


def condense_material(
    method: Method,
    material: Material,
    *,
    name: str = "recipe",
    ratio: float | None = None,
    nodes: int | None = None,
    ratio_of: RatioOf = "all",
    allocate: Allocation = "proportional",
    seed: int = 0,
    select: bool = True,
    checkpoint: Path | str | None = None,
    resume: bool = False,
    checkpoint_every: float = 0.5,
) -> Condensation:
    """Carry out a method on a material, which other sizes may share.

    The rule, for the command line, Python and plans alike: with ``select`` and validation nodes, candidates
    are scored on them, as many as the method says and by the judge of its goal, and the same judge is asked
    whether random training nodes would have been better. Otherwise no validation label is read.

    Seconds are those of the clock of the material: where sizes share it, of all of them so far.

    Torch has one thread unless the material says otherwise: on small matrices more gain nothing, wait for
    each other on a busy machine, and may add numbers in another order. Diffusion, whose bits do not depend on
    it, has as many as are free.
    """
    source, split, seed = material.source, material.split, seed_number(seed)
    if (who := method.trains_on_whole) is not None:
        material.begin_whole_training(who, 0)  # refused now rather than after long work
    memory_use.reset_peak()
    with material.clock.stage(TOTAL), _limits_explained(), using(material.torch_threads):
        labels = condensed_labels(
            material.train_labels,
            num_nodes=source.num_nodes,
            ratio=ratio,
            nodes=nodes,
            ratio_of=ratio_of,
            sharing=material.sharing(allocate),
        )
    with material.clock.stage("load"):
        load_optimizers()
    doubts = tuple(unusual(ratio, len(labels), source.num_nodes))
    for doubt in doubts:
        _log.warning("%s", doubt)  # now: the work may take long
    _log.info("condensing %s to %d of %d nodes by %s", source.name, len(labels), source.num_nodes, name)
    provenance = Provenance(
        method=name,
        settings=content_of(method),
        seed=seed,
        source_name=source.name,
        source_digest=material.origin.digest,
        num_source_nodes=source.num_nodes,
        split_digest=split.digest,
        split_seed=split.seed,
        ratio=ratio,
        ratio_of=ratio_of,
        allocate=allocate,
        metric=material.metric,
        whole_training=material.whole_training,
        preprocessing=UNSCALED if material.scale is None else (SCALED, *UNSCALED[1:]),
    )
    keeper = None
    if checkpoint is not None:
        identity = _identity(provenance, labels, select=select, scaled=material.scale is not None)
        keeper = Checkpoint(Path(checkpoint), identity, resume=resume, every=checkpoint_every)
    job = Job(
        material=material,
        labels=labels,
        seed=seed,
        select=select,
        progress=material.progress,
        checkpoint=keeper,
    )
    with material.clock.stage(TOTAL), _limits_explained(), using(material.torch_threads):
        made = method.run(job)
    peak_memory = memory_use.peak_bytes()
    with material.clock.stage("guard"), using(material.torch_threads):
        warnings = tuple(_warnings(method, made, job))
    _log.info("condensed %s in %.1f s", source.name, material.clock.seconds[TOTAL])
    return Condensation(
        hypergraph=made.hypergraph,
        members=made.members,
        provenance=provenance,
        history=made.history,
        seconds=dict(material.clock.seconds),
        peak_memory_mb=peak_memory / 1e6,
        start_validation=made.start_validation,
        final_validation=made.final_validation,
        warnings=(*doubts, *made.warnings, *dict.fromkeys(material.warnings), *warnings),
        choice=made.choice,
        ledger=ledger_of(
            made.hypergraph, material, searched=made.choice is not None, peak_memory_mb=peak_memory / 1e6
        ),
        scale=material.scale,
        member_names=_member_names(source, made.members),
    )


def tell_warnings(result: Condensation) -> None:
    """Log what is wrong with a result, but for what was told before the work."""
    made = result.provenance
    told = set(unusual(made.ratio, result.hypergraph.num_nodes, made.num_source_nodes))
    for warning in result.warnings:
        if warning not in told:
            _log.warning("%s", warning)


def _member_names(source: Hypergraph, members: tuple[Ids, ...]) -> tuple[str, ...] | None:
    names = source.node_names
    return None if names is None else tuple(names[one] for one in distinct_members(members))


def thread_limit(method: Method, job: Job) -> AbstractContextManager[None]:
    """One thread where more of them would wait for each other, however many there may be."""
    return one_thread() if len(job.labels) <= method.one_thread_up_to else nullcontext()


def _warnings(method: Method, made: Made, job: Job) -> Iterator[str]:
    """What is wrong with a result."""
    material = job.material
    yield from scale_warnings(material.source)
    yield from label_warnings(material.source)
    yield from guard.wrong_classes(made.hypergraph, material.split, material.train_labels)
    yield from guard.constant_features(made.hypergraph, material.source, made.members)
    yield from guard.empty_structure(made.hypergraph, method.empty_structure)
    if job.chooses:
        validation_labels = material.source.labels[material.split.validation_ids]
        yield from guard.blind_validation(validation_labels, material.train_labels)
        yield from guard.worse_than_random(
            made.hypergraph,
            material.source,
            material.split,
            score=made.final_validation,
            judge=made.judge or material.short_trainings,
            seed=job.seed,
        )


def _identity(provenance: Provenance, labels: Ids, *, select: bool, scaled: bool) -> dict[str, Any]:
    """What must be equal for a checkpoint to be continued."""
    keys = ("settings", "seed", "source_digest", "split_digest", "metric")
    return {
        **{key: getattr(provenance, key) for key in keys},
        "labels": labels.tolist(),
        "selection": select,
        **({"scale": "standard"} if scaled else {}),
    }


@contextmanager
def _limits_explained() -> Iterator[None]:
    """Turn running out of memory, or of the range of numbers, into an error that says what to do."""
    advice = "ask for fewer condensed nodes or fewer structure.candidates, or give a memory for the diffusion"
    try:
        with np.errstate(over="raise"):
            yield
    except FloatingPointError as error:
        raise CondensationError(
            f"a number became too large to compute with ({error}); standardize the features (`--standardize`)"
        ) from error
    except MemoryError as error:
        raise CondensationError(f"out of memory ({error}); {advice}") from error
    except RuntimeError as error:  # what torch raises on the CPU, and its subclass on a GPU
        if "memory" not in str(error):
            raise
        raise CondensationError(f"out of memory ({str(error).splitlines()[0]}); {advice}") from error
