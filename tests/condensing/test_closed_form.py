"""Ridge regression in closed form, and condensing through it."""

import math
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from sklearn.linear_model import Ridge

from hypercondense.condensing.closed_form import ClosedForm, falling, products, ridge_predict, solve_positive
from hypercondense.condensing.problem import Problem
from hypercondense.data import synthetic
from hypercondense.hypergraph import Hypergraph, Split, split
from makers.jobs import job_of, quick


def normal(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def one_hot(labels: list[int]) -> torch.Tensor:
    return F.one_hot(torch.tensor(labels)).double()


# --- The model ---


def test_predictions_are_those_of_ridge_regression() -> None:
    x, classes, rows = normal(0, 8, 3), one_hot([0, 1, 2, 0, 1, 2, 0, 1]), normal(1, 5, 3)
    bias = float(x.square().mean().sqrt())
    with_bias = [torch.cat([part, torch.full((len(part), 1), bias)], dim=1) for part in (x, rows)]
    strength = 0.1 * float((with_bias[0] ** 2).sum(1).mean())
    model = Ridge(alpha=strength, fit_intercept=False).fit(with_bias[0].numpy(), classes.numpy())
    expected = torch.from_numpy(model.predict(with_bias[1].numpy()))
    torch.testing.assert_close(ridge_predict(x, classes, rows, strength=0.1), expected)
    torch.testing.assert_close(ClosedForm(strength=0.1).predict(x, classes, rows), expected)


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


def test_gradients_through_the_solve_are_those_of_finite_differences() -> None:
    x, classes, rows = normal(0, 4, 3).requires_grad_(), one_hot([0, 1, 0, 1]), normal(1, 5, 3)
    wanted = one_hot([0, 1, 1, 0, 1])

    def loss(x: torch.Tensor) -> torch.Tensor:
        """Without a bias: that is a constant for the gradient."""
        weights = solve_positive(x @ x.T, classes, ridge=torch.tensor(0.3, dtype=torch.float64))
        return F.cross_entropy(10 * rows @ x.T @ weights, wanted)

    assert torch.autograd.gradcheck(loss, (x,))


def test_gradients_of_products_are_those_of_finite_differences() -> None:
    x, slopes = normal(0, 4, 3).requires_grad_(), normal(1, 4, 4)  # not symmetric
    assert torch.equal(products(x), x @ x.T)
    assert torch.autograd.gradcheck(lambda x: products(x) * slopes, (x,))


@pytest.mark.parametrize(
    "x", [torch.zeros(4, 3), torch.ones(4, 3), 1e-20 * torch.ones(4, 3), 1e10 * torch.eye(4, 3)]
)
def test_the_solve_never_fails(x: torch.Tensor) -> None:
    x = x.requires_grad_()
    predicted = ridge_predict(x, one_hot([0, 1, 0, 1]).float(), x.detach(), strength=1e-8)
    assert predicted.isfinite().all()


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


# --- The loss and its steps ---


def test_the_loss_of_perfect_predictions_is_that_of_ten_times_their_classes() -> None:
    """Cross-entropy with logits 10 for the class and 0 for two others: ``log(1 + 2 exp(-10))``."""
    rows, labels = normal(0, 5, 9), torch.tensor([0, 1, 0, 1, 2])
    problem = Problem((rows,), labels, (rows,), labels, F.one_hot(labels).double())
    part, how = ClosedForm(strength=1e-12), {"batch": 100, "chance": torch.Generator()}
    loss = part.loss(problem, rows, problem.targets, **how)
    assert float(loss) == pytest.approx(math.log1p(2 * math.exp(-10)), rel=1e-3)
    assert part.score(problem, rows, problem.targets) == 1
    assert part.loss(problem, rows, problem.targets.roll(1, dims=1), **how) > 9
    assert part.score(problem, rows, problem.targets.roll(1, dims=1)) == 0


def test_the_step_falls_along_half_a_cosine() -> None:
    assert [round(falling(share), 6) for share in (0, 1 / 3, 0.5, 2 / 3, 1)] == [1, 0.75, 0.5, 0.25, 0]


# --- Condensing ---


def test_the_error_falls_and_the_best_look_is_at_least_the_start(source: Hypergraph, parts: Split) -> None:
    made = quick("ridge", goal__closed_form__epochs=50).run(job_of(source, parts, select=True))
    errors = [row["error"] for row in made.history]
    assert np.mean(errors[-10:]) < np.mean(errors[:10])
    assert made.start_validation is not None and made.final_validation is not None
    assert made.final_validation >= made.start_validation


def test_as_many_condensed_nodes_as_training_nodes_fit_them_exactly() -> None:
    """n' = n with one row each, and more columns than rows: nothing is left to improve."""
    source = synthetic(num_nodes=60, num_hyperedges=20, num_features=80, num_classes=3, seed=0)
    parts = split(source)
    recipe = quick(
        "ridge",
        map__kernel="none",
        start="single",
        goal__closed_form__strength=1e-6,
        goal__closed_form__epochs=1,
    )
    made = recipe.run(job_of(source, parts, np.sort(source.labels[parts.train_ids])))
    assert sorted(int(ids[0]) for ids in made.members) == sorted(parts.train_ids.tolist())
    assert made.history[0]["error"] == pytest.approx(math.log1p(2 * math.exp(-10)), rel=1e-2)


@pytest.mark.parametrize(("nodes", "num_features"), [(1, 12), (3, 1), (20, 3)])
def test_few_columns_and_one_node_per_class(nodes: int, num_features: int) -> None:
    source = synthetic(num_nodes=200, num_hyperedges=80, num_features=num_features, num_classes=3, seed=0)
    made = quick("ridge").run(job_of(source, split(source), np.repeat([0, 1, 2], nodes))).hypergraph
    assert made.features.shape == (3 * nodes, num_features)
    assert np.isfinite(made.dense_features()).all()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"epochs": 0}, "epochs must be a whole number >= 1, got 0"),
        ({"step": 0.0}, "step must be a number > 0"),
        ({"strength": 0.0}, "strength must be a number > 0"),
        ({"strength": float("nan")}, "strength must be"),
    ],
)
def test_wrong_fields_are_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ClosedForm(**fields)
