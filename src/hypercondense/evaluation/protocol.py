"""The score of a condensed hypergraph: fresh networks trained on it, judged on test nodes of the source."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hypercondense.condensation import Condensation
from hypercondense.errors import ConfigError
from hypercondense.evaluation.kept import Shelf
from hypercondense.evaluation.parallel import Bench, Finished, Over, TrainingRun, run_all
from hypercondense.evaluation.tasks import task_named
from hypercondense.frozen import Frozen
from hypercondense.hypergraph import UNKNOWN, Hypergraph, Split
from hypercondense.markup import fact_table
from hypercondense.names import Metric
from hypercondense.nn.scoring import check_metric
from hypercondense.nn.streamed import MappedInputs, check_budget, check_networks
from hypercondense.nn.training import Configuration
from hypercondense.runtime.arguments import must_be, told_arguments
from hypercondense.runtime.bars import watched
from hypercondense.runtime.engine import Engine
from hypercondense.runtime.memory import parse_size
from hypercondense.runtime.progress import Progress, silent


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation (of the sample; 0 for one value)."""

    mean: float
    std: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Summarize values.

        >>> Spread.of([0.25, 0.5, 0.75])
        Spread(mean=0.5, std=0.25)
        """
        return cls(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0)


@dataclass(frozen=True, kw_only=True, repr=False)
class Score(Frozen):
    """What ``runs`` trainings on a condensed hypergraph scored on the test nodes; fractions in 0..1.

    ``metric`` is what ``mean`` and ``values`` measure. ``retention`` is ``mean / whole.mean``.
    ``missing_classes`` are in the source's training labels but not in the condensed hypergraph: no network
    can learn them. ``validation``, ``epochs`` and ``options`` (of the network, with those of its form) are
    per run, and so are ``train_seconds`` and ``whole_seconds``, of one training on the condensed hypergraph
    and on the whole, whenever that was; ``seconds`` are those that were spent now. ``calibration`` is the
    expected calibration error. ``predicted`` has the class of every test node by each training, and
    ``whole_predicted`` by those on the whole (classification only). ``notes`` begin with those of the source.

    >>> import hypercondense as hc
    >>> source = hc.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    >>> split = hc.split(source, seed=0)
    >>> result = hc.condense(source, split, nodes=6, method="means")
    >>> score = hc.evaluate(result, source, split, model="mlp", runs=2)
    >>> score.runs, len(score.values), score.metric
    (2, 2, 'accuracy')
    """

    model: str
    task: str
    metric: str
    mean: float
    std: float
    values: tuple[float, ...]
    runs: int
    macro_f1: float | None
    calibration: float | None
    validation: tuple[float, ...]
    epochs: tuple[int, ...]
    options: tuple[Mapping[str, Any], ...]
    seconds: float
    whole: Spread | None = None
    retention: float | None = None
    accuracy: float | None = None
    train_seconds: tuple[float, ...] = ()
    whole_seconds: tuple[float, ...] = ()
    missing_classes: tuple[int, ...] = ()
    predicted: tuple[tuple[int, ...], ...] = ()
    whole_predicted: tuple[tuple[int, ...], ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        spread = f" ± {self.std:.2%}" if self.runs > 1 else ""
        whole = "" if self.whole is None else f", whole {self.whole.mean:.2%}"
        kept = "" if self.retention is None else f", retention {self.retention:.1%}"
        runs = f"{self.runs} run{'s' * (self.runs > 1)}"
        return f"Score({self.model}, {self.metric} {self.mean:.2%}{spread} in {runs}{whole}{kept})"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        spread = f" ± {self.std:.2%}" if self.runs > 1 else ""
        facts = {
            self.metric: f"{self.mean:.2%}{spread}",
            "trained on everything": None if self.whole is None else f"{self.whole.mean:.2%}",
            "retention": None if self.retention is None else f"{self.retention:.1%}",
            "calibration error": None if self.calibration is None else f"{self.calibration:.2%}",
            "trainings": str(self.runs),
            **{f"note {number}": note for number, note in enumerate(self.notes, start=1)},
        }
        known = {name: value for name, value in facts.items() if value is not None}
        return fact_table(f"{self.model}, {self.task}", known)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready content but for predictions; a validation score that does not exist is ``None``."""
        content = asdict(replace(self, predicted=(), whole_predicted=()))
        del content["predicted"], content["whole_predicted"]
        content["validation"] = [None if math.isnan(value) else value for value in self.validation]
        return content


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
    configurations = tuple(
        model if isinstance(model, Configuration) else Configuration(model=model) for model in models
    )
    for configuration in configurations:
        configuration.in_each_form()  # raises before the long work
    task_named(task)
    check_metric(metric)
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


def across_models(scores: Sequence[Score]) -> Spread:
    """Average and spread of the means of different models on the same condensed hypergraph."""
    if not scores:
        raise ValueError("there are no scores to average; evaluate at least one model")
    return Spread.of([score.mean for score in scores])


def across_condensations(scores: Sequence[Score]) -> Spread:
    """Mean and deviation over all runs of several condensations (the paper's 5 x 5), of equal weight."""
    if not scores:
        raise ValueError("there are no scores to average; evaluate at least one condensed hypergraph")
    return Spread.of([value for score in scores for value in score.values])


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
    if runs < 1:
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
