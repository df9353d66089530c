"""Several methods and networks under one protocol, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hypercondense.catalogue import make_method, recorded_name
from hypercondense.condensation import Condensation
from hypercondense.condensing.allotment import condensed_labels
from hypercondense.condensing.job import Method
from hypercondense.condensing.run import condense_by
from hypercondense.errors import ConfigError
from hypercondense.evaluation import Score, across_condensations, evaluate
from hypercondense.evaluation.forecast import forecast, workers_for
from hypercondense.evaluation.protocol import prepare
from hypercondense.frozen import Frozen
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.hypergraph import split as split_by_seed
from hypercondense.hypergraph.given import whole_number
from hypercondense.hypergraph.scaling import Scaling, check_scaling, standardized
from hypercondense.names import Allocation, Metric
from hypercondense.nn import model_class
from hypercondense.runtime.arguments import must_be, told_arguments
from hypercondense.runtime.bars import watched
from hypercondense.runtime.clock import TOTAL
from hypercondense.runtime.engine import Engine, Here
from hypercondense.runtime.progress import Progress, expect, part_of, silent, tells_time
from hypercondense.search import costs, nominal

WHOLE = "whole"  # the name of the source itself among the methods


@dataclass(frozen=True)
class Compared:
    """One method and one network: the score over all trainings, seconds of a condensation, nodes trained on.

    ``warnings`` are those of the condensations.
    """

    method: str
    model: str
    mean: float
    std: float
    seconds: float
    num_nodes: int
    trainings: int
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready content."""
        return {name: value for name, value in asdict(self).items() if name not in ("warnings", "trainings")}


@told_arguments
def compare(
    source: Hypergraph,
    split: Split | None = None,
    *,
    ratio: float | None = None,
    nodes: int | None = None,
    methods: Sequence[str] = ("random", "ahgcdd", "auto", WHOLE),
    models: Sequence[str] = ("hgnn",),
    allocate: Allocation = "proportional",
    metric: Metric = "accuracy",
    scale: Scaling = "none",
    seeds: int = 3,
    runs: int = 3,
    select: bool = True,
    device: str = "cpu",
    workers: int = 1,
    engine: Engine | None = None,
    progress: Progress | bool | None = None,
    cache_dir: Path | str | None = None,
    scores_dir: Path | str | None = None,
    memory: int | str | None = None,
) -> list[Compared]:
    """Condense with several methods, train several networks on each result, and score them on test nodes.

    Args:
        source: The hypergraph.
        split: Its training, validation and test nodes; by default half, a quarter and a quarter, by seed 0.
        ratio: Condensed nodes / all source nodes.
        nodes: The number of condensed nodes, instead of ``ratio``.
        methods: Names of methods; ``whole`` is the source itself.
        models: Names of networks.
        allocate: How nodes are shared out between classes, see :func:`hypercondense.condense`.
        metric: What is chosen for and scored, ``"accuracy"`` or ``"macro-f1"``.
        scale: ``"standard"`` compares everything, the whole as well, on features of mean 0 and deviation 1.
        seeds: Condensations per method.
        runs: Trainings per condensation.
        select: Whether validation nodes may choose between candidates.
        device: Any torch device.
        workers: Processes that share the trainings; 0 for as many as end soonest on the free cores.
        engine: Other machines that share condensations and trainings; the default is this one.
        progress: ``True`` for a bar in a terminal or notebook, or a function that is told.
        cache_dir: Folder where diffused features are kept.
        scores_dir: Folder where scores of the whole source are kept.
        memory: Bytes that a process may take where the source is mapped, as a number or as ``"2GB"``.

    >>> from hypercondense.data import synthetic
    >>> source = synthetic(num_nodes=80, num_hyperedges=50, num_classes=2, seed=0)
    >>> rows = compare(source, nodes=6, methods=["random", "means"], models=["mlp"], seeds=1, runs=1)
    >>> [row.method for row in rows], rows[0].num_nodes
    (['random', 'means'], 6)
    """
    must_be("source", source, Hypergraph, like="compare(source, split, ratio=0.01)")
    _check(methods, models, seeds=seeds, runs=runs)
    chosen = {name: None if name == WHOLE else make_method(name) for name in methods}
    for model in models:
        model_class(model)  # a wrong name is an error that says which exist
    split = split_by_seed(source) if split is None else split
    check_scaling(source, scale, within_memory=memory is not None)
    source = standardized(source, scale)
    how: dict[str, Any] = {
        "ratio": ratio,
        "nodes": nodes,
        "allocate": allocate,
        "metric": metric,
        "select": select,
        "device": device,
    }
    how["cache_dir"] = None if cache_dir is None else Path(cache_dir)
    how["memory"] = memory
    protocol: dict[str, Any] = {
        "runs": runs,
        "metric": metric,
        "device": device,
        "cache_dir": scores_dir,
        "memory": memory,
    }
    size = 0
    if any(method is not None for method in chosen.values()):  # a wrong size is refused now, too
        labels = source.labels[split.train_ids]
        size = len(condensed_labels(labels, num_nodes=source.num_nodes, ratio=ratio, nodes=nodes))
    if WHOLE in chosen:  # refused now rather than after long work
        prepare(source, source, split, models=models, **protocol)
    rows: list[Compared] = []
    made: list[Condensation | Hypergraph]
    with watched(progress) as report:
        shared = dict.fromkeys(models, workers)
        if tells_time(report) or not workers:
            sizes = costs.Sizes.of(source, split, max(1, size))
            trainings = _trainings(source, split, sizes, models, protocol)
            expect(report, _stages(chosen, sizes, trainings, seeds, runs))
            shared = {
                model: workers or workers_for(runs * trainings[model]["condensed"], runs, source=source)
                for model in models
            }
        todo = [
            (name, seed) for name, method in chosen.items() if method is not None for seed in range(seeds)
        ]
        machines = engine if engine is not None and engine.remote else Here()
        bench = _Bench(source, split, chosen, how, seeds, silent if machines.remote else report)
        results = machines.map(_condensed, todo, shared=bench)
        for name, method in chosen.items():
            made = [source]
            if method is not None:
                made = []
                for seed in range(seeds):
                    made.append(next(results))
                    report(f"{name}: condense", seed + 1, seeds)
            for model in models:
                scores = []
                for seed, one in enumerate(made):
                    inner = part_of(report, f"{name}: {model}", seed / len(made), (seed + 1) / len(made))
                    protocol |= {
                        "model": model,
                        "workers": shared[model],
                        "engine": engine,
                        "progress": inner,
                    }
                    scores.append(evaluate(one, source, split, seed=seed, **protocol))
                rows.append(_row(name, made, scores, len(split.train_ids)))
    return rows


def _check(methods: Sequence[str], models: Sequence[str], **numbers: int) -> None:
    """Refuse what nobody can mean."""
    for name, given in (("methods", methods), ("models", models)):
        if isinstance(given, str):
            raise ConfigError(
                f"{name} must be a list of names, got the text {given[:40]!r}; give {given.split(',')!r:.60}"
            )
        if not given:
            raise ConfigError(f"give at least one of the {name}")
    for name in methods:
        if not isinstance(name, str):
            raise ConfigError(
                f"methods must be names, got a {type(name).__name__}; `condense` takes methods with options"
            )
    for what, number in numbers.items():
        if whole_number(what, number) < 1:
            raise ValueError(f"{what} must be at least 1, got {number}")


@dataclass(frozen=True, eq=False)
class _Bench(Frozen):
    """What all condensations share."""

    source: Hypergraph
    split: Split
    chosen: Mapping[str, Method | None]
    how: Mapping[str, Any]
    seeds: int
    report: Progress


def _condensed(bench: _Bench, task: tuple[str, int]) -> Condensation:
    """One condensation by a method and a seed."""
    name, seed = task
    method = bench.chosen[name]
    assert method is not None
    begin, end = seed / bench.seeds, (seed + 1) / bench.seeds
    inner = part_of(bench.report, f"{name}: condense", begin, end, counting=nominal.COUNTING)
    known = recorded_name(name)
    return condense_by(method, bench.source, bench.split, name=known, seed=seed, progress=inner, **bench.how)


def _trainings(
    source: Hypergraph, split: Split, sizes: costs.Sizes, models: Sequence[str], protocol: Mapping[str, Any]
) -> dict[str, dict[str, float]]:
    """Seconds of one training of each network, on the whole by a few steps, on condensed nodes in proportion.

    What is kept of the whole from before takes none.
    """
    share = costs.judging(sizes, trainings=1, epochs=200, looks=40) / costs.whole_training(sizes)
    found = {}
    for model in models:
        planned = forecast(
            prepare(source, source, split, models=[model], **{**protocol, "memory": None}), kept=True
        )
        of_one = planned.runs[0].expected
        left = len(planned.left()) / len(planned.runs)
        found[model] = {"condensed": share * of_one, "whole": of_one * left}
    return found


def _stages(
    chosen: Mapping[str, Method | None],
    sizes: costs.Sizes,
    trainings: Mapping[str, Mapping[str, float]],
    seeds: int,
    runs: int,
) -> dict[str, float]:
    """Seconds of condensing by each method, and of each network on its results."""
    stages = {}
    for name, method in chosen.items():
        if method is not None:
            stages[f"{name}: condense"] = seeds * nominal.condensing(method, sizes)
        for model, seconds in trainings.items():
            number = runs if method is None else seeds * runs
            stages[f"{name}: {model}"] = number * seconds["whole" if method is None else "condensed"]
    return stages


def _row(
    method: str, made: Sequence[Condensation | Hypergraph], scores: Sequence[Score], num_train: int
) -> Compared:
    """One network on the results of one method; the source itself is trained on by its training nodes."""
    spread = across_condensations(scores)
    results = [one for one in made if isinstance(one, Condensation)]
    return Compared(
        method=method,
        model=scores[0].model,
        mean=spread.mean,
        std=spread.std,
        seconds=sum(one.seconds[TOTAL] for one in results) / max(1, len(results)),
        num_nodes=results[0].hypergraph.num_nodes if results else num_train,
        trainings=sum(score.runs for score in scores),
        warnings=tuple(
            f"seed {seed}: {warning}" for seed, one in enumerate(results) for warning in one.warnings
        ),
    )
