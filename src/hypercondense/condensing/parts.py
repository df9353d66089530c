"""What recipes are made of, under one name: ``hypercondense.recipes``.

>>> import hypercondense as hc
>>> hc.recipes.preset("ahgcdd").goal.epochs
50
"""

from hypercondense.condensing.anchors import Anchors, WarmUp
from hypercondense.condensing.bundles import Bundles
from hypercondense.condensing.closed_form import ClosedForm
from hypercondense.condensing.dual_level import DualLevel
from hypercondense.condensing.maps import Map
from hypercondense.condensing.predict import Learnt, Plain, Predict, Smoothed
from hypercondense.condensing.presets import PRESETS
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.settings import changed, differences
from hypercondense.condensing.starts import Better, KMeans, Means, Single
from hypercondense.condensing.teachers import Teachers
from hypercondense.condensing.unrolled import Unrolled
from hypercondense.errors import ConfigError

__all__ = [
    "PRESETS",
    "Anchors",
    "Better",
    "Bundles",
    "ClosedForm",
    "DualLevel",
    "KMeans",
    "Learnt",
    "Map",
    "Means",
    "Plain",
    "Predict",
    "Recipe",
    "Single",
    "Smoothed",
    "Teachers",
    "Unrolled",
    "WarmUp",
    "changed",
    "differences",
    "preset",
]


def preset(name: str) -> Recipe:
    """The recipe of a name."""
    if name not in PRESETS:
        raise ConfigError(f"there is no recipe {name!r}; there are {', '.join(PRESETS)}")
    return PRESETS[name][1]
