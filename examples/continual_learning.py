"""Continual learning with a condensed past.

Classes arrive in three tasks, and the data of past tasks are gone. A network that only sees the newest
task forgets the others; one that also sees a few condensed nodes of each past task does not.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch

import hypercondense as hc

source = hc.load("digits")
features, labels = source.dense_features(), source.labels
parts = hc.split(source, seed=0)
tasks = [(0, 1, 2, 3), (4, 5, 6), (7, 8, 9)]


def task_ids(ids: np.ndarray, classes: tuple[int, ...]) -> np.ndarray:
    """The nodes of some classes among some nodes."""
    return ids[np.isin(labels[ids], classes)]


def accuracy(x: np.ndarray, y: np.ndarray) -> float:
    """Test accuracy on all classes after training a small network on these rows."""
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(150):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(network(torch.tensor(x)), torch.tensor(y)).backward()
        optimizer.step()
    seen = network(torch.tensor(features[parts.test_ids])).argmax(1).numpy()
    return float(np.mean(seen == labels[parts.test_ids]))


past, alone, remembered = [], [], []
for classes in tasks:
    ids = task_ids(parts.train_ids, classes)
    x, y = features[ids], labels[ids]
    alone.append(accuracy(x, y))
    rows, marks = [x, *[old.dense_features() for old in past]], [y, *[old.labels for old in past]]
    remembered.append(accuracy(np.concatenate(rows).astype("float32"), np.concatenate(marks)))
    kept = hc.split_from_ids(
        source, train_ids=ids, validation_ids=task_ids(parts.validation_ids, classes), test_ids=[]
    )
    past.append(hc.condense(source, kept, nodes=5 * len(classes), method="k-means").hypergraph)
print(f"after {len(tasks)} tasks: {alone[-1]:.1%} without a past, {remembered[-1]:.1%} with a condensed one")
plt.plot([1, 2, 3], alone, marker="o", label="newest task only")
plt.plot([1, 2, 3], remembered, marker="o", label="with condensed past, 5 nodes a class")
plt.xticks([1, 2, 3], [f"after task {number}" for number in (1, 2, 3)])
plt.ylabel("accuracy on all classes")
plt.legend()
plt.show()
