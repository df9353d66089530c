"""Condensing through closed-form ridge regression."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge as SklearnRidge

from hypercondense.data import split, synthetic
from hypercondense.methods.ridge import (
    OBJECTIVES,
    Ridge,
    cross_entropy,
    ridge_predict,
    solve_positive,
    squared,
)


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
