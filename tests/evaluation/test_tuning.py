"""Ranking configurations on condensed and on whole data."""

import pytest

from hypercondense.catalogue import condense
from hypercondense.data import synthetic
from hypercondense.evaluation.tuning import configurations, rank
from hypercondense.hypergraph import split, split_from_ids
from hypercondense.nn import MODELS
from hypercondense.nn.short_trainings import ShortTrainings
from hypercondense.nn.training import Configuration, Inputs, train

CONFIGURATIONS = [
    Configuration(model="hgnn", options={"hidden": 16}, learning_rate=step, epochs=15)
    for step in (1e-6, 0.003, 0.03)
]


@pytest.fixture(scope="module")
def case():
    source = synthetic(num_nodes=300, num_hyperedges=200, num_features=12, num_classes=3, noise=0.5, seed=1)
    parts = split(source)
    return (
        condense(source, parts, nodes=12, method="ahgcdd-x", settings={"goal.epochs": 3}).hypergraph,
        source,
        parts,
    )


def test_a_step_that_learns_nothing_comes_last_on_condensed_and_whole(case) -> None:
    ranking = rank(CONFIGURATIONS, *case, runs=2, whole=True)
    assert ranking.trials[-1].configuration.learning_rate == 1e-6
    scores = [trial.validation for trial in ranking.trials]
    assert scores == sorted(scores, reverse=True)
    whole = [trial.whole_validation for trial in ranking.trials]
    assert whole[-1] == min(whole)
    best = max(ranking.trials, key=lambda trial: trial.whole_validation)
    assert ranking.regret == pytest.approx(best.whole_test - ranking.trials[0].whole_test)
    assert ranking.tau is None or -1 <= ranking.tau <= 1
    assert ranking.whole_seconds > 0


def test_without_the_whole_nothing_is_said_about_it(case) -> None:
    ranking = rank(CONFIGURATIONS, *case, runs=1)
    assert ranking.tau is ranking.regret is ranking.whole_seconds is ranking.trials[0].whole_test is None


def test_the_default_grid_has_at_least_a_dozen_different_configurations() -> None:
    grid = configurations()
    assert len({(r.model, tuple(r.options.items()), r.learning_rate) for r in grid}) == len(grid) >= 12


def test_one_configuration_or_no_validation_nodes_cannot_be_ranked(case) -> None:
    condensed, source, parts = case
    with pytest.raises(ValueError, match="at least two configurations, got 1"):
        rank(CONFIGURATIONS[:1], condensed, source, parts)
    none = split_from_ids(source, train_ids=parts.train_ids, validation_ids=[], test_ids=parts.test_ids)
    with pytest.raises(ValueError, match="no validation nodes"):
        rank(CONFIGURATIONS, condensed, source, none)
    with pytest.raises(ValueError, match="no validation nodes"):
        ShortTrainings(Inputs.of(source), none)


def test_repeats_are_averaged(case) -> None:
    condensed, source, parts = case
    alone = [ShortTrainings(Inputs.of(source), parts, epochs=6, seed=seed)(condensed) for seed in (3, 4)]
    both = ShortTrainings(Inputs.of(source), parts, epochs=6, repeats=2, seed=3)
    assert both(condensed) == pytest.approx(sum(alone) / 2)


@pytest.mark.parametrize("model", ["edhnn", "unigcnii"])
def test_the_scorer_looks_at_the_first_form_only(case, model) -> None:
    condensed, source, parts = case
    looks = ShortTrainings(Inputs.of(source), parts, models=[model], epochs=8, looks=2)
    (score,) = looks.each(condensed)
    first = Configuration(model=model, options=MODELS[model].forms[0].options, epochs=8)
    trained = train(first, Inputs.of(condensed), Inputs.of(source), parts, seed=0, validate_every=4)
    assert score == trained.validation


def test_the_scorer_repeats_and_prefers_good_candidates(case) -> None:
    condensed, source, parts = case
    score = ShortTrainings(Inputs.of(source), parts, epochs=20)
    shuffled = condense(source, parts, nodes=12, method="random").hypergraph
    assert score(condensed) == score(condensed) > 1 / 3
    assert 0 <= score(shuffled) <= 1
