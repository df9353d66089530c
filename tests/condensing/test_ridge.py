"""Condensing through closed-form ridge regression."""

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge as SklearnRidge

from hypercondense.condensation import Condensation
from hypercondense.condensing.options import configure
from hypercondense.condensing.ridge import (
    OBJECTIVES,
    Ridge,
    cross_entropy,
    falling,
    ridge_predict,
    solve_positive,
    squared,
)
from hypercondense.data import synthetic
from hypercondense.diffusion import diffuse, heat_kernel
from hypercondense.hypergraph import split
from makers.tasks import task_of


def normal(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def one_hot(labels: list[int]) -> torch.Tensor:
    return torch.nn.functional.one_hot(torch.tensor(labels)).double()


def test_predictions_are_those_of_ridge_regression() -> None:
    x, classes, rows = normal(0, 8, 3), one_hot([0, 1, 2, 0, 1, 2, 0, 1]), normal(1, 5, 3)
    bias = float(x.square().mean().sqrt())
    with_bias = [torch.cat([part, torch.full((len(part), 1), bias)], dim=1) for part in (x, rows)]
    ridge = 0.1 * float((with_bias[0] ** 2).sum(1).mean())
    model = SklearnRidge(alpha=ridge, fit_intercept=False).fit(with_bias[0].numpy(), classes.numpy())
    expected = torch.from_numpy(model.predict(with_bias[1].numpy()))
    torch.testing.assert_close(ridge_predict(x, classes, rows, strength=0.1), expected)


def test_fitting_all_rows_with_no_ridge_predicts_them_exactly() -> None:
    x, classes = normal(0, 5, 9), one_hot([0, 1, 0, 1, 2])
    torch.testing.assert_close(ridge_predict(x, classes, x, strength=1e-12), classes, atol=1e-6, rtol=0)


def test_the_order_of_condensed_rows_does_not_matter() -> None:
    x, classes, rows = normal(0, 6, 4), one_hot([0, 1, 2, 0, 1, 2]), normal(1, 3, 4)
    order = torch.tensor([3, 1, 5, 0, 2, 4])
    torch.testing.assert_close(
        ridge_predict(x, classes, rows, strength=0.1),
        ridge_predict(x[order], classes[order], rows, strength=0.1),
    )


@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
def test_gradients_through_the_solve_are_those_of_finite_differences(objective) -> None:
    x, classes, rows = normal(0, 4, 3).requires_grad_(), one_hot([0, 1, 0, 1]), normal(1, 5, 3)
    wanted = one_hot([0, 1, 1, 0, 1])
    bias_free = solve_positive  # the bias is a constant for the gradient, so the kernel is checked by itself

    def loss(x: torch.Tensor) -> torch.Tensor:
        weights = bias_free(x @ x.T, classes, ridge=torch.tensor(0.3, dtype=torch.float64))
        return objective(rows @ x.T @ weights, wanted)

    assert torch.autograd.gradcheck(loss, (x,))


@pytest.mark.parametrize(
    "x", [torch.zeros(4, 3), torch.ones(4, 3), 1e-20 * torch.ones(4, 3), 1e10 * torch.eye(4, 3)]
)
def test_the_solve_never_fails(x: torch.Tensor) -> None:
    x = x.requires_grad_()
    predicted = ridge_predict(x, one_hot([0, 1, 0, 1]).float(), x.detach(), strength=1e-8)
    assert predicted.isfinite().all()


def test_objectives_of_perfect_predictions() -> None:
    classes = one_hot([0, 1, 2])
    assert squared(classes, classes) == 0
    assert cross_entropy(classes, classes) < 1e-3


def test_the_error_falls_and_the_choice_is_made_on_validation_nodes_without_a_network() -> None:
    source = synthetic(num_nodes=600, num_hyperedges=300, num_features=20, num_classes=3, noise=2.0, seed=0)
    result = Ridge(epochs=60, snapshots=3).condense(source, split(source), nodes=6)
    errors = [row["error"] for row in result.history]
    assert np.mean(errors[-10:]) < np.mean(errors[:10])
    assert result.start_validation is not None and result.final_validation is not None
    assert result.final_validation >= result.start_validation


def condensed(settings: dict[str, Any], *, nodes: int = 9, num_features: int = 12) -> Condensation:
    source = synthetic(
        num_nodes=300, num_hyperedges=200, num_features=num_features, num_classes=3, noise=2.0, seed=1
    )
    return configure(Ridge, {"epochs": 8, **settings}).condense(source, split(source, seed=0), nodes=nodes)


def test_the_step_falls_along_half_a_cosine() -> None:
    assert [round(falling(share), 6) for share in (0, 1 / 3, 0.5, 2 / 3, 1)] == [1, 0.75, 0.5, 0.25, 0]
    method = Ridge(epochs=4, feature_step=0.2)
    steps = [round(method.relative_step(epoch), 6) for epoch in range(4)]
    assert steps == [0.2, 0.170711, 0.1, 0.029289]


def test_without_a_structure_every_node_is_its_own_hyperedge() -> None:
    made = condensed({}).hypergraph
    assert made.num_hyperedges == made.num_incidences == 9


def test_with_structure_hyperedges_join_nodes_and_features_and_structure_take_turns() -> None:
    result = condensed({"structure": True, "epochs": 24})
    assert result.mean_hyperedge_size >= 2
    assert result.history[-1]["live_thresholds"] > 0
    turns = [Ridge(structure=True).updates_features(epoch) for epoch in range(24)]
    assert any(turns) and not all(turns)
    assert all(Ridge().updates_features(epoch) for epoch in range(24))


@pytest.mark.parametrize("structure", [False, True])
def test_rows_of_other_maps_are_predicted_besides(structure: bool) -> None:
    made = [
        condensed({"also": also, "structure": structure, "self_select": False}).hypergraph
        for also in ("nothing", "raw", "half", "both")
    ]
    assert all(np.isfinite(graph.dense_features()).all() for graph in made)
    assert len({graph.digest for graph in made}) == 4


def test_rows_that_random_walks_bring_are_predicted_besides() -> None:
    source = synthetic(num_nodes=60, num_hyperedges=20, num_features=8, num_classes=3, seed=0)
    parts = split(source)
    task = task_of(source, parts, np.array([0, 1, 2]))
    problem = Ridge(also="half", walks=True).problem(task)
    expected = [
        diffuse(source, heat_kernel(2.0))[parts.train_ids],
        diffuse(source, heat_kernel(1.0))[parts.train_ids],
        diffuse(source, heat_kernel(2.0), walks=True)[parts.train_ids],
    ]
    for rows, these in zip(problem.train, expected, strict=True):
        np.testing.assert_array_equal(rows, these)
    rows, classes = problem.batch(1000, torch.Generator())
    np.testing.assert_array_equal(rows, np.concatenate(expected))
    np.testing.assert_array_equal(classes.argmax(1), np.tile(source.labels[parts.train_ids], 3))
    np.testing.assert_array_equal(problem.start_rows, expected[0])
    assert not np.array_equal(expected[0], expected[2])
    made = [condensed({"walks": walks, "self_select": False}).hypergraph.digest for walks in (False, True)]
    assert made[0] != made[1]


def test_rows_of_several_maps_are_stacked_with_their_labels() -> None:
    """A model of diffused rows is asked about raw ones too: twice the rows, the same columns."""
    x, classes, rows, others = normal(0, 6, 4), one_hot([0, 1, 2, 0, 1, 2]), normal(1, 3, 4), normal(2, 3, 4)
    stacked = ridge_predict(x, classes, torch.cat([rows, others]), strength=0.1)
    apart = [ridge_predict(x, classes, part, strength=0.1) for part in (rows, others)]
    torch.testing.assert_close(stacked, torch.cat(apart))


def test_maps_side_by_side_under_an_identity_structure_are_their_sum() -> None:
    """Why ``also`` stacks: ``[Z', Z']`` on ``[A, B]`` has kernel ``Z' (A + B)^T``, so maps would be added."""
    x, classes, first, second = normal(0, 6, 4), one_hot([0, 1, 2, 0, 1, 2]), normal(1, 3, 4), normal(2, 3, 4)
    ridge = torch.tensor(0.3, dtype=torch.float64)
    beside, wide = torch.cat([x, x], dim=1), torch.cat([first, second], dim=1)
    joined = wide @ beside.T @ solve_positive(beside @ beside.T, classes, ridge=ridge)
    added = (first + second) @ x.T @ solve_positive(2 * x @ x.T, classes, ridge=ridge)
    torch.testing.assert_close(joined, added)


def test_as_many_condensed_nodes_as_training_nodes_fit_them_exactly() -> None:
    """n' = n with one row each, and more columns than rows: nothing is left to improve."""
    source = synthetic(num_nodes=60, num_hyperedges=20, num_features=80, num_classes=3, seed=0)
    parts = split(source)
    method = configure(
        Ridge,
        {"epochs": 1, "propagation": "none", "start": "single", "objective": "squared", "strength": 1e-6},
    )
    result = method.condense(source, parts, nodes=len(parts.train_ids))
    assert sorted(int(ids[0]) for ids in result.members) == sorted(parts.train_ids.tolist())
    assert result.history[0]["error"] < 1e-6


@pytest.mark.parametrize(("nodes", "num_features"), [(3, 12), (9, 1), (9, 3), (60, 3)])
def test_few_columns_and_one_node_per_class(nodes: int, num_features: int) -> None:
    made = condensed({}, nodes=nodes, num_features=num_features).hypergraph
    assert made.features.shape == (nodes, num_features)
    assert np.isfinite(made.dense_features()).all()
