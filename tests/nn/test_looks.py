"""Looks at a sample of many validation nodes, and at all of them for the best few epochs."""

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from hypercondense.data import synthetic
from hypercondense.hypergraph import Hypergraph, Split, split
from hypercondense.nn.looks import Looks, Sampling, stratified
from hypercondense.nn.scoring import score_of
from hypercondense.nn.training import Configuration, Inputs, Trained, told_classes, train


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.data())
def test_a_sample_has_of_every_class_its_share_and_nobody_twice(
    labels: list[int], data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, len(labels)))
    positions = stratified(np.array(labels), size)
    assert len(np.unique(positions)) == size and (np.diff(positions) > 0).all()
    counts, all_counts = (np.bincount(some, minlength=4) for some in (np.array(labels)[positions], labels))
    assert (np.abs(counts - all_counts * size / len(labels)) <= 1).all()


@pytest.fixture(scope="module")
def many() -> tuple[Hypergraph, Split]:
    source = synthetic(num_nodes=400, num_hyperedges=300, num_classes=3, seed=0)
    return source, split(source, seed=0)


FEW = Sampling(nodes=20)


def trained(many: tuple[Hypergraph, Split], inputs: Inputs, **changes: Any) -> Trained:
    source, parts = many
    small = Inputs.of(synthetic(num_nodes=30, num_hyperedges=20, num_classes=3, seed=1))
    assert small.num_features == source.num_features
    how = Configuration(model=changes.pop("model", "hgnn"), epochs=40, options={"hidden": 8})
    return train(how, small, inputs, parts, seed=0, validate_every=2, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("metric", ["accuracy", "macro-f1"])
@pytest.mark.parametrize("model", ["hgnn", "mlp", "hcha", "edhnn"])
def test_a_sample_chooses_what_all_nodes_choose_if_all_epochs_are_in_the_final(
    many: tuple[Hypergraph, Split], model: str, metric: str
) -> None:
    inputs = Inputs.of(many[0])
    expected = trained(many, inputs, model=model, metric=metric)
    every = replace(FEW, due=1, kept=0)  # nothing may wait: every look is made at once
    found = trained(many, inputs, model=model, metric=metric, sampling=every)
    assert (found.epoch, found.validation, found.loss) == (expected.epoch, expected.validation, expected.loss)
    torch.testing.assert_close(found.model.state_dict(), expected.model.state_dict(), rtol=0, atol=0)


def test_the_score_that_is_told_is_that_of_all_validation_nodes(
    many: tuple[Hypergraph, Split],
) -> None:
    inputs, ids = Inputs.of(many[0]), torch.as_tensor(many[1].validation_ids.copy())
    found = trained(many, inputs, sampling=FEW)
    with torch.no_grad():
        told = told_classes(found.model(inputs.features, inputs.structure)[ids])
    assert found.validation == score_of(told, inputs.labels[ids])


def test_looks_are_at_the_sample_and_finals_at_all(
    many: tuple[Hypergraph, Split], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    real = Looks._at

    def noting(self: Looks, model: torch.nn.Module, ids: torch.Tensor, reach: int | None) -> object:
        asked.append(len(ids))
        return real(self, model, ids, reach)  # type: ignore[arg-type]

    monkeypatch.setattr(Looks, "_at", noting)
    inputs = Inputs.of(many[0])
    trained(many, inputs, sampling=FEW)
    assert asked[-3:] == [20, *[len(many[1].validation_ids)] * 2]  # a sixteenth of what is due, rounded up
    assert set(asked[:-2]) == {20} and 5 <= len(asked[:-2]) < 20
    cut_outs = dict(inputs._cut_outs)
    trained(many, inputs, sampling=FEW)
    assert inputs._cut_outs == cut_outs  # made once, for all trainings


@pytest.mark.parametrize(("epochs", "sampled"), [(5, False), (6, True)])
def test_one_look_is_at_all_nodes(many: tuple[Hypergraph, Split], epochs: int, sampled: bool) -> None:
    look = Looks(Inputs.of(many[0]), many[1], every=5, epochs=epochs, metric="accuracy", sampling=FEW)
    assert look.sampled == sampled and len(look.ids) == (20 if sampled else len(many[1].validation_ids))


def test_what_was_looked_at_can_be_sent_to_another_process(
    many: tuple[Hypergraph, Split],
) -> None:
    inputs = Inputs.of(many[0])
    expected = trained(many, inputs, sampling=FEW)
    found = trained(many, pickle.loads(pickle.dumps(inputs)), sampling=FEW)
    assert (found.epoch, found.validation, found.loss) == (expected.epoch, expected.validation, expected.loss)
