"""What a search knows and what it may do next: a policy is a pure function from the one to the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hypercondense.condensing.recipe import Recipe
from hypercondense.search.answers import Answers
from hypercondense.search.costs import Sizes
from hypercondense.search.portfolio import PORTFOLIO, Entry
from hypercondense.typed import digest_of


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known before the first trial: sizes, never names.

    Args:
        sizes: Of the source and of what it is condensed to.
        entries: What there is to try.
        whole_training: Whether networks may be trained on the whole source.
        unlimited: Whether somebody gave a budget, so that only it limits the cost.
        asking: Nominal seconds of training networks on one candidate.
        seed: Of the condensation.
    """

    sizes: Sizes
    entries: tuple[Entry, ...] = PORTFOLIO
    whole_training: bool = True
    unlimited: bool = False
    asking: float = 0.0
    seed: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Trial:
    """A recipe that was tried.

    Args:
        label: What it is, in words.
        recipe: What was tried.
        answers: Of networks that were trained on what it made, about every validation node.
        seconds: How long it took, with these trainings.
    """

    label: str
    recipe: Recipe
    answers: Answers
    seconds: float

    @property
    def key(self) -> str:
        """The digest of the recipe, by which a trial is known."""
        return digest_of(self.recipe)

    @property
    def score(self) -> float:
        """What networks scored, the mean of all trainings."""
        return self.answers.score


@dataclass(frozen=True)
class Try:
    """Carry out a recipe and train networks on the result."""

    label: str
    recipe: Recipe


#: What to try next, given the facts and all trials so far; ``None`` ends the search.
Policy: TypeAlias = Callable[[Facts, Sequence[Trial]], Try | None]
