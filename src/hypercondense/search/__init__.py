"""Searching for the recipe that suits one hypergraph, on validation nodes and within a budget."""
