"""What trainings are expected to take reaches those who show the time left."""

from collections.abc import Mapping

import pytest

from hypercondense.comparing import compare
from hypercondense.data import synthetic
from hypercondense.evaluation.parallel import Count, TrainingRun
from hypercondense.evaluation.tuning import rank
from hypercondense.hypergraph import split
from hypercondense.nn.training import Configuration


class Watcher:
    """Notes what it was told: what stages take, and the share of each that was done, in order."""

    def __init__(self) -> None:
        self.expected: dict[str, float] = {}
        self.shares: dict[str, list[float]] = {}

    def expect(self, seconds: Mapping[str, float]) -> None:
        self.expected = dict(seconds)

    def __call__(self, stage: str, done: int, total: int, /, **figures: float) -> None:
        self.shares.setdefault(stage, []).append(done / total)


def test_compare_tells_before_it_begins_what_every_method_and_network_takes() -> None:
    source, watcher = synthetic(num_nodes=80, num_hyperedges=50, num_classes=2, seed=0), Watcher()
    compare(source, nodes=6, methods=["means", "whole"], models=["mlp"], seeds=2, runs=1, progress=watcher)
    assert list(watcher.expected) == ["means: condense", "means: mlp", "whole: mlp"]
    assert min(watcher.expected.values()) > 0
    assert list(watcher.shares) == list(watcher.expected)  # nothing else is told, and in this order
    for shares in watcher.shares.values():
        assert shares == sorted(shares) and shares[-1] == 1


def test_tune_counts_trainings_on_condensed_and_whole_by_what_they_take() -> None:
    source, watcher = synthetic(num_nodes=80, num_hyperedges=50, num_classes=2, seed=0), Watcher()
    small = synthetic(num_nodes=40, num_hyperedges=20, num_classes=2, seed=0)
    forms = [Configuration(model="mlp", epochs=epochs) for epochs in (2, 4)]
    rank(forms, small, source, split(source), runs=1, whole=True, workers=0, progress=watcher)
    assert list(watcher.expected) == ["mlp on condensed nodes", "mlp on the whole"] == list(watcher.shares)
    assert [shares[-1] for shares in watcher.shares.values()] == [1, 1]


def test_a_training_that_takes_longer_counts_for_more() -> None:
    watcher = Watcher()
    runs = [
        TrainingRun(Configuration(model="mlp"), False, seed=0, number=number, expected=seconds)
        for number, seconds in ((1, 1.0), (2, 3.0))
    ]
    count = Count(runs, watcher)
    count.ended(runs[0], 0.5)
    count.within(runs[1])("train", 1, 2)
    count.ended(runs[1], 0.5)
    assert watcher.shares["mlp on condensed nodes"] == pytest.approx([0.25, 0.625, 1.0], abs=0.01)
