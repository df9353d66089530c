"""What a recipe will cost beside one training on the whole, from sizes alone.

Decisions by measured time would differ from run to run, and results with them. So seconds are *nominal*: work
counted from sizes, at speeds that were fitted once to processor time of one idle core on eleven data
sets (docs/decisions/0020). Only ratios matter, and these are alike on other machines.
"""

from dataclasses import dataclass

from msgspec import structs

from hypercondense.condensing.dual_level import DualLevel
from hypercondense.condensing.material import MANY
from hypercondense.condensing.predict import Predict
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.starts import Better, KMeans, Means
from hypercondense.condensing.unrolled import Unrolled
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.hypergraph.streamed import num_entries

_PER_SECOND = 85e9  # multiplications and additions in products of matrices
_BYTES_PER_SECOND = 28e9  # of what is done number by number
_PASSES = 33  # over the weights of a learner, in a step of its training and back
_BATCH_PASSES = 4  # over the rows of a batch
_PRODUCTS = 6  # of matrices for each layer, with those of its gradient, and two operations each
_STEP_BACK = 2.2e-4  # seconds of a step of training and back that no size explains
_PER_UNIT = 1.2e-8  # of a hidden unit of a condensed row, in such a step
_STEP = 8e-5  # the same without the way back
_LOOK_STEPS = 150  # of the learner that tells what a state is worth
_CLOSED_EPOCH = 6e-4  # that no size explains, of an epoch of the closed form
_CUBES = 8  # of condensed rows, in operations: a factor of their products, and back
_EPOCH = 6e-4  # and for an epoch on the source
_PER_NODE, _GROWTH = 3.3e-7, 1.15  # of an epoch on the source: beyond a cache nodes cost more
_PER_CLASS, _PER_ENTRY = 5e-8, 1.1e-8  # of a node and of a feature that is not 0
_EPOCHS, _LOOKS = 200, 40  # of a training
_LOOKS_LEFT = 12  # that a training on condensed nodes costs: of many nodes a sample is looked at
_GUARD = 80  # epochs of its training on random nodes
_MAPS, _PRODUCTS_OF_MAP, _DIFFUSED_PER_SECOND = 3, 4.5, 2e9
_PER_DRAWN = 2.4e-8  # of a feature of a training row that k-means goes through
_DUAL_LEVEL_EPOCH, _PER_FEATURE, _PER_PAIR = 2e-3, 8.5e-8, 8e-8  # of a condensed row, of two of them


@dataclass(frozen=True)
class Asking:
    """What a network costs on a candidate.

    Args:
        epoch: Seconds of an epoch that no size explains.
        look: A look at validation nodes, in epochs on the source.
        hidden: Width of its first layer.
    """

    epoch: float
    look: float
    hidden: int = 128

    def epoch_on(self, sizes: "Sizes") -> float:
        """Seconds of an epoch on the condensed nodes; gradients of features are not needed."""
        weights = sizes.features * self.hidden
        passes = 15 * 4 * (weights + 4 * sizes.condensed * self.hidden)
        return self.epoch + 4 * weights * sizes.condensed / _PER_SECOND + passes / _BYTES_PER_SECOND


_HGNN, _OTHERS = Asking(3e-4, 0.2), Asking(1.1e-3, 1.0)


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
            entries=num_entries(features),
            features=source.num_features,
            classes=source.num_classes,
            training=len(split.train_ids),
            validation=len(split.validation_ids),
            condensed=condensed,
        )


def whole_training(sizes: Sizes) -> float:
    """Nominal seconds of one training of HGNN on the whole."""
    return _EPOCHS * _epoch(sizes)


def judging(sizes: Sizes, *, network: str = "hgnn", trainings: int, epochs: int, looks: int) -> float:
    """Of trainings on a candidate, with looks at the validation nodes of the source."""
    one = _HGNN if network == "hgnn" else _OTHERS
    return trainings * (epochs * one.epoch_on(sizes) + looks * one.look * _epoch(sizes))


def diffusing(maps: int, sizes: Sizes) -> float:
    """Of rows under so many maps."""
    return maps * _PRODUCTS_OF_MAP * sizes.incidences * sizes.features / _DIFFUSED_PER_SECOND


def in_any_case(sizes: Sizes) -> float:
    """Of what no choice of a recipe changes: the diffusion, the guard, and a training on the result."""
    training = judging(sizes, trainings=1, epochs=_EPOCHS, looks=_LOOKS_LEFT)
    return diffusing(_MAPS, sizes) + training + guarding(sizes)


def guarding(sizes: Sizes) -> float:
    """Of a short training on random nodes."""
    return judging(sizes, trainings=1, epochs=_GUARD, looks=4)


def condensing(recipe: Recipe, sizes: Sizes) -> float:
    """Of carrying out a recipe, without the diffusion, which all recipes need."""
    goal, start = recipe.goal, _starting(recipe, sizes)
    if isinstance(goal, DualLevel):
        epoch = _DUAL_LEVEL_EPOCH
        epoch += sizes.condensed * (sizes.features * _PER_FEATURE + sizes.condensed * _PER_PAIR)
        return start + goal.epochs * epoch + judging(sizes, trainings=1 + recipe.looks, epochs=80, looks=4)
    if not isinstance(goal, Predict):
        return start
    rows = sizes.condensed // (1 if recipe.bundles is None else recipe.bundles.size)
    starts = 2 if isinstance(recipe.start, Better) else 0  # that are judged besides
    seconds = start
    if goal.closed_form is not None:
        solve = _PRODUCTS * rows**2 * sizes.features + _CUBES * rows**3
        predict = _PRODUCTS * goal.batch * sizes.features * sizes.classes
        passes = _BATCH_PASSES * 4 * goal.batch * sizes.features / _BYTES_PER_SECOND
        epochs = (1 + starts) * goal.closed_form.epochs
        seconds += epochs * ((solve + predict) / _PER_SECOND + passes + _CLOSED_EPOCH)
    if goal.training is not None:
        seconds += goal.training.epochs * _unrolled(goal.training, rows, goal.batch, sizes)
        seconds += (1 + recipe.looks + starts) * _look(goal.training, rows, sizes)
    return seconds + teaching(recipe, sizes)


def starting(recipe: Recipe, sizes: Sizes) -> float:
    """The part of it that finding a start takes: clusters, and the judging of two."""
    return condensing(recipe, sizes) - condensing(structs.replace(recipe, start=Means()), sizes)


def teaching(recipe: Recipe, sizes: Sizes) -> float:
    """The part of it that teachers take, and rows of all nodes that they speak of."""
    goal = recipe.goal
    if not isinstance(goal, Predict) or goal.teachers is None:
        return 0.0
    return goal.teachers.number * whole_training(sizes) + diffusing(1 + len(goal.also), sizes)


def _starting(recipe: Recipe, sizes: Sizes) -> float:
    """Of drawing first rows: means take a moment."""
    drawn = recipe.start.both if isinstance(recipe.start, Better) else (recipe.start,)
    return sum(isinstance(one, KMeans) for one in drawn) * sizes.training * sizes.features * _PER_DRAWN


def _epoch(sizes: Sizes) -> float:
    """An epoch of training on the source; incidences explained nothing that nodes do not."""
    nodes = _PER_NODE * sizes.nodes**_GROWTH + _PER_CLASS * sizes.nodes * sizes.classes
    return float(_EPOCH + nodes + sizes.entries * _PER_ENTRY)


def _unrolled(training: Unrolled, rows: int, batch: int, sizes: Sizes) -> float:
    """An epoch through a training."""
    weights = sizes.features * training.hidden
    products = weights * (training.window * 2 * _PRODUCTS * rows + _PRODUCTS * batch)
    passes = training.window * _PASSES * 4 * weights
    step = _STEP_BACK + rows * training.hidden * _PER_UNIT
    return training.window * step + products / _PER_SECOND + passes / _BYTES_PER_SECOND


def _look(training: Unrolled, rows: int, sizes: Sizes) -> float:
    """A learner that is trained on a state, without the way back, and asked about validation rows."""
    weights = sizes.features * training.hidden
    products = _PRODUCTS * weights * rows / _PER_SECOND
    passes = _PASSES * 4 * weights / _BYTES_PER_SECOND
    return _LOOK_STEPS * (_STEP + products + passes) + 2 * weights * min(sizes.validation, MANY) / _PER_SECOND
