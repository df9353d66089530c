"""Pages to look at: one self-contained HTML file about a result, a comparison or a ranking."""
