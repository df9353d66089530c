"""What networks make of a result: beside random nodes, beside the whole, for every class."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import NormalDist

import numpy as np
import torch
from numpy.typing import NDArray

from hypercondense.catalogue import make_method
from hypercondense.condensation import Condensation, CurvePoint
from hypercondense.condensing.run import condense_by
from hypercondense.errors import HypercondenseError, one_line
from hypercondense.evaluation import Score
from hypercondense.evaluation.forecast import forecast, seconds_by_stage, workers_for
from hypercondense.evaluation.protocol import no_room_for_whole, prepare
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.names import Metric
from hypercondense.nn.scoring import contributions
from hypercondense.nn.training import Configuration
from hypercondense.runtime.progress import Progress, expect, silent, tells_time
from hypercondense.search.retain import point_of

_SURE = NormalDist().inv_cdf(0.975)  # standard errors on either side of 95 %


@dataclass(frozen=True)
class Retention:
    """The share of what everything gives, and from where to where it lies with 95 % probability."""

    share: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class ClassScore:
    """How one class fares: shares of its test nodes that are predicted correctly."""

    label: int
    nodes: int
    condensed: float
    whole: float | None
    random: float | None

    @property
    def lost(self) -> float | None:
        """What condensing costs the class; below 0 where it gains."""
        return None if self.whole is None else self.whole - self.condensed


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured:
    """Scores of networks on test nodes.

    Args:
        source: The hypergraph they are asked about.
        split: Whose test nodes these are.
        scores: Of each network trained on the result and, if that was wanted, on the whole.
        random: Of the first network, trained on as many random nodes, drawn anew for every training.
        missing: Why something was not measured.
    """

    source: Hypergraph
    split: Split
    scores: tuple[Score, ...]
    random: tuple[Score, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def first(self) -> Score:
        """The score of the network that the page is about."""
        return self.scores[0]

    def retention(self, score: Score) -> Retention | None:
        """What a network keeps; ``None`` where the whole was not trained on, or gave nothing."""
        if not score.whole_predicted or not score.predicted:
            return None
        own, whole = (self._contributions(score, told) for told in (score.predicted, score.whole_predicted))
        point: CurvePoint = point_of(1, own, whole, 1.0)
        if not point.whole:
            return None
        around = _SURE * point.standard_error
        return Retention(point.retention, point.retention - around, point.retention + around)

    def _contributions(self, score: Score, predicted: Sequence[Sequence[int]]) -> torch.Tensor:
        labels = torch.from_numpy(self.source.labels[self.split.test_ids])
        metric: Metric = "macro-f1" if score.metric == "macro-f1" else "accuracy"
        return torch.stack([contributions(torch.tensor(told), labels, metric) for told in predicted])

    @property
    def random_mean(self) -> float | None:
        """The mean score of random nodes."""
        return statistics.fmean(score.mean for score in self.random) if self.random else None

    def confusion(self, predicted: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        """Test nodes by their class (rows) and by what networks told (columns), in the mean of trainings."""
        labels, number = self.source.labels[self.split.test_ids], self.source.num_classes
        table = np.zeros((number, number))
        for told in predicted:
            classes = np.array(told)
            known = classes >= 0
            np.add.at(table, (labels[known], classes[known]), 1.0)
        return table / max(1, len(predicted))

    def added_confusion(self) -> NDArray[np.float64] | None:
        """How many more nodes of a class are taken for another than by networks trained on the whole."""
        if not self.first.whole_predicted or not self.first.predicted:
            return None
        return self.confusion(self.first.predicted) - self.confusion(self.first.whole_predicted)

    def classes(self) -> list[ClassScore]:
        """Every class that has test nodes."""
        if not self.first.predicted:
            return []
        sizes = np.bincount(self.source.labels[self.split.test_ids], minlength=self.source.num_classes)
        own, whole = self._right(self.first.predicted), self._right(self.first.whole_predicted)
        random = self._right([told for score in self.random for told in score.predicted])
        return [
            ClassScore(
                label=int(label),
                nodes=int(sizes[label]),
                condensed=float(own[label] / sizes[label]) if own is not None else 0.0,
                whole=None if whole is None else float(whole[label] / sizes[label]),
                random=None if random is None else float(random[label] / sizes[label]),
            )
            for label in np.flatnonzero(sizes)
        ]

    def _right(self, predicted: Sequence[Sequence[int]]) -> NDArray[np.float64] | None:
        return self.confusion(predicted).diagonal() if predicted else None


def measure(
    result: Condensation,
    source: Hypergraph,
    split: Split,
    *,
    models: Sequence[str | Configuration] = ("hgnn",),
    runs: int = 3,
    seed: int = 0,
    whole: bool = True,
    workers: int = 1,
    progress: Progress = silent,
    cache_dir: Path | str | None = None,
    memory: int | str | None = None,
) -> Measured:
    """Train networks on a result, on as many random nodes and on the whole; score them on test nodes.

    Args:
        result: The result.
        source: What it was made of.
        split: The split it was made with.
        models: Networks; the first is the one that random nodes are compared with.
        runs: Trainings of each.
        seed: Everything random follows from it.
        whole: Whether to train on the whole source, which takes longest.
        workers: Processes that share the trainings; 0 for as many as end soonest on the free cores.
        progress: Told as the trainings go on.
        cache_dir: Folder where scores of the whole source are kept.
        memory: Bytes that a process may take where the source is mapped, as a number or as ``"2GB"``. What
            it has no room for, a training on the whole, is left out, and ``missing`` tells so.
    """
    missing: tuple[str, ...] = ()
    if whole and (refused := no_room_for_whole(source, memory)):
        whole, missing = False, (f"networks were not trained on the whole: {refused}",)
    metric: Metric = "macro-f1" if result.provenance.metric == "macro-f1" else "accuracy"
    planned = prepare(
        result,
        source,
        split,
        models=models,
        metric=metric,
        runs=runs,
        seed=seed,
        whole=whole,
        cache_dir=cache_dir,
        memory=memory,
    )
    if tells_time(progress) or not workers:
        planned = forecast(planned)
        left = planned.left()
        expect(progress, seconds_by_stage(left))
        workers = workers or workers_for(sum(run.expected for run in left), len(left), source=source)
    scores = planned.scores(workers=workers, progress=progress)
    done = Measured(source=source, split=split, scores=tuple(scores), missing=missing)
    try:
        drawn = [
            _random(
                result,
                done,
                model=models[0],
                metric=metric,
                seed=seed + run,
                progress=progress,
                memory=memory,
            )
            for run in range(runs)
        ]
    except (HypercondenseError, ValueError) as error:
        return replace(
            done,
            missing=(
                *missing,
                f"random nodes were not measured: {one_line(error)}",
            ),
        )
    return replace(done, random=tuple(drawn))


def _random(
    result: Condensation,
    of: Measured,
    *,
    model: str | Configuration,
    metric: Metric,
    seed: int,
    progress: Progress,
    memory: int | str | None,
) -> Score:
    """One training on as many random nodes as a result has."""
    source, split = of.source, of.split
    nodes = condense_by(
        make_method("random"),
        source,
        split,
        name="random",
        nodes=result.hypergraph.num_nodes,
        metric=metric,
        seed=seed,
        select=False,
        scale="none" if result.scale is None else "standard",
        memory=memory,
    )
    planned = prepare(nodes, source, split, models=[model], metric=metric, runs=1, seed=seed, memory=memory)
    return planned.scores(progress=progress)[0]
