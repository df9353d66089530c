"""Condensing through the training of a network."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from hypercondense.condensing.maps import Map
from hypercondense.condensing.problem import Problem
from hypercondense.condensing.unrolled import Learners, Unrolled
from hypercondense.data import synthetic
from hypercondense.diffusion import diffuse, vanilla
from hypercondense.hypergraph import Hypergraph, Split, split
from hypercondense.nn.learner import Learner
from makers.jobs import job_of, quick, variant


def normal(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def a_problem() -> Problem:
    labels = torch.arange(9) % 3
    return Problem((normal(1, 9, 4),), labels, (normal(2, 3, 4),), labels[:3], torch.eye(3))


def test_networks_begin_at_different_ages_and_begin_again_at_the_horizon() -> None:
    learners = Learners(Unrolled(horizon=6, window=2, networks=2, hidden=4))
    chance, ages = torch.Generator().manual_seed(0), []
    for epoch in range(9):
        learners.loss(a_problem(), normal(0, 3, 4), torch.eye(3), epoch=epoch, batch=5, chance=chance)
        ages.append([learners.kept[turn].age if turn in learners.kept else -1 for turn in range(2)])
    # The second begins 3 steps old; whoever is 6 or more steps old begins again.
    assert ages == [[2, -1], [2, 5], [4, 5], [4, 7], [6, 7], [6, 2], [2, 2], [2, 4], [4, 4]]


def test_the_loss_is_that_of_the_network_after_its_window_on_a_batch() -> None:
    part, problem, rows = Unrolled(window=3, networks=1, hidden=4), a_problem(), normal(0, 3, 4)
    loss = Learners(part).loss(
        problem, rows, torch.eye(3), epoch=0, batch=100, chance=torch.Generator().manual_seed(5)
    )
    chance = torch.Generator().manual_seed(5)
    fresh = Learner.untrained(num_features=4, num_classes=3, hidden=4, chance=chance, device="cpu")
    trained = fresh.trained(rows, torch.eye(3), 3, how=part.training, chance=chance)
    torch.testing.assert_close(loss, F.cross_entropy(trained(problem.rows[0]), problem.labels))


def test_networks_are_found_again_as_they_were() -> None:
    part, how = Unrolled(window=2, networks=3, hidden=4), {"batch": 5}
    learners, again = Learners(part), Learners(part)
    chance = torch.Generator().manual_seed(0)
    for epoch in range(2):  # the third has had no turn
        learners.loss(a_problem(), normal(0, 3, 4), torch.eye(3), epoch=epoch, chance=chance, **how)
    again.unpack(learners.pack(), device="cpu")
    assert sorted(again.kept) == [0, 1]
    losses = [
        one.loss(
            a_problem(),
            normal(0, 3, 4),
            torch.eye(3),
            epoch=epoch,
            chance=torch.Generator().manual_seed(epoch),
            **how,
        )
        for one in (learners, again)
        for epoch in (2, 3, 4)
    ]
    assert losses[:3] == losses[3:]


def test_the_error_after_a_training_falls(source: Hypergraph, parts: Split) -> None:
    long = {"epochs": 48, "step": 0.1, "window": 5, "horizon": 20}
    recipe = quick(
        "unrolled",
        goal__closed_form=None,
        start__samples=3,
        **{f"goal.training.{name}": value for name, value in long.items()},
    )
    errors = [row["error"] for row in recipe.run(job_of(source, parts)).history]
    assert len(errors) == 48  # networks of one age return every 8 epochs
    assert np.mean(errors[-16:]) < np.mean(errors[:16])


def test_without_a_goal_features_are_means_of_twice_propagated_rows(source: Hypergraph, parts: Split) -> None:
    made = quick("unrolled", goal=None, start__samples=7).run(job_of(source, parts))
    rows = diffuse(source, vanilla(2))
    for feature, ids in zip(made.hypergraph.features, made.members, strict=True):
        assert len(ids) == 7
        np.testing.assert_allclose(feature, rows[ids].mean(0, dtype=np.float64), rtol=1e-6, atol=1e-6)
    assert made.history == ()


UNUSUAL = {
    "a window beyond the horizon": {"training__window": 7, "training__horizon": 3},
    "a horizon of one step": {"training__window": 1, "training__horizon": 1},
    "one network": {"training__networks": 1},
    "more networks than epochs": {"training__networks": 20},
    "one hidden unit": {"training__hidden": 1},
    "a batch of one row": {"batch": 1},
}


@pytest.mark.parametrize("kind", UNUSUAL)
def test_unusual_fields_give_finite_features(kind: str, source: Hypergraph, parts: Split) -> None:
    recipe = quick("unrolled", **{f"goal__{name}": value for name, value in UNUSUAL[kind].items()})
    made = recipe.run(job_of(source, parts))
    assert np.isfinite(made.hypergraph.dense_features()).all()
    assert len(made.history) == 8
    assert not made.warnings


@pytest.mark.parametrize("nodes", [1, 20])
@pytest.mark.parametrize("num_features", [1, 3])
def test_few_columns_and_one_node_per_class(nodes: int, num_features: int) -> None:
    narrow = synthetic(num_nodes=200, num_hyperedges=80, num_features=num_features, num_classes=3, seed=0)
    made = quick("unrolled").run(job_of(narrow, split(narrow), np.repeat([0, 1, 2], nodes))).hypergraph
    assert made.features.shape == (3 * nodes, num_features)
    assert np.isfinite(made.dense_features()).all()


def test_features_that_are_zero_for_most_nodes_stay_finite(source: Hypergraph, parts: Split) -> None:
    features = source.dense_features().copy()
    features[np.arange(300) % 10 > 0] = 0
    recipe = quick("unrolled", map__kernel="none", start="k-means")
    assert recipe.map == Map(kernel="none")
    made = recipe.run(job_of(variant(source, features=features), parts))
    assert np.isfinite(made.hypergraph.dense_features()).all()


@pytest.mark.parametrize("name", ["epochs", "window", "horizon", "networks", "hidden"])
def test_counts_begin_at_one(name: str) -> None:
    fields: dict[str, Any] = {name: 0}
    with pytest.raises(ValueError, match=f"{name} must be a whole number >= 1, got 0"):
        Unrolled(**fields)


def test_a_step_is_above_zero() -> None:
    with pytest.raises(ValueError, match="step must be a number > 0"):
        Unrolled(step=0.0)
