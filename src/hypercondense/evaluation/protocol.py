"""The score of a condensed hypergraph: fresh networks trained on it, judged on test nodes of the source."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hypercondense.condensation import Condensation
from hypercondense.errors import ConfigError
from hypercondense.evaluation.kept import Shelf
from hypercondense.evaluation.parallel import Bench, Finished, Over, TrainingRun, run_all
from hypercondense.evaluation.score import Score, Spread
from hypercondense.evaluation.tasks import task_named
from hypercondense.hypergraph import UNKNOWN, Hypergraph, Split
from hypercondense.hypergraph.given import seed_number, whole_number
from hypercondense.names import Metric
from hypercondense.nn.scoring import check_metric
from hypercondense.nn.streamed import MappedInputs, check_budget, check_networks
from hypercondense.nn.training import Configuration
from hypercondense.runtime.arguments import must_be, must_be_flags, told_arguments
from hypercondense.runtime.bars import watched
from hypercondense.runtime.devices import check_device
from hypercondense.runtime.engine import Engine
from hypercondense.runtime.memory import parse_size
from hypercondense.runtime.progress import Progress, silent


@told_arguments
def evaluate(
    condensed: Hypergraph | Condensation,
    source: Hypergraph,
    split: Split,
    *,
    model: str | Configuration = "hgnn",
    task: str = "classify",
    over: Over = "test",
    metric: Metric = "accuracy",
    runs: int = 5,
    seed: int = 0,
    whole: bool = False,
    device: str = "cpu",
    workers: int = 1,
    engine: Engine | None = None,
    progress: Progress | bool | None = None,
    cache_dir: Path | str | None = None,
    memory: int | str | None = None,
) -> Score:
    """Train ``runs`` fresh networks on ``condensed`` and score each on the test nodes of ``source``.

    Args:
        condensed: What to train on. The source itself gives the whole-data score (from its training nodes).
            Where the features of a result are scaled, those of the source are scaled likewise.
        source: The hypergraph it was made from.
        split: Training, validation (chooses the epoch) and test nodes of the source.
        model: A registered name, or a :class:`Configuration` that changes its options.
        task: ``classify`` (accuracy), ``cluster`` (NMI) or ``retrieve`` (MAP).
        over: Which nodes to cluster and retrieve: ``test``, or ``all`` that are labelled, as others do.
        metric: What the epoch of a training is chosen for, and a classification scored by: ``accuracy`` or
            ``macro-f1``.
        runs: Number of trainings. Run ``k`` of a seed is the same alone or among others.
        seed: Everything random follows from it.
        whole: Also train on the source itself in the same way, for ``whole`` and ``retention``.
        device: A torch device.
        workers: Processes to share the trainings; the score does not depend on it. A script that asks for
            more than 1 needs the usual ``if __name__ == "__main__":`` guard.
        engine: Who does the trainings instead, such as :class:`hypercondense.runtime.ray_engine.RayEngine`.
        progress: ``True`` for a bar in a terminal or notebook, or a function that is told.
        cache_dir: Folder where scores of the whole source are kept, so that it is not trained on twice.
        memory: Bytes that a process may take where the source is mapped, as a number or as ``"2GB"``.

    >>> from hypercondense.data import synthetic
    >>> from hypercondense.hypergraph import split as split_by_seed
    >>> source = synthetic(num_nodes=60, num_hyperedges=40, num_classes=2, seed=0)
    >>> score = evaluate(source, source, split_by_seed(source), model="mlp", runs=1)
    >>> (score.model, score.runs, 0 <= score.mean <= 1)
    ('mlp', 1, True)
    """
    prepared = prepare(
        condensed,
        source,
        split,
        models=[model],
        task=task,
        over=over,
        metric=metric,
        runs=runs,
        seed=seed,
        whole=whole,
        device=device,
        cache_dir=cache_dir,
        memory=memory,
    )
    with watched(progress) as report:
        return prepared.scores(workers=workers, engine=engine, progress=report)[0]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Trainings of several networks that are checked and ready to begin."""

    bench: Bench
    models: tuple[Configuration, ...]
    runs: tuple[TrainingRun, ...]

    def left(self) -> list[TrainingRun]:
        """The trainings that are not kept from before."""
        return [run for run in self.runs if self.bench.kept(run) is None]

    def scores(
        self, *, workers: int = 1, engine: Engine | None = None, progress: Progress = silent
    ) -> list[Score]:
        """Train all of them and summarize; one score for each network, in their order."""
        done = run_all(self.bench, self.runs, progress, workers=workers, engine=engine)
        per_model = len(self.runs) // len(self.models)
        groups = [slice(start, start + per_model) for start in range(0, len(done), per_model)]
        return [
            self._score(model, self.runs[group], done[group])
            for model, group in zip(self.models, groups, strict=True)
        ]

    def _score(self, model: Configuration, runs: Sequence[TrainingRun], done: Sequence[Finished]) -> Score:
        """Summarize the trainings on the condensed hypergraph and, if there are any, on the whole source."""
        bench = self.bench
        own = [one for run, one in zip(runs, done, strict=True) if not run.whole]
        whole = [one for run, one in zip(runs, done, strict=True) if run.whole]
        own = own or whole  # of the source itself the trainings are the reference already
        task = task_named(bench.task)
        by_f1 = bench.metric == "macro-f1" and task.metric == "accuracy"
        values, whole_values = (
            tuple(run.outcome.macro_f1 or 0.0 if by_f1 else run.outcome.value for run in some)
            for some in (own, whole)
        )
        spread, reference = Spread.of(values), Spread.of(whole_values) if whole else None
        macro_f1 = _mean(run.outcome.macro_f1 for run in own)
        return Score(
            model=model.model,
            task=bench.task,
            metric=bench.metric if by_f1 else task.metric,
            mean=spread.mean,
            std=spread.std,
            values=values,
            runs=len(own),
            macro_f1=macro_f1,
            accuracy=None if macro_f1 is None else statistics.fmean(run.outcome.value for run in own),
            calibration=_mean(run.outcome.calibration for run in own),
            validation=tuple(run.validation for run in own),
            epochs=tuple(run.epoch for run in own),
            options=tuple(run.options for run in own),
            seconds=sum(one.spent for one in done),
            whole=reference,
            retention=spread.mean / reference.mean if reference and reference.mean else None,
            train_seconds=tuple(run.seconds for run in own),
            whole_seconds=tuple(run.seconds for run in whole),
            missing_classes=missing_classes(bench.condensed, bench.source, bench.split),
            predicted=tuple(run.outcome.predicted for run in own if run.outcome.predicted),
            whole_predicted=tuple(run.outcome.predicted for run in whole if run.outcome.predicted),
            notes=_notes(bench.source, bench.split),
        )


def prepare(
    condensed: Hypergraph | Condensation,
    source: Hypergraph,
    split: Split,
    *,
    models: Sequence[str | Configuration],
    task: str = "classify",
    over: Over = "test",
    metric: Metric = "accuracy",
    runs: int = 5,
    seed: int = 0,
    whole: bool = False,
    device: str = "cpu",
    cache_dir: Path | str | None = None,
    memory: int | str | None = None,
) -> Evaluation:
    """Check everything and plan the trainings of several networks; see :func:`evaluate`."""
    like = "evaluate(result, source, split)"
    most = parse_size(memory) if isinstance(memory, str) else memory
    must_be("source", source, Hypergraph, like=like)
    must_be("split", split, Split, like=like)
    must_be_flags(whole=whole)
    origin = {"source": source.digest, "split": split.digest, "task": task, "over": over, "metric": metric}
    origin["device"] = device
    if isinstance(condensed, Condensation):
        condensed.provenance.check(source_digest=source.digest, split_digest=split.digest)
        if condensed.scale is not None:
            check_budget(source, most, scaled=True)
            source = condensed.scale.applied(source)
            origin["source"] = source.digest
        condensed = condensed.hypergraph
    must_be("condensed", condensed, Hypergraph, like=like)
    for model in models:
        if not isinstance(model, str | Configuration):
            raise TypeError(f"model must be the name of a network, as 'hgnn', got {model!r:.60}")
    configurations = tuple(
        model if isinstance(model, Configuration) else Configuration(model=model) for model in models
    )
    for configuration in configurations:
        configuration.in_each_form()  # raises before the long work
    task_named(task)
    check_metric(metric)
    check_device(device)
    seed = seed_number(seed)
    if over == "all" and task == "classify":
        raise ValueError(
            "classification is scored on test nodes only: the network was shown the other labels"
        )
    _check(condensed, source, split, runs)
    _check_memory(condensed, source, configurations, most, whole=whole)
    bench = Bench(
        condensed=condensed,
        source=source,
        split=split,
        task=task,
        over=over,
        metric=metric,
        device=device,
        shelf=None if cache_dir is None else Shelf(Path(cache_dir), origin),
        memory=most,
        scratch=None if cache_dir is None else Path(cache_dir),
    )
    kinds = [False, True] if whole else [False]
    if condensed is source:
        kinds = [whole]
    seeds = [int(np.random.SeedSequence([seed, run]).generate_state(1)[0]) for run in range(runs)]
    planned = (
        TrainingRun(configuration, kind, run_seed, number)
        for configuration in configurations
        for kind in kinds
        for number, run_seed in enumerate(seeds, start=1)
    )
    return Evaluation(bench, configurations, tuple(planned))


def no_room_for_whole(source: Hypergraph, memory: int | str | None) -> str | None:
    """Why a budget does not allow a training on everything, or ``None`` where it does."""
    most = parse_size(memory) if isinstance(memory, str) else memory
    if most is None or not source.is_mapped:
        return None
    try:
        MappedInputs(source, memory=most).check_room("a training on everything", instead="leave it out")
    except ConfigError as error:
        return str(error)
    return None


def _check_memory(
    condensed: Hypergraph,
    source: Hypergraph,
    configurations: Sequence[Configuration],
    memory: int | None,
    *,
    whole: bool,
) -> None:
    """Refuse before the long work what a budget has no room for."""
    if memory is None or not source.is_mapped:
        return
    check_budget(source, memory)
    seen = MappedInputs(source, memory=memory)
    if whole or condensed is source:
        seen.check_room("a training on everything", instead="leave it out")
    check_networks(seen, (form for one in configurations for form in one.in_each_form()))


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def missing_classes(condensed: Hypergraph, source: Hypergraph, split: Split) -> tuple[int, ...]:
    """Classes of the source's training nodes that no condensed node has."""
    missing = np.setdiff1d(source.labels[split.train_ids], condensed.labels)
    return tuple(int(label) for label in missing if label != UNKNOWN)


def _notes(source: Hypergraph, split: Split) -> tuple[str, ...]:
    """What a reader of the score must know, e.g. that the features of the source were made from labels."""
    if len(split.validation_ids):
        return source.notes
    return (*source.notes, "there are no validation nodes: the last epoch was used")


def _check(condensed: Hypergraph, source: Hypergraph, split: Split, runs: int) -> None:
    if whole_number("runs", runs) < 1:
        raise ValueError(f"runs must be at least 1, got {runs}")
    if condensed.num_features != source.num_features:
        raise ValueError(
            f"the source has {source.num_features} features but the condensed hypergraph has "
            f"{condensed.num_features}; give the source it was condensed from"
        )
    if condensed.labels.max() >= source.num_classes:
        raise ValueError(
            f"the condensed hypergraph has class {condensed.labels.max()} but the source has only "
            f"{source.num_classes} classes; give the source it was condensed from"
        )
    _check_split(source, split)


def _check_split(source: Hypergraph, split: Split) -> None:
    parts: Mapping[str, Any] = {
        "training": split.train_ids,
        "validation": split.validation_ids,
        "test": split.test_ids,
    }
    for part, ids in parts.items():
        if len(ids) and not 0 <= ids.min() <= ids.max() < source.num_nodes:
            raise ValueError(
                f"the split has {part} nodes up to id {ids.max()} but the source has {source.num_nodes} "
                "nodes; use a split of this source"
            )
        unknown = ids[source.labels[ids] == UNKNOWN]
        if len(unknown):
            raise ValueError(
                f"{len(unknown)} {part} nodes of the source have no label, the first is node {unknown[0]}; "
                "split the labelled nodes only"
            )
    if len(split.test_ids) == 0:
        raise ValueError(
            "the split has no test nodes, so there is nothing to score; keep a share for testing"
        )
