"""Ways to condense a hypergraph: recipes, the loop that carries them out, and baselines."""
