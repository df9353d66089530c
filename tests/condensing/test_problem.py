"""Rows of the source to be predicted: drawn as if those of all maps were stacked."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from hypercondense.condensing import Ridge, Unrolled
from hypercondense.condensing import problem as problems
from hypercondense.condensing.problem import Map, Problem, view_of
from hypercondense.data import synthetic
from hypercondense.diffusion import heat_kernel, vanilla
from hypercondense.hypergraph import Hypergraph


def problem_of(num_maps: int, num_rows: int, *, shares: bool) -> Problem:
    rng = torch.Generator().manual_seed(num_maps * 100 + num_rows)
    train = tuple(torch.randn(num_rows, 3, generator=rng) for _ in range(num_maps))
    labels = torch.randint(4, (num_rows,), generator=rng)
    return Problem(
        maps=(Map((1.0,)),) * num_maps,
        start_rows=train[0].numpy(),
        train=train,
        labels=torch.rand(num_rows, 4, generator=rng) if shares else labels,
        validation=train,
        validation_labels=labels,
        targets=torch.eye(4),
    )


@given(st.integers(1, 4), st.integers(1, 12), st.integers(1, 60), st.booleans(), st.integers(0, 99))
def test_a_batch_is_that_of_stacked_rows(
    num_maps: int, num_rows: int, size: int, shares: bool, seed: int
) -> None:
    problem = problem_of(num_maps, num_rows, shares=shares)
    rows, classes = problem.batch(size, torch.Generator().manual_seed(seed))
    stacked, labels = torch.cat(problem.train), torch.cat([problem.labels] * num_maps)
    drawn = torch.randperm(len(stacked), generator=torch.Generator().manual_seed(seed))[:size].sort().values
    assert torch.equal(rows, stacked[drawn])
    assert torch.equal(classes, labels[drawn] if shares else F.one_hot(labels[drawn], 4).float())


@pytest.mark.parametrize("coefficients", [vanilla(2), heat_kernel(2.0), (1.0,)])
def test_a_large_candidate_is_looked_at_without_a_dense_incidence(
    monkeypatch: pytest.MonkeyPatch, coefficients: tuple[float, ...]
) -> None:
    candidate: Hypergraph = synthetic(num_nodes=40, num_hyperedges=15, num_features=6, num_classes=2, seed=0)
    dense = view_of(candidate, coefficients, like=torch.zeros(0))
    monkeypatch.setattr(problems, "_DENSE_ENTRIES", 0)
    monkeypatch.setattr(problems, "diffuse_dense", None)
    torch.testing.assert_close(view_of(candidate, coefficients, like=torch.zeros(0)), dense)


def test_accuracy_counts_the_rows_of_all_maps() -> None:
    problem = problem_of(2, 10, shares=False)
    truth = F.one_hot(problem.labels, 4).float()
    wrong = truth.roll(1, dims=1)
    answers = iter([truth, wrong])
    assert problem.accuracy(lambda rows: next(answers)) == 0.5
    assert problem.accuracy(lambda rows: truth) == 1.0
    assert np.isclose(problem.accuracy(lambda rows: torch.cat([truth[:7], wrong[7:]])), 0.7)


@pytest.mark.parametrize("method", [Ridge(), Unrolled(hidden=16)], ids=["closed form", "network"])
def test_a_candidate_of_the_right_classes_scores_one_and_of_swapped_ones_zero(method: Ridge) -> None:
    centres = 5 * torch.eye(2, 4)
    rows = centres.repeat(6, 1) + 0.1 * torch.randn(12, 4, generator=torch.Generator().manual_seed(0))
    for truth, expected in ((torch.tensor([0, 1]), 1.0), (torch.tensor([1, 0]), 0.0)):
        problem = Problem(
            maps=(Map((1.0,)),) * 2,
            start_rows=rows.numpy(),
            train=(rows, rows),
            labels=truth.repeat(6),
            validation=(rows, 1.1 * rows),
            validation_labels=truth.repeat(6),
            targets=torch.eye(2),
        )
        candidate = Hypergraph(
            features=centres.numpy(), labels=[0, 1], incidence=([0, 1], [0, 1]), num_hyperedges=2
        )
        assert method.accuracy(problem, candidate) == expected
