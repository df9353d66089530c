"""Gradient and parameter matching against finite differences and known answers."""

from itertools import pairwise

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from hypercondense.condensing.baselines.hgcond.matching import (
    Parameters,
    SourceRows,
    View,
    Waypoint,
    class_scores,
    expert_waypoints,
    first_parameters,
    gradient_distance,
    loss_gradients,
    matching_losses,
    parameter_distance,
)
from hypercondense.diffusion import diffuse_dense, vanilla

LABELS = torch.tensor([0, 0, 1, 2, 1])
WIDTHS = pytest.mark.parametrize("widths", [[4, 3], [4, 6, 3]], ids=["linear", "hidden layer"])


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def parameters_of(widths: list[int], seed: int = 0) -> Parameters:
    first = first_parameters(widths, torch.Generator().manual_seed(seed))
    return tuple(parameter.double() for parameter in first)


def source_rows(batch: int = 100) -> SourceRows:
    labels = torch.arange(60) % 3
    rows = 2 * functional.one_hot(labels, 4).double() + 0.3 * random(60, 4)
    return SourceRows(View.of(rows, rows.mean(0))(rows), labels, batch, torch.Generator().manual_seed(1))


def waypoints(widths: list[int], steps: int = 6, stride: int = 3, **options: int) -> list[Waypoint]:
    source = source_rows(**options)
    return list(expert_waypoints(source, parameters_of(widths), steps=steps, stride=stride, step_size=0.5))


@WIDTHS
def test_loss_gradients_equal_those_of_backward(widths: list[int]) -> None:
    rows, parameters = random(5, 4), parameters_of(widths)
    leaves = [parameter.clone().requires_grad_() for parameter in parameters]
    functional.cross_entropy(class_scores(rows, tuple(leaves)), LABELS).backward()
    for gradient, leaf in zip(loss_gradients(rows, LABELS, parameters), leaves, strict=True):
        torch.testing.assert_close(gradient, leaf.grad)


def test_the_gradient_of_the_linear_network_has_its_closed_form() -> None:
    rows, parameters = random(5, 4), parameters_of([4, 3])
    error = class_scores(rows, parameters).softmax(1) - functional.one_hot(LABELS, 3)
    weight, bias = loss_gradients(rows, LABELS, parameters)
    torch.testing.assert_close(weight, rows.T @ error / 5)
    torch.testing.assert_close(bias, error.mean(0))


@WIDTHS
@pytest.mark.parametrize("which", [0, 1], ids=["gradients", "parameters"])
def test_the_gradient_of_the_matching_loss_equals_finite_differences(widths: list[int], which: int) -> None:
    waypoint = waypoints(widths)[1]

    def loss(rows: Tensor) -> Tensor:
        return matching_losses(rows, LABELS, waypoint, steps=3, step_size=0.4)[which]

    assert torch.autograd.gradcheck(loss, random(5, 4, seed=2).requires_grad_(), eps=1e-6, atol=1e-6)


def test_the_gradient_reaches_features_and_memberships_through_the_propagation() -> None:
    waypoint = waypoints([4, 3])[0]

    def loss(features: Tensor, incidence: Tensor) -> Tensor:
        rows = diffuse_dense(features, incidence, vanilla(2), self_loops=True)
        return sum(matching_losses(rows, LABELS, waypoint, steps=2, step_size=0.4))  # type: ignore[return-value]

    features = random(5, 4, seed=3).requires_grad_()
    incidence = random(5, 5, seed=4).sigmoid().requires_grad_()
    assert torch.autograd.gradcheck(loss, (features, incidence), eps=1e-6, atol=1e-6)


@WIDTHS
def test_a_source_that_is_its_own_condensed_data_matches_exactly(widths: list[int]) -> None:
    source, waypoint = source_rows(), waypoints(widths)[1]
    losses = matching_losses(source.rows, source.labels, waypoint, steps=3, step_size=0.5)
    assert max(float(loss.detach()) for loss in losses) < 1e-12


def test_distances_have_known_values() -> None:
    weight, bias = torch.eye(2), torch.ones(2)
    assert float(gradient_distance((weight, bias), (weight, bias))) == 0
    # opposite direction in every column, and a squared error of twice the length: 2 + 4
    assert float(gradient_distance((-weight, -bias), (weight, bias))) == pytest.approx(6)
    # three times as long: the direction agrees, the squared error is 4 times the squared length
    assert float(gradient_distance((3 * weight, 3 * bias), (weight, bias))) == pytest.approx(4)
    still = Waypoint((weight, bias), (weight, bias), (2 * weight, bias))
    assert float(parameter_distance((weight, bias), still)) == 1  # it did not move at all
    assert float(parameter_distance((2 * weight, bias), still)) == 0


def test_distances_are_finite_where_an_expert_stands_still_or_a_gradient_is_zero() -> None:
    zero = (torch.zeros(2, 2), torch.zeros(2))
    ours = tuple(torch.zeros_like(part).requires_grad_() for part in zero)
    loss = gradient_distance(ours, zero) + parameter_distance(ours, Waypoint(zero, zero, zero))
    loss.backward()
    assert loss.isfinite() and all(part.grad.isfinite().all() for part in ours)  # type: ignore[union-attr]


def test_waypoints_follow_each_other_and_the_expert_learns() -> None:
    points = waypoints([4, 3], steps=40, stride=10)
    assert len(points) == 4
    for point, following in pairwise(points):
        assert point.later is following.parameters
    source = source_rows()
    assert (class_scores(source.rows, points[-1].later).argmax(1) == source.labels).float().mean() > 0.9


def test_batches_are_drawn_if_rows_are_many_and_repeat_with_the_seed() -> None:
    first, second = (waypoints([4, 3], batch=7) for _ in range(2))
    assert all((a == b).all() for a, b in zip(first[-1].later, second[-1].later, strict=True))
    rows, labels = source_rows(batch=7).draw()
    assert rows.shape == (7, 4) and labels.shape == (7,)


def test_rows_are_seen_with_mean_length_one_around_the_centre() -> None:
    rows = random(9, 4)
    seen = View.of(rows, rows.mean(0))(rows)
    assert float(seen.norm(dim=1).mean()) == pytest.approx(1)
    assert float(seen.mean(0).norm()) == pytest.approx(0, abs=1e-12)
    same = torch.ones(3, 2)
    assert not View.of(same, same[0])(same).any()
