"""What a search knows and what it may do next: a policy is a pure function from the one to the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeAlias

from torch import Tensor

from hypercondense.condensing.baselines.coresets import Herding
from hypercondense.condensing.recipe import Recipe
from hypercondense.typed import digest_of

#: What may be tried: recipes, and real nodes.
Tried: TypeAlias = Recipe | Herding


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known before the first trial: sizes, never names.

    Args:
        num_nodes: Condensed nodes.
        num_validation: Validation nodes, who tell candidates apart.
        num_training: Training nodes.
        elaborates: Whether the budget is larger than the basic search needs.
        seed: Of the condensation.
    """

    num_nodes: int
    num_validation: int
    num_training: int
    elaborates: bool = False
    seed: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Trial:
    """A recipe that was tried.

    Args:
        label: What it is, in words.
        recipe: What was tried.
        right: Which validation nodes the judge got right.
        seconds: How long it took, with what networks took that were asked.
        accuracies: Of networks that were trained on it, where they were asked.
    """

    label: str
    recipe: Tried
    right: Tensor
    seconds: float
    accuracies: tuple[float, ...] = ()

    @property
    def key(self) -> str:
        """The digest of the recipe, by which a trial is known."""
        return digest_of(self.recipe)

    @property
    def score(self) -> float:
        """The judge's accuracy."""
        return float(self.right.double().mean())

    @property
    def confirmed(self) -> float | None:
        """The mean accuracy of networks, where they were asked."""
        return fmean(self.accuracies) if self.accuracies else None


@dataclass(frozen=True)
class Try:
    """Carry out a recipe and let the judge look at the result."""

    label: str
    recipe: Tried


@dataclass(frozen=True, eq=False)
class Ask:
    """Train networks on what a trial made."""

    trial: Trial


Proposal: TypeAlias = Try | Ask
#: What to do next, given the facts and all trials so far; ``None`` ends the search.
Policy: TypeAlias = Callable[[Facts, Sequence[Trial]], Proposal | None]
