"""HG-Cond: a neural hyperedge linker, and matching of gradients and parameters."""

from hypercondense.condensing.baselines.hgcond.method import HGCond

__all__ = ["HGCond"]
