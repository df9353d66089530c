"""Training a network on a (condensed) hypergraph and scoring it on real nodes."""
