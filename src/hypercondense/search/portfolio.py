"""What ``auto`` chooses from: few recipes that are strong and different, each good where others fail.

All but the paper's own predict source rows with labels that are learnt together with the features.
docs/beyond.md has the table of what each is worth on which data; `gain` and `spread` are read from it.
"""

from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from hypercondense.condensing.bundles import Bundles
from hypercondense.condensing.closed_form import ClosedForm
from hypercondense.condensing.maps import Map
from hypercondense.condensing.predict import Plain, Predict
from hypercondense.condensing.presets import PRESETS
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.starts import KMeans, Means, Start
from hypercondense.condensing.teachers import Teachers
from hypercondense.condensing.unrolled import Unrolled


@dataclass(frozen=True)
class Entry:
    """A recipe, and what is expected of it before it is tried.

    Args:
        label: What it is, in words.
        recipe: What is tried.
        gain: Accuracy it typically had beyond that of ``learnt``.
        spread: How far above that it was on single data sets; how far below does not matter.
        elaborate: Whether only somebody who gives a budget wants to wait for it.
    """

    label: str
    recipe: Recipe
    gain: float
    spread: float
    elaborate: bool = False

    @property
    def trains_on_whole(self) -> bool:
        """Whether networks are trained on the whole source."""
        return isinstance(self.recipe.goal, Predict) and self.recipe.goal.teachers is not None


#: To be raised when entries change: results of another portfolio are those of another search.
EDITION = 3

LEARNT = PRESETS["learnt"][1]


def _changed(**changes: Any) -> Recipe:
    """The recipe of ``learnt`` with other fields, of its own or of its goal."""
    goal = LEARNT.goal
    assert isinstance(goal, Predict)
    own = {name: changes.pop(name) for name in Recipe.__struct_fields__ if name in changes}
    return replace(LEARNT, goal=replace(goal, **changes), **own)


_MEANS = Means(samples=100)


def _closed(start: Start) -> Recipe:
    """Nothing is trained at all, so it takes a tenth of the time of ``learnt``."""
    return _changed(start=start, closed_form=ClosedForm(), training=None)


_BUNDLED = _changed(  # half as many rows, for twice as long
    start=_MEANS,
    training=Unrolled(epochs=400, hidden=64),
    bundles=Bundles(),
)

_PLAIN = _changed(  # for features that are mostly noise: shares of classes would learn it
    start=_MEANS,
    labels=Plain(),
    training=Unrolled(epochs=80, hidden=64),
    looks=2,
)

PORTFOLIO: tuple[Entry, ...] = (
    Entry("learnt", LEARNT, 0.0, 0.005),
    Entry("closed form from clusters", _closed(KMeans()), -0.015, 0.015),
    Entry("closed form from means", _closed(_MEANS), -0.01, 0.015),
    Entry("the paper's method", PRESETS["ahgcdd"][1], -0.02, 0.025),
    Entry("raw rows", _changed(map=Map(kernel="none"), also=()), -0.05, 0.08, elaborate=True),
    Entry("learnt, for longer", _changed(training=Unrolled(epochs=600, hidden=64)), 0.005, 0.01),
    Entry("from means, plain classes", _PLAIN, -0.01, 0.015),
    Entry("in bundles", _BUNDLED, -0.005, 0.01, elaborate=True),
    Entry("taught", _changed(teachers=Teachers()), 0.0, 0.01, elaborate=True),
    Entry(
        "closed form, then through a training",
        _changed(closed_form=ClosedForm(), also=()),
        -0.005,
        0.01,
        elaborate=True,
    ),
    Entry("from means", _changed(start=_MEANS), -0.005, 0.015, elaborate=True),
    Entry("the paper's method, no structure", PRESETS["ahgcdd-x"][1], -0.02, 0.025, elaborate=True),
)
