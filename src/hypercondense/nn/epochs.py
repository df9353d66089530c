"""The epochs of one training that may be kept, with copies of their weights, and which of them is.

Where a look costs little every epoch that is due is looked at, and the best is kept. Where looks are at a
sample (:mod:`hypercondense.nn.looks`), neighbouring epochs are also much alike: only one of several that are
due is looked at while the network is trained. At the end those half-way between the best few and their
neighbours are looked at, then those half-way between these, down to epochs that follow each other. The best
few of all are then tried on all validation nodes, which choose.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from torch import Tensor

from hypercondense.frozen import Frozen
from hypercondense.nn.base import HypergraphNetwork
from hypercondense.nn.looks import Looks

_AROUND = 3  # epochs around which others are looked at


@dataclass(frozen=True, eq=False)
class Epoch(Frozen):
    """The weights after an epoch; score and cross-entropy are NaN before anybody looked."""

    number: int
    weights: Mapping[str, Tensor] = field(default_factory=dict)
    score: float = math.nan
    loss: float = math.nan

    @property
    def rank(self) -> tuple[float, float, int]:
        """The larger, the better: of equal scores the lower cross-entropy, then the earlier."""
        return self.score, -math.inf if math.isnan(self.loss) else -self.loss, -self.number


class Epochs:
    """Those of one training that are due for a look.

    Args:
        model: The network that is trained; looks at the end put other weights into it.
        look: How validation nodes are asked.

    Attributes:
        number: How many were offered.
    """

    def __init__(self, model: HypergraphNetwork, look: Looks) -> None:
        self.model, self.look = model, look
        self.apart = look.apart(model)
        self._kept: list[Epoch] = []
        self.number = 0

    @property
    def expected_looks(self) -> int:
        """How many looks it will be, about: of the neighbours of the best few some were looked at before."""
        halvings = self.apart.bit_length() - 1
        return min(self.look.number, math.ceil(self.look.number / self.apart) + (_AROUND + 1) * halvings)

    @property
    def score(self) -> float | None:
        """The best so far, ``None`` before the first look."""
        best = self._best(1)
        return best[0].score if best else None

    def offer(self, epoch: int) -> None:
        """Keep the present weights, and look at them if it is their turn."""
        weights = {name: value.detach().clone() for name, value in self.model.state_dict().items()}
        self._kept.append(Epoch(epoch, weights))
        self.number += 1
        if self.number % self.apart == 0 or self.number == self.look.number:
            self._look_at(len(self._kept) - 1)
        if self.apart == 1:
            self._kept = self._best(self.look.finalists)

    @property
    def offered(self) -> Sequence[Epoch]:
        """Those that may still be chosen."""
        return tuple(self._kept)

    def continue_from(
        self, offered: Sequence[Epoch], weights: Sequence[Mapping[str, Tensor]], number: int
    ) -> None:
        """As if these had been offered, with their weights, of so many in all."""
        self._kept = [replace(one, weights=own) for one, own in zip(offered, weights, strict=True)]
        self.number = number

    def chosen(self) -> Epoch | None:
        """The best, whose weights the model then has; ``None`` if none was offered."""
        step = self.apart
        while step > 1:
            step //= 2
            for one in self._best(_AROUND):
                self._look_beside(one, step)
        judged: Sequence[Epoch] = self._best(self.look.finalists)
        if self.look.sampled:
            judged = [self._judged(one) for one in judged]
        if not judged:
            return None
        best = max(judged, key=lambda one: one.rank)
        self.model.load_state_dict(best.weights)
        return best

    def _best(self, number: int) -> list[Epoch]:
        """Of those that were looked at."""
        looked = [one for one in self._kept if not math.isnan(one.score)]
        return sorted(looked, key=lambda one: one.rank, reverse=True)[:number]

    def _look_beside(self, one: Epoch, step: int) -> None:
        at = self._kept.index(one)
        for place in (at - step, at + step):
            if 0 <= place < len(self._kept) and math.isnan(self._kept[place].score):
                self.model.load_state_dict(self._kept[place].weights)
                self._look_at(place)

    def _look_at(self, place: int) -> None:
        """Look at the model, which has the weights that are kept at a place."""
        score, loss = self.look(self.model)
        self._kept[place] = replace(self._kept[place], score=score, loss=loss)

    def _judged(self, one: Epoch) -> Epoch:
        self.model.load_state_dict(one.weights)
        score, loss = self.look.at_all(self.model)
        return replace(one, score=score, loss=loss)
