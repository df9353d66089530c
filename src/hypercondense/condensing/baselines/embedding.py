"""Spaces in which coresets measure distance: features, diffused features, what a trained HGNN sees."""

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch.nn import functional

from hypercondense.condensing.base import Task
from hypercondense.diffusion import heat_kernel
from hypercondense.hypergraph import Dense, Ids
from hypercondense.nn import HypergraphNetwork, Input, Structure, build, input_features
from hypercondense.runtime.rng import seeded

#: One row per training node, dense or sparse; called with the task, a diffusion time and a number of epochs.
Embedding: TypeAlias = Callable[[Task, float, int], Any]


def raw(task: Task, time: float, epochs: int) -> Any:
    """The features as they are, sparse if the source's are."""
    return task.source.features[task.split.train_ids]


def diffused(task: Task, time: float, epochs: int) -> Dense:
    """The features smoothed by the heat kernel (Eq. 4)."""
    return task.diffused_rows(heat_kernel(time))[:]


def hgnn(task: Task, time: float, epochs: int) -> Dense:
    """What the last layer of an HGNN reads, after training on the source's training nodes."""
    source, device = task.source, task.device
    features, structure = input_features(source, device=device), Structure.of(source, device=device)
    with task.stage("embed"), seeded(task.seed):
        # Not source.num_classes: that would count classes which only validation or test nodes have.
        num_classes = int(task.train_labels.max()) + 1
        model = build("hgnn", num_features=source.num_features, num_classes=num_classes).to(device)
        _train(model, features, structure, task, epochs)
        with torch.no_grad():
            embedded = model.eval().embed(features, structure)
    rows: Dense = embedded.cpu().numpy()[task.split.train_ids]
    return rows


EMBEDDINGS: dict[str, Embedding] = {"raw": raw, "diffused": diffused, "hgnn": hgnn}


def _train(model: HypergraphNetwork, features: Input, structure: Structure, task: Task, epochs: int) -> None:
    """Full-batch Adam on the cross-entropy of the training nodes; the last epoch is kept."""
    ids, labels = (_tensor(array, task.device) for array in (task.split.train_ids, task.train_labels))
    how = model.optimization
    optimizer = torch.optim.Adam(model.parameters(), lr=how.learning_rate, weight_decay=how.weight_decay)
    model.train()
    for epoch in range(epochs):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(features, structure)[ids], labels)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        task.progress("train hgnn", epoch + 1, epochs, loss=float(loss.detach()))


def _tensor(ids: Ids, device: str) -> torch.Tensor:
    return torch.as_tensor(ids.copy(), device=device)
