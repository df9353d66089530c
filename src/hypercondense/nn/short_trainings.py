"""Scores candidates while condensing: short trainings, judged on validation nodes only."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from statistics import fmean
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hypercondense.hypergraph import Hypergraph, Ids, Split
from hypercondense.names import Metric
from hypercondense.nn import HypergraphNetwork
from hypercondense.nn.scoring import contributions
from hypercondense.nn.streamed import check_networks
from hypercondense.nn.training import Configuration, Inputs, Trained, told_classes, train
from hypercondense.nn.unfinished import Store
from hypercondense.runtime.threads import one_thread

_STEPS = 4  # that a forecast is made from


class ShortTrainings:
    """Trains networks on a candidate and tells their score on the validation nodes of the source.

    Args:
        source: The hypergraph that is being condensed, as tensors.
        split: Validation nodes judge. Test labels are not read.
        models: There is one score for each.
        epochs: Length of a training.
        looks: How often the network is tried on the source in between; the best counts.
        repeats: Trainings of each model; their mean counts.
        every_form: Whether models are trained in each of their forms and the best counts; otherwise in their
            first, for a quick look.
        seed: Of the first training of every candidate, so that equal candidates score the same.
        metric: What is scored.
    """

    def __init__(
        self,
        source: Inputs,
        split: Split,
        *,
        models: Sequence[str] = ("hgnn",),
        epochs: int = 80,
        looks: int = 4,
        repeats: int = 1,
        every_form: bool = False,
        seed: int = 0,
        metric: Metric = "accuracy",
    ) -> None:
        if len(split.validation_ids) == 0:
            raise ValueError("the split has no validation nodes to score candidates on")
        self.source, self.split, self.repeats, self.seed = source, split, repeats, seed
        self.metric = metric
        self.every = math.ceil(epochs / looks)
        asked = [Configuration(model=model, epochs=epochs) for model in models]
        self.configurations = asked if every_form else [one.in_each_form()[0] for one in asked]
        check_networks(source, (form for one in self.configurations for form in one.in_each_form()))

    def __getstate__(self) -> dict[str, Any]:
        """Without the source: whoever opens this on another machine gives it the one that is there."""
        left_out = ("source", "_node_ids")
        return {name: value for name, value in vars(self).items() if name not in left_out}

    def __call__(self, candidate: Hypergraph) -> float:
        """The mean over the models."""
        return fmean(self.each(candidate))

    def each(self, candidate: Hypergraph) -> list[float]:
        """The score of each model."""
        graph = Inputs.of(candidate, device=self.source.labels.device)
        with one_thread():
            return [
                fmean(self._score(one, graph, repeat) for repeat in range(self.repeats))
                for one in self.configurations
            ]

    def contributions(self, candidate: Hypergraph, store: Callable[[str], Store] | None = None) -> Tensor:
        """What each validation node contributes to the score of each training, (trainings, nodes).

        ``store`` gives the place where a training keeps its state, by its name; at the end they are empty.
        """
        graph = Inputs.of(candidate, device=self.source.labels.device)
        labels = self.source.labels[self._node_ids]
        with one_thread():
            runs = [(one, repeat) for one in self.configurations for repeat in range(self.repeats)]
            stores = [store(f"{one.model} {repeat}") if store else None for one, repeat in runs]
            told = [
                self._told(self._trained(*run, graph, kept).model)
                for run, kept in zip(runs, stores, strict=True)
            ]
        for kept in stores:
            if kept is not None:
                kept.forget()
        return torch.stack([contributions(one, labels, self.metric) for one in told]).cpu()

    @cached_property
    def _node_ids(self) -> Tensor:
        return torch.as_tensor(self.split.validation_ids.copy(), device=self.source.labels.device)

    @torch.no_grad()
    def _told(self, model: HypergraphNetwork) -> Tensor:
        return told_classes(self.source.seen_by(self._node_ids, None)(model))

    def _score(self, configuration: Configuration, graph: Inputs, repeat: int) -> float:
        return self._trained(configuration, repeat, graph).validation

    def forecast(self, labels: Ids) -> float:
        """Seconds that a training of each model takes on so many nodes, from a few steps and looks.

        They are those of the processor, where that does the work: other programs would disturb single steps.
        """
        nodes = self.split.train_ids[: len(labels)]
        sample = Hypergraph(
            features=np.zeros((len(nodes), self.source.num_features), np.float32),
            labels=labels[: len(nodes)],
            incidence=(np.arange(len(nodes)), np.arange(len(nodes))),
            num_hyperedges=len(nodes),
        )
        graph = Inputs.of(sample, device=self.source.labels.device)
        with one_thread():
            return sum(self._seconds(one, graph) for one in self.configurations)

    def _seconds(self, configuration: Configuration, graph: Inputs) -> float:
        assert configuration.epochs is not None
        self._timed(configuration, graph, 1)  # the first prepares things
        short, longer = (self._timed(configuration, graph, epochs) for epochs in (1, 1 + _STEPS))
        looks = math.ceil(configuration.epochs / self.every)
        return looks * short + configuration.epochs * max(0.0, longer - short) / _STEPS

    def _timed(self, configuration: Configuration, graph: Inputs, epochs: int) -> float:
        """Seconds of a training of so many epochs with one look."""
        now = time.process_time if self.source.labels.device.type == "cpu" else time.perf_counter
        begin, brief = now(), replace(configuration, epochs=epochs)
        train(brief, graph, self.source, self.split, seed=self.seed, validate_every=epochs)
        return now() - begin

    def _trained(
        self, configuration: Configuration, repeat: int, graph: Inputs, store: Store | None = None
    ) -> Trained:
        return train(
            configuration,
            graph,
            self.source,
            self.split,
            seed=self.seed + repeat,
            validate_every=self.every,
            metric=self.metric,
            store=store,
        )
