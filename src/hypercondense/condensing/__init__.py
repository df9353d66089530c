"""Ways to condense a hypergraph; ``hypercondense.catalogue`` has them by name."""

from hypercondense.condensing.ahgcdd import AHGCDD, AHGCDDX
from hypercondense.condensing.base import Condenser, Select
from hypercondense.condensing.baselines.coresets import Herding, KCenter, Random
from hypercondense.condensing.baselines.hgcond import HGCond, HGCondNHL
from hypercondense.condensing.baselines.hgcpa import HGCPA
from hypercondense.condensing.bundled import Bundled
from hypercondense.condensing.ridge import Ridge
from hypercondense.condensing.unrolled import Unrolled

__all__ = [
    "AHGCDD",
    "AHGCDDX",
    "HGCPA",
    "Bundled",
    "Condenser",
    "HGCond",
    "HGCondNHL",
    "Herding",
    "KCenter",
    "Random",
    "Ridge",
    "Select",
    "Unrolled",
]
