"""Condense a hypergraph of your own, save it, and train on it later.

Here the "own data" are articles that share authors, made up on the spot: replace the four arrays by yours.
"""

import tempfile
from pathlib import Path

import numpy as np

import hypercondense as hc

rng = np.random.default_rng(0)
topics = rng.integers(0, 4, 600)  # the class of every article
words = rng.poisson(
    0.3 + 2.0 * (np.arange(40) // 10 == topics[:, None])
)  # 40 words, 10 of them typical of a topic
authors = [rng.choice(np.flatnonzero(topics == rng.integers(4)), 5, replace=False) for _ in range(300)]

source = hc.Hypergraph(
    features=words,
    labels=topics,
    incidence=(np.concatenate(authors), np.repeat(np.arange(300), 5)),
    num_hyperedges=300,
    label_names=["physics", "biology", "law", "music"],
    name="articles",
)
split = hc.split(source, seed=0)
result = hc.condense(source, split, ratio=0.02)

with tempfile.TemporaryDirectory() as folder:
    result.save(Path(folder) / "articles-2pct")
    loaded = hc.load_condensed(Path(folder) / "articles-2pct")

score = hc.evaluate(loaded, source, split, model="hgnn", runs=3, whole=True)
print(f"{loaded.hypergraph.num_nodes} nodes instead of {source.num_nodes}")
print(f"accuracy {score.mean:.1%}, trained on everything {score.whole.mean:.1%}, kept {score.retention:.1%}")
