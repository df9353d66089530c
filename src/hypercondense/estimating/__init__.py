"""What condensing and evaluating will take, before either begins."""

from hypercondense.estimating.costs import Cost, Estimate, estimable, estimate

__all__ = ["Cost", "Estimate", "estimable", "estimate"]
