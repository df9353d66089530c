"""Search for the best way to condense one hypergraph, on validation nodes and within a budget."""

from hypercondense.search.search import Auto

__all__ = ["Auto"]
