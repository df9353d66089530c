"""What networks that were trained on a candidate say about validation nodes, and how sure that makes us."""

import math
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor


@dataclass(frozen=True, eq=False)
class Answers:
    """What every validation node contributes to the score of every training.

    Args:
        contributions: (trainings, nodes), as ``nn.scoring.contributions`` has them: with accuracy 1 where the
            class of a node is told, else 0.
    """

    contributions: Tensor

    @cached_property
    def score(self) -> float:
        """The mean of all trainings."""
        return float(self.contributions.double().mean())

    @cached_property
    def scores(self) -> tuple[float, ...]:
        """The score of every training."""
        return tuple(self.contributions.double().mean(1).tolist())


@dataclass(frozen=True)
class Difference:
    """How much better one candidate is than another, with its standard error."""

    mean: float
    error: float

    @classmethod
    def between(cls, one: Answers, other: Answers) -> "Difference":
        """Nodes are compared with themselves: what is hard for both tells nothing.

        The error has a part of the nodes that happen to be there, and a part of the trainings: of networks
        that disagree which is better, and of chance. Trainings of equal number are of the same network.

        >>> import torch
        >>> same = Answers(torch.tensor([[1.0, 0.0]] * 2))
        >>> Difference.between(same, same)
        Difference(mean=0.0, error=0.0)
        """
        apart = one.contributions.double() - other.contributions.double()
        by_node, by_training = apart.mean(0), apart.mean(1)
        variance = float(by_node.var(correction=0)) / len(by_node)
        if len(by_training) > 1:
            variance += float(by_training.var()) / len(by_training)
        return cls(float(by_training.mean()), math.sqrt(variance))
