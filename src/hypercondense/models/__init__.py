"""Hypergraph neural networks, one per file."""
