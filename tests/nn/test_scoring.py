"""Scores by a metric, and what nodes contribute to them."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from hypercondense.errors import ConfigError
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.nn.scoring import check_metric, contributions, score_of
from hypercondense.nn.training import Configuration, Inputs, told_classes, train

PAIRS = st.lists(st.tuples(st.integers(-1, 5), st.integers(0, 4)), min_size=1, max_size=60)


@given(PAIRS)
def test_macro_f1_is_that_of_scikit_learn_over_the_classes_there_are(pairs: list[tuple[int, int]]) -> None:
    told, labels = (np.array(some) for some in zip(*pairs, strict=True))
    expected = f1_score(labels, told, average="macro", labels=np.unique(labels), zero_division=0)
    assert score_of(torch.tensor(told), torch.tensor(labels), "macro-f1") == pytest.approx(expected)
    assert score_of(torch.tensor(told), torch.tensor(labels)) == np.mean(told == labels)


@given(PAIRS, st.sampled_from(["accuracy", "macro-f1"]))
def test_contributions_have_the_score_as_their_mean(pairs: list[tuple[int, int]], metric: str) -> None:
    told, labels = (torch.tensor(some) for some in zip(*pairs, strict=True))
    mean = float(contributions(told, labels, metric).mean())  # type: ignore[arg-type]
    assert mean == pytest.approx(score_of(told, labels, metric))  # type: ignore[arg-type]


def test_the_error_of_macro_f1_is_that_of_drawing_nodes_again() -> None:
    chance = torch.Generator().manual_seed(0)
    labels = torch.multinomial(torch.tensor([0.6, 0.3, 0.1]), 1500, replacement=True, generator=chance)
    wrong = torch.rand(len(labels), generator=chance) < 0.3
    told = torch.where(wrong, torch.randint(3, labels.shape, generator=chance), labels)
    again = (torch.randint(len(labels), labels.shape, generator=chance) for _ in range(400))
    spread = float(torch.tensor([score_of(told[ids], labels[ids], "macro-f1") for ids in again]).std())
    error = float(contributions(told, labels, "macro-f1").std()) / len(labels) ** 0.5
    assert error == pytest.approx(spread, rel=0.12)


def test_an_unknown_metric_is_named() -> None:
    with pytest.raises(ConfigError, match="metric must be one of accuracy, macro-f1, got 'f2'"):
        check_metric("f2")


def test_a_training_keeps_the_epoch_with_the_best_score_of_the_metric(
    source: Hypergraph, parts: Split
) -> None:
    inputs = Inputs.of(source)
    how = Configuration(model="mlp", epochs=12)
    ids = torch.as_tensor(parts.validation_ids.copy())
    for metric in ("accuracy", "macro-f1"):
        kept = train(how, inputs, inputs, parts, seed=0, validate_every=1, metric=metric)  # type: ignore[arg-type]
        with torch.no_grad():
            told = told_classes(kept.model(inputs.features, inputs.structure))[ids]
        assert kept.validation == score_of(told, inputs.labels[ids], metric)  # type: ignore[arg-type]
        shorter = [
            train(
                Configuration(model="mlp", epochs=epochs, options=how.options),
                inputs,
                inputs,
                parts,
                seed=0,
                validate_every=100,  # the last epoch alone
                metric=metric,  # type: ignore[arg-type]
            ).validation
            for epochs in (3, 6, 12)
        ]
        assert kept.validation >= max(shorter)
