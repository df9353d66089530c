"""HG-Cond: a neural hyperedge linker, and matching of gradients and parameters."""

from hypercondense.methods.hgcond.method import HGCond, HGCondNHL

__all__ = ["HGCond", "HGCondNHL"]
