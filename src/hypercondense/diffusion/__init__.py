"""Smoothing node features through the hypergraph."""

from hypercondense.diffusion.blocked import diffuse
from hypercondense.diffusion.cache import cached_diffusion
from hypercondense.diffusion.class_sums import class_sums
from hypercondense.diffusion.dense import diffuse_dense, inverse_power, propagate
from hypercondense.diffusion.filters import (
    Kernel,
    Polynomial,
    heat_kernel,
    heat_kernel_series,
    identity,
    truncation_order,
    vanilla,
)
from hypercondense.diffusion.mapped import SelectedRows
from hypercondense.diffusion.operator import Propagation

__all__ = [
    "Kernel",
    "Polynomial",
    "Propagation",
    "SelectedRows",
    "cached_diffusion",
    "class_sums",
    "diffuse",
    "diffuse_dense",
    "heat_kernel",
    "heat_kernel_series",
    "identity",
    "inverse_power",
    "propagate",
    "truncation_order",
    "vanilla",
]
