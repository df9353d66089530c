"""Choosing a configuration on the condensed hypergraph instead of the whole: what people condense for."""

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import kendalltau

from hypercondense.evaluation.protocol import evaluate
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.nn.training import Configuration
from hypercondense.runtime.progress import Progress, silent


@dataclass(frozen=True)
class RankedConfiguration:
    """One configuration and what it scored; ``None`` where the whole source was not trained on."""

    configuration: Configuration
    validation: float
    whole_validation: float | None = None
    whole_test: float | None = None


@dataclass(frozen=True)
class Ranking:
    """Configurations, best on the condensed hypergraph first, and how well that order holds.

    ``tau`` is Kendall's rank correlation between both validation scores, from -1 to 1. ``regret`` is the test
    accuracy lost by training the first choice on the whole data rather than the whole data's own first choice
    (below 0 if it is the better one). Both are ``None`` without the whole.
    """

    trials: tuple[RankedConfiguration, ...]
    seconds: float
    whole_seconds: float | None = None
    tau: float | None = None
    regret: float | None = None


def configurations(models: Sequence[str] = ("hgnn", "mlp")) -> list[Configuration]:
    """A grid of width, dropout and step size for each model in each form: eight configurations a form.

    >>> len(configurations())
    16
    """
    grid = itertools.product(models, (16, 128), (0.0, 0.5), (0.001, 0.01))
    given = (
        Configuration(model=model, options={"hidden": hidden, "dropout": dropout}, learning_rate=step)
        for model, hidden, dropout, step in grid
    )
    return [form for configuration in given for form in configuration.in_each_form()]


def rank(
    configurations: Sequence[Configuration],
    condensed: Hypergraph,
    source: Hypergraph,
    split: Split,
    *,
    runs: int = 2,
    whole: bool = False,
    seed: int = 0,
    workers: int = 1,
    progress: Progress = silent,
) -> Ranking:
    """Train every configuration on ``condensed`` and order them by accuracy on the source's validation nodes.

    Args:
        configurations: At least two configurations.
        condensed: What to train on.
        source: Where validation and test nodes are.
        split: Which they are; validation nodes rank, test nodes only measure the regret.
        runs: Trainings per configuration, averaged.
        whole: Also train every configuration on the whole source, to see what was lost and what was saved.
        seed: Of the trainings.
        workers: Processes that share the trainings of a configuration.
        progress: Told after every configuration.
    """
    if len(configurations) < 2:
        raise ValueError(f"a ranking needs at least two configurations, got {len(configurations)}")
    if len(split.validation_ids) == 0:
        raise ValueError("the split has no validation nodes to rank configurations on")

    def scores(graph: Hypergraph, stage: str) -> tuple[list[tuple[float, float]], float]:
        begin = time.perf_counter()
        pairs = []
        for done, configuration in enumerate(configurations, start=1):
            score = evaluate(graph, source, split, model=configuration, runs=runs, seed=seed, workers=workers)
            pairs.append((float(np.mean(score.validation)), score.mean))
            progress(stage, done, len(configurations), validation=pairs[-1][0])
        return pairs, time.perf_counter() - begin

    small, seconds = scores(condensed, "tune on condensed")
    order = sorted(range(len(configurations)), key=lambda index: -small[index][0])
    if not whole:
        return Ranking(
            tuple(RankedConfiguration(configurations[index], small[index][0]) for index in order), seconds
        )
    full, whole_seconds = scores(source, "tune on whole")
    trials = tuple(
        RankedConfiguration(configurations[index], small[index][0], *full[index]) for index in order
    )
    best = max(range(len(configurations)), key=lambda index: full[index][0])
    tau = kendalltau(
        [validation for validation, _ in small], [validation for validation, _ in full]
    ).statistic
    return Ranking(
        trials,
        seconds,
        whole_seconds=whole_seconds,
        tau=None if np.isnan(tau) else float(tau),
        regret=full[best][1] - full[order[0]][1],
    )
