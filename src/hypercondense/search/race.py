"""The policy of ``auto``: try the recipes that are expected to gain most, as long as that pays.

Before a trial its gain is expected from how its recipe did on other data, and from the number of validation
nodes: few of them cannot tell small gains. After it, a recipe replaces the one in front if its gain, shrunk
towards what was expected, is above 0.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from statistics import NormalDist

from hypercondense.search import costs
from hypercondense.search.answers import Difference
from hypercondense.search.costs import Sizes
from hypercondense.search.policy import Facts, Trial, Try
from hypercondense.search.portfolio import Entry
from hypercondense.typed import Count, Positive, Share, Value

_NORMAL = NormalDist()
_DEARER = 2  # times the cheapest: about as cheap, where all are too dear
_LEAST_PRICE = 1e-3  # nominal seconds, so that what is for nothing can be compared


class Race(Value):
    """What a search may cost, and what it must be expected to gain.

    Everything counts: diffusion, condensing, asking networks, and the first training on the result.

    Args:
        share: Of one training on the whole that this may cost, in nominal time, on a large source.
        large: Nodes from which a source is large: there a training on the whole is what is to be saved.
        trainings: Trainings on the whole that it may cost on others, which are condensed for other reasons.
        seconds: But not more nominal seconds than these.
        least: Nominal seconds that it may cost in any case: where a training on the whole takes a moment,
            nobody waits for three of them.
        least_gain: A trial that is expected to gain less is not worth it.
        most: Recipes that are tried where nobody gives a budget.
        differing: Share of validation nodes that two candidates are typically not both right or wrong about.
    """

    share: Positive = 0.15
    large: Count = 20_000
    trainings: Positive = 3.0
    seconds: Positive = 18.0
    least: Positive = 4.0
    least_gain: Share = 0.001
    most: Count = 5
    differing: Share = 0.1

    def allowed(self, sizes: Sizes) -> float:
        """Nominal seconds for condensing and asking, which is what is left beside all else."""
        whole = costs.whole_training(sizes)
        is_large = sizes.nodes >= self.large
        most = self.share * whole if is_large else min(self.trainings * whole, self.seconds)
        return max(most, self.least) - costs.in_any_case(sizes)

    def entries(self, facts: Facts) -> list[Entry]:
        """What is to be tried, in order.

        The first is the one that is expected to be best, among those that are not too dear; if all are,
        among those that are about as cheap as can be. Others follow by what they are expected to gain for
        their price.
        """
        known = [entry for entry in facts.entries if facts.whole_training or not entry.trains_on_whole]
        if facts.unlimited:
            return known
        known = [entry for entry in known if not entry.elaborate]
        sizes, left = facts.sizes, self.allowed(facts.sizes)
        prices = {entry.label: costs.condensing(entry.recipe, sizes) for entry in known}
        payable = [entry for entry in known if prices[entry.label] <= left]
        if not payable:
            most = _DEARER * min(prices.values())
            return [max((entry for entry in known if prices[entry.label] <= most), key=_gain)]
        first = max(payable, key=_gain)
        others = self._challengers(first, payable, prices, left - prices[first.label], facts)
        return [first, *islice(others, self.most - 1)]

    def expected_gain(self, entry: Entry, front: Entry, num_validation: int) -> float:
        """What trying ``entry`` gains if the better of it and ``front`` is taken afterwards.

        Its true gain is thought to be normal; what validation nodes tell of it, too. The mean of the shrunk
        gain where that is above 0 has a closed form.

        >>> from hypercondense.condensing.recipe import Recipe
        >>> sure, unsure = Entry("a", Recipe(), 0.0, 0.0), Entry("b", Recipe(), 0.0, 0.02)
        >>> Race().expected_gain(sure, sure, 1000)
        0.0
        >>> few, many = (Race().expected_gain(unsure, sure, number) for number in (25, 2500))
        >>> round(few, 4), round(many, 4)
        (0.0024, 0.0076)
        """
        gain, spread = _prior(entry, front)
        if spread == 0:
            return max(0.0, gain)
        error = math.sqrt(self.differing / max(1, num_validation))
        told = spread**2 / math.hypot(spread, error)  # deviation of the shrunk gain
        return told * _NORMAL.pdf(gain / told) + gain * _NORMAL.cdf(gain / told)

    def next_proposal(self, facts: Facts, trials: Sequence[Trial]) -> Try | None:
        """The policy: the next entry, unless nothing is left to be gained."""
        if trials and self.front(facts, trials).score >= 1 - self.least_gain:
            return None
        entries = self.entries(facts)
        if len(trials) == len(entries):
            return None
        return Try(entries[len(trials)].label, entries[len(trials)].recipe)

    def front(self, facts: Facts, trials: Sequence[Trial]) -> Trial:
        """The candidate that is expected to be best, given all answers."""
        entries = {entry.recipe: entry for entry in facts.entries}
        front, *others = trials
        for trial in others:
            told = Difference.between(trial.answers, front.answers)
            if shrunk(told, _prior(entries[trial.recipe], entries[front.recipe])) > 0:
                front = trial
        return front

    def _challengers(
        self, first: Entry, payable: list[Entry], prices: dict[str, float], left: float, facts: Facts
    ) -> Iterator[Entry]:
        """What is worth its price besides the first, by expected gain for the price.

        The first challenger pays for asking about both.
        """
        sizes = facts.sizes

        def gain(entry: Entry) -> float:
            return self.expected_gain(entry, first, sizes.validation)

        def worth(entry: Entry) -> float:
            return gain(entry) / max(prices[entry.label] + facts.asking, _LEAST_PRICE)

        asked = 1
        for entry in sorted((entry for entry in payable if entry is not first), key=worth, reverse=True):
            price = prices[entry.label] + (2 if asked == 1 else 1) * facts.asking
            if price <= left and gain(entry) >= self.least_gain:
                yield entry
                left, asked = left - price, asked + 1


def shrunk(told: Difference, prior: tuple[float, float]) -> float:
    """The gain to be expected after validation nodes were asked: between what they told and the prior.

    >>> shrunk(Difference(0.02, 0.01), (0.0, 0.01))
    0.01
    """
    gain, spread = prior
    if spread == 0:
        return gain
    trust = spread**2 / (spread**2 + told.error**2)
    return trust * told.mean + (1 - trust) * gain


def _gain(entry: Entry) -> float:
    return entry.gain


def _prior(entry: Entry, front: Entry) -> tuple[float, float]:
    return entry.gain - front.gain, math.hypot(entry.spread, front.spread)
