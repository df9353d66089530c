"""Seconds of single pieces of work on this machine: the real code on a part of the source, for two seconds.

A part is as many rows of the source as take a moment, joined by random hyperedges of the usual size; a small
source is its own part. Some pieces take as long on the part as on everything, others grow with its size.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import numpy as np
import torch
from msgspec import structs
from torch.nn import functional

from hypercondense.condensing.dual_level import DualLevel
from hypercondense.condensing.job import Job
from hypercondense.condensing.material import MANY, Material
from hypercondense.condensing.predict import Predict
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.starts import Better
from hypercondense.condensing.unrolled import Unrolled
from hypercondense.errors import CondensationError
from hypercondense.evaluation.forecast import timed
from hypercondense.hypergraph import Hypergraph, Ids, Split, split_from_ids
from hypercondense.nn import build
from hypercondense.nn.learner import averaged_learner
from hypercondense.nn.looks import VALIDATE_EVERY, Looks
from hypercondense.nn.training import Configuration, Inputs, fitting_step, train
from hypercondense.runtime import memory
from hypercondense.runtime.loading import load_optimizers
from hypercondense.runtime.rng import Stream, generator, seeded
from hypercondense.runtime.threads import one_thread
from hypercondense.typed import digest_of

_ENTRIES, _NODES, _LEAST = 16_000_000, 20_000, 2_000  # features, and nodes of a part at most and least
_ROUNDS = 3  # of epochs between two looks, in a training that tells what a step takes
_LONGEST, _MOST = 0.3, 8  # seconds and epochs of an optimization that tell what one epoch takes


@dataclass(frozen=True, kw_only=True)
class OfRecipe:
    """Seconds of a recipe: on the part, but ``preparing``, ``epoch`` and ``look`` do not grow with it.

    ``diffusing`` is that of the maps that no recipe before it needed.
    """

    diffusing: float
    starting: float
    preparing: float
    epoch: float
    look: float


@dataclass(frozen=True, kw_only=True)
class OfNetwork:
    """Seconds of a network in all its forms: a step on condensed nodes, which does not grow, and a look."""

    step: float
    look: float


class Pieces(Protocol):
    """Where estimates have their seconds from."""

    growth: float  # nodes of the source / nodes of the part

    def recipe(self, recipe: Recipe) -> OfRecipe:
        """Of a recipe with one part of a goal, and epochs and looks that do not matter."""

    def network(self, model: str) -> OfNetwork:
        """Of a network."""

    def whole_step(self, model: str) -> float:
        """Of a network, in its first form, that is trained on the part itself."""

    def rows_judge(self) -> float:
        """One score of rows by the network that is asked about a sample of many validation nodes."""

    @property
    def working_bytes(self) -> int:
        """The most memory that pieces took beside the part."""


class Measured:
    """Pieces that are measured when they are asked for; to be closed."""

    def __init__(
        self, source: Hypergraph, split: Split, labels: Ids, *, cached: bool = True, most: int = _NODES
    ) -> None:
        nodes = max(_LEAST, 4 * len(labels), min(most, _ENTRIES // max(1, source.num_features)))
        self.source, self.split = (
            (source, split) if nodes >= source.num_nodes else part_of(source, labels, nodes)
        )
        self.labels = labels
        self.growth = source.num_nodes / self.source.num_nodes
        self._folder = TemporaryDirectory(prefix="hypercondense-")
        folder = Path(self._folder.name) if cached else None
        self.material = Material(self.source, self.split, cache_dir=folder, threads=1)
        self.working_bytes = 0
        self._recipes: dict[str, OfRecipe] = {}
        load_optimizers()

    def close(self) -> None:
        """Remove what was written."""
        self._folder.cleanup()

    def recipe(self, recipe: Recipe) -> OfRecipe:
        """As :class:`Pieces` says."""
        key = digest_of(recipe)
        if key not in self._recipes:
            self._recipes[key] = self._measured(recipe)
        return self._recipes[key]

    def _measured(self, recipe: Recipe) -> OfRecipe:
        first = self._stages(recipe, 1)
        epochs = int(min(_MOST, _LONGEST / max(1e-4, first["optimize"] - first["select"])))
        told = self._stages(recipe, epochs) if epochs > 1 else first
        epochs = max(1, epochs)
        return OfRecipe(
            diffusing=first["diffuse"],
            starting=first["start"],
            preparing=told["warm up"],
            epoch=max(0.0, told["optimize"] - told["select"]) / epochs,
            look=told["select"] / 2,
        )

    def network(self, model: str) -> OfNetwork:
        """As :class:`Pieces` says."""
        source, few = self.material.inputs, Configuration(model=model, epochs=_ROUNDS * VALIDATE_EVERY)
        with self._watched(), one_thread():
            condensed = Inputs.of(self._condensed())
            trained = train(few, condensed, source, self.split, seed=0)  # the first prepares things
            seconds = timed(lambda: train(few, condensed, source, self.split, seed=0))
            looks = Looks(source, self.split, every=1, epochs=1, metric="accuracy")
            look = timed(lambda: looks.at_all(trained.model)) if len(looks.ids) else 0.0
        look *= len(few.in_each_form())
        return OfNetwork(step=max(0.0, seconds - _ROUNDS * look) / (_ROUNDS * VALIDATE_EVERY), look=look)

    def rows_judge(self) -> float:
        """As :class:`Pieces` says."""
        condensed, shown = (
            self._condensed(),
            self.source.dense_features(np.arange(MANY) % self.source.num_nodes),
        )
        rows = torch.from_numpy(condensed.dense_features().copy())
        targets = functional.one_hot(torch.from_numpy(self.labels.copy()), self.source.num_classes).float()

        def judge() -> None:
            chance = generator(0, Stream.LEARNERS)
            averaged_learner(rows, targets, how=Unrolled().training, chance=chance)(torch.from_numpy(shown))

        with self._watched(), one_thread():
            return timed(judge)

    def whole_step(self, model: str) -> float:
        """As :class:`Pieces` says."""
        source = self.material.inputs
        with self._watched(), one_thread(), seeded(0):
            form = Configuration(model=model).in_each_form()[0]
            sizes = {"num_features": source.num_features, "num_classes": source.num_classes}
            step = fitting_step(build(model, **sizes, **form.options), form, source, source, self.split)
            step()
            return timed(step)

    def _stages(self, recipe: Recipe, epochs: int) -> dict[str, float]:
        """Seconds of the stages of a recipe of so many epochs, with a look at the start and at the end."""
        clock = self.material.clock
        clock.seconds = {}
        job = Job(material=self.material, labels=self.labels)
        with self._watched(), one_thread(), suppress(CondensationError):
            brief(recipe, epochs).run(job)
        names = ("diffuse", "start", "warm up", "optimize", "select")
        return {name: clock.seconds.get(name, 0.0) for name in names}

    def _watched(self) -> "_Watch":
        return _Watch(self)

    def _condensed(self) -> Hypergraph:
        """As many nodes as will be made, each with a hyperedge of its own."""
        rows = self.source.dense_features(self.split.train_ids[: len(self.labels)])
        features = np.resize(rows, (len(self.labels), self.source.num_features))
        ids = np.arange(len(self.labels))
        return Hypergraph(
            features=features, labels=self.labels, incidence=(ids, ids), num_hyperedges=len(ids)
        )


class _Watch:
    """Notes the most memory that a block took."""

    def __init__(self, pieces: Measured) -> None:
        self.pieces = pieces

    def __enter__(self) -> None:
        memory.reset_peak()
        self.before = memory.resident_bytes()

    def __exit__(self, *_: object) -> None:
        taken = memory.peak_bytes() - self.before
        self.pieces.working_bytes = max(self.pieces.working_bytes, taken)


def brief(recipe: Recipe, epochs: int) -> Recipe:
    """The same for so many epochs and one look, without teachers and from one start.

    >>> brief(Recipe(looks=4), 3).goal.epochs
    3
    """
    goal = recipe.goal
    if isinstance(goal, DualLevel):
        goal = structs.replace(goal, epochs=epochs)
    if isinstance(goal, Predict):
        closed, training = goal.closed_form, goal.training
        goal = structs.replace(
            goal,
            teachers=None,
            closed_form=closed and structs.replace(closed, epochs=epochs),
            # One network alone: several begin at different ages, which makes the first epochs longer.
            training=training and structs.replace(training, epochs=epochs, networks=1),
        )
    start = recipe.start.first if isinstance(recipe.start, Better) else recipe.start
    looks = 1 if recipe.looks and isinstance(goal, Predict) else 0
    return structs.replace(recipe, goal=goal, start=start, looks=looks)


def part_of(source: Hypergraph, labels: Ids, nodes: int) -> tuple[Hypergraph, Split]:
    """So many nodes with evenly taken rows, classes as of condensed nodes, and random hyperedges.

    There are as many hyperedges and incidences for a node as in the source.
    """
    rng = np.random.default_rng(0)
    share = nodes / source.num_nodes
    rows = (np.arange(nodes) / share).astype(np.int64)
    hyperedges = max(1, round(source.num_hyperedges * share))
    incidences = min(round(source.num_incidences * share), nodes * hyperedges // 2)
    drawn = rng.integers(hyperedges, size=incidences), rng.integers(nodes, size=incidences)
    drawn_ids, node_ids = np.unique(np.stack(drawn), axis=1)
    found, hyperedge_ids = np.unique(drawn_ids, return_inverse=True)
    part = Hypergraph(
        features=source.features[rows],
        labels=np.resize(labels, nodes),
        incidence=(node_ids, hyperedge_ids),
        num_hyperedges=len(found),
    )
    half, rest = nodes // 2, 3 * nodes // 4
    ids = np.arange(nodes)
    return part, split_from_ids(
        part, train_ids=ids[:half], validation_ids=ids[half:rest], test_ids=ids[rest:]
    )
