"""Dual-level discrimination at work: what the losses see, how they are weighed, and how far features move."""

import math
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from hypercondense.condensing.anchors import Anchors
from hypercondense.condensing.dual_level import Discrimination, DualLevel
from hypercondense.condensing.maps import Map
from hypercondense.condensing.presets import PRESETS
from hypercondense.condensing.recipe import Recipe
from hypercondense.data import synthetic
from hypercondense.hypergraph import Hypergraph, split
from makers.jobs import job_of, quick

LABELS = np.array([0, 0, 1, 1, 2, 2])
CLASSES = torch.tensor(LABELS)


@pytest.fixture(scope="module")
def small() -> Hypergraph:
    return synthetic(num_nodes=80, num_hyperedges=50, num_features=8, num_classes=3, seed=1)


def at_work(
    small: Hypergraph, goal: DualLevel, *, shift: float = 0.0, recipe: Recipe | None = None
) -> tuple[Discrimination, torch.Tensor, torch.Tensor]:
    """A goal on the raw rows of a source, these rows, and condensed ones to ask about."""
    job = job_of(small, split(small), LABELS)
    rows = job.material.training_rows(Map(kernel="none")) + np.float32(shift)
    recipe = recipe or Recipe(map=Map(kernel="none"), goal=goal)
    condensed = torch.tensor(rows[[3, 1, 4, 1, 5, 9]])
    made = goal.prepare(recipe, job, rows=rows, first=condensed, labels=LABELS)
    return made, torch.from_numpy(rows), condensed


PAPER = PRESETS["ahgcdd-paper"][1].goal
assert isinstance(PAPER, DualLevel)


def test_the_papers_losses_are_sums_over_raw_rows(small: Hypergraph) -> None:
    """Eq. 11 and 12 written out, with the samples that are drawn."""
    made, rows, condensed = at_work(small, PAPER)
    source_classes = torch.tensor(made.rows.labels)
    chance = torch.Generator()
    chance.set_state(made.chance.get_state())
    loss, terms = made.loss(condensed, None, 25)
    positives, negatives = made.sampler.draw(chance)

    theirs, ours = (
        F.normalize(F.one_hot(classes, 3).float().T @ features, dim=1)
        for classes, features in ((source_classes, rows), (CLASSES, condensed))
    )
    similarity = theirs @ ours.T
    coarse = (1 - similarity.diagonal()).sum() + similarity.sum() - similarity.trace()
    fine = torch.zeros(())
    for node, (positive, others) in enumerate(zip(positives, negatives, strict=True)):
        right = (condensed[node] @ rows[positive]).exp()
        fine -= (right / (right + (rows[others] @ condensed[node]).exp().sum())).log()
    torch.testing.assert_close(terms["coarse"], coarse)
    torch.testing.assert_close(terms["fine"], fine)
    angle = 0.25 * math.pi / 2  # epoch 25 of 100, Eq. 13
    torch.testing.assert_close(loss, math.cos(angle) * coarse + math.sin(angle) * fine)


def test_means_are_the_sums_over_classes_and_nodes_divided_by_their_number(small: Hypergraph) -> None:
    sums, means = (
        at_work(small, DualLevel(sums=given))[0].loss(at_work(small, DualLevel())[2], None, 0)[1]
        for given in (True, False)
    )
    torch.testing.assert_close(sums["coarse"], 3 * means["coarse"])
    torch.testing.assert_close(sums["fine"], 6 * means["fine"])


@pytest.mark.parametrize("centered", [False, True])
def test_what_all_classes_share_is_seen_unless_it_is_taken_off(small: Hypergraph, centered: bool) -> None:
    goal = DualLevel(centered=centered)
    terms = []
    for shift in (0.0, 5.0):
        made, _, condensed = at_work(small, goal, shift=shift)
        terms.append(made.loss(condensed, None, 0)[1])
    for name in ("coarse", "fine"):
        same = torch.isclose(terms[0][name], terms[1][name], rtol=1e-3, atol=1e-4)
        assert bool(same) == centered


@pytest.mark.parametrize("unit_vectors", [False, True])
def test_the_fine_loss_compares_directions_or_inner_products(small: Hypergraph, unit_vectors: bool) -> None:
    goal = DualLevel(unit_vectors=unit_vectors, centered=False, temperature=1.0)
    terms = []
    for factor in (1.0, 7.0):
        made, _, condensed = at_work(small, goal)
        terms.append(made.loss(factor * condensed, None, 0)[1])
    torch.testing.assert_close(terms[0]["coarse"], terms[1]["coarse"])  # prototypes always are directions
    assert bool(torch.isclose(terms[0]["fine"], terms[1]["fine"])) == unit_vectors


def test_others_count_by_their_sum_or_their_mean(small: Hypergraph) -> None:
    """With three classes the similarity to others is halved by the mean."""
    found = {}
    for average in (False, True):
        made, _, condensed = at_work(small, DualLevel(average_others=average))
        found[average] = made.loss(condensed, None, 0)[1]["coarse"]
    seen = made.rows.without_centre(condensed)
    ours = F.normalize(F.one_hot(CLASSES, 3).float().T @ seen, dim=1)
    similarity = F.normalize(made.prototypes, dim=1) @ ours.T
    others = (similarity.sum() - similarity.trace()) / 3
    torch.testing.assert_close(found[False] - found[True], others / 2)


def test_a_relative_step_is_in_deviations_of_the_start_and_longer_where_turns_are_few(
    small: Hypergraph,
) -> None:
    goal = DualLevel(step=0.5, epochs=40)
    recipe = Recipe(goal=goal, structure=Anchors(feature_turns=1, structure_turns=3))
    made, _, condensed = at_work(small, goal, recipe=recipe)
    deviation = float(condensed.std(correction=0))
    assert made.steps(0) == (pytest.approx(4 * 0.5 * deviation), 0.0)  # one turn in four
    always, _, _ = at_work(small, goal)
    assert always.steps(39)[0] == pytest.approx(0.5 * deviation)
    absolute, _, _ = at_work(small, DualLevel(step=0.5, relative=False), recipe=recipe)
    assert absolute.steps(0) == (0.5, 0.0)


@pytest.mark.parametrize("name", ["ahgcdd", "ahgcdd-x"])
def test_features_move_and_the_loss_falls(name: str, small: Hypergraph) -> None:
    job = job_of(small, split(small), LABELS)
    start = quick(name, goal=None).run(job).hypergraph
    end = quick(name, goal__epochs=40, schedule="coarse-only").run(job)
    assert not np.allclose(start.features, end.hypergraph.features)
    assert end.history[-1]["loss"] < end.history[0]["loss"]


@pytest.mark.parametrize("term", ["coarse", "fine"])
def test_one_loss_alone_is_the_loss(term: str, small: Hypergraph) -> None:
    made = quick("ahgcdd-x", schedule=f"{term}-only").run(job_of(small, split(small), LABELS))
    assert [row["loss"] for row in made.history] == [row[term] for row in made.history]


def test_no_epochs_return_the_start(small: Hypergraph) -> None:
    job = job_of(small, split(small), LABELS)
    none, nothing = (quick("ahgcdd", **given).run(job) for given in ({"goal__epochs": 0}, {"goal": None}))
    assert none.hypergraph.digest == nothing.hypergraph.digest
    assert none.history == nothing.history == ()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"epochs": -1}, "epochs must be a whole number >= 0, got -1"),
        ({"step": 0.0}, "step must be a number > 0"),
        ({"negatives": -1}, "negatives must be a whole number >= 0"),
        ({"temperature": 0.0}, "temperature must be a number > 0"),
        ({"schedule": "quick"}, "schedule must be one of cosine, linear, .* got 'quick'"),
    ],
)
def test_fields_that_make_no_sense_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DualLevel(**fields)
