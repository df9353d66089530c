"""A source and everything that is made of it once: tensors, diffused rows, what trained networks think."""

import time
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hypercondense.condensing.allotment import (
    Counts,
    Sharing,
    by_spread,
    class_spreads,
    equal_shares,
    share_out,
)
from hypercondense.condensing.checkpoint import Checkpoint
from hypercondense.condensing.maps import Map
from hypercondense.condensing.starts import Drawn, Matrix, first_rows
from hypercondense.condensing.teachers import Teachers, opinions
from hypercondense.diffusion import SelectedRows, cached_diffusion, diffuse
from hypercondense.errors import ConfigError
from hypercondense.hypergraph import Dense, Hypergraph, Ids, Split
from hypercondense.hypergraph.scaling import Scale, Scaling, check_scaling
from hypercondense.names import ALLOCATIONS, Allocation, Metric
from hypercondense.nn.short_trainings import ShortTrainings
from hypercondense.nn.streamed import MappedInputs, bytes_in_memory, bytes_left, check_budget, inputs_of
from hypercondense.nn.training import Inputs
from hypercondense.runtime.clock import Clock
from hypercondense.runtime.engine import Engine
from hypercondense.runtime.progress import Progress, silent
from hypercondense.runtime.rng import Stream, numpy_generator
from hypercondense.runtime.threads import free_cores

MANY = 8_000  # validation nodes, from which on a sample of so many judges candidates that are only rows
_LISTS = 64  # bytes for every node of a large source: its split and labels
_WORTH_THREADS = 10_000_000  # entries of the features: below, they are diffused in a second


class Material:
    """What methods work on. All trials of a search share one.

    Condensing may read training labels only; validation labels choose between candidates, test labels are
    never read.

    Args:
        source: The hypergraph.
        split: Its training, validation and test nodes.
        device: Any torch device.
        memory: Bytes the diffusion may use; above them rows stay in a file. Of a mapped source, bytes that
            the process may take.
        cache_dir: Where diffused features are kept between runs; ``None`` keeps nothing.
        metric: What candidates are scored by on validation nodes.
        whole_training: Whether networks may be trained on everything, such as teachers.
        scaling: What is done to the features first.
        threads: Of torch, and of the diffusion, whose bits do not depend on them; by default torch has one,
            and the diffusion as many as are free.
        engine: Other machines that share diffusions and trials of a search; the default is this one.
        clock: Takes the time of what is made.
        progress: Told how far it is.

    ``source`` is the hypergraph with scaled features, ``origin`` the one that was given.
    """

    def __init__(
        self,
        source: Hypergraph,
        split: Split,
        *,
        device: str = "cpu",
        memory: int | None = None,
        cache_dir: Path | None = None,
        metric: Metric = "accuracy",
        whole_training: bool = True,
        scaling: Scaling = "none",
        threads: int | None = None,
        engine: Engine | None = None,
        clock: Clock | None = None,
        progress: Progress = silent,
    ) -> None:
        if memory is not None and source.is_mapped:
            check_budget(source, memory, lists=_LISTS)
        check_scaling(source, scaling, within_memory=memory is not None)
        self.scale = None if scaling == "none" else Scale.of(source)
        self.origin, self.split, self.device = source, split, device
        self.source = source if self.scale is None else self.scale.applied(source)
        self.memory, self.cache_dir, self.metric = memory, cache_dir, metric
        self.engine = engine
        self.clock, self.progress = clock or Clock(), progress
        self.whole_training, self.whole_trainings = whole_training and self._has_room, 0
        self.whole_seconds: float | None = None  # of one training of HGNN on everything, if measured
        self.estimate: float | None = None  # of the same, from a few epochs
        self.warnings: list[str] = []
        self._threads, self.torch_threads = threads, threads or 1
        self._parts: dict[Map, tuple[Matrix, Matrix]] = {}
        self._sampled: dict[Map, Dense] = {}
        self._starts: dict[tuple[Map, Drawn, bytes, int], tuple[Dense, list[Ids]]] = {}
        self._opinions: dict[tuple[Teachers, int, bool], Tensor] = {}

    def __getstate__(self) -> dict[str, Any]:
        """For another machine: with the rows that were diffused here, without what is of this one only."""
        left_out = ("inputs", "short_trainings", "threads", "_starts", "_opinions")
        state = {name: value for name, value in vars(self).items() if name not in left_out}
        here_only = {"engine": None, "cache_dir": None, "memory": None, "progress": silent, "clock": Clock()}
        return {**state, **here_only, "_starts": {}, "_opinions": {}}

    @cached_property
    def threads(self) -> int:
        """Threads that diffuse: those asked for, or the free cores where that takes long enough to gain."""
        large = self.source.num_nodes * self.source.num_features > _WORTH_THREADS
        return self._threads or (free_cores() if large else 1)

    @cached_property
    def train_labels(self) -> Ids:
        """Classes of the training nodes, in the order of ``split.train_ids``."""
        return self.source.labels[self.split.train_ids]

    @cached_property
    def inputs(self) -> Inputs:
        """The source as networks see it: as tensors, or from its file."""
        return inputs_of(self.source, device=self.device, memory=self.memory, scratch=self.cache_dir)

    @property
    def has_inputs(self) -> bool:
        """Whether the source has been made into tensors."""
        return "inputs" in self.__dict__

    @cached_property
    def short_trainings(self) -> ShortTrainings:
        """Tells what HGNN has on validation nodes after a short training on a candidate."""
        return ShortTrainings(self.inputs, self.split, metric=self.metric)

    @cached_property
    def sampled_ids(self) -> Ids:
        """A sample of validation nodes where these are many, evenly by position; otherwise none.

        The difference of two candidates that disagree about a twentieth of the nodes then has a standard
        error of 0.25 points.
        """
        return self.split.validation_ids[self._sampled_positions]

    @cached_property
    def _sampled_positions(self) -> Ids:
        number = len(self.split.validation_ids)
        size = MANY if number >= MANY else 0
        return (2 * np.arange(size) + 1) * number // max(1, 2 * size)

    def sampled_rows(self, rows_map: Map) -> Dense:
        """Diffused features of ``sampled_ids``, in memory."""
        if rows_map in self._parts:
            return self._parts[rows_map][1][self._sampled_positions]
        if rows_map not in self._sampled:
            self.training_rows(rows_map)  # they are diffused together
        return self._sampled[rows_map]

    @property
    def judging_ids(self) -> Ids:
        """The validation nodes that judge rows: the sample where they are many, else all."""
        return self.sampled_ids if len(self.sampled_ids) else self.split.validation_ids

    def judging_rows(self, rows_map: Map) -> Matrix:
        """Their diffused features, in their file if those of all validation nodes are."""
        rows = self.parts(rows_map)[1]
        if not len(self.sampled_ids):
            return rows
        positions = self._sampled_positions
        return SelectedRows(rows, positions) if isinstance(rows, SelectedRows) else rows[positions]

    def sharing(self, allocate: Allocation) -> Sharing:
        """How condensed nodes are shared out between classes; nothing is diffused before they are."""
        if allocate == "proportional":
            return share_out
        if allocate == "equal":
            return equal_shares
        if allocate != "adaptive":
            raise ConfigError(f"allocate must be one of {', '.join(ALLOCATIONS)}, got {allocate!r}")
        return self._share_by_spread

    def _share_by_spread(self, counts: Counts, size: int) -> Counts:
        """By the spread of diffused rows; in proportion to training nodes where that tells nothing."""
        spreads = self._class_spreads
        if not np.isfinite(spreads).all() or not spreads.any():
            warning = "the spread of classes is 0 or no number, so nodes were shared out in proportion"
            if warning not in self.warnings:
                self.warnings.append(warning)
            return share_out(counts, size)
        return by_spread(spreads, classes_count_alike=self.metric == "macro-f1")(counts, size)

    @cached_property
    def _class_spreads(self) -> NDArray[np.float64]:
        rows = self.parts(Map())[0] if self.memory is None else self.training_rows(Map())
        with np.errstate(over="ignore", invalid="ignore"):
            return class_spreads(rows, self.train_labels)

    def diffused(self, rows_map: Map) -> Dense:
        """Diffused features of all nodes, shape (nodes, features); perhaps a read-only memory map."""
        with self.clock.stage("diffuse"):
            return cached_diffusion(
                self.source,
                rows_map.polynomial,
                walks=rows_map.walks,
                cache_dir=self.cache_dir,
                memory=self._left,
                threads=self.threads,
                engine=self.engine,
                progress=self.progress,
            )

    @property
    def stays_on_disk(self) -> bool:
        """Whether there is a budget for the whole process, which a source from its file keeps."""
        return self.memory is not None and self.source.is_mapped

    @property
    def _has_room(self) -> bool:
        """Whether the budget allows a training on everything."""
        return not self.stays_on_disk or bytes_left(self.memory or 0) >= bytes_in_memory(self.source)

    @property
    def _left(self) -> int | None:
        """Bytes for a diffusion: the budget, of a mapped source what the process has not taken of it."""
        return self.memory if self.memory is None or not self.stays_on_disk else bytes_left(self.memory)

    def parts(self, rows_map: Map) -> tuple[Matrix, Matrix]:
        """Diffused features of the training nodes and of the validation nodes.

        They are in memory, but for those of a mapped source under a budget, which stay in their file.
        """
        if rows_map not in self._parts:
            ids = self.split.train_ids, self.split.validation_ids
            if self._nobody_keeps_rows:
                both = self._diffused_at(np.concatenate(ids), rows_map)
                self._parts[rows_map] = both[: len(ids[0])], both[len(ids[0]) :]
            else:
                diffused = self.diffused(rows_map)
                if self.stays_on_disk and isinstance(diffused, np.memmap):
                    self._parts[rows_map] = SelectedRows(diffused, ids[0]), SelectedRows(diffused, ids[1])
                    return self._parts[rows_map]
                with self.clock.stage("diffuse"):  # reading the rows of a memory map takes time too
                    self._parts[rows_map] = np.asarray(diffused[ids[0]]), np.asarray(diffused[ids[1]])
        return self._parts[rows_map]

    def training_rows(self, rows_map: Map) -> Matrix:
        """Diffused features of the training nodes, shape (training nodes, features) (Eq. 4).

        Under a memory budget they stay in their file and are read a few at a time.
        """
        if rows_map in self._parts:
            return self._parts[rows_map][0]
        if self._nobody_keeps_rows:
            number = len(self.split.train_ids)
            rows = self._diffused_at(np.concatenate([self.split.train_ids, self.sampled_ids]), rows_map)
            self._sampled[rows_map] = rows[number:].copy()  # the others need not stay
            return rows[:number]
        diffused = self.diffused(rows_map)
        with self.clock.stage("diffuse"):
            self._sampled[rows_map] = SelectedRows(diffused, self.sampled_ids)[:]
        if self.memory is not None and isinstance(diffused, np.memmap):
            return SelectedRows(diffused, self.split.train_ids)
        with self.clock.stage("diffuse"):
            return np.asarray(diffused[self.split.train_ids])

    def first_features(
        self, rows: Matrix, rows_map: Map, start: Drawn, labels: Ids, *, seed: int
    ) -> tuple[Tensor, tuple[Ids, ...]]:
        """Means of ``rows`` of training nodes under a map (Eq. 6), and the nodes each was made from."""
        key = (rows_map, start, labels.tobytes(), seed)
        with self.clock.stage("start"):
            if key not in self._starts:
                rng = numpy_generator(seed, Stream.START)
                self._starts[key] = first_rows(rows, self.train_labels, labels, start=start, rng=rng)
        features, groups = self._starts[key]
        members = tuple(self.split.train_ids[group] for group in groups)
        return torch.from_numpy(features.copy()).to(self.device), members

    def opinions(
        self,
        teachers: Teachers,
        *,
        seed: int,
        select: bool = True,
        checkpoint: Checkpoint | None = None,
        progress: Progress | None = None,
    ) -> Tensor:
        """Shares of the classes in every node, as teachers see them, (nodes, classes).

        Without ``select`` no validation label is read: teachers keep their last epoch. What each of them
        thinks is kept beside ``checkpoint``, for a run that is interrupted.
        """
        key = (teachers, seed, select)
        if key not in self._opinions:
            split = (
                self.split if select else replace(self.split, validation_ids=self.split.validation_ids[:0])
            )
            self.begin_whole_training("teachers", teachers.number)
            with self.clock.stage("teach"):
                begin = time.perf_counter()
                self._opinions[key] = opinions(
                    teachers,
                    self.inputs,
                    split,
                    seed=seed,
                    metric=self.metric,
                    progress=progress or self.progress,
                    warn=self.warnings.append,
                    checkpoint=checkpoint,
                )
                # What is continued takes less than a training does.
                if teachers.network == "hgnn" and not (checkpoint and checkpoint.resume):
                    self.whole_seconds = (time.perf_counter() - begin) / teachers.number
        return self._opinions[key]

    def begin_whole_training(self, who: str, number: int) -> None:
        """Count networks that are about to be trained on everything.

        Raises:
            ConfigError: No network may be.
        """
        if self.stays_on_disk:
            MappedInputs(self.source, memory=self.memory).check_room(who)
        if not self.whole_training:
            raise ConfigError(
                f"this method needs {who} trained on everything, which is forbidden (--no-whole-training); "
                "allow it, or use a method that does without"
            )
        self.whole_trainings += number

    @property
    def _nobody_keeps_rows(self) -> bool:
        """Whether rows that are not asked for now need not be made at all."""
        return self.memory is None and self.cache_dir is None

    def _diffused_at(self, node_ids: Ids, rows_map: Map) -> Dense:
        with self.clock.stage("diffuse"):
            return diffuse(
                self.source,
                rows_map.polynomial,
                walks=rows_map.walks,
                node_ids=node_ids,
                threads=self.threads,
                engine=self.engine,
                progress=self.progress,
            )
