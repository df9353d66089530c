"""Reading, making and splitting hypergraphs."""
