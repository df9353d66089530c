"""Jobs as recipes are given them, quick recipes of every name, and interruptions."""

from pathlib import Path
from typing import Any

import numpy as np

from hypercondense.condensing.checkpoint import Checkpoint
from hypercondense.condensing.job import Job, Scorer
from hypercondense.condensing.material import Material
from hypercondense.condensing.presets import PRESETS
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.settings import changed
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.runtime.progress import Progress

_DUAL_LEVEL = {"goal.epochs": 8, "start.samples": 5}
_ANCHORS = {**_DUAL_LEVEL, "structure.hidden": 32, "feature_turns": 2, "structure_turns": 2}
_TRAINING = {
    "goal.training.epochs": 5,
    "goal.training.window": 2,
    "goal.training.horizon": 6,
    "goal.training.networks": 2,
    "goal.training.hidden": 8,
    "looks": 2,
}
_BOTH_PARTS = {"goal.closed_form.epochs": 3, **_TRAINING, "start.samples": 5}

#: What makes each preset quick: a few epochs, in which every part of it has its turn.
QUICK: dict[str, dict[str, Any]] = {
    "ahgcdd": {**_ANCHORS, "structure.warm.steps": 5},
    "ahgcdd-x": _DUAL_LEVEL,
    "ahgcdd-paper": _ANCHORS,
    "ahgcdd-x-paper": _DUAL_LEVEL,
    "means": {"start.samples": 5},
    "k-means": {},
    "ridge": {"goal.closed_form.epochs": 8},
    "unrolled": _BOTH_PARTS,
    "learnt": {**_TRAINING, "goal.training.epochs": 8, "start.second.samples": 5},
    "taught": {**_TRAINING, "goal.training.epochs": 8, "goal.teachers.number": 1, "start.samples": 5},
    "bundled": _BOTH_PARTS,
}


def quick(name: str, **settings: Any) -> Recipe:
    """A preset that takes 8 epochs, with more fields changed; write ``goal__epochs`` for ``goal.epochs``."""
    named = {path.replace("__", "."): value for path, value in settings.items()}
    return changed(changed(PRESETS[name][1], QUICK[name]), named)


def job_of(
    source: Hypergraph,
    parts: Split,
    labels: Any = (0, 0, 0, 1, 1, 1, 2, 2, 2),
    *,
    judge: Scorer | None = None,
    material: Material | None = None,
    **changes: Any,
) -> Job:
    """A job in memory that does not choose, unless there is a judge to stand for the short trainings."""
    material = material or Material(source, parts)
    if judge is not None:
        material.short_trainings = judge  # type: ignore[assignment]
    given = {"select": judge is not None, **changes}
    return Job(material=material, labels=np.asarray(labels), **given)


def kept_in(folder: Path, *, resume: bool = False, identity: str = "") -> Checkpoint:
    """A checkpoint that is written in every epoch."""
    return Checkpoint(folder, {"identity": identity}, resume=resume, every=0.0)


class Interrupted(Exception):
    """Stands for kill -9: nothing is caught, nothing is cleaned up."""


def interrupt_after(epoch: int) -> Progress:
    """What a job may tell of its progress, until it has done so many epochs."""

    def progress(stage: str, done: int, total: int, /, **figures: float) -> None:
        if stage == "condense" and done == epoch:
            raise Interrupted

    return progress


def relabelled(source: Hypergraph, node_ids: Any, labels: Any) -> Hypergraph:
    """The same hypergraph with other classes of some nodes."""
    changed_labels = source.labels.copy()
    changed_labels[node_ids] = labels
    return variant(source, labels=changed_labels, label_names=[str(i) for i in range(source.num_classes)])


def variant(source: Hypergraph, **changes: Any) -> Hypergraph:
    """The same hypergraph with other arguments of its construction."""
    given = {
        "features": source.features,
        "labels": source.labels,
        "incidence": source.incidence,
        "num_hyperedges": source.num_hyperedges,
    }
    return Hypergraph(**{**given, **changes})
