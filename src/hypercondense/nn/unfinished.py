"""The state of a training that is not finished, to continue it to the same bits."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

import torch
from torch import Tensor

from hypercondense.nn.base import HypergraphNetwork
from hypercondense.nn.epochs import Epoch, Epochs

_CHANCE = "chance"


class Store(Protocol):
    """Where a state is kept."""

    def load(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """What was saved last, if there is anything to continue."""

    def continuing(self) -> AbstractContextManager[None]:
        """Where a state is put back: one that does not fit is refused."""

    def due(self) -> bool:
        """Whether it is time to save."""

    def save(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """Replace what was saved."""

    def forget(self) -> None:
        """Remove it."""


def put_back(store: Store, model: HypergraphNetwork, optimizer: torch.optim.Optimizer, kept: Epochs) -> int:
    """Continue from what a store has; the number of epochs that are done."""
    if (saved := store.load()) is None:
        return 0
    tensors, facts = saved
    with store.continuing():
        model.load_state_dict(_part(tensors, "weights"))
        unpack_optimizer("optimizer", optimizer, tensors)
        found = [Epoch(int(number), score=score, loss=loss) for number, score, loss in facts["kept"]]
        kept.continue_from(found, [_part(tensors, f"kept {one.number}") for one in found], facts["offered"])
        torch.set_rng_state(tensors[_CHANCE])
        return int(facts["epochs"])


def keep(
    store: Store, epochs: int, model: HypergraphNetwork, optimizer: torch.optim.Optimizer, kept: Epochs
) -> None:
    """Save the state after so many epochs."""
    parts: dict[str, Mapping[str, Tensor]] = {"weights": model.state_dict()}
    for one in kept.offered:
        parts[f"kept {one.number}"] = one.weights
    tensors = {f"{part}/{name}": value for part, some in parts.items() for name, value in some.items()}
    told = [[one.number, one.score, one.loss] for one in kept.offered]
    facts = {"epochs": epochs, "kept": told, "offered": kept.number}
    tensors |= pack_optimizer("optimizer", optimizer)
    store.save({**tensors, _CHANCE: torch.get_rng_state()}, facts)


def _part(tensors: Mapping[str, Tensor], part: str) -> dict[str, Tensor]:
    """The tensors of a part, by their own names."""
    begin = f"{part}/"
    return {name[len(begin) :]: value for name, value in tensors.items() if name.startswith(begin)}


def pack_optimizer(prefix: str, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The running averages and step counts of Adam as named tensors."""
    state = optimizer.state_dict()["state"]
    return {f"{prefix}.{index}.{key}": value for index, row in state.items() for key, value in row.items()}


def unpack_optimizer(prefix: str, optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put back what :func:`pack_optimizer` took."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith(f"{prefix}."):
            _, index, key = name.rsplit(".", 2)
            state.setdefault(int(index), {})[key] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
