"""Condense a large hypergraph into a tiny synthetic one."""
