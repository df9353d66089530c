"""Several methods and networks under one protocol, side by side."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hypercondense.catalogue import make_method, recorded_name
from hypercondense.condensation import Condensation
from hypercondense.condensing.run import condense_by
from hypercondense.errors import ConfigError
from hypercondense.evaluation import Score, across_condensations, evaluate
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.hypergraph import split as split_by_seed
from hypercondense.names import Allocation, Metric
from hypercondense.nn import model_class
from hypercondense.runtime.arguments import must_be, told_arguments
from hypercondense.runtime.bars import watched
from hypercondense.runtime.clock import TOTAL
from hypercondense.runtime.progress import Progress

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
    seeds: int = 3,
    runs: int = 3,
    select: bool = True,
    device: str = "cpu",
    workers: int = 1,
    progress: Progress | bool | None = None,
    cache_dir: Path | str | None = None,
    scores_dir: Path | str | None = None,
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
        seeds: Condensations per method.
        runs: Trainings per condensation.
        select: Whether validation nodes may choose between candidates.
        device: Any torch device.
        workers: Processes that share the trainings.
        progress: ``True`` for a bar in a terminal or notebook, or a function that is told.
        cache_dir: Folder where diffused features are kept.
        scores_dir: Folder where scores of the whole source are kept.

    >>> from hypercondense.data import synthetic
    >>> source = synthetic(num_nodes=80, num_hyperedges=50, num_classes=2, seed=0)
    >>> rows = compare(source, nodes=6, methods=["random", "means"], models=["mlp"], seeds=1, runs=1)
    >>> [row.method for row in rows], rows[0].num_nodes
    (['random', 'means'], 6)
    """
    must_be("source", source, Hypergraph, like="compare(source, split, ratio=0.01)")
    for name, given in (("methods", methods), ("models", models)):
        if isinstance(given, str):
            raise ConfigError(
                f"{name} must be a list of names, got the text {given[:40]!r}; give [{given!r:.40}]"
            )
    chosen = {name: None if name == WHOLE else make_method(name) for name in methods}
    for model in models:
        model_class(model)  # a wrong name is an error that says which exist
    split = split_by_seed(source) if split is None else split
    how: dict[str, Any] = {
        "ratio": ratio,
        "nodes": nodes,
        "allocate": allocate,
        "metric": metric,
        "select": select,
        "device": device,
    }
    how["cache_dir"] = None if cache_dir is None else Path(cache_dir)
    protocol: dict[str, Any] = {"runs": runs, "metric": metric, "device": device, "workers": workers}
    protocol["cache_dir"] = scores_dir
    rows: list[Compared] = []
    made: list[Condensation | Hypergraph]
    with watched(progress) as report:
        for name, method in chosen.items():
            made = (
                [source]
                if method is None
                else [
                    condense_by(
                        method, source, split, name=recorded_name(name), seed=seed, progress=report, **how
                    )
                    for seed in range(seeds)
                ]
            )
            for model in models:
                scores = [
                    evaluate(one, source, split, model=model, seed=seed, progress=report, **protocol)
                    for seed, one in enumerate(made)
                ]
                rows.append(_row(name, made, scores, len(split.train_ids)))
    return rows


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
