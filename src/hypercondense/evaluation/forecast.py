"""What trainings will take, from a few steps of each network: told before the long work."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median

from hypercondense.evaluation.parallel import Bench, TrainingRun
from hypercondense.evaluation.protocol import Evaluation
from hypercondense.hypergraph import Hypergraph
from hypercondense.nn import HypergraphNetwork, build
from hypercondense.nn.epochs import Epochs
from hypercondense.nn.looks import VALIDATE_EVERY, Looks
from hypercondense.nn.training import Configuration, fitting_step
from hypercondense.runtime.rng import seeded
from hypercondense.runtime.threads import free_cores, one_thread

_START = 6.0  # seconds until a process is ready to train: it imports torch and gets the source
_ENOUGH, _REPEATS = 0.05, 9  # seconds and times after which a piece of work is known


def forecast(planned: Evaluation, *, kept: bool = False) -> Evaluation:
    """The same trainings, each with the seconds that it will take in a process of its own.

    Every form of a network takes a few steps and looks at the validation nodes; the first step, which
    prepares things, does not count. Those that were kept from before are asked about only if ``kept``.
    """
    bench, known = planned.bench, dict[tuple[Configuration, bool], float]()

    def seconds(run: TrainingRun) -> float:
        key = (run.configuration, run.whole)
        if key not in known:
            with one_thread():
                known[key] = sum(_seconds(bench, run, form) for form in run.configuration.in_each_form())
        return known[key]

    if planned.bench.source.is_mapped:  # a look may take minutes, and so may the forecast of one
        return planned
    left = set(planned.runs if kept else planned.left())
    return replace(
        planned,
        runs=tuple(replace(run, expected=seconds(run)) if run in left else run for run in planned.runs),
    )


def seconds_by_stage(runs: Sequence[TrainingRun]) -> dict[str, float]:
    """Seconds of all trainings of each network on each hypergraph, in one process, in their order."""
    total: dict[str, float] = {}
    for run in runs:
        total[run.stage] = total.get(run.stage, 0.0) + run.expected
    return total


def _seconds(bench: Bench, run: TrainingRun, form: Configuration) -> float:
    source, graph, split = bench.source_inputs, bench.graph(run), bench.split
    with seeded(run.seed):
        model = build(
            form.model, num_features=source.num_features, num_classes=source.num_classes, **form.options
        ).to(source.labels.device)
        step = fitting_step(model, form, graph, source, split)
        step()
        of_step = timed(step)
        assert form.epochs is not None
        looks = Looks(source, split, every=VALIDATE_EVERY, epochs=form.epochs, metric=bench.metric)
        return form.epochs * of_step + _seconds_of(looks, model)


def _seconds_of(looks: Looks, model: HypergraphNetwork) -> float:
    """Seconds of all looks of a training; the first of each kind, which prepares things, does not count."""
    if len(looks.ids) == 0:
        return 0.0
    looks(model)
    seconds = Epochs(model, looks).expected_looks * timed(lambda: looks(model))
    if looks.sampled:
        looks.at_all(model)
        seconds += looks.finalists * timed(lambda: looks.at_all(model))
    return seconds


def timed(work: Callable[[], object]) -> float:
    """Seconds of a piece of work, the median of several where it is short: one alone may be interrupted."""
    taken: list[float] = []
    while not taken or (sum(taken) < _ENOUGH and len(taken) < _REPEATS):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return median(taken)


def workers_for(seconds: float, num_runs: int, *, source: Hypergraph | None = None) -> int:
    """Processes that finish trainings of so many seconds in all the soonest, on the cores that are free.

    For a source that stays on disk it is one: each would have files and a budget of its own.
    """
    if source is not None and source.is_mapped:
        return 1
    possible = range(1, max(1, min(free_cores(), num_runs)) + 1)
    return min(possible, key=lambda number: seconds if number == 1 else _START + seconds / number)
