"""Scores candidates while condensing: a short training, judged on validation nodes only."""

import math
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from types import MappingProxyType
from typing import Any

from hypercondense.data.splits import Split
from hypercondense.evaluation.training import Inputs, Recipe, train
from hypercondense.hypergraph import Hypergraph
from hypercondense.models import model_class
from hypercondense.threads import one_thread

_EPOCHS, _LOOKS = 80, 4


def validation_scorer(
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
) -> Callable[[Hypergraph], float]:
    """A function that trains a network on a candidate and returns its accuracy on the validation nodes.

    Args:
        source: The hypergraph that is being condensed; its tensors are made once.
        split: Validation nodes judge. Test labels are not read.
        models: The mean over these models is the score.
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
    recipes = [Recipe(model=model, options=_known_to(model, options), epochs=epochs) for model in models]

    def score(candidate: Hypergraph) -> float:
        graph = Inputs.of(candidate, device=device)
        with one_thread():
            trained = [
                train(recipe, graph, inputs, split, seed=seed + repeat, validate_every=every)
                for recipe in recipes
                for repeat in range(repeats)
            ]
        return sum(one.validation for one in trained) / len(trained)

    return score


def _known_to(model: str, options: Mapping[str, Any]) -> dict[str, Any]:
    names = signature(model_class(model)).parameters
    return {name: value for name, value in options.items() if name in names}
