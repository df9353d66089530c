"""A training written out by hand, against torch's own layers, gradients and Adam."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hypercondense.nn.learner import Learner, averaged_learner
from hypercondense.nn.steps import Training
from hypercondense.runtime.rng import Stream, generator

PLAIN = Training(hidden=5, dropout=0.0)


def chance_of(seed: int) -> torch.Generator:
    return generator(seed, Stream.BATCHES)


def normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=chance_of(seed), dtype=torch.float64)


def one_hot(labels: list[int]) -> Tensor:
    return F.one_hot(torch.tensor(labels)).double()


def fresh(
    num_features: int, num_classes: int, hidden: int = 5, dtype: torch.dtype = torch.float64
) -> Learner:
    """An untrained learner, in float64 unless told otherwise."""
    made = Learner.untrained(
        num_features=num_features,
        num_classes=num_classes,
        hidden=hidden,
        chance=chance_of(0),
        device="cpu",
    )
    weights = (made.weights[0].to(dtype), made.weights[1].to(dtype))
    zeros = (torch.zeros_like(weights[0]), torch.zeros_like(weights[1]))
    return Learner(weights, zeros, zeros, 0)


def as_modules(learner: Learner) -> nn.Sequential:
    """The same network made of torch's layers."""
    layers = []
    for weight in learner.weights:
        layer = nn.Linear(weight.shape[1] - 1, weight.shape[0]).double()
        with torch.no_grad():
            layer.weight.copy_(weight[:, :-1])
            layer.bias.copy_(weight[:, -1])
        layers.append(layer)
    return nn.Sequential(layers[0], nn.ReLU(), layers[1])


def step_of_torch(network: nn.Sequential, optimizer: torch.optim.Optimizer, x: Tensor, y: Tensor) -> None:
    optimizer.zero_grad()
    F.cross_entropy(network(x), y).backward()
    optimizer.step()


ROWS, CLASSES = normal(1, 7, 4), one_hot([0, 1, 2, 0, 1, 2, 2])


def test_scores_are_those_of_two_linear_layers() -> None:
    learner = fresh(4, 3)
    torch.testing.assert_close(learner(ROWS), as_modules(learner)(ROWS).detach())


def test_untrained_weights_are_within_the_bounds_of_torchs_linear_layers() -> None:
    for weight in fresh(100, 3, hidden=400).weights:
        bound = 1 / math.sqrt(weight.shape[1] - 1)
        assert 0.9 * bound < weight.abs().max() <= bound
        assert abs(float(weight.mean())) < 0.1 * bound


@pytest.mark.parametrize("weight_decay", [0.0, 5e-4, 0.3])
@pytest.mark.parametrize("steps", [1, 2, 25])
def test_training_is_that_of_torchs_gradients_and_torchs_adam(steps: int, weight_decay: float) -> None:
    how = Training(hidden=5, dropout=0.0, weight_decay=weight_decay, step=0.03)
    learner = fresh(4, 3)
    network = as_modules(learner)
    optimizer = torch.optim.Adam(network.parameters(), lr=how.step, weight_decay=weight_decay)
    for _ in range(steps):
        step_of_torch(network, optimizer, ROWS, CLASSES)
    ours = as_modules(learner.trained(ROWS, CLASSES, steps, how=how, chance=chance_of(0)))
    for mine, theirs in zip(ours.parameters(), network.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-7, rtol=1e-6)


def test_soft_targets_are_trained_on_as_by_torch() -> None:
    shares = normal(5, 7, 3).softmax(1)
    learner = fresh(4, 3)
    network = as_modules(learner)
    optimizer = torch.optim.Adam(network.parameters(), lr=PLAIN.step, weight_decay=PLAIN.weight_decay)
    step_of_torch(network, optimizer, ROWS, shares)
    ours = as_modules(learner.trained(ROWS, shares, 1, how=PLAIN, chance=chance_of(0)))
    for mine, theirs in zip(ours.parameters(), network.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-7, rtol=1e-6)


def test_dropout_removes_hidden_units_and_scales_the_others() -> None:
    """One step of ours is a step of torch on a network whose hidden layer is masked by the same draws."""
    how = Training(hidden=5, dropout=0.4)
    learner = fresh(4, 3)
    network = as_modules(learner)
    mask = (torch.rand(7, 5, generator=chance_of(9)) >= 0.4) / 0.6
    optimizer = torch.optim.Adam(network.parameters(), lr=how.step, weight_decay=how.weight_decay)
    F.cross_entropy(network[2](torch.relu(network[0](ROWS)) * mask), CLASSES).backward()
    optimizer.step()
    ours = as_modules(learner.trained(ROWS, CLASSES, 1, how=how, chance=chance_of(9)))
    for mine, theirs in zip(ours.parameters(), network.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-7, rtol=1e-6)


def test_training_in_two_parts_is_training_in_one() -> None:
    how, chance, again = Training(hidden=5), chance_of(3), chance_of(3)
    whole = fresh(4, 3).trained(ROWS, CLASSES, 6, how=how, chance=chance)
    parts = fresh(4, 3).trained(ROWS, CLASSES, 4, how=how, chance=again).detached()
    parts = parts.trained(ROWS, CLASSES, 2, how=how, chance=again)
    assert whole.age == parts.age == 6
    for mine, theirs in zip(whole.weights, parts.weights, strict=True):
        assert torch.equal(mine, theirs)


def test_no_steps_change_nothing() -> None:
    learner = fresh(4, 3)
    assert learner.trained(ROWS, CLASSES, 0, how=PLAIN, chance=chance_of(0)) is learner


@pytest.mark.parametrize("dropout", [0.0, 0.5])
@pytest.mark.parametrize("steps", [1, 3])
def test_gradients_through_a_training_are_those_of_finite_differences(steps: int, dropout: float) -> None:
    # Adam's first step is a sign, whose slope is huge near 0; a few steps before make it smooth.
    how = Training(hidden=5, dropout=dropout, step=0.01)
    begun = fresh(4, 3).trained(normal(2, 7, 4), CLASSES, 20, how=how, chance=chance_of(1)).detached()
    judged, wanted = normal(3, 6, 4), one_hot([0, 1, 2, 2, 1, 0])

    def loss(rows: Tensor) -> Tensor:
        learner = begun.trained(rows, CLASSES, steps, how=how, chance=chance_of(4))
        return F.cross_entropy(learner(judged), wanted)

    assert torch.autograd.gradcheck(loss, (ROWS.clone().requires_grad_(),), eps=1e-7, atol=1e-6, rtol=1e-3)


def test_gradients_to_and_from_everything_are_those_of_finite_differences() -> None:
    """To rows, class shares, weights and Adam's averages, from the weights and averages after three steps."""
    how = Training(hidden=5, dropout=0.3, step=0.01, weight_decay=0.1)
    begun = fresh(4, 3).trained(normal(2, 7, 4), CLASSES, 20, how=how, chance=chance_of(1))
    shares = normal(5, 7, 3).softmax(1)

    def end(rows: Tensor, shares: Tensor, *state: Tensor) -> tuple[Tensor, ...]:
        learner = Learner(state[0:2], state[2:4], state[4:6], begun.age)
        learner = learner.trained(rows, shares, 3, how=how, chance=chance_of(4))
        return *learner.weights, *learner.means, *learner.squares

    inputs = (ROWS, shares, *begun.weights, *begun.means, *begun.squares)
    variable = tuple(tensor.clone().requires_grad_() for tensor in inputs)
    assert torch.autograd.gradcheck(end, variable, eps=1e-8, atol=1e-5, rtol=1e-3)


def test_weights_have_memory_of_their_own() -> None:
    """Files of safetensors refuse tensors that share it."""
    learner = fresh(4, 3).trained(ROWS, CLASSES, 2, how=PLAIN, chance=chance_of(0))
    tensors = (*learner.weights, *learner.means, *learner.squares)
    assert len({tensor.untyped_storage().data_ptr() for tensor in tensors}) == 6
    assert all(tensor.untyped_storage().nbytes() == tensor.nbytes for tensor in tensors)


def test_detached_learners_have_no_past() -> None:
    rows = ROWS.clone().requires_grad_()
    learner = fresh(4, 3).trained(rows, CLASSES, 2, how=PLAIN, chance=chance_of(0))
    assert all(tensor.requires_grad for tensor in (*learner.weights, *learner.means, *learner.squares))
    learner = learner.detached()
    assert not any(tensor.requires_grad for tensor in (*learner.weights, *learner.means, *learner.squares))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("weight_decay", [0.0, 5e-4])
def test_columns_of_zeros_give_finite_gradients(weight_decay: float, dtype: torch.dtype) -> None:
    how = Training(hidden=5, weight_decay=weight_decay)
    for zeroed in (ROWS * torch.tensor([1.0, 0.0, 1.0, 0.0]), torch.zeros(7, 4)):
        rows = zeroed.to(dtype).requires_grad_()
        begun = fresh(4, 3, dtype=dtype)
        learner = begun.trained(rows, CLASSES.to(dtype), 3, how=how, chance=chance_of(0))
        loss = F.cross_entropy(learner(normal(3, 6, 4).to(dtype)), one_hot([0, 1, 2, 2, 1, 0]).to(dtype))
        (slope,) = torch.autograd.grad(loss, rows)
        assert slope.isfinite().all()


def test_the_order_of_rows_does_not_matter_without_dropout() -> None:
    order = torch.tensor([4, 2, 6, 0, 1, 5, 3])
    first = fresh(4, 3).trained(ROWS, CLASSES, 10, how=PLAIN, chance=chance_of(0))
    second = fresh(4, 3).trained(ROWS[order], CLASSES[order], 10, how=PLAIN, chance=chance_of(0))
    for mine, theirs in zip(first.weights, second.weights, strict=True):
        torch.testing.assert_close(mine, theirs)


def accuracy(rows: Tensor, labels: list[int], judged: Tensor, truth: list[int], seed: int = 0) -> float:
    learner = averaged_learner(
        rows.float(), one_hot(labels).float(), how=Training(hidden=16), chance=chance_of(seed), steps=40
    )
    return float((learner(judged.float()).argmax(1) == torch.tensor(truth)).double().mean())


def test_accuracy_is_the_same_every_time_and_a_share() -> None:
    found = [accuracy(ROWS, [0, 1, 2, 0, 1, 2, 2], normal(3, 6, 4), [0, 1, 2, 2, 1, 0]) for _ in range(2)]
    assert found[0] == found[1]
    assert 0 <= found[0] <= 1


def test_accuracy_on_separate_classes_is_one_and_on_swapped_labels_zero() -> None:
    centres = 5 * torch.eye(3, 4, dtype=torch.float64)
    near = centres.repeat(4, 1) + 0.1 * normal(0, 12, 4)
    assert accuracy(centres, [0, 1, 2], near, [0, 1, 2] * 4) == 1
    assert accuracy(centres[:2], [1, 0], near.reshape(4, 3, 4)[:, :2].reshape(8, 4), [0, 1] * 4) == 0
