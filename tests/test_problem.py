"""Rows of the source to be predicted: drawn as if those of all maps were stacked."""

import numpy as np
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from hypercondense.methods.problem import Map, Problem


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


def test_accuracy_counts_the_rows_of_all_maps() -> None:
    problem = problem_of(2, 10, shares=False)
    truth = F.one_hot(problem.labels, 4).float()
    wrong = truth.roll(1, dims=1)
    answers = iter([truth, wrong])
    assert problem.accuracy(lambda rows: next(answers)) == 0.5
    assert problem.accuracy(lambda rows: truth) == 1.0
    assert np.isclose(problem.accuracy(lambda rows: torch.cat([truth[:7], wrong[7:]])), 0.7)
