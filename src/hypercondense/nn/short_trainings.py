"""Scores candidates while condensing: short trainings, judged on validation nodes only."""

import math
from collections.abc import Mapping, Sequence
from inspect import signature
from statistics import fmean
from types import MappingProxyType
from typing import Any

from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.nn import model_class
from hypercondense.nn.training import Configuration, Inputs, train
from hypercondense.runtime.threads import one_thread


class ShortTrainings:
    """Trains networks on a candidate and tells their accuracy on the validation nodes of the source.

    Args:
        source: The hypergraph that is being condensed, as tensors.
        split: Validation nodes judge. Test labels are not read.
        models: There is one score for each, in its first form: a quick look, not the last word.
        options: What differs from the defaults of those models that have such an option.
        epochs: Length of a training.
        looks: How often the network is tried on the source in between; the best counts.
        repeats: Trainings of each model; their mean counts.
        seed: Of the first training of every candidate, so that equal candidates score the same.
    """

    def __init__(
        self,
        source: Inputs,
        split: Split,
        *,
        models: Sequence[str] = ("hgnn",),
        options: Mapping[str, Any] = MappingProxyType({}),
        epochs: int = 80,
        looks: int = 4,
        repeats: int = 1,
        seed: int = 0,
    ) -> None:
        if len(split.validation_ids) == 0:
            raise ValueError("the split has no validation nodes to score candidates on")
        self.source, self.split, self.repeats, self.seed = source, split, repeats, seed
        self.every = math.ceil(epochs / looks)
        asked = [
            Configuration(model=model, options=_known_to(model, options), epochs=epochs) for model in models
        ]
        self.configurations = [one.in_each_form()[0] for one in asked]

    def __call__(self, candidate: Hypergraph) -> float:
        """The mean over the models."""
        return fmean(self.each(candidate))

    def each(self, candidate: Hypergraph) -> list[float]:
        """The accuracy of each model."""
        graph = Inputs.of(candidate, device=self.source.labels.device)
        with one_thread():
            return [
                fmean(self._accuracy(one, graph, repeat) for repeat in range(self.repeats))
                for one in self.configurations
            ]

    def _accuracy(self, configuration: Configuration, graph: Inputs, repeat: int) -> float:
        trained = train(
            configuration,
            graph,
            self.source,
            self.split,
            seed=self.seed + repeat,
            validate_every=self.every,
        )
        return trained.validation


def _known_to(model: str, options: Mapping[str, Any]) -> dict[str, Any]:
    names = signature(model_class(model)).parameters
    return {name: value for name, value in options.items() if name in names}
