"""The score of a condensed hypergraph: fresh networks trained on it, judged on test nodes of the source."""

import math
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hypercondense.condensation import Condensation
from hypercondense.evaluation.parallel import Bench, Finished, Over, TrainingRun, run_all
from hypercondense.evaluation.tasks import task_named
from hypercondense.hypergraph import UNKNOWN, Hypergraph, Split
from hypercondense.nn.training import Configuration
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


@dataclass(frozen=True, kw_only=True)
class Score:
    """What ``runs`` trainings on a condensed hypergraph scored on the test nodes; fractions in 0..1.

    ``retention`` is ``mean / whole.mean``. ``missing_classes`` are in the source's training labels but not
    in the condensed hypergraph: no network can learn them. ``validation``, ``epochs`` and ``options`` (of the
    network, with those of its form) are per run. ``notes`` begin with those of the source.
    """

    model: str
    task: str
    metric: str
    mean: float
    std: float
    values: tuple[float, ...]
    runs: int
    macro_f1: float | None
    validation: tuple[float, ...]
    epochs: tuple[int, ...]
    options: tuple[Mapping[str, Any], ...]
    seconds: float
    whole: Spread | None = None
    retention: float | None = None
    missing_classes: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready content; a validation score that does not exist is ``None``."""
        content = asdict(self)
        content["validation"] = [None if math.isnan(value) else value for value in self.validation]
        return content


def evaluate(
    condensed: Hypergraph | Condensation,
    source: Hypergraph,
    split: Split,
    *,
    model: str | Configuration = "hgnn",
    task: str = "classify",
    over: Over = "test",
    runs: int = 5,
    seed: int = 0,
    whole: bool = False,
    device: str = "cpu",
    workers: int = 1,
    progress: Progress = silent,
) -> Score:
    """Train ``runs`` fresh networks on ``condensed`` and score each on the test nodes of ``source``.

    Args:
        condensed: What to train on. The source itself gives the whole-data score (from its training nodes).
        source: The hypergraph it was made from.
        split: TrainingRun, validation (chooses the epoch) and test nodes of the source.
        model: A registered name, or a :class:`Configuration` that changes its options.
        task: ``classify`` (accuracy), ``cluster`` (NMI) or ``retrieve`` (MAP).
        over: Which nodes to cluster and retrieve: ``test``, or ``all`` that are labelled, as others do.
        runs: Number of trainings. Run ``k`` of a seed is the same alone or among others.
        seed: Everything random follows from it.
        whole: Also train on the source itself in the same way, for ``whole`` and ``retention``.
        device: A torch device.
        workers: Processes to share the trainings; the score does not depend on it. A script that asks for
            more than 1 needs the usual ``if __name__ == "__main__":`` guard.
        progress: Told after every training.
    """
    begin = time.perf_counter()
    if isinstance(condensed, Condensation):
        condensed.provenance.check(source_digest=source.digest, split_digest=split.digest)
        condensed = condensed.hypergraph
    configuration = model if isinstance(model, Configuration) else Configuration(model=model)
    configuration.in_each_form()  # raises before the long work
    task_named(task)
    if over == "all" and task == "classify":
        raise ValueError(
            "classification is scored on test nodes only: the network was shown the other labels"
        )
    _check(condensed, source, split, runs)
    bench = Bench(
        condensed=condensed,
        source=source,
        split=split,
        configuration=configuration,
        task=task,
        over=over,
        device=device,
    )
    done = run_all(bench, _plan(runs, seed, whole and condensed is not source), workers, progress)
    # Of the source itself the trainings are the reference already.
    reference = done[:runs] if whole and condensed is source else done[runs:]
    return _score(bench, done[:runs], reference, seconds=time.perf_counter() - begin)


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


def _score(bench: Bench, own: Sequence[Finished], whole: Sequence[Finished], *, seconds: float) -> Score:
    """Summarize the trainings on the condensed hypergraph and, if there are any, on the whole source."""
    spread = Spread.of([run.outcome.value for run in own])
    reference = Spread.of([run.outcome.value for run in whole]) if whole else None
    f1_values = [run.outcome.macro_f1 for run in own if run.outcome.macro_f1 is not None]
    return Score(
        model=bench.configuration.model,
        task=bench.task,
        metric=task_named(bench.task).metric,
        mean=spread.mean,
        std=spread.std,
        values=tuple(run.outcome.value for run in own),
        runs=len(own),
        macro_f1=statistics.fmean(f1_values) if f1_values else None,
        validation=tuple(run.validation for run in own),
        epochs=tuple(run.epoch for run in own),
        options=tuple(run.options for run in own),
        seconds=seconds,
        whole=reference,
        retention=spread.mean / reference.mean if reference and reference.mean else None,
        missing_classes=missing_classes(bench.condensed, bench.source, bench.split),
        notes=_notes(bench.source, bench.split),
    )


def _plan(runs: int, seed: int, whole: bool) -> list[TrainingRun]:
    """The trainings on the condensed hypergraph, then those on the whole source with the same seeds."""
    seeds = [int(np.random.SeedSequence([seed, run]).generate_state(1)[0]) for run in range(runs)]
    kinds = (False, True) if whole else (False,)
    return [TrainingRun(whole=kind, seed=run_seed) for kind in kinds for run_seed in seeds]


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
