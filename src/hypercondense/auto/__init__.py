"""Search for the best way to condense one hypergraph, on validation nodes and within a budget."""

from hypercondense.auto.search import Auto

__all__ = ["Auto"]
