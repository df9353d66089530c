"""Scores candidates while condensing: a short training, judged on validation nodes only."""

import math
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from statistics import fmean
from types import MappingProxyType
from typing import Any

from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.nn import model_class
from hypercondense.nn.training import Configuration, Inputs, train
from hypercondense.runtime.threads import one_thread

_EPOCHS, _LOOKS = 80, 4


def validation_scorer(source: Hypergraph, split: Split, **how: Any) -> Callable[[Hypergraph], float]:
    """A function that trains networks on a candidate and returns their accuracy on the validation nodes.

    Args:
        source: The hypergraph that is being condensed; its tensors are made once.
        split: Validation nodes judge. Test labels are not read.
        **how: What :func:`validation_scores` takes; the mean over its models is the score.
    """
    scores = validation_scores(source, split, **how)
    return lambda candidate: fmean(scores(candidate))


def validation_scores(
    source: Hypergraph,
    split: Split,
    *,
    models: Sequence[str] = ("hgnn",),
    options: Mapping[str, Any] = MappingProxyType({}),
    epochs: int = _EPOCHS,
    looks: int = _LOOKS,
    repeats: int = 1,
    seed: int = 0,
    device: str = "cpu",
) -> Callable[[Hypergraph], list[float]]:
    """A function that trains networks on a candidate and returns the accuracy of each.

    Args:
        source: As for :func:`validation_scorer`.
        split: Likewise.
        models: There is one score for each, in its first form: a quick look, not the last word.
        options: What differs from the defaults of those models that have such an option.
        epochs: Length of a training.
        looks: How often the network is tried on the source in between; the best counts.
        repeats: Trainings of each model; their mean counts.
        seed: Of the first training of every candidate, so that equal candidates score the same.
        device: A torch device.
    """
    if len(split.validation_ids) == 0:
        raise ValueError("the split has no validation nodes to score candidates on")
    inputs = Inputs.of(source, device=device)
    every = math.ceil(epochs / looks)
    asked = [Configuration(model=model, options=_known_to(model, options), epochs=epochs) for model in models]
    configurations = [configuration.in_each_form()[0] for configuration in asked]

    def scores(candidate: Hypergraph) -> list[float]:
        graph = Inputs.of(candidate, device=device)

        def accuracy(configuration: Configuration, repeat: int) -> float:
            return train(
                configuration, graph, inputs, split, seed=seed + repeat, validate_every=every
            ).validation

        with one_thread():
            return [
                fmean(accuracy(configuration, repeat) for repeat in range(repeats))
                for configuration in configurations
            ]

    return scores


def _known_to(model: str, options: Mapping[str, Any]) -> dict[str, Any]:
    names = signature(model_class(model)).parameters
    return {name: value for name, value in options.items() if name in names}
