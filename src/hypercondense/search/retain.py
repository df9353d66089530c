"""The smallest size that keeps a share of what training on everything gives: doubling, then bisection.

Every size is condensed by the same method from the same material. HGNN is trained on the result, and as often
and in the same way on everything; both are scored on validation nodes, pair by pair.
"""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import torch
from msgspec import structs
from torch import Tensor

from hypercondense.condensation import Condensation, CurvePoint, load_condensed
from hypercondense.condensing.checkpoint import SIZES, Checkpoint
from hypercondense.condensing.costs import ledger_of
from hypercondense.condensing.job import Method
from hypercondense.condensing.material import Material
from hypercondense.condensing.run import condense_material
from hypercondense.errors import ConfigError
from hypercondense.nn.scoring import contributions
from hypercondense.nn.training import Configuration, Inputs, told_classes, train
from hypercondense.runtime.clock import TOTAL
from hypercondense.runtime.progress import Progress, expect, part_of
from hypercondense.runtime.threads import one_thread
from hypercondense.search import costs, nominal
from hypercondense.search.nominal import COUNTING
from hypercondense.typed import content_of

#: How probable it must be that the share is kept, unless another confidence is asked for.
CONFIDENCE = 0.8
LARGEST = 0.1  # of all nodes: more is no condensing
RUNS = 3  # trainings on each size, and on everything
_BISECTIONS = 3  # sizes then differ by a tenth at most
_CONDENSE, _EVERYTHING = "{} nodes", "everything"  # stages of the progress
_CONDENSING = 0.8  # of a size; the rest are trainings on it
_EPOCHS, _LOOKS = 200, 40  # of one of these


def condense_to_retain(
    method: Method,
    material: Material,
    *,
    retain: float,
    confidence: float = CONFIDENCE,
    select: bool = True,
    checkpoint: Path | str | None = None,
    resume: bool = False,
    **how: Any,
) -> Condensation:
    """The smallest result that keeps ``retain`` of what HGNN scores that is trained on everything.

    Args:
        method: How to condense.
        material: What.
        retain: The share, of the metric of the material on validation nodes.
        confidence: How probable it must be that the share is kept.
        select: Must be true: the size is chosen on validation nodes.
        checkpoint: Folder for what is finished: sizes that are there are not done again.
        resume: Whether to continue from it.
        how: Other arguments of :func:`~hypercondense.condensing.run.condense_material`.
    """
    _check(material, retain=retain, confidence=confidence, select=select)
    retain, confidence = float(retain), float(confidence)
    folder = None if checkpoint is None else Path(checkpoint)
    search = _Sizes(method, material, retain=retain, folder=folder, resume=resume, how=how)
    sizes = list(doubled(*_bounds(material)))
    search.foresee(sizes)
    for size in sizes:
        if search.point(size).probability >= confidence:
            break
    kept = [one for one in search.points.values() if one.probability >= confidence]
    if not kept:
        best = max(search.points.values(), key=lambda one: (one.probability, one.retention, -one.nodes))
        return search.result(best, confidence, warnings=(_not_reached(best, search, confidence),))
    for _ in range(_BISECTIONS):
        middle = between(list(search.points.values()), confidence)
        if middle is None:
            break
        search.foresee([middle])
        search.point(middle)
    smallest = min(
        (one for one in search.points.values() if one.probability >= confidence), key=lambda one: one.nodes
    )
    return search.result(smallest, confidence)


def doubled(smallest: int, largest: int) -> Iterator[int]:
    """Sizes from the smallest, each twice the one before, and the largest.

    >>> list(doubled(3, 20))
    [3, 6, 12, 20]
    """
    size = smallest
    while size < largest:
        yield size
        size *= 2
    yield largest


def between(points: list[CurvePoint], confidence: float) -> int | None:
    """The size in the middle, on a logarithmic scale, of the smallest that is enough and the next below it.

    ``None`` where no size lies between them.
    """
    enough = min(one.nodes for one in points if one.probability >= confidence)
    below = [one.nodes for one in points if one.nodes < enough]
    if not below:
        return None
    middle = round(math.sqrt(max(below) * enough))
    return middle if max(below) < middle < enough else None


def point_of(nodes: int, own: Tensor, whole: Tensor, retain: float) -> CurvePoint:
    """What a size keeps, from contributions of validation nodes to the score, (trainings, nodes) each.

    The share is kept if ``d = own - retain * whole`` is not below 0 on average. Its standard error has two
    parts: nodes could have been others, which pairs of the same node tell, and so could trainings.
    """
    score, reference = float(own.mean()), float(whole.mean())
    retention = score / reference if reference else math.inf
    error = _standard_error(own, whole, retain)
    gain = score - retain * reference
    probability = NormalDist().cdf(gain / error) if error > 0 else float(gain >= 0)
    return CurvePoint(
        nodes=nodes,
        score=score,
        whole=reference,
        retention=retention if math.isfinite(retention) else 1.0,
        standard_error=_standard_error(own, whole, retention) / reference if reference else 0.0,
        probability=probability,
    )


def _standard_error(own: Tensor, whole: Tensor, share: float) -> float:
    """Of the mean of ``own - share * whole``."""
    of_nodes = own.mean(0) - share * whole.mean(0)
    variance = _variance_of_mean(of_nodes)
    variance += _variance_of_mean(own.mean(1)) + share**2 * _variance_of_mean(whole.mean(1))
    return math.sqrt(variance)


def _variance_of_mean(values: Tensor) -> float:
    return float(values.var()) / len(values) if len(values) > 1 else 0.0


def _check(material: Material, *, retain: float, confidence: float, select: bool) -> None:
    for name, given in (("retain", retain), ("confidence", confidence)):
        if isinstance(given, bool) or not isinstance(given, Real):
            raise ConfigError(f"{name} must be a number, as 0.99, got {given!r:.40}")
    if not 0 < retain <= 1:
        raise ConfigError(
            f"retain must be above 0 and at most 1, got {retain:g}; 0.99 keeps 99 % of the score"
        )
    if not 0.5 <= confidence < 1:
        raise ConfigError(
            f"confidence must be at least 0.5 and below 1, got {confidence:g}; try {CONFIDENCE}"
        )
    if not select:
        raise ConfigError(
            "retain chooses the size on validation nodes, and they may not choose (--no-select)"
        )
    if len(material.split.validation_ids) == 0:
        raise ConfigError("retain needs validation nodes to choose the size on, and the split has none")
    if not material.whole_training:
        raise ConfigError(
            "retain compares with networks trained on everything, which is forbidden (--no-whole-training); "
            "allow it, or give --ratio or --nodes"
        )


def _bounds(material: Material) -> tuple[int, int]:
    """The smallest and the largest size: a node for every class, and a tenth of all nodes."""
    smallest = len(np.unique(material.train_labels))
    largest = min(int(LARGEST * material.source.num_nodes), len(material.train_labels))
    return smallest, max(smallest, largest)


def _not_reached(best: CurvePoint, search: "_Sizes", confidence: float) -> str:
    tried = max(search.points)
    return (
        f"up to {tried} nodes ({tried / search.material.source.num_nodes:.1%}) do not keep {search.retain:g} "
        f"of what everything gives with a confidence of {confidence:g}; this is the best, {best.nodes} nodes "
        f"that keep {best.retention:.1%} ± {best.standard_error:.1%}"
    )


@dataclass
class _Sizes:
    """Sizes that were tried, with all that is kept of them."""

    method: Method
    material: Material
    retain: float
    folder: Path | None
    resume: bool
    how: dict[str, Any]

    def __post_init__(self) -> None:
        self.report = self.material.progress
        self.points: dict[int, CurvePoint] = {}
        self.results: dict[int, Condensation] = {}
        self.known: dict[str, Tensor] = {}  # contributions of validation nodes, by size
        self.keeper: Checkpoint | None = None
        if self.folder is not None:
            material = self.material
            identity = {
                "source_digest": material.source.digest,
                "split_digest": material.split.digest,
                "metric": material.metric,
                "settings": content_of(self.method),
                "seed": self.how.get("seed", 0),
                "allocate": self.how.get("allocate", "proportional"),
            }
            self.keeper = Checkpoint(self.folder, identity, resume=self.resume)
            if (saved := self.keeper.load()) is not None:
                self.known = saved[0]

    def foresee(self, sizes: Sequence[int]) -> None:
        """Say what all these sizes will take, if none of them is enough before the last."""
        stages = {_CONDENSE.format(size): self._nominal(size) for size in sizes}
        if "whole" not in self.known:  # trained on after the first size
            (first, seconds), *others = stages.items()
            whole = RUNS * costs.whole_training(self._sizes(sizes[0]))
            stages = {first: seconds, _EVERYTHING: whole, **dict(others)}
        expect(self.report, stages)

    def _nominal(self, size: int) -> float:
        sizes = self._sizes(size)
        teachers = self.material.whole_training and not self.material.stays_on_disk
        asking = costs.judging(sizes, trainings=RUNS, epochs=_EPOCHS, looks=_LOOKS)
        return nominal.condensing(self.method, sizes, whole_training=teachers) + asking

    def _sizes(self, size: int) -> costs.Sizes:
        return costs.Sizes.of(self.material.source, self.material.split, size)

    def point(self, size: int) -> CurvePoint:
        """What a size keeps; it is condensed, and networks are trained, unless this was done before."""
        if size not in self.points:
            stage = _CONDENSE.format(size)
            self.material.progress = part_of(self.report, stage, 0.0, _CONDENSING, counting=COUNTING)
            result = self._condensed(size)
            self.material.progress = self.report
            own = self._trained(str(size), "retention", result, stage)
            whole = self._whole()
            self.points[size] = point_of(size, own, whole, self.retain)
        return self.points[size]

    def result(self, point: CurvePoint, confidence: float, *, warnings: tuple[str, ...] = ()) -> Condensation:
        """The result of this size, with what all sizes cost."""
        found, material = self.results[point.nodes], self.material
        return replace(
            found,
            provenance=structs.replace(found.provenance, retain=self.retain, confidence=confidence),
            seconds=dict(material.clock.seconds),
            ledger=ledger_of(
                found.hypergraph,
                material,
                searched=found.choice is not None,
                peak_memory_mb=max(one.peak_memory_mb for one in self.results.values()),
            ),
            warnings=(*found.warnings, *warnings),
            curve=tuple(self.points[size] for size in sorted(self.points)),
        )

    def _condensed(self, size: int) -> Condensation:
        place = None if self.folder is None else self.folder / SIZES / str(size)
        finished = None if place is None else place / "result"
        if finished is not None and str(size) in self.known and finished.is_dir():
            self.results[size] = load_condensed(finished)
        else:
            self.results[size] = condense_material(
                self.method, self.material, nodes=size, checkpoint=place, resume=self.resume, **self.how
            )
            if finished is not None:
                self.results[size].save(finished, overwrite=True)
        return self.results[size]

    def _whole(self) -> Tensor:
        """Contributions to the score of networks trained on everything."""
        if "whole" not in self.known:
            self.material.begin_whole_training("a reference", RUNS)
            begin = time.perf_counter()
            self._trained("whole", "reference", None, _EVERYTHING)
            self.material.whole_seconds = (time.perf_counter() - begin) / RUNS
        return self.known["whole"]

    def _trained(self, key: str, stage: str, result: Condensation | None, told: str) -> Tensor:
        """Contributions of validation nodes to the scores of fresh networks, (trainings, nodes)."""
        begin = 0.0 if result is None else _CONDENSING
        if key not in self.known:
            clock, source = self.material.clock, self.material.inputs
            with clock.stage(TOTAL), clock.stage(stage), one_thread():
                graph = (
                    source if result is None else Inputs.of(result.hypergraph, device=self.material.device)
                )
                ends = [begin + (1.0 - begin) * run / RUNS for run in range(RUNS + 1)]
                parts = [part_of(self.report, told, *ends[run : run + 2]) for run in range(RUNS)]
                self.known[key] = torch.stack(
                    [self._answers(graph, run, part) for run, part in enumerate(parts)]
                )
            if self.keeper is not None:
                self.keeper.save(self.known, {})
        return self.known[key]

    def _answers(self, graph: Inputs, run: int, progress: Progress) -> Tensor:
        material = self.material
        source, split = material.inputs, material.split
        trained = train(
            Configuration(model="hgnn"),
            graph,
            source,
            split,
            seed=run,
            metric=material.metric,
            progress=progress,
        ).model
        ids = torch.as_tensor(split.validation_ids.copy(), device=source.labels.device)
        with torch.no_grad():
            scores = source.seen_by(ids, None)(trained)
        return contributions(told_classes(scores), source.labels[ids], material.metric).cpu()
