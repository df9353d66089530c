"""The recipes that have names."""

from msgspec.structs import replace

from hypercondense.condensing.anchors import Anchors
from hypercondense.condensing.bundles import Bundles
from hypercondense.condensing.closed_form import ClosedForm
from hypercondense.condensing.dual_level import DualLevel
from hypercondense.condensing.maps import Map
from hypercondense.condensing.predict import Learnt, Predict
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.starts import Better, KMeans, Means
from hypercondense.condensing.teachers import Teachers
from hypercondense.condensing.unrolled import Unrolled

_AHGCDD = Recipe(map=Map(), start=Means(samples=20), goal=DualLevel(), structure=Anchors())
_PAPER = Recipe(
    map=Map(kernel="heat-kernel-series", time=2.0),
    start=Means(samples=20),
    goal=DualLevel(
        epochs=100,
        step=0.01,
        relative=False,
        unit_vectors=False,
        centered=False,
        average_others=False,
        sums=True,
        temperature=1.0,
    ),
    structure=Anchors(step=0.01, candidates=None, warm=None, spanned=False),
    looks=0,
)
_TWO_STEPS = Map(kernel="power", time=2.0)  # what two layers of a network do
_HALF = Map(time=1.0)  # between raw and diffused: what networks with residual connections see
_WALKS = Map(kernel="power", walks=True)  # what those that take means over neighbours see
_UNROLLED = Recipe(
    map=_TWO_STEPS,
    start=Means(samples=100),
    goal=Predict(closed_form=ClosedForm(), training=Unrolled()),
)

_MEANS = Recipe(start=Means(samples=100), goal=None, looks=0)

#: What each one is, in a line, and the recipe.
PRESETS: dict[str, tuple[str, Recipe]] = {
    "ahgcdd": ("the paper's method with the repairs of docs/method.md", _AHGCDD),
    "ahgcdd-x": ("the same without structure", replace(_AHGCDD, structure=None)),
    "ahgcdd-paper": ("the paper to the letter; a budget searches its grid", _PAPER),
    "ahgcdd-x-paper": ("the same without structure", replace(_PAPER, structure=None)),
    "means": ("the start alone: means of 100 diffused rows", _MEANS),
    "k-means": ("the start alone: means of clusters of diffused rows", replace(_MEANS, start=KMeans())),
    "ridge": (
        "rows from which ridge regression predicts the source",
        Recipe(start=KMeans(), goal=Predict(closed_form=ClosedForm())),
    ),
    "unrolled": ("rows on which a network in training learns to predict the source", _UNROLLED),
    "learnt": (
        "the default of auto: rows and soft labels learnt together, through a training",
        Recipe(
            map=_TWO_STEPS,
            start=Better(),
            goal=Predict(
                closed_form=None,
                training=Unrolled(epochs=200, hidden=64),
                also=(_HALF, _WALKS),
                labels=Learnt(),
                batch=512,
            ),
        ),
    ),
    "taught": (
        "the same towards what networks trained on everything think",
        replace(
            _UNROLLED,
            goal=Predict(closed_form=None, training=Unrolled(epochs=200), teachers=Teachers()),
        ),
    ),
    "bundled": (
        "unrolled rows, each shown as several noisy nodes of a hyperedge",
        replace(_UNROLLED, bundles=Bundles()),
    ),
}


def name_of(recipe: Recipe) -> str:
    """What provenance calls a recipe: its name if it has one, else ``recipe``."""
    return next((name for name, (_, preset) in PRESETS.items() if preset == recipe), "recipe")
