"""A source and everything that is made of it once: tensors, diffused rows, what trained networks think."""

from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from hypercondense.condensing.maps import Map
from hypercondense.condensing.starts import Matrix, Start, first_rows
from hypercondense.condensing.teachers import Teachers, opinions
from hypercondense.diffusion import SelectedRows, cached_diffusion, diffuse
from hypercondense.hypergraph import Dense, Hypergraph, Ids, Split
from hypercondense.nn.short_trainings import ShortTrainings
from hypercondense.nn.training import Inputs
from hypercondense.runtime.clock import Clock
from hypercondense.runtime.progress import Progress, silent
from hypercondense.runtime.rng import Stream, numpy_generator


class Material:
    """What methods work on. All trials of a search share one.

    Condensing may read training labels only; validation labels choose between candidates, test labels are
    never read.

    Args:
        source: The hypergraph.
        split: Its training, validation and test nodes.
        device: Any torch device.
        memory: Bytes the diffusion may use; above them rows stay in a file.
        cache_dir: Where diffused features are kept between runs; ``None`` keeps nothing.
        clock: Takes the time of what is made.
        progress: Told how far it is.
    """

    def __init__(
        self,
        source: Hypergraph,
        split: Split,
        *,
        device: str = "cpu",
        memory: int | None = None,
        cache_dir: Path | None = None,
        clock: Clock | None = None,
        progress: Progress = silent,
    ) -> None:
        self.source, self.split, self.device = source, split, device
        self.memory, self.cache_dir = memory, cache_dir
        self.clock, self.progress = clock or Clock(), progress
        self.threads = torch.get_num_threads()  # for work on the source
        self._parts: dict[Map, tuple[Dense, Dense]] = {}
        self._starts: dict[tuple[Map, Start, bytes, int], tuple[Dense, list[Ids]]] = {}
        self._opinions: dict[tuple[Teachers, int, bool], Tensor] = {}

    @cached_property
    def train_labels(self) -> Ids:
        """Classes of the training nodes, in the order of ``split.train_ids``."""
        return self.source.labels[self.split.train_ids]

    @cached_property
    def inputs(self) -> Inputs:
        """The source as tensors."""
        return Inputs.of(self.source, device=self.device)

    @cached_property
    def short_trainings(self) -> ShortTrainings:
        """Tells what HGNN has on validation nodes after a short training on a candidate."""
        return ShortTrainings(self.inputs, self.split)

    def diffused(self, rows_map: Map) -> Dense:
        """Diffused features of all nodes, shape (nodes, features); perhaps a read-only memory map."""
        with self.clock.stage("diffuse"):
            return cached_diffusion(
                self.source,
                rows_map.coefficients,
                walks=rows_map.walks,
                cache_dir=self.cache_dir,
                memory=self.memory,
                threads=self.threads,
                progress=self.progress,
            )

    def parts(self, rows_map: Map) -> tuple[Dense, Dense]:
        """Diffused features of the training nodes and of the validation nodes, in memory."""
        if rows_map not in self._parts:
            ids = self.split.train_ids, self.split.validation_ids
            if self._nobody_keeps_rows:
                both = self._diffused_at(np.concatenate(ids), rows_map)
                self._parts[rows_map] = both[: len(ids[0])], both[len(ids[0]) :]
            else:
                diffused = self.diffused(rows_map)
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
            return self._diffused_at(self.split.train_ids, rows_map)
        diffused = self.diffused(rows_map)
        if self.memory is not None and isinstance(diffused, np.memmap):
            return SelectedRows(diffused, self.split.train_ids)
        with self.clock.stage("diffuse"):
            return np.asarray(diffused[self.split.train_ids])

    def first_features(
        self, rows: Matrix, rows_map: Map, start: Start, labels: Ids, *, seed: int
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

    def opinions(self, teachers: Teachers, *, seed: int, select: bool = True) -> Tensor:
        """Shares of the classes in every node, as teachers see them, (nodes, classes).

        Without ``select`` no validation label is read: teachers keep their last epoch.
        """
        key = (teachers, seed, select)
        if key not in self._opinions:
            split = (
                self.split if select else replace(self.split, validation_ids=self.split.validation_ids[:0])
            )
            with self.clock.stage("teach"):
                self._opinions[key] = opinions(
                    teachers, self.inputs, split, seed=seed, progress=self.progress
                )
        return self._opinions[key]

    @property
    def _nobody_keeps_rows(self) -> bool:
        """Whether rows that are not asked for now need not be made at all."""
        return self.memory is None and self.cache_dir is None

    def _diffused_at(self, node_ids: Ids, rows_map: Map) -> Dense:
        with self.clock.stage("diffuse"):
            return diffuse(
                self.source,
                rows_map.coefficients,
                walks=rows_map.walks,
                node_ids=node_ids,
                threads=self.threads,
                progress=self.progress,
            )
