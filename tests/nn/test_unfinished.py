"""A training that was interrupted goes on to the bits it would have had."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
import torch

from hypercondense.data import synthetic
from hypercondense.hypergraph import Hypergraph, Split, split
from hypercondense.nn.looks import Sampling
from hypercondense.nn.short_trainings import ShortTrainings
from hypercondense.nn.training import Configuration, Inputs, Trained, train
from hypercondense.nn.unfinished import pack_optimizer, unpack_optimizer


class Memory:
    """A store that saves after every epoch, until one is over at which the power goes."""

    def __init__(self, last: int | None = None) -> None:
        self.saved: tuple[dict[str, torch.Tensor], dict[str, Any]] | None = None
        self.last, self.epochs = last, 0

    def load(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]] | None:
        return self.saved

    def continuing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def due(self) -> bool:
        return True

    def save(self, tensors: Any, facts: Any) -> None:
        self.saved = {name: value.clone() for name, value in tensors.items()}, dict(facts)
        self.epochs += 1
        if facts["epochs"] == self.last:
            raise KeyboardInterrupt

    def forget(self) -> None:
        self.saved = None


@pytest.fixture(scope="module")
def source() -> tuple[Hypergraph, Split]:
    whole = synthetic(num_nodes=300, num_hyperedges=200, num_classes=3, seed=0)
    return whole, split(whole, seed=0)


@pytest.mark.parametrize("model", ["hgnn", "mlp", "hcha"])
@pytest.mark.parametrize("sampling", [Sampling(), Sampling(nodes=10, first=2)])
@pytest.mark.parametrize("last", [1, 13, 30])
def test_what_was_interrupted_has_the_bits_of_what_was_not(
    source: tuple[Hypergraph, Split], model: str, sampling: Sampling, last: int
) -> None:
    inputs, store = Inputs.of(source[0]), Memory(last)

    def trained(store: Memory | None) -> Trained:
        how = Configuration(model=model, epochs=30)
        return train(how, inputs, inputs, source[1], seed=4, sampling=sampling, store=store)

    expected = trained(None)
    with pytest.raises(KeyboardInterrupt):
        trained(store)
    torch.rand(7)  # whatever is drawn in between
    found = trained(store)
    assert store.epochs == 30
    assert (found.epoch, found.validation, found.loss) == (expected.epoch, expected.validation, expected.loss)
    torch.testing.assert_close(found.model.state_dict(), expected.model.state_dict(), rtol=0, atol=0)


def test_trainings_that_were_interrupted_answer_the_same(source: tuple[Hypergraph, Split]) -> None:
    whole, parts = source
    small = synthetic(num_nodes=30, num_hyperedges=20, num_classes=3, seed=1)
    asked = ShortTrainings(Inputs.of(whole), parts, models=("hgnn", "hcha"), epochs=20, repeats=2)
    stores = {"hgnn 0": Memory(), "hgnn 1": Memory(7), "hcha 0": Memory(), "hcha 1": Memory()}
    with pytest.raises(KeyboardInterrupt):
        asked.contributions(small, stores.__getitem__)
    assert torch.equal(asked.contributions(small, stores.__getitem__), asked.contributions(small))
    assert [one.epochs for one in stores.values()] == [20, 20, 20, 20]
    assert not any(one.saved for one in stores.values())


def test_adam_is_found_again_as_it_was() -> None:
    def optimizer() -> tuple[torch.Tensor, torch.optim.Optimizer]:
        weights = torch.ones(3, requires_grad=True)
        return weights, torch.optim.Adam([weights], lr=0.1)

    def step(weights: torch.Tensor, adam: torch.optim.Optimizer, factor: float) -> None:
        weights.grad = factor * torch.arange(1.0, 4.0)
        adam.step()

    (first, adam), (second, again) = optimizer(), optimizer()
    for factor in (1.0, -3.0):
        step(first, adam, factor)
    with torch.no_grad():
        second.copy_(first)
    packed = {name: tensor.clone() for name, tensor in pack_optimizer("name", adam).items()}
    unpack_optimizer("name", again, packed)
    step(first, adam, 2.0)
    step(second, again, 2.0)
    assert torch.equal(first, second)
