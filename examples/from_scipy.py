"""An incidence matrix of scipy, features and labels in; an array of classes out."""

import numpy as np
import scipy.sparse

import hypercondense as hc

# Made up here: 500 articles (rows), 300 authors (columns), four topics, of which half are known.
rng = np.random.default_rng(0)
topics = rng.integers(0, 4, 500)
words = rng.poisson(0.3 + 2.0 * (np.arange(40) // 10 == topics[:, None])).astype(np.float32)
wrote = [rng.choice(np.flatnonzero(topics == rng.integers(4)), 5, replace=False) for _ in range(300)]
columns = np.repeat(np.arange(300), 5)
incidence = scipy.sparse.csr_array((np.ones(1500), (np.concatenate(wrote), columns)), shape=(500, 300))
labels = np.where(np.arange(500) < 250, topics, -1)

source = hc.from_scipy(incidence, words, labels)
split = hc.split(source, seed=0)
result = hc.condense(source, split, ratio=0.02)
network = hc.train(result, source, split)
prediction = network.predict(source)

unknown = labels == -1
right = (prediction.classes == topics)[unknown].mean()
print(f"{result.hypergraph.num_nodes} nodes instead of {source.num_nodes}")
print(f"{right:.1%} of {unknown.sum()} articles of unknown topic are right; {prediction.shares.shape} shares")
