"""Nominal costs against processor time that was measured once (docs/decisions/0020)."""

from dataclasses import replace

import pytest
from msgspec import structs

from hypercondense.condensing.closed_form import ClosedForm
from hypercondense.condensing.predict import Predict
from hypercondense.condensing.presets import PRESETS
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.starts import Better, KMeans, Means
from hypercondense.condensing.unrolled import Unrolled
from hypercondense.search import costs
from hypercondense.search.costs import Sizes
from makers.searches import SIZES

EPOCHS = 1000  # beside which what is paid once is nothing
#: Sizes, then milliseconds: an epoch of HGNN on the source, on the condensed nodes, of `learnt` and of the
#: closed form, both on batches of 2,048 rows.
MEASURED = {
    "house-committees": ((1290, 13133, 129000, 100, 2, 645, 322, 26), 3.2, 0.4, 3.9, 0.8),
    "cora": ((2708, 7494, 49216, 1433, 7, 1354, 677, 27), 6.0, 0.8, 20.4, 4.5),
    "mushroom": ((8124, 48744, 94366, 22, 2, 4062, 2031, 81), 14.5, 0.4, 3.2, 0.9),
    "pubmed": ((19717, 54346, 988031, 500, 3, 9858, 4929, 197), 47.9, 1.1, 17.1, 4.3),
    "dblp": ((41302, 140863, 1602890, 1425, 6, 20651, 10326, 207), 109.2, 2.2, 41.9, 11.1),
    "walmart": ((88860, 549490, 8885999, 100, 11, 44430, 22215, 444), 302.8, 1.3, 12.4, 11.3),
}


def recipe(**parts: object) -> Recipe:
    """`learnt` with other parts of its goal, on large batches, from one start and without looks."""
    learnt = PRESETS["learnt"][1]
    assert isinstance(learnt.goal, Predict)
    goal = structs.replace(learnt.goal, batch=2048, **parts)
    return structs.replace(learnt, start=Means(samples=100), goal=goal, looks=0)


def milliseconds(sizes: Sizes) -> list[float]:
    through = recipe(training=Unrolled(epochs=EPOCHS, hidden=64))
    closed = recipe(training=None, closed_form=ClosedForm(epochs=EPOCHS))
    seconds = [
        costs.whole_training(sizes) / 200,
        costs.judging(sizes, trainings=1, epochs=1, looks=0),
        costs.condensing(through, sizes) / EPOCHS,
        costs.condensing(closed, sizes) / EPOCHS,
    ]
    return [1000 * one for one in seconds]


@pytest.mark.parametrize("name", MEASURED)
def test_nominal_costs_are_as_measured_but_for_the_speed_of_the_machine(name: str) -> None:
    numbers, *measured = MEASURED[name]
    sizes = Sizes(**dict(zip(Sizes.__dataclass_fields__, numbers, strict=True)))
    for nominal, real in zip(milliseconds(sizes), measured, strict=True):
        assert 2 / 3 < nominal / real < 1.5


def test_starts_that_are_judged_cost_as_much_as_judging_them() -> None:
    one, both = (
        structs.replace(recipe(closed_form=ClosedForm(), training=Unrolled(epochs=50)), start=start)
        for start in (Means(samples=100), Better())
    )
    alone = costs.condensing(recipe(closed_form=ClosedForm(), training=None), SIZES)
    more = costs.condensing(both, SIZES) - costs.condensing(one, SIZES)
    assert more > 2 * alone > 0


def test_a_look_costs_more_where_validation_nodes_are_more() -> None:
    few, many = (replace(SIZES, validation=number, features=500) for number in (100, 100_000))
    looking = structs.replace(recipe(training=Unrolled(epochs=50)), looks=4)
    assert costs.condensing(looking, few) < costs.condensing(looking, many)


def test_other_networks_than_hgnn_are_dearer_to_ask() -> None:
    hgnn, other = (
        costs.judging(SIZES, network=name, trainings=1, epochs=10, looks=2) for name in ("hgnn", "edhnn")
    )
    assert other > hgnn


def test_clusters_cost_more_than_means_and_dual_levels_more_for_more_rows() -> None:
    clusters, means = (replace_start(start) for start in (KMeans(), Means(samples=100)))
    wide = replace(SIZES, features=1000, training=10_000)
    assert costs.condensing(clusters, wide) > 2 * costs.condensing(means, wide)
    paper = PRESETS["ahgcdd"][1]
    few, many = (replace(wide, condensed=number) for number in (10, 1000))
    assert costs.condensing(paper, few) < costs.condensing(paper, many)


def replace_start(start: KMeans | Means) -> Recipe:
    """The closed form for a moment, from another start."""
    return structs.replace(recipe(training=None, closed_form=ClosedForm(epochs=1)), start=start)


def test_the_diffusion_grows_with_all_of_its_numbers() -> None:
    base = costs.diffusing(3, SIZES)
    assert costs.diffusing(6, SIZES) == pytest.approx(2 * base)
    assert costs.diffusing(3, replace(SIZES, features=20, incidences=2000)) == pytest.approx(4 * base)
    assert costs.in_any_case(SIZES) > base
