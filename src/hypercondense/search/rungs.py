"""What the ladder of ``auto`` tries, as recipes: each can be carried out again by itself."""

from collections.abc import Iterator

from msgspec.structs import replace

from hypercondense.condensing.anchors import Anchors
from hypercondense.condensing.bundles import Bundles
from hypercondense.condensing.closed_form import ClosedForm
from hypercondense.condensing.dual_level import DualLevel
from hypercondense.condensing.maps import Map
from hypercondense.condensing.predict import Predict, Smoothed
from hypercondense.condensing.presets import PRESETS
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.starts import KMeans
from hypercondense.condensing.teachers import Teachers
from hypercondense.condensing.unrolled import Unrolled
from hypercondense.search.policy import Try

#: Epochs of the closed form, of a brief and of a long optimization through a training.
CLOSED_FORM_EPOCHS, BRIEF_EPOCHS, LONG_EPOCHS = 100, 30, 200
_HIDDEN = 64
_SMALL, _LARGE = 100, 300  # condensed nodes: few want small steps, many want more of them
_RAW, _HALF = Map(kernel="none"), Map(time=1.0)

MEANS = PRESETS["means"][1]


def first_starts() -> Iterator[Try]:
    """Means of 100 rows, diffused or not: does structure help?"""
    yield Try("means of 100 rows, heat kernel", MEANS)
    yield Try("means of 100 rows, raw", replace(MEANS, map=_RAW))


def another_map() -> Iterator[Try]:
    """The same, diffused in another way."""
    yield Try("means of 100 rows, P^2", replace(MEANS, map=Map(kernel="power")))


def further_starts(best: Recipe) -> Iterator[Try]:
    """Another way to aggregate rows under the best map."""
    yield Try("k-means", replace(best, start=KMeans()))


def closed_form(start: Recipe, num_nodes: int) -> Recipe:
    """Features by the closed form, classes smoothed: a linear model is too sure of itself.

    Half-diffused rows are to be predicted too: networks see something in between.
    """
    phase = ClosedForm(
        epochs=_times(num_nodes) * CLOSED_FORM_EPOCHS, step=0.1 if num_nodes < _SMALL else 0.15
    )
    also = (_HALF,) if start.map.trusts_structure else ()
    return replace(start, goal=Predict(closed_form=phase, also=also, labels=Smoothed()), looks=4)


def brief_training(start: Recipe, num_nodes: int) -> Recipe:
    """A little through a training: too short to overfit, however many nodes there are."""
    return _through_training(start, BRIEF_EPOCHS)


def long_training(start: Recipe, num_nodes: int) -> Recipe:
    """Far through a training."""
    return _through_training(start, _times(num_nodes) * LONG_EPOCHS)


def taught(start: Recipe, num_nodes: int) -> Recipe:
    """Far through a training, towards what networks that know everything make of all nodes."""
    trained = long_training(start, num_nodes)
    assert isinstance(trained.goal, Predict)
    teachers = Teachers(network="hgnn" if start.map.trusts_structure else "mlp")
    return replace(trained, goal=replace(trained.goal, teachers=teachers))


def in_bundles(recipe: Recipe) -> Recipe:
    """The same with noisy nodes, for networks that look at single nodes first or take means of neighbours."""
    goal = recipe.goal
    assert isinstance(goal, Predict)
    training = goal.training and replace(goal.training, epochs=2 * goal.training.epochs)  # for twice the rows
    also = (*goal.also, replace(recipe.map, walks=True))
    return replace(recipe, goal=replace(goal, training=training, also=also), bundles=Bundles())


def elaborations(start: Recipe, second: Recipe | None, num_nodes: int) -> Iterator[Try]:
    """What else is worth trying when the budget is not used up."""
    closed, trained = closed_form(start, num_nodes), long_training(start, num_nodes)
    assert isinstance(closed.goal, Predict) and isinstance(trained.goal, Predict)
    assert closed.goal.closed_form is not None and trained.goal.training is not None
    both_phases = replace(closed.goal, training=Unrolled(epochs=2 * BRIEF_EPOCHS, hidden=_HIDDEN))
    yield Try("closed form, then through a training", replace(closed, goal=both_phases))
    dual = replace(start, goal=DualLevel())
    yield Try("dual-level loss with structure", replace(dual, structure=Anchors()))
    yield Try("dual-level loss", dual)
    yield Try("closed form, smoothed classes, with structure", replace(closed, structure=Anchors()))
    yield Try("through a training, with structure", replace(trained, structure=Anchors()))
    if second is not None:
        where = "from the second-best start"
        yield Try(f"closed form, smoothed classes, {where}", closed_form(second, num_nodes))
        yield Try(f"through a training, briefly, {where}", brief_training(second, num_nodes))
    more = (_RAW, _HALF)
    yield Try("closed form with raw rows too", replace(closed, goal=replace(closed.goal, also=more)))
    yield Try(
        "through a training with half-diffused and raw rows",
        replace(trained, goal=replace(trained.goal, also=more)),
    )
    longer = replace(closed.goal.closed_form, epochs=3 * closed.goal.closed_form.epochs)
    yield Try(
        "closed form, three times as long", replace(closed, goal=replace(closed.goal, closed_form=longer))
    )
    wider = replace(trained.goal.training, hidden=4 * _HIDDEN)
    yield Try(
        "through the training of a wider network",
        replace(trained, goal=replace(trained.goal, training=wider)),
    )


def _times(num_nodes: int) -> int:
    return 2 if num_nodes > _LARGE else 1


def _through_training(start: Recipe, epochs: int) -> Recipe:
    """A start optimized through the training of a small network."""
    training = Unrolled(epochs=epochs, hidden=_HIDDEN)
    return replace(start, goal=Predict(closed_form=None, training=training))
