"""What ``auto`` chooses from: few recipes that are strong and different, each good where others fail.

All but the paper's own predict source rows with labels that are learnt together with the features.
docs/beyond.md has the table of what each is worth on which data; `gain` and `spread` are read from it.
"""

from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from hypercondense.condensing.bundles import Bundles
from hypercondense.condensing.closed_form import ClosedForm
from hypercondense.condensing.maps import Map
from hypercondense.condensing.predict import Plain, Predict
from hypercondense.condensing.presets import PRESETS
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.starts import KMeans, Means, Start
from hypercondense.condensing.teachers import Teachers
from hypercondense.condensing.unrolled import Unrolled
from hypercondense.search.costs import Sizes

_FEW = 2  # training nodes for every feature, up to which they are few
_SMALL = 100  # condensed nodes, up to which they are


@dataclass(frozen=True)
class Entry:
    """A recipe, and what is expected of it before it is tried.

    Args:
        label: What it is, in words.
        recipe: What is tried.
        gain: Accuracy it typically had beyond that of ``learnt``.
        spread: How far above that it was on single data sets; how far below does not matter.
        elaborate: Whether only somebody who gives a budget wants to wait for it.
        few: Gain beyond ``gain`` where training nodes are few beside features.
        small: The same where condensed nodes are few.
    """

    label: str
    recipe: Recipe
    gain: float
    spread: float
    elaborate: bool = False
    few: float = 0.0
    small: float = 0.0

    @property
    def trains_on_whole(self) -> bool:
        """Whether networks are trained on the whole source."""
        return isinstance(self.recipe.goal, Predict) and self.recipe.goal.teachers is not None

    def on(self, sizes: Sizes) -> "Entry":
        """The same with the gain that is expected on a source of these sizes.

        Rows of fewer nodes than there are features can be told apart whatever their classes are, so what
        predicts them need not predict others. Few condensed rows have to be in the right place, and many
        that are optimized for long fit the noise of training rows.
        """
        few = min(1.0, _FEW * sizes.features / max(1, sizes.training))
        small = min(1.0, _SMALL / sizes.condensed)
        return replace(self, gain=self.gain + self.few * few + self.small * small)


#: To be raised when entries change: results of another portfolio are those of another search.
EDITION = 4

LEARNT = PRESETS["learnt"][1]


def _changed(**changes: Any) -> Recipe:
    """The recipe of ``learnt`` with other fields, of its own or of its goal."""
    goal = LEARNT.goal
    assert isinstance(goal, Predict)
    own = {name: changes.pop(name) for name in Recipe.__struct_fields__ if name in changes}
    return structs.replace(LEARNT, goal=structs.replace(goal, **changes), **own)


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
    training=Unrolled(epochs=200, hidden=64),
    looks=2,
)

_LONGER = _changed(training=Unrolled(epochs=600, hidden=64), batch=2048)
_WIDER = _changed(training=Unrolled(epochs=600, hidden=128), batch=2048)  # as wide as networks are
_TAUGHT = _changed(training=Unrolled(epochs=100, hidden=64), teachers=Teachers(number=1))

PORTFOLIO: tuple[Entry, ...] = (
    Entry("learnt", LEARNT, 0.0, 0.005),
    Entry("closed form from clusters", _closed(KMeans()), -0.015, 0.008),
    Entry("closed form from means", _closed(_MEANS), -0.01, 0.015),
    Entry("the paper's method", PRESETS["ahgcdd"][1], -0.02, 0.015),
    Entry("raw rows", _changed(map=Map(kernel="none"), also=()), -0.05, 0.08, elaborate=True),
    Entry("learnt, for longer", _LONGER, -0.005, 0.01, small=0.015),
    Entry("learnt, for longer and wider", _WIDER, -0.003, 0.01, small=0.015),
    Entry("learnt from a teacher", _TAUGHT, -0.005, 0.01, few=0.02),
    Entry("from means, plain classes", _PLAIN, -0.01, 0.015),
    Entry("in bundles", _BUNDLED, -0.005, 0.01, elaborate=True),
    Entry(
        "closed form, then through a training",
        _changed(closed_form=ClosedForm(), also=()),
        -0.005,
        0.01,
        elaborate=True,
    ),
    Entry("from means", _changed(start=_MEANS), -0.005, 0.015, elaborate=True),
    Entry("the paper's method, no structure", PRESETS["ahgcdd-x"][1], -0.02, 0.015, elaborate=True),
)
