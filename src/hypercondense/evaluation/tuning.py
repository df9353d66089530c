"""Choosing a configuration on the condensed hypergraph instead of the whole: what people condense for."""

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from scipy.stats import kendalltau

from hypercondense.condensation import Condensation
from hypercondense.evaluation.forecast import forecast, seconds_by_stage, workers_for
from hypercondense.evaluation.protocol import Evaluation, prepare
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.nn.training import Configuration
from hypercondense.runtime.arguments import must_be, must_be_flags, told_arguments
from hypercondense.runtime.bars import watched
from hypercondense.runtime.engine import Engine
from hypercondense.runtime.progress import Progress, expect, silent, tells_time


@dataclass(frozen=True)
class RankedConfiguration:
    """One configuration and what it scored; ``None`` where the whole source was not trained on."""

    configuration: Configuration
    validation: float
    whole_validation: float | None = None
    whole_test: float | None = None


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        best = self.trials[0]
        chosen = f"{best.configuration.model} {dict(best.configuration.options)}"
        return f"Ranking({len(self.trials)} configurations, best {chosen} with {best.validation:.2%})"


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


@told_arguments
def tune(
    condensed: Hypergraph | Condensation,
    source: Hypergraph,
    split: Split,
    *,
    models: Sequence[str] = ("hgnn", "mlp"),
    runs: int = 2,
    whole: bool = False,
    seed: int = 0,
    workers: int = 1,
    engine: Engine | None = None,
    progress: Progress | bool | None = None,
    memory: int | str | None = None,
) -> "Ranking":
    """Rank a grid of configurations of ``models`` by training them on ``condensed``; see :func:`rank`.

    ``print(hypercondense.tune(result, source, split))`` shows the ranking; its ``trials`` hold it.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> split = hc.split(source, seed=0)
    >>> result = hc.condense(source, split, nodes=6, method="means")
    >>> len(hc.tune(result, source, split, models=["mlp"], runs=1).trials) > 1
    True
    """
    if isinstance(models, str):
        models = [models]
    like = "tune(result, source, split)"
    if not isinstance(condensed, Hypergraph | Condensation):
        must_be("result", condensed, Condensation, like=like)
    must_be("source", source, Hypergraph, like=like)
    must_be("split", split, Split, like=like)
    must_be_flags(whole=whole)
    with watched(progress) as report:
        return rank(
            configurations(models),
            condensed,
            source,
            split,
            runs=runs,
            whole=whole,
            seed=seed,
            workers=workers,
            engine=engine,
            progress=report,
            memory=memory,
        )


def rank(
    configurations: Sequence[Configuration],
    condensed: Hypergraph | Condensation,
    source: Hypergraph,
    split: Split,
    *,
    runs: int = 2,
    whole: bool = False,
    seed: int = 0,
    workers: int = 1,
    engine: Engine | None = None,
    progress: Progress = silent,
    cache_dir: Path | str | None = None,
    memory: int | str | None = None,
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
        workers: Processes that share the trainings; 0 for as many as end soonest on the free cores.
        engine: Who does the trainings instead.
        progress: Told as the trainings go on.
        cache_dir: Folder where scores of the whole source are kept.
        memory: Bytes that a process may take where the source is mapped, as a number or as ``"2GB"``.
    """
    if len(configurations) < 2:
        raise ValueError(f"a ranking needs at least two configurations, got {len(configurations)}")
    if len(split.validation_ids) == 0:
        raise ValueError("the split has no validation nodes to rank configurations on")

    if isinstance(condensed, Condensation):
        condensed.provenance.check(source_digest=source.digest, split_digest=split.digest)
        source = source if condensed.scale is None else condensed.scale.applied(source)
        condensed = condensed.hypergraph

    planned = [
        prepare(
            graph,
            source,
            split,
            models=configurations,
            runs=runs,
            seed=seed,
            whole=graph is source,
            cache_dir=cache_dir,
            memory=memory,
        )
        for graph in ((condensed, source) if whole else (condensed,))
    ]
    if tells_time(progress) or not workers:
        planned = [forecast(one) for one in planned]
        left = [run for one in planned for run in one.left()]
        expect(progress, seconds_by_stage(left))
        seconds = sum(run.expected for run in left) / len(planned)
        workers = workers or workers_for(seconds, len(left), source=source)

    def scores(one: Evaluation) -> tuple[list[tuple[float, float]], float]:
        begin = time.perf_counter()
        done = one.scores(workers=workers, engine=engine, progress=progress)
        return [(fmean(score.validation), score.mean) for score in done], time.perf_counter() - begin

    small, seconds = scores(planned[0])
    order = sorted(range(len(configurations)), key=lambda index: -small[index][0])
    if not whole:
        return Ranking(
            tuple(RankedConfiguration(configurations[index], small[index][0]) for index in order), seconds
        )
    full, whole_seconds = scores(planned[1])
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
