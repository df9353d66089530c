"""Rows of the source to be predicted: drawn as if those of all maps were stacked."""

import dataclasses

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from hypercondense.condensing.closed_form import ClosedForm
from hypercondense.condensing.maps import Map
from hypercondense.condensing.material import Material
from hypercondense.condensing.problem import Problem, rows_of, targets_of
from hypercondense.condensing.unrolled import Unrolled
from hypercondense.data import synthetic
from hypercondense.diffusion import Kernel, diffuse, heat_kernel, vanilla
from hypercondense.hypergraph import Hypergraph, Split
from hypercondense.nn.scoring import score_of


def problem_of(num_maps: int, num_rows: int, *, shares: bool) -> Problem:
    rng = torch.Generator().manual_seed(num_maps * 100 + num_rows)
    rows = tuple(torch.randn(num_rows, 3, generator=rng) for _ in range(num_maps))
    labels = torch.randint(4, (num_rows,), generator=rng)
    return Problem(
        rows=rows,
        labels=torch.rand(num_rows, 4, generator=rng) if shares else labels,
        validation=rows,
        validation_labels=labels,
        targets=torch.eye(4),
    )


@given(st.integers(1, 4), st.integers(1, 12), st.integers(1, 60), st.booleans(), st.integers(0, 99))
def test_a_batch_is_that_of_stacked_rows(
    num_maps: int, num_rows: int, size: int, shares: bool, seed: int
) -> None:
    problem = problem_of(num_maps, num_rows, shares=shares)
    rows, classes = problem.batch(size, torch.Generator().manual_seed(seed))
    stacked, labels = torch.cat(problem.rows), torch.cat([problem.labels] * num_maps)
    drawn = torch.randperm(len(stacked), generator=torch.Generator().manual_seed(seed))[:size].sort().values
    assert torch.equal(rows, stacked[drawn])
    assert torch.equal(classes, labels[drawn] if shares else F.one_hot(labels[drawn], 4).float())


def test_every_map_gives_rows_of_the_training_and_of_the_validation_nodes(
    source: Hypergraph, parts: Split
) -> None:
    maps = (Map(), Map(kernel="none"), Map(walks=True))
    problem = Problem.of(Material(source, parts), maps, np.array([0, 1, 2, 2]))
    for one, rows, validation in zip(maps, problem.rows, problem.validation, strict=True):
        expected = diffuse(source, one.polynomial, walks=one.walks)
        np.testing.assert_array_equal(rows, expected[parts.train_ids])
        np.testing.assert_array_equal(validation, expected[parts.validation_ids])
    assert problem.labels.tolist() == source.labels[parts.train_ids].tolist()
    assert problem.validation_labels.tolist() == source.labels[parts.validation_ids].tolist()
    assert problem.targets.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
    assert not torch.equal(problem.rows[0], problem.rows[2])


@pytest.mark.parametrize("coefficients", [vanilla(2), heat_kernel(2.0), (1.0,)])
def test_rows_of_a_candidate_are_those_of_its_own_diffusion(coefficients: Kernel) -> None:
    """Singleton hyperedges count as the self-loops that every node has."""
    made = synthetic(num_nodes=40, num_hyperedges=15, num_features=6, num_classes=2, seed=0)
    rows = rows_of(made, coefficients, like=torch.zeros(0))
    np.testing.assert_allclose(rows, diffuse(made, coefficients), rtol=1e-5, atol=1e-6)


def test_a_large_candidate_is_looked_at_without_a_dense_incidence() -> None:
    """A ring of 4,000 pairs, 16 million entries if it were dense; waves are eigenvectors of its P."""
    size = 4000
    nodes = np.arange(size)
    pairs = np.stack([nodes, (nodes + 1) % size])
    ring = Hypergraph(
        features=np.cos(2 * np.pi * nodes / size)[:, None],
        labels=nodes % 2,
        incidence=(pairs.T.ravel(), np.repeat(nodes, 2)),
        num_hyperedges=size,
    )
    # Every node: a loop and two pairs. P is a circulant with 1/3 (1 + 1/2 + 1/2) and twice 1/3 * 1/2.
    eigenvalue = 2 / 3 + 1 / 3 * np.cos(2 * np.pi / size)
    rows = rows_of(ring, vanilla(2), like=torch.zeros(0))
    np.testing.assert_allclose(rows, eigenvalue**2 * ring.dense_features(), atol=1e-5)


def test_targets_are_soft_labels_where_there_are_any() -> None:
    shares = np.array([[0.75, 0.25, 0.0], [0.0, 0.5, 0.5]], np.float32)
    for soft, expected in ((None, [[1, 0, 0], [0, 1, 0]]), (shares, shares.tolist())):
        graph = Hypergraph(
            features=np.eye(2),
            labels=[0, 1],
            incidence=([], []),
            num_hyperedges=0,
            soft_labels=soft,
            label_names=["a", "b", "c"],
        )
        assert targets_of(graph, num_classes=3, like=torch.zeros(0)).tolist() == expected


def test_other_metrics_score_the_rows_of_all_maps_too() -> None:
    problem = dataclasses.replace(problem_of(2, 10, shares=False), metric="macro-f1")
    truth = problem.validation_labels
    answers = iter([F.one_hot(truth, 4).float(), torch.full((10, 4), torch.nan)])
    told = torch.cat([truth, torch.full((10,), -1)])
    assert problem.score(lambda rows: next(answers)) == score_of(told, truth.repeat(2), "macro-f1") < 1


def test_accuracy_counts_the_rows_of_all_maps() -> None:
    problem = problem_of(2, 10, shares=False)
    truth = F.one_hot(problem.labels, 4).float()
    wrong = truth.roll(1, dims=1)
    answers = iter([truth, wrong])
    assert problem.score(lambda rows: next(answers)) == 0.5
    assert problem.score(lambda rows: truth) == 1.0
    assert np.isclose(problem.score(lambda rows: torch.cat([truth[:7], wrong[7:]])), 0.7)


@pytest.mark.parametrize("part", [ClosedForm(), Unrolled(hidden=16)], ids=["closed form", "network"])
def test_a_candidate_of_the_right_classes_scores_one_and_of_swapped_ones_zero(
    part: ClosedForm | Unrolled,
) -> None:
    centres = 5 * torch.eye(2, 4)
    rows = centres.repeat(6, 1) + 0.1 * torch.randn(12, 4, generator=torch.Generator().manual_seed(0))
    for truth, expected in ((torch.tensor([0, 1]), 1.0), (torch.tensor([1, 0]), 0.0)):
        problem = Problem(
            rows=(rows, rows),
            labels=truth.repeat(6),
            validation=(rows, 1.1 * rows),
            validation_labels=truth.repeat(6),
            targets=torch.eye(2),
        )
        assert part.score(problem, centres, torch.eye(2)) == expected
