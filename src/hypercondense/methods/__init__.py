"""Ways to condense a hypergraph; ``hypercondense.catalogue`` has them by name."""

from hypercondense.methods.ahgcdd import AHGCDD, AHGCDDX
from hypercondense.methods.base import Condenser, Select
from hypercondense.methods.bundled import Bundled
from hypercondense.methods.coresets import Herding, KCenter, Random
from hypercondense.methods.hgcond import HGCond, HGCondNHL
from hypercondense.methods.hgcpa import HGCPA
from hypercondense.methods.ridge import Ridge
from hypercondense.methods.unrolled import Unrolled

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
