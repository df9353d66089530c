"""The race: what is tried in which order, what it may cost, and who is in front afterwards."""

from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from msgspec import structs

from hypercondense.condensing.closed_form import ClosedForm
from hypercondense.condensing.predict import Predict
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.starts import Means
from hypercondense.search import costs
from hypercondense.search.answers import Difference
from hypercondense.search.auto import Auto
from hypercondense.search.policy import Facts, Trial
from hypercondense.search.portfolio import EDITION, PORTFOLIO, Entry
from hypercondense.search.race import Race, shrunk
from hypercondense.typed import digest_of
from makers.searches import SIZES, answers, trial_of

RACE = Race()


def entry(number: int, gain: float = 0.0, spread: float = 0.02, **changes: object) -> Entry:
    recipe = Recipe(start=Means(samples=number), goal=None)
    return Entry(f"entry {number}", recipe, gain, spread, **changes)  # type: ignore[arg-type]


def trial(one: Entry, share: float, number: int = 1000) -> Trial:
    return trial_of(one.recipe, label=one.label, answers=answers(share, number))


def labels(entries: list[Entry]) -> list[str]:
    return [one.label for one in entries]


def test_the_first_is_the_best_by_expectation_and_others_follow_by_expected_gain() -> None:
    entries = (entry(1, -0.02, 0.001), entry(2, 0.0), entry(3, -0.01, 0.03), entry(4, -0.005, 0.03))
    facts = Facts(sizes=SIZES, entries=entries)
    assert labels(RACE.entries(facts)) == ["entry 2", "entry 4", "entry 3"]  # the first gains nothing


def test_the_expected_gain_is_that_of_a_simulation() -> None:
    """Draw true gains and what is told of them; take the entry where the shrunk gain is above 0."""
    one, front, number = entry(1, -0.01, 0.02), entry(2, 0.0, 0.01), 500
    rng = np.random.default_rng(0)
    spread, error = np.hypot(0.02, 0.01), np.sqrt(RACE.differing / number)
    true = rng.normal(-0.01, spread, 400_000)
    told = rng.normal(true, error)
    taken = np.array([shrunk(Difference(mean, error), (-0.01, spread)) for mean in told[:1000]]) > 0
    trust = spread**2 / (spread**2 + error**2)
    assert (taken == (trust * told[:1000] + (1 - trust) * -0.01 > 0)).all()
    simulated = np.where(trust * told + (1 - trust) * -0.01 > 0, true, 0).mean()
    assert RACE.expected_gain(one, front, number) == pytest.approx(simulated, rel=0.02)


def test_with_few_validation_nodes_less_is_tried() -> None:
    entries = (entry(1), entry(2, -0.005, 0.01), entry(3, -0.03, 0.03))
    tried = {
        number: len(RACE.entries(Facts(sizes=replace(SIZES, validation=number), entries=entries)))
        for number in (5, 500, 50_000)
    }
    assert tried[5] < tried[500] <= tried[50_000] == 3


def test_what_is_too_dear_is_left_out_and_the_cheapest_is_left() -> None:
    learnt, closed, *_ = PORTFOLIO
    sizes = replace(SIZES, nodes=100_000, validation=25_000, features=2000, condensed=600)
    prices = [costs.condensing(one.recipe, sizes) for one in (learnt, closed)]
    assert prices[0] > prices[1]
    between = sum(prices) / 2 / costs.whole_training(sizes)
    anyway = costs.in_any_case(sizes) / costs.whole_training(sizes)
    dear = Race(share=between + anyway, least=1e-6)
    assert labels(dear.entries(Facts(sizes=sizes, entries=(learnt, closed)))) == [closed.label]
    poor = Race(share=1e-9, least=1e-9)
    assert labels(poor.entries(Facts(sizes=sizes, entries=(learnt, closed)))) == [closed.label]


def test_asking_networks_is_a_part_of_the_price() -> None:
    entries = (entry(1), entry(2))
    assert len(RACE.entries(Facts(sizes=SIZES, entries=entries))) == 2
    assert len(RACE.entries(Facts(sizes=SIZES, entries=entries, asking=1e6))) == 1


def test_where_all_are_too_dear_the_best_of_the_cheap_ones_is_taken() -> None:
    def closed(epochs: int, gain: float) -> Entry:
        goal = Predict(closed_form=ClosedForm(epochs=epochs))
        return Entry(f"{epochs} epochs", Recipe(start=Means(), goal=goal), gain, 0.01)

    entries = (closed(100, -0.03), closed(150, -0.01), closed(300, 0.0))
    facts = Facts(sizes=SIZES, entries=entries)
    assert labels(Race(least=1e-9, trainings=1e-9).entries(facts)) == ["150 epochs"]


def test_small_sources_may_cost_more_of_a_training_than_large_ones() -> None:
    race = Race(least=1e-3, seconds=1e9)
    small, large = replace(SIZES, nodes=race.large - 1), replace(SIZES, nodes=race.large)
    shares = [
        (race.allowed(sizes) + costs.in_any_case(sizes)) / costs.whole_training(sizes)
        for sizes in (small, large)
    ]
    assert shares == pytest.approx([race.trainings, race.share])


def test_a_few_seconds_are_always_allowed_and_pay_for_a_longer_optimization() -> None:
    tiny = replace(SIZES, nodes=100, incidences=300, entries=1000, features=16, classes=7, validation=25)
    allowed = RACE.allowed(tiny) + costs.in_any_case(tiny)
    assert RACE.trainings * costs.whole_training(tiny) < RACE.least == pytest.approx(allowed)
    first = RACE.entries(Auto().facts(tiny, whole_training=True, chooses=True, seed=0))[0]
    assert first.label == "learnt, for longer and wider"
    assert RACE.allowed(replace(tiny, nodes=10**7)) > RACE.least


def test_teachers_are_expected_to_gain_where_training_nodes_are_few_beside_features() -> None:
    taught = next(one for one in PORTFOLIO if one.few)
    gains = [taught.on(replace(SIZES, features=100, training=number)).gain for number in (50, 400, 10**6)]
    assert gains[0] == taught.gain + taught.few > gains[1] > gains[2] == pytest.approx(taught.gain, abs=1e-4)
    few = replace(SIZES, nodes=3000, incidences=7000, entries=50_000, features=1000, training=1500)
    facts = Auto().facts(few, whole_training=True, chooses=True, seed=0)
    assert RACE.entries(facts)[0].label == taught.label
    assert not any(one.trains_on_whole for one in RACE.entries(replace(facts, whole_training=False)))


def test_many_condensed_rows_are_not_optimized_for_long() -> None:
    longer = next(one for one in PORTFOLIO if one.small)
    few, many = (longer.on(replace(SIZES, condensed=number)).gain for number in (30, 600))
    assert few == longer.gain + longer.small > 0 > many


def test_with_a_budget_everything_is_tried_in_the_order_of_the_table() -> None:
    facts = Facts(sizes=SIZES, unlimited=True)
    assert labels(RACE.entries(facts)) == labels(list(PORTFOLIO))
    assert not any(one.elaborate for one in RACE.entries(replace(facts, unlimited=False)))


def test_teachers_are_not_asked_where_nothing_may_train_on_the_whole() -> None:
    facts = Facts(sizes=SIZES, unlimited=True, whole_training=False)
    tried = RACE.entries(facts)
    assert 0 < len(tried) < len(PORTFOLIO) and not any(one.trains_on_whole for one in tried)


def test_what_is_in_front_gives_way_to_what_is_better_beyond_doubt_only() -> None:
    first, second = entry(1, 0.0, 0.005), entry(2, -0.01, 0.01)
    facts = Facts(sizes=SIZES, entries=(first, second))
    for share, number, wins in ((0.6, 20_000, True), (0.501, 100, False), (0.4, 20_000, False)):
        trials = [trial(first, 0.5, number), trial(second, share, number)]
        assert (RACE.front(facts, trials) is trials[1]) == wins


def test_of_equals_the_one_that_was_expected_to_be_better_is_in_front() -> None:
    first, second = entry(1), entry(2, -0.001)
    facts = Facts(sizes=SIZES, entries=(first, second))
    trials = [trial(first, 0.5), trial(second, 0.5)]
    assert RACE.front(facts, trials) is trials[0]


def test_the_race_ends_with_the_last_entry_or_where_nothing_is_left_to_gain() -> None:
    entries = (entry(1), entry(2))
    facts = Facts(sizes=SIZES, entries=entries)
    first = RACE.next_proposal(facts, [])
    assert first is not None and first.recipe == entries[0].recipe
    assert RACE.next_proposal(facts, [trial(entries[0], 1.0)]) is None
    second = RACE.next_proposal(facts, [trial(entries[0], 0.9)])
    assert second is not None and second.recipe == entries[1].recipe
    assert RACE.next_proposal(facts, [trial(one, 0.9) for one in entries]) is None


@pytest.mark.parametrize("field", ["share", "seconds", "trainings"])
def test_limits_are_above_0(field: str) -> None:
    with pytest.raises(ValueError, match=field):
        structs.replace(RACE, **{field: 0.0})


def test_recipes_of_the_portfolio_differ_and_at_most_five_are_tried_unasked() -> None:
    recipes = {one.recipe for one in PORTFOLIO}
    assert len(recipes) == len(PORTFOLIO) == len({one.label for one in PORTFOLIO})
    wide = replace(SIZES, nodes=10**8, validation=10**7)  # everything can be paid for
    tried = labels(RACE.entries(Facts(sizes=wide, entries=PORTFOLIO)))
    assert len(tried) == 5 < sum(not one.elaborate for one in PORTFOLIO)
    assert labels(Race(most=2).entries(Facts(sizes=wide, entries=PORTFOLIO))) == tried[:2]
    assert len(RACE.entries(Facts(sizes=wide, entries=PORTFOLIO, unlimited=True))) > 5
    assert PORTFOLIO[0].gain == 0 and all(one.spread > 0 for one in PORTFOLIO)


def test_another_portfolio_is_another_edition() -> None:
    told = [
        f"{digest_of(one.recipe)}{one.label}{one.gain}{one.spread}{one.elaborate}{one.few}{one.small}"
        for one in PORTFOLIO
    ]
    known = sha256("".join(told).encode()).hexdigest()[:16]
    assert (EDITION, known) == (4, "4e668f148d21d293"), "raise EDITION: lines of two searches must differ"
    with pytest.raises(ValueError, match="edition must be 4"):
        Auto(edition=1)
