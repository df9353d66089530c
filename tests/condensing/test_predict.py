"""The goal of predicting source rows: its two parts, what classes condensed nodes have, and who judges."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from hypercondense.condensing.assembly import induced
from hypercondense.condensing.closed_form import ClosedForm
from hypercondense.condensing.job import Made
from hypercondense.condensing.leaves import Leaves
from hypercondense.condensing.maps import Map
from hypercondense.condensing.material import Material
from hypercondense.condensing.predict import Learnt, Predict, Prediction, first_scores
from hypercondense.condensing.problem import Problem
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.unrolled import Unrolled
from hypercondense.diffusion import diffuse
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.runtime.rng import Stream, generator
from makers.jobs import Interrupted, interrupt_after, job_of, kept_in, quick, relabelled

BOTH = pytest.mark.parametrize("name", ["ridge", "unrolled"])
TRAINING = Unrolled(epochs=6, window=3, horizon=6, hidden=6)


def normal(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def prediction(goal: Predict, *, scale: float = 1.0) -> Prediction:
    """The goal at work on nine rows of three classes and five condensed ones."""
    labels = torch.arange(9) % 3
    targets = F.one_hot(torch.arange(5) % 3, 3).double()
    problem = Problem((normal(1, 9, 4),), labels, (normal(2, 3, 4),), labels[:3], targets)
    return Prediction(goal, problem, Map(kernel="none"), chance=generator(0, Stream.BATCHES), scale=scale)


@pytest.fixture
def float64() -> Any:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


# --- Two parts, one after the other ---


def test_the_step_falls_to_nothing_in_either_part() -> None:
    goal = Predict(closed_form=ClosedForm(epochs=4, step=0.2), training=TRAINING)
    steps = [prediction(goal, scale=3.0).steps(epoch) for epoch in range(goal.epochs)]
    assert [round(step / 3, 6) for step, _ in steps[:4]] == [0.2, 0.170711, 0.1, 0.029289]
    second = [step / 3 for step, _ in steps[4:]]
    assert second[0] == pytest.approx(TRAINING.step) and second == sorted(second, reverse=True)
    assert second[-1] < 0.1 * TRAINING.step
    assert all(of_labels == 0 for _, of_labels in steps)


def test_scores_of_classes_have_steps_of_their_own_which_no_features_scale() -> None:
    goal = Predict(closed_form=ClosedForm(epochs=4, step=0.2), labels=Learnt(step=5.0))
    assert [round(step, 6) for _, step in map(prediction(goal, scale=3.0).steps, (0, 2))] == [1.0, 0.5]


@pytest.mark.usefixtures("float64")
def test_the_closed_form_comes_first_and_then_the_networks() -> None:
    closed = ClosedForm(epochs=2)
    losses: dict[str, list[float]] = {}
    goals = {
        "closed": Predict(closed_form=closed),
        "trained": Predict(closed_form=None, training=TRAINING),
        "both": Predict(closed_form=closed, training=TRAINING),
    }
    for name, goal in goals.items():
        objective = prediction(goal)
        losses[name] = []
        for epoch in range(goal.epochs):
            loss, terms = objective.loss(normal(0, 5, 4), None, epoch)
            losses[name].append(float(loss))
            assert terms == {"error": loss}
    assert [len(found) for found in losses.values()] == [2, 6, 8]
    assert losses["both"][:2] == losses["closed"]
    assert losses["both"][2] not in losses["closed"]


@pytest.mark.parametrize("structure", [None, "default"])
def test_each_part_alone_and_both_run(structure: str | None, source: Hypergraph, parts: Split) -> None:
    changes = ({"goal__training": None}, {"goal__closed_form": None}, {})
    made = [quick("unrolled", structure=structure, **some).run(job_of(source, parts)) for some in changes]
    assert [len(one.history) for one in made] == [3, 5, 8]
    assert made[2].history[:3] == made[0].history
    assert len({one.hypergraph.digest for one in made}) == 3
    sizes = [one.hypergraph.num_incidences / one.hypergraph.num_hyperedges for one in made]
    if structure is None:
        assert sizes == [1, 1, 1]
    else:
        assert min(sizes) >= 2
        assert all(one.history[-1]["live_thresholds"] > 0 for one in made)


@BOTH
@pytest.mark.parametrize("structure", [None, "default"])
def test_rows_of_other_maps_are_predicted_besides(
    name: str, structure: str | None, source: Hypergraph, parts: Split
) -> None:
    raw, half, walks = {"kernel": "none"}, {"time": 1}, {"walks": True}
    several: list[Any] = [[], [raw], [half], [walks], [raw, half]] if structure is None else [[], [raw, half]]
    made = [
        quick(name, structure=structure, goal__also=also).run(job_of(source, parts)).hypergraph
        for also in several
    ]
    assert all(np.isfinite(graph.dense_features()).all() for graph in made)
    assert len({graph.digest for graph in made}) == len(several)


def test_features_begin_as_rows_of_the_recipes_own_map(source: Hypergraph, parts: Split) -> None:
    recipe = quick("ridge", goal__also=[{"kernel": "none"}], map__time=3, looks=1)
    best_first = job_of(source, parts, judge=lambda graph: 0.0)
    rows = diffuse(source, Map(time=3.0).polynomial)
    start = Recipe(map=recipe.map, start=recipe.start, goal=None).run(best_first)
    for feature, ids in zip(start.hypergraph.features, start.members, strict=True):
        np.testing.assert_allclose(feature, rows[ids].mean(0), rtol=1e-5, atol=1e-5)


def test_a_goal_without_any_part_is_refused() -> None:
    with pytest.raises(ValueError, match="must not both be none; a goal of none keeps the start"):
        Predict(closed_form=None, training=None)


# --- Who judges ---


@pytest.fixture(scope="module")
def candidate(source: Hypergraph, parts: Split) -> Hypergraph:
    return induced(source, parts.train_ids[:40])


def judge_of(name: str, source: Hypergraph, parts: Split, **settings: Any) -> Any:
    made = quick(name, **settings).run(job_of(source, parts, select=True))
    assert made.judge is not None
    return made.judge


@pytest.mark.parametrize(
    ("goal", "part"),
    [
        (Predict(closed_form=ClosedForm(epochs=1)), ClosedForm()),
        (Predict(closed_form=ClosedForm(epochs=1), training=TRAINING), TRAINING),
        (Predict(closed_form=None, training=TRAINING), TRAINING),
    ],
    ids=["closed form", "both", "training"],
)
def test_the_model_of_the_last_part_judges(
    goal: Predict, part: Any, source: Hypergraph, parts: Split, candidate: Hypergraph
) -> None:
    made = Recipe(goal=goal, looks=1).run(job_of(source, parts, select=True))
    assert made.judge is not None
    problem = Problem.of(Material(source, parts), (Map(),), candidate.labels)
    rows = torch.tensor(diffuse(candidate, Map().polynomial))
    expected = part.score(problem, rows, F.one_hot(torch.tensor(candidate.labels), 3).float())
    assert made.judge(candidate) == pytest.approx(expected, abs=1.5 / len(parts.validation_ids))


@BOTH
@pytest.mark.parametrize("structure", [None, "default"])
def test_the_score_of_a_result_is_what_its_judge_says_of_it(
    name: str, structure: str | None, source: Hypergraph, parts: Split
) -> None:
    recipe = quick(name, structure=structure, goal__labels="learnt")
    made = recipe.run(job_of(source, parts, select=True))
    assert made.judge is not None and made.final_validation is not None
    assert made.judge(made.hypergraph) == pytest.approx(
        made.final_validation, abs=1.5 / len(parts.validation_ids)
    )


@BOTH
def test_the_judge_uses_shares_of_classes_rather_than_classes(
    name: str, source: Hypergraph, parts: Split, candidate: Hypergraph
) -> None:
    judge, shares = judge_of(name, source, parts), np.eye(3)[candidate.labels]
    soft, misled = (
        Hypergraph(
            features=candidate.features,
            labels=candidate.labels,
            incidence=candidate.incidence,
            num_hyperedges=candidate.num_hyperedges,
            soft_labels=given,
        )
        for given in (shares, np.roll(shares, 1, axis=1))
    )
    assert judge(soft) == pytest.approx(judge(candidate), abs=0.03)
    assert judge(misled) < judge(candidate) - 0.3


@BOTH
def test_without_selection_nobody_judges_and_no_validation_label_is_read(
    name: str, source: Hypergraph, parts: Split
) -> None:
    other = relabelled(source, parts.validation_ids, 0)
    plain, blind = (quick(name).run(job_of(graph, parts)) for graph in (source, other))
    assert plain.judge is plain.start_validation is plain.final_validation is None
    assert plain.hypergraph.features.tolist() == blind.hypergraph.features.tolist()


def test_a_choice_by_the_network_never_returns_less_than_the_start(source: Hypergraph, parts: Split) -> None:
    too_far = quick("unrolled", goal__training__step=5.0)  # most states are bad
    made = too_far.run(job_of(source, parts, select=True))
    assert made.start_validation is not None and made.final_validation is not None
    assert made.final_validation >= made.start_validation


# --- Classes of condensed nodes: plain, smoothed or learnt ---


def test_scores_begin_near_the_classes() -> None:
    for num_classes, own in ((1, 0.9), (2, 0.9), (7, 0.9), (7, 0.6)):
        shares = first_scores(torch.eye(num_classes), own).softmax(1)
        expected = torch.full((num_classes,), own if num_classes > 1 else 1.0)
        torch.testing.assert_close(shares.diagonal(), expected)
        torch.testing.assert_close(shares.sum(1), torch.ones(num_classes))


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize(
    "goal",
    [
        Predict(labels=Learnt()),
        Predict(closed_form=None, training=TRAINING, labels=Learnt()),
        Predict(closed_form=None, training=TRAINING, labels=Learnt(), batch=4),
    ],
    ids=["closed form", "three steps of training", "a small batch"],
)
def test_gradients_for_scores_of_classes_are_those_of_finite_differences(goal: Predict) -> None:
    def loss(scores: torch.Tensor) -> torch.Tensor:
        return prediction(goal).loss(normal(0, 5, 4), scores.softmax(1), 0)[0]

    scores = (first_scores(prediction(goal).problem.targets, 0.9) + normal(3, 5, 3)).requires_grad_()
    assert torch.autograd.gradcheck(loss, (scores,))
    assert torch.autograd.grad(loss(scores), scores)[0].abs().max() > 1e-6


def test_one_step_moves_features_and_scores_by_their_own_steps() -> None:
    leaves = Leaves(torch.zeros(2, 3), label_scores=torch.zeros(2, 4), learns_labels=True)
    assert leaves.label_scores is not None
    loss = leaves.features.sum() + leaves.label_scores.sum()
    leaves.step(loss, features=True, feature_step=0.25, label_step=0.5)
    torch.testing.assert_close(leaves.features.detach(), torch.full((2, 3), -0.25))
    torch.testing.assert_close(leaves.label_scores.detach(), torch.full((2, 4), -0.5))


@BOTH
def test_plain_classes_are_those_allotted_and_nothing_else(
    name: str, source: Hypergraph, parts: Split
) -> None:
    job = job_of(source, parts)
    made = quick(name).run(job).hypergraph
    assert made.soft_labels is None
    assert made.labels.tolist() == job.labels.tolist()


@BOTH
def test_smoothed_classes_have_nine_tenths_and_stay_so(name: str, source: Hypergraph, parts: Split) -> None:
    for changes, own in (({}, 0.9), ({"goal__labels__own": 0.8}, 0.8)):
        made = quick(name, goal__labels="smoothed", **changes).run(job_of(source, parts)).hypergraph
        expected = np.full((9, 3), (1 - own) / 2)
        expected[np.arange(9), made.labels] = own
        assert made.soft_labels is not None
        np.testing.assert_allclose(made.soft_labels, expected, rtol=1e-6)


@BOTH
@pytest.mark.parametrize("structure", [None, "default"])
def test_learnt_classes_move_beside_the_allotted_ones(
    name: str, structure: str | None, source: Hypergraph, parts: Split
) -> None:
    recipe = quick(name, structure=structure, goal__labels="learnt", goal__labels__step=30.0)
    job = job_of(source, parts)
    made = recipe.run(job).hypergraph
    assert made.labels.tolist() == job.labels.tolist()
    assert made.soft_labels is not None
    assert (made.soft_labels.argmax(1) != made.labels).any()  # with so long a step
    plain = quick(name, structure=structure).run(job).hypergraph
    assert not np.array_equal(made.dense_features(), plain.dense_features())


def test_the_error_falls_further_where_classes_are_learnt(source: Hypergraph, parts: Split) -> None:
    """Shares are more to fit with: on all rows at once the closed form gets better with them."""
    soft, hard = (
        quick("ridge", goal__closed_form__epochs=60, goal__labels=labels).run(job_of(source, parts)).history
        for labels in ("learnt", "plain")
    )
    assert soft[-1]["error"] < hard[-1]["error"]


@BOTH
def test_the_start_has_plain_classes_whatever_follows(name: str, source: Hypergraph, parts: Split) -> None:
    """A start that nothing is better than is the start of a recipe without a goal."""
    hopeless = {f"goal__{part}__step": 1e3 for part in ("closed_form", "training")}
    if name == "ridge":
        del hopeless["goal__training__step"]
    made = quick(name, goal__labels="learnt", **hopeless).run(job_of(source, parts, select=True))
    start = quick(name, goal=None).run(job_of(source, parts))
    assert made.final_validation == made.start_validation
    assert made.hypergraph.soft_labels is None
    assert made.hypergraph.digest == start.hypergraph.digest


@BOTH
@pytest.mark.parametrize(("labels", "select", "stop_at"), [("learnt", False, 4), ("learnt", True, 6)])
def test_an_interrupted_run_with_soft_classes_continues_to_the_same_bits(
    name: str, labels: str, select: bool, stop_at: int, source: Hypergraph, parts: Split, tmp_path: Path
) -> None:
    recipe = quick(name, goal__labels=labels, structure=None if select else "default")

    def run(**how: Any) -> Made:
        return recipe.run(job_of(source, parts, select=select, **how))

    whole = run()
    with pytest.raises(Interrupted):
        run(checkpoint=kept_in(tmp_path), progress=interrupt_after(stop_at))
    made = run(checkpoint=kept_in(tmp_path, resume=True))
    assert made.hypergraph.digest == whole.hypergraph.digest
    assert made.history == whole.history
    assert made.final_validation == whole.final_validation


@pytest.mark.parametrize("step", [0.0, -1.0])
def test_a_step_of_classes_that_goes_nowhere_or_backwards_is_refused(step: float) -> None:
    with pytest.raises(ValueError, match="step must be a number > 0"):
        Learnt(step=step)
