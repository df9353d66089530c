"""Train a fresh network on one hypergraph and choose its epoch on the validation nodes of the source.

The rule is the same for every method and for the whole data: full-batch Adam on the cross-entropy of the
labelled nodes, against their soft labels where there are any; every few epochs the network scores the
source's validation nodes, or where these are many a sample of them, less often, and at the end all of them
for the best few epochs (:mod:`hypercondense.nn.looks`, :mod:`hypercondense.nn.epochs`); the epoch with the
best score is kept, which is accuracy unless another metric is asked for (of equals the one with the lower
cross-entropy, then the earlier). A network with several forms is trained in each, and the best is kept by the
same rule. No test label is read.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from hypercondense.frozen import Frozen
from hypercondense.hypergraph import UNKNOWN, Split
from hypercondense.names import Metric
from hypercondense.nn import HypergraphNetwork, build, model_class
from hypercondense.nn.base import Form
from hypercondense.nn.epochs import Epoch, Epochs
from hypercondense.nn.inputs import Inputs, told_classes
from hypercondense.nn.looks import SAMPLING, VALIDATE_EVERY, Looks, Sampling
from hypercondense.nn.unfinished import Store, keep, put_back
from hypercondense.runtime.progress import Progress, silent
from hypercondense.runtime.rng import seeded

__all__ = [
    "VALIDATE_EVERY",
    "Configuration",
    "Inputs",
    "Trained",
    "fitting_step",
    "told_classes",
    "train",
]


@dataclass(frozen=True, kw_only=True)
class Configuration(Frozen):
    """Which model, and what differs from its defaults; ``None`` means the default of the model's form."""

    model: str = "hgnn"
    options: Mapping[str, Any] = field(default_factory=dict)
    learning_rate: float | None = None
    weight_decay: float | None = None
    epochs: int | None = None

    def in_each_form(self) -> "list[Configuration]":
        """This configuration in every form of its model, with nothing left open, checked.

        Forms differ in options that all of them name. Where the configuration has such options, only
        forms that agree with it are left, and if there are none, it stays as it is.
        """
        forms = model_class(self.model).forms
        telling = set.intersection(*(set(form.options) for form in forms)) & set(self.options)
        fitting = [
            form for form in forms if all(form.options[name] == self.options[name] for name in telling)
        ]
        return [self._completed(form) for form in fitting or [Form()]]

    def _completed(self, form: Form) -> "Configuration":
        """The same configuration with every ``None`` and every option it lacks as this form has it."""
        default = form.optimization or model_class(self.model).optimization
        chosen = replace(
            self,
            options={**form.options, **self.options},
            learning_rate=default.learning_rate if self.learning_rate is None else self.learning_rate,
            weight_decay=default.weight_decay if self.weight_decay is None else self.weight_decay,
            epochs=default.epochs if self.epochs is None else self.epochs,
        )
        if chosen.epochs is None or chosen.epochs < 1:
            raise ValueError(f"epochs must be at least 1, got {chosen.epochs}")
        return chosen


@dataclass(frozen=True, eq=False)
class Trained:
    """A network with the weights of its chosen epoch, and the configuration with its chosen form.

    ``validation`` and ``loss``, score and cross-entropy there, are NaN without validation nodes.
    """

    configuration: Configuration
    model: HypergraphNetwork
    epoch: int
    validation: float
    loss: float


def train(
    configuration: Configuration,
    train_graph: Inputs,
    source: Inputs,
    split: Split,
    *,
    seed: int,
    validate_every: int = VALIDATE_EVERY,
    metric: Metric = "accuracy",
    sampling: Sampling = SAMPLING,
    progress: Progress = silent,
    store: Store | None = None,
) -> Trained:
    """Train on ``train_graph``, choose the epoch on the validation nodes of ``source`` by ``metric``.

    If ``train_graph`` is ``source`` itself, the network learns from ``split.train_ids`` (the whole data);
    otherwise from every labelled node of ``train_graph``. Without validation nodes the last epoch is kept, of
    a network in its first form. Of a network with one form ``store`` keeps the state, and what is there is
    continued.
    """
    if train_graph.num_features != source.num_features:
        raise ValueError(
            f"the source has {source.num_features} features but the hypergraph to train on has "
            f"{train_graph.num_features}; use the source it was condensed from"
        )
    if train_graph.soft_labels is not None and train_graph.num_classes != source.num_classes:
        raise ValueError(
            f"the source has {source.num_classes} classes but the soft labels of the hypergraph to train on "
            f"have {train_graph.num_classes}; use the source it was condensed from"
        )
    forms = configuration.in_each_form()
    if len(split.validation_ids) == 0:
        del forms[1:]
    learn = _targets(train_graph, source, split)

    def trained(number: int) -> Trained:
        form = forms[number]
        with seeded(seed):
            model = build(
                form.model, num_features=source.num_features, num_classes=source.num_classes, **form.options
            ).to(source.labels.device)
            assert form.epochs is not None
            before, total = (sum(one.epochs or 0 for one in some) for some in (forms[:number], forms))

            def tell(epoch: int, **figures: float) -> None:
                progress(f"train {form.model}", before + epoch, total, **figures)

            look = Looks(
                source, split, every=validate_every, epochs=form.epochs, metric=metric, sampling=sampling
            )
            alone = store if len(forms) == 1 else None
            return _fit(model, form, train_graph, learn, look=look, tell=tell, store=alone)

    return max(map(trained, range(len(forms))), key=lambda network: (network.validation, -network.loss))


def _fit(
    model: HypergraphNetwork,
    configuration: Configuration,
    train_graph: Inputs,
    learn: tuple[Tensor, Tensor],
    *,
    look: Looks,
    tell: Callable[..., None],
    store: Store | None,
) -> Trained:
    rate, decay, epochs = configuration.learning_rate, configuration.weight_decay, configuration.epochs
    assert rate is not None and decay is not None and epochs is not None
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, weight_decay=decay)
    epochs_kept = Epochs(model, look)
    done = 0 if store is None else put_back(store, model, optimizer, epochs_kept)
    for epoch in range(done + 1, epochs + 1):
        loss = _step(model, optimizer, train_graph, *learn)
        if look.are_due(epoch):
            epochs_kept.offer(epoch)
            known = {} if epochs_kept.score is None else {"validation": epochs_kept.score}
            tell(epoch, loss=float(loss), **known)
        if store is not None and store.due():
            keep(store, epoch, model, optimizer, epochs_kept)
    chosen = epochs_kept.chosen() or Epoch(epochs)
    return Trained(configuration, model.eval(), chosen.number, chosen.score, chosen.loss)


def fitting_step(
    model: HypergraphNetwork, configuration: Configuration, train_graph: Inputs, source: Inputs, split: Split
) -> Callable[[], Tensor]:
    """One step of a training after the other, for who wants to know how long they take."""
    rate, decay = configuration.learning_rate, configuration.weight_decay
    assert rate is not None and decay is not None
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, weight_decay=decay)
    learn = _targets(train_graph, source, split)
    return lambda: _step(model, optimizer, train_graph, *learn)


def _targets(train_graph: Inputs, source: Inputs, split: Split) -> tuple[Tensor, Tensor]:
    """Ids of the nodes to learn from, and their classes or shares of classes."""
    if train_graph is source:
        ids = torch.as_tensor(split.train_ids.copy(), device=source.labels.device)
    else:
        ids = torch.nonzero(train_graph.labels != UNKNOWN).flatten()
    soft = train_graph.soft_labels
    return ids, train_graph.labels[ids] if soft is None else soft[ids]


def _step(
    model: HypergraphNetwork, optimizer: torch.optim.Optimizer, graph: Inputs, ids: Tensor, targets: Tensor
) -> Tensor:
    model.train()
    optimizer.zero_grad()
    loss = functional.cross_entropy(model(graph.features, graph.structure)[ids], targets)
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return loss.detach()
