"""Smoothing node features through the hypergraph."""
