"""What a recipe will cost beside one training on the whole, from sizes alone.

Decisions by measured time would differ from run to run, and results with them. So seconds are *nominal*: work
counted from sizes, at speeds of one core that were fitted once to trainings and recipes on ten data
sets. Only ratios matter, and these are alike on other machines.
"""

from dataclasses import dataclass

import numpy as np

from hypercondense.condensing.dual_level import DualLevel
from hypercondense.condensing.predict import Predict
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.unrolled import Unrolled
from hypercondense.hypergraph import Hypergraph, Split

_PER_SECOND = 45e9  # multiplications and additions in products of matrices
_BYTES_PER_SECOND = 1e10  # of what is done number by number
_PASSES = 33  # over the weights of a learner, in a step of its training and back
_PRODUCTS = 6  # of matrices for each layer, with those of its gradient, and two operations each
_STEP_BACK = 1.1e-3  # seconds of a step of training and back that no size explains
_EPOCH = 0.01  # the same for an epoch on the source
_PER_NODE, _PER_ENTRY, _PER_INCIDENCE = 4.7e-6, 3.5e-8, 2.5e-7  # of an epoch on the source
_PER_CLASS = 1e-7  # of a node
_EPOCHS, _LOOKS = 200, 40  # of a training
_CONDENSED_EPOCH = 4e-3  # of a network on a condensed hypergraph
_DUAL_LEVEL_EPOCH = 0.02


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Of a source and of what it is condensed to."""

    nodes: int
    incidences: int  # with self-loops
    entries: int  # of the features that are not 0
    features: int
    classes: int
    training: int
    validation: int
    condensed: int

    @classmethod
    def of(cls, source: Hypergraph, split: Split, condensed: int) -> "Sizes":
        """Count."""
        features = source.features
        return cls(
            nodes=source.num_nodes,
            incidences=source.num_incidences + source.num_nodes,
            entries=int(features.nnz if source.is_sparse else np.count_nonzero(features)),
            features=source.num_features,
            classes=source.num_classes,
            training=len(split.train_ids),
            validation=len(split.validation_ids),
            condensed=condensed,
        )


def whole_training(sizes: Sizes) -> float:
    """Nominal seconds of one training of HGNN on the whole."""
    return _EPOCHS * _epoch(sizes)


def judging(sizes: Sizes, *, trainings: int, epochs: int, looks: int) -> float:
    """Of trainings on a candidate, with looks at the validation nodes of the source."""
    return trainings * (epochs * _CONDENSED_EPOCH + looks * _epoch(sizes) / 6)


def condensing(recipe: Recipe, sizes: Sizes) -> float:
    """Of carrying out a recipe, without the diffusion, which all recipes need."""
    goal = recipe.goal
    if isinstance(goal, DualLevel):
        return goal.epochs * _DUAL_LEVEL_EPOCH + recipe.looks * judging(
            sizes, trainings=1, epochs=80, looks=4
        )
    if not isinstance(goal, Predict):
        return 0.0
    rows = sizes.condensed // (1 if recipe.bundles is None else recipe.bundles.size)
    seconds = 0.0
    if goal.closed_form is not None:
        solve = 3 * rows**2 * sizes.features * 2 + rows**3
        predict = _PRODUCTS * goal.batch * sizes.features * sizes.classes
        seconds += goal.closed_form.epochs * ((solve + predict) / _PER_SECOND + 1e-3)
    if goal.training is not None:
        seconds += goal.training.epochs * _unrolled(goal.training, rows, goal.batch, sizes)
    if goal.teachers is not None:
        seconds += goal.teachers.number * whole_training(sizes)
    return seconds


def _epoch(sizes: Sizes) -> float:
    """An epoch of training on the source."""
    nodes = sizes.nodes * (_PER_NODE + _PER_CLASS * sizes.classes)
    work = nodes + sizes.entries * _PER_ENTRY + sizes.incidences * _PER_INCIDENCE
    return _EPOCH + work


def _unrolled(training: Unrolled, rows: int, batch: int, sizes: Sizes) -> float:
    """An epoch through a training."""
    weights = sizes.features * training.hidden
    products = weights * (training.window * 2 * _PRODUCTS * rows + _PRODUCTS * batch)
    passes = training.window * _PASSES * 4 * weights
    return training.window * _STEP_BACK + products / _PER_SECOND + passes / _BYTES_PER_SECOND
