"""Estimates are sums of pieces times how often each is done; the pieces are real work on a part."""

import json

import numpy as np
import pytest
from msgspec.structs import replace

from hypercondense.catalogue import make_method
from hypercondense.cli import run
from hypercondense.condensing.presets import PRESETS
from hypercondense.data import synthetic
from hypercondense.errors import ConfigError
from hypercondense.estimating import estimable, estimate
from hypercondense.estimating.costs import goal_parts
from hypercondense.estimating.pieces import Measured, OfNetwork, OfRecipe, brief, part_of
from hypercondense.hypergraph import split


class Told:
    """Pieces whose seconds are easily recognized in sums."""

    def __init__(self, growth=1.0):
        self.growth, self.working_bytes, self.asked = growth, 0, []

    def recipe(self, recipe):
        self.asked.append(recipe)
        return OfRecipe(diffusing=1.0, starting=0.5, preparing=0.25, epoch=0.01, look=0.1)

    def network(self, model):
        return OfNetwork(step=0.001, look=0.002)

    def rows_judge(self):
        return 0.3

    def whole_step(self, model):
        return 0.004


def told(source, method, **how):
    return estimate(source, nodes=12, method=method, pieces=Told(), **how)


def test_seconds_are_pieces_times_how_often(source):
    seconds = told(source, "ahgcdd-x").condense.seconds
    epochs, looks = (PRESETS["ahgcdd-x"][1].goal.epochs, PRESETS["ahgcdd-x"][1].looks)
    judge = 80 * 0.001 + 4 * 0.002
    expected = {"diffusion": 1.0, "start": 0.75, "optimization": epochs * 0.01, "looks": (looks + 1) * judge,
                "guard": judge, "ledger": 0.004 + 0.002}  # fmt: skip
    assert seconds == pytest.approx({**expected, "total": sum(expected.values())})


def test_a_start_that_is_the_better_of_two_is_judged_twice(source):
    seconds = told(source, "learnt").condense.seconds
    assert seconds["start"] == pytest.approx(0.75 + 2 * 0.1)
    assert seconds["looks"] == pytest.approx(5 * 0.1) and seconds["guard"] == pytest.approx(0.1)


def test_teachers_are_trained_on_everything(source):
    assert told(source, "taught").condense.seconds["teachers"] > 200 * 0.004


def test_trainings_are_counted_by_network_and_run(source):
    cost = told(source, "means", models=("hgnn", "mlp"), runs=3).evaluate
    one = 200 * 0.001 + 40 * 0.002 + 0.002
    assert cost.seconds == pytest.approx({"hgnn": 3 * one, "mlp": 3 * one, "total": 6 * one})
    assert cost.shares == pytest.approx({"hgnn": 0.5, "mlp": 0.5})


def test_what_grows_with_the_source_grows(source):
    small = estimate(source, nodes=12, method="ahgcdd-x", pieces=Told(1.0)).condense.seconds
    large = estimate(source, nodes=12, method="ahgcdd-x", pieces=Told(10.0)).condense.seconds
    assert large["diffusion"] == pytest.approx(10**1.05 * small["diffusion"])
    assert large["optimization"] == small["optimization"]


def test_memory_is_within_what_is_allowed_and_rows_are_on_disk(source):
    free, bound = told(source, "means"), told(source, "means", memory="100MB")
    assert free.condense.memory > bound.condense.memory == 10**8
    assert bound.condense.disk >= 4 * source.num_nodes * source.num_features


def test_a_search_is_the_sum_of_its_trials_within_its_time(source):
    alone, several = told(source, "auto", budget=1), told(source, "auto", budget=3)
    assert several.condense.seconds["optimization"] > alone.condense.seconds["optimization"]
    assert told(source, "auto", budget="2s").condense.seconds["total"] < 2.5


def test_methods_without_known_stages_are_refused(source):
    with pytest.raises(ConfigError, match="of recipes and of auto"):
        told(source, "herding")


def test_many_validation_nodes_are_judged_by_rows():
    large = synthetic(num_nodes=40_000, num_hyperedges=30_000, num_features=2, num_classes=2, seed=0)
    seconds = told(large, "ahgcdd-x").condense.seconds
    assert seconds["looks"] == pytest.approx((PRESETS["ahgcdd-x"][1].looks + 1) * 0.3)


def test_parts_of_a_goal_are_brief_and_alone():
    both = goal_parts(PRESETS["unrolled"][1])
    assert [(part.goal.closed_form is None, part.goal.training is None) for part, _ in both] == [
        (False, True),
        (True, False),
    ]
    assert brief(both[1][0], 3).goal.epochs == 3


def test_a_part_has_the_shape_of_its_source():
    whole = synthetic(num_nodes=4000, num_hyperedges=2000, num_features=6, num_classes=3, seed=0)
    labels = np.array([0, 0, 1, 2])
    part, ids = part_of(whole, labels, 1000)
    assert (part.num_nodes, part.num_features, part.num_classes) == (1000, 6, 3)
    assert part.num_incidences == pytest.approx(whole.num_incidences / 4, rel=0.02)
    assert set(part.labels[ids.train_ids]) == {0, 1, 2}
    pieces = Measured(whole, split(whole), labels, most=0)
    assert pieces.growth == 2.0  # of 2000 nodes
    pieces.close()


def test_only_what_may_take_a_minute_is_asked_about(source, parts):
    assert not estimable(make_method("auto"), source, parts)
    assert estimable(make_method("taught", {"goal.teachers.number": 300}), source, parts)
    assert not estimable(make_method("herding"), source, parts)


def test_the_command_tells_stages_and_json(capsys):
    assert run(["estimate", "digits", "--ratio", "0.01", "--method", "ahgcdd-x", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["nodes"] == 18 and told["condense"]["seconds"]["total"] > 0
    assert {"seconds", "memory", "disk"} == set(told["evaluate"])
    assert run(["estimate", "digits", "--ratio", "0.01", "--method", "means", "--runs", "1"]) == 0
    shown = capsys.readouterr()
    assert "diffusion" in shown.out and "of memory" in shown.out + shown.err


def test_condense_tells_what_takes_long(capsys, tmp_path, monkeypatch):
    from hypercondense import estimating

    real = estimating.estimate

    def slow(*given, **how):
        found = real(*given, **how)
        seconds = {stage: 10**5 * value for stage, value in found.condense.seconds.items()}
        return replace(found, condense=replace(found.condense, seconds=seconds))

    monkeypatch.setattr(estimating, "estimable", lambda *_: True)
    monkeypatch.setattr(estimating, "estimate", slow)
    words = ["condense", "digits", "--ratio", "0.01", "--method", "means", "--out", str(tmp_path / "out")]
    assert run(words) == 0
    assert "condensing takes about " in capsys.readouterr().err
