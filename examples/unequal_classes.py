"""Small classes: as many condensed nodes as large ones.

Most nodes belong to one class, and the small classes have two groups each. Shared out in proportion,
a small class gets one condensed node, which lies between its groups; `allocate="equal"` gives it six.
Where small classes have one group each, proportional shares are the better ones.
"""

import matplotlib.pyplot as plt
import numpy as np

import hypercondense as hc

rng = np.random.default_rng(0)
labels = rng.choice(4, size=2000, p=[0.91, 0.03, 0.03, 0.03])
features = rng.normal(size=(2000, 12))
groups = labels + 4 * rng.integers(0, 2, size=2000)
features[np.arange(2000), labels] += np.where(groups > 3, 4.0, -4.0)
order = np.argsort(groups + rng.normal(scale=0.3, size=2000))  # neighbours are mostly of one group
source = hc.Hypergraph(
    features=features,
    labels=labels,
    incidence=(order, np.arange(2000) // 5),
    num_hyperedges=400,
    name="unequal classes",
)
split = hc.split(source, seed=0)

places = np.arange(4)
for number, allocate in enumerate(("proportional", "equal")):
    result = hc.condense(source, split, nodes=24, method="k-means", allocate=allocate, metric="macro-f1")
    score = hc.evaluate(result, source, split, model="hgnn", runs=2, metric="macro-f1")
    counts = np.bincount(result.hypergraph.labels, minlength=4)
    print(f"{allocate:12} nodes {counts.tolist()}: macro-F1 {score.mean:.1%}")
    truth, predicted = source.labels[split.test_ids], np.asarray(score.predicted[0])
    recall = [np.mean(predicted[truth == label] == label) for label in range(4)]
    plt.bar(places + 0.4 * number - 0.2, recall, width=0.4, label=f"{allocate}: {counts.tolist()}")

plt.xticks(places, ["large class", "small 1", "small 2", "small 3"])
plt.ylabel("share of its test nodes that are found")
plt.legend()
plt.show()
