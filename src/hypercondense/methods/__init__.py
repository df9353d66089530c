"""Ways to condense a hypergraph."""
