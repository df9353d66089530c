"""The smallest size that keeps a share: sizes, errors of estimates, and the search itself."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from hypercondense.catalogue import condense
from hypercondense.condensation import Condensation, CurvePoint, load_condensed
from hypercondense.condensing import guard
from hypercondense.condensing.material import Material
from hypercondense.errors import ConfigError
from hypercondense.hypergraph import Hypergraph, Split, split
from hypercondense.nn.training import Configuration
from hypercondense.search import retain
from hypercondense.search.retain import between, condense_to_retain, doubled, point_of
from makers.jobs import quick


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainings of a few epochs, and no guard."""
    monkeypatch.setattr(guard, "worse_than_random", lambda *_, **__: iter(()))
    monkeypatch.setattr(retain, "Configuration", lambda **how: Configuration(**{**how, "epochs": 10}))


def point(nodes: int, probability: float) -> CurvePoint:
    figures = dict.fromkeys(("score", "whole", "retention", "standard_error"), 0.5)
    return CurvePoint(nodes=nodes, probability=probability, **figures)


def test_sizes_double_up_to_the_largest() -> None:
    assert list(doubled(4, 4)) == [4]
    assert list(doubled(7, 60)) == [7, 14, 28, 56, 60]


def test_the_next_size_lies_between_the_smallest_that_is_enough_and_the_one_below() -> None:
    assert between([point(10, 0.1), point(20, 0.2), point(40, 0.9)], 0.8) == 28
    assert between([point(10, 0.9)], 0.8) is None
    assert between([point(10, 0.1), point(11, 0.9)], 0.8) is None
    # What is between a larger one that failed and one that did not is of no interest.
    assert between([point(10, 0.1), point(20, 0.9), point(40, 0.1), point(80, 0.9)], 0.8) == 14


def test_a_paired_difference_by_hand() -> None:
    whole = torch.tensor([[1, 1, 1, 1, 0, 1, 1, 1, 1, 1.0]])
    own = torch.tensor([[1, 1, 1, 0, 0, 1, 1, 1, 1, 1.0]])
    found = point_of(5, own, whole, 0.8)
    assert (found.nodes, found.score, found.whole) == (5, pytest.approx(0.8), pytest.approx(0.9))
    assert found.retention == pytest.approx(8 / 9)
    differences = (own - 0.8 * whole)[0].numpy()
    error = differences.std(ddof=1) / math.sqrt(10)
    z = differences.mean() / error
    assert found.probability == pytest.approx(0.5 * (1 + math.erf(z / math.sqrt(2))))
    exact = (own - 8 / 9 * whole)[0].numpy().std(ddof=1) / math.sqrt(10) / 0.9
    assert found.standard_error == pytest.approx(exact)


def test_trainings_that_differ_make_the_estimate_less_certain() -> None:
    rng = np.random.default_rng(0)
    alike = torch.tensor(rng.random((1, 200)) < 0.9).double().repeat(3, 1)
    moved = alike.clone()
    moved[0] = (moved[0] - 0.05).clamp(0, 1)
    moved[1] = (moved[1] + 0.05).clamp(0, 1)
    assert point_of(5, moved, alike, 0.9).standard_error > point_of(5, alike, alike, 0.9).standard_error == 0


def test_equal_answers_keep_everything_and_nothing_is_divided_by_nothing() -> None:
    right, wrong = torch.ones(2, 5).double(), torch.zeros(2, 5).double()
    assert point_of(3, right, right, 1.0).probability == 1.0
    assert point_of(3, wrong, right, 0.99).probability == 0.0
    assert point_of(3, wrong, wrong, 0.99).retention == 1.0


def retained(source: Hypergraph, parts: Split, share: float, **how: Any) -> Condensation:
    material = Material(source, parts)
    return condense_to_retain(quick("means"), material, retain=share, **how)


def test_the_smallest_size_that_keeps_the_share_is_taken(source: Hypergraph, parts: Split) -> None:
    result = retained(source, parts, np.float32(0.5))
    assert result.curve is not None and result.ledger is not None
    sizes = [point.nodes for point in result.curve]
    assert sizes == sorted(sizes) and sizes[0] == 3
    enough = [point.nodes for point in result.curve if point.probability >= 0.8]
    assert result.hypergraph.num_nodes == enough[0]
    assert (result.provenance.retain, result.provenance.confidence) == (0.5, 0.8)
    assert result.ledger.whole_trainings == 3 and result.ledger.measured
    assert {"reference", "looks", "total"} <= set(result.ledger.seconds)
    assert result.warnings == () or "do not keep" not in result.warnings[-1]
    again = condense_to_retain(quick("means"), Material(source, parts), retain=0.5)
    assert again.hypergraph.digest == result.hypergraph.digest and again.curve == result.curve


def test_a_share_that_no_size_keeps_is_said_and_the_best_is_returned(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def no(nodes: int, *_: Any) -> CurvePoint:
        return point(nodes, 0.3 if nodes == 6 else 0.1)

    monkeypatch.setattr(retain, "point_of", no)
    result = retained(source, parts, 0.99)
    assert result.curve is not None
    assert [point.nodes for point in result.curve] == [3, 6, 12, 24, 30]  # 30 is a tenth of the nodes
    assert result.hypergraph.num_nodes == 6
    assert "up to 30 nodes (10.0%) do not keep 0.99" in result.warnings[-1]
    result.save(tmp_path / "out")
    loaded = load_condensed(tmp_path / "out")
    assert loaded.curve == result.curve and loaded.ledger == result.ledger


def test_the_time_left_is_that_of_all_sizes(source: Hypergraph, parts: Split) -> None:
    class Told:
        def __init__(self) -> None:
            self.expected: list[list[str]] = []
            self.shares: dict[str, list[float]] = {}

        def expect(self, seconds: dict[str, float]) -> None:
            assert all(one > 0 for one in seconds.values())
            self.expected.append(list(seconds))

        def __call__(self, stage: str, done: int, total: int, /, **figures: float) -> None:
            self.shares.setdefault(stage, []).append(done / total)

    told = Told()
    result = condense_to_retain(quick("means"), Material(source, parts, progress=told), retain=0.5)
    assert result.curve is not None
    assert told.expected[0] == ["3 nodes", "everything", "6 nodes", "12 nodes", "24 nodes", "30 nodes"]
    done = {f"{point.nodes} nodes" for point in result.curve} | {"everything"}
    shown = {stage: shares for stage, shares in told.shares.items() if stage in told.expected[0]}
    assert shown.keys() <= done and {"3 nodes", "everything"} <= shown.keys()
    for shares in shown.values():
        assert shares == sorted(shares) and shares[-1] == 1, shown


def test_finished_sizes_are_not_done_again(
    source: Hypergraph, parts: Split, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    expected = retained(source, parts, 0.9)
    condensed, fully = [], retain.condense_material

    def counted(*what: Any, nodes: int, **how: Any) -> Condensation:
        condensed.append(nodes)
        if len(condensed) == 2:
            raise KeyboardInterrupt
        return fully(*what, nodes=nodes, **how)

    monkeypatch.setattr(retain, "condense_material", counted)
    with pytest.raises(KeyboardInterrupt):
        retained(source, parts, 0.9, checkpoint=tmp_path)
    result = retained(source, parts, 0.9, checkpoint=tmp_path, resume=True)
    assert len(condensed) == len(set(condensed)) + 1  # the one that was interrupted
    assert result.hypergraph.digest == expected.hypergraph.digest and result.curve == expected.curve


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"retain": 1.5}, "retain must be above 0 and at most 1, got 1.5"),
        ({"retain": 0.0}, "retain must be above 0 and at most 1, got 0;"),
        ({"retain": -0.5}, "got -0.5"),
        ({"retain": math.nan}, "got nan"),
        ({"confidence": 1.0}, "confidence must be at least 0.5 and below 1, got 1"),
        ({"ratio": 0.1}, "leave ratio, nodes and ratio_of out"),
        ({"nodes": 9}, "leave ratio, nodes and ratio_of out"),
        ({"ratio_of": "train"}, "leave ratio, nodes and ratio_of out"),
        ({"select": False}, "--no-select"),
        ({"whole_training": False}, "--no-whole-training"),
        ({"retain": None, "nodes": 9, "confidence": 0.9}, "confidence is about retain"),
    ],
)
def test_what_cannot_be_is_refused_before_the_work(
    source: Hypergraph, parts: Split, wrong: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        condense(source, parts, method="means", **{"retain": 0.9, **wrong})


def test_without_validation_nodes_there_is_nothing_to_choose_by(source: Hypergraph) -> None:
    nobody = split(source, shares=(0.5, 0.0, 0.5))
    with pytest.raises(ConfigError, match="the split has none"):
        condense(source, nobody, method="means", retain=0.9)
