"""Which epoch of a training is kept, where looks are few: a network that only counts, and known scores."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from hypercondense.nn.epochs import Epoch, Epochs


class Counting(torch.nn.Module):
    """Its one weight is the epoch."""

    def __init__(self) -> None:
        super().__init__()
        self.epoch = torch.nn.Parameter(torch.zeros(1), requires_grad=False)


class Told:
    """Looks with known answers."""

    def __init__(self, score: Callable[[int], float], *, number: int, apart: int, finalists: int = 3) -> None:
        self.score, self.number, self.finalists, self.sampled = score, number, finalists, apart > 1
        self._apart = apart
        self.asked: list[int] = []
        self.finals: list[int] = []

    def apart(self, model: Counting) -> int:
        return self._apart

    def __call__(self, model: Counting) -> tuple[float, float]:
        self.asked.append(int(model.epoch))
        return self.score(int(model.epoch)), 0.0

    def at_all(self, model: Counting) -> tuple[float, float]:
        self.finals.append(int(model.epoch))
        return self.score(int(model.epoch)), 0.0


def chosen(look: Told) -> Epoch:
    model = Counting()
    epochs = Epochs(model, look)  # type: ignore[arg-type]
    for epoch in range(look.number):
        torch.nn.init.constant_(model.epoch, epoch)
        epochs.offer(epoch)
    found = epochs.chosen()
    assert found is not None and int(model.epoch) == found.number  # the model has its weights
    return found


@given(st.integers(0, 39), st.sampled_from([1, 2, 4, 8]))
def test_a_single_peak_is_found_with_few_looks(peak: int, apart: int) -> None:
    look = Told(lambda epoch: -abs(epoch - peak), number=40, apart=apart)
    assert chosen(look).number == peak
    assert len(look.asked) == len(set(look.asked)) <= 40 // apart + 6 * (apart.bit_length() - 1)
    assert len(look.finals) == (3 if apart > 1 else 0)


def test_without_a_sample_every_epoch_is_looked_at_and_the_first_best_is_kept() -> None:
    look = Told([1.0, 3.0, 2.0, 3.0, 0.0].__getitem__, number=5, apart=1)
    assert chosen(look).number == 1 and look.asked == [0, 1, 2, 3, 4]


def test_the_last_epoch_is_looked_at_while_it_is_trained() -> None:
    look = Told(float, number=6, apart=4)
    assert chosen(look).number == 5 and look.asked[:2] == [3, 5]


def test_all_validation_nodes_choose_among_the_best_of_the_sample() -> None:
    look = Told(float, number=8, apart=2, finalists=2)
    look.at_all = lambda model: (-model.epoch.item(), 0.0)  # type: ignore[method-assign]
    assert chosen(look).number == 6


def test_without_epochs_nothing_is_chosen() -> None:
    assert Epochs(Counting(), Told(float, number=0, apart=1)).chosen() is None  # type: ignore[arg-type]


def test_no_score_is_told_before_the_first_look() -> None:
    epochs = Epochs(Counting(), Told(lambda epoch: 0.5, number=4, apart=2))  # type: ignore[arg-type]
    epochs.offer(1)
    assert epochs.score is None
    epochs.offer(2)
    assert epochs.score == pytest.approx(0.5)
