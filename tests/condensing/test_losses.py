"""The two losses against closed forms, and the paper's theory about them, in float64."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from hypercondense.condensing.losses import PairSampler, class_prototypes, coarse_loss, fine_loss, fine_losses

SEEDS = st.integers(0, 10_000)


def normal(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_prototypes_are_sums_over_classes() -> None:
    features = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert class_prototypes(features, torch.tensor([0, 2, 0]), 3).tolist() == [[6, 8], [0, 0], [3, 4]]


def test_coarse_loss_is_zero_for_matched_orthogonal_prototypes() -> None:
    assert coarse_loss(torch.eye(4), 3 * torch.eye(4)) == 0


def test_coarse_loss_counts_every_wrong_pair() -> None:
    same = torch.ones(3, 2)  # all prototypes point the same way: 0 for matching, 1 for each of 6 other pairs
    torch.testing.assert_close(coarse_loss(same, same), torch.tensor(6 / 3))


def test_coarse_loss_ignores_a_class_without_nodes_up_to_a_constant() -> None:
    prototypes = torch.eye(3)
    condensed = torch.eye(3, requires_grad=True)
    coarse_loss(prototypes, condensed * torch.tensor([[1.0], [1.0], [0.0]])).backward()
    assert condensed.grad is not None and condensed.grad.isfinite().all()


def test_fine_loss_of_zero_features_is_the_log_of_the_number_of_choices() -> None:
    n, negatives = 5, 7
    loss = fine_loss(torch.zeros(n, 3), torch.ones(n, 3), torch.ones(n, negatives, 3))
    assert float(loss) == pytest.approx(math.log(1 + negatives))


def test_fine_loss_is_the_cross_entropy_of_the_similarities() -> None:
    x, positives, negatives = normal(0, 4, 3), normal(1, 4, 3), normal(2, 4, 6, 3)
    scores = torch.stack([torch.cat([x[i] @ positives[i][:, None], negatives[i] @ x[i]]) for i in range(4)])
    expected = F.cross_entropy(scores / 0.5, torch.zeros(4, dtype=torch.int64))
    torch.testing.assert_close(fine_loss(x, positives, negatives, temperature=0.5), expected)


def test_fine_loss_survives_huge_similarities() -> None:
    x = torch.full((2, 3), 1e3)
    assert fine_loss(x, -x, x[:, None, :].repeat(1, 4, 1)).isfinite()


def test_fine_loss_without_negatives_is_zero() -> None:
    assert fine_loss(torch.ones(2, 3), torch.ones(2, 3), torch.empty(2, 0, 3)) == 0


def test_both_losses_have_the_gradients_of_finite_differences() -> None:
    x = normal(0, 4, 3).requires_grad_()
    source, positives, negatives = normal(1, 2, 3), normal(2, 4, 3), normal(3, 4, 5, 3)
    labels = torch.tensor([0, 0, 1, 1])
    assert torch.autograd.gradcheck(lambda x: coarse_loss(source, class_prototypes(x, labels, 2)), (x,))
    assert torch.autograd.gradcheck(lambda x: fine_loss(x, positives, negatives, temperature=0.3), (x,))


# --- Theorem 3.3: with unit features, matching prototypes is matching joint distributions (MMD) ---


@given(SEEDS, st.integers(2, 5))
def test_mmd_of_the_joint_distributions_is_the_weighted_distance_of_class_means(
    seed: int, classes: int
) -> None:
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(classes), rng.integers(1, 6, classes))
    source, condensed = (F.normalize(normal(seed + k, len(labels), 4), dim=1) for k in (1, 2))

    def embed(features: torch.Tensor) -> torch.Tensor:  # mean of e_y (x) x
        phi = torch.stack(
            [
                torch.kron(torch.eye(classes, dtype=torch.float64)[y], x)
                for x, y in zip(features, labels, strict=True)
            ]
        )
        return phi.mean(0)

    mmd = ((embed(source) - embed(condensed)) ** 2).sum()
    share = torch.from_numpy(np.bincount(labels) / len(labels))
    by_class = torch.from_numpy(labels)
    means = [
        class_prototypes(x, by_class, classes) / torch.from_numpy(np.bincount(labels))[:, None]
        for x in (source, condensed)
    ]
    torch.testing.assert_close(mmd, (share**2 * ((means[0] - means[1]) ** 2).sum(1)).sum())


@given(SEEDS)
def test_alignment_is_half_the_squared_distance_of_unit_prototypes(seed: int) -> None:
    a, b = normal(seed, 3, 4), normal(seed + 1, 3, 4)
    unit_a, unit_b = F.normalize(a, dim=1), F.normalize(b, dim=1)
    alignment = (1 - (unit_a * unit_b).sum(1)).sum()
    torch.testing.assert_close(alignment, ((unit_a - unit_b) ** 2).sum() / 2)
    others = (unit_a @ unit_b.T).sum() - (unit_a * unit_b).sum()
    torch.testing.assert_close(coarse_loss(a, b), (alignment + others) / 3)


# --- Proposition 3.5: a bound on cross-class similarity is a bound on the average margin ---


@given(SEEDS, st.integers(2, 8))
def test_average_margin_is_at_least_alignment_minus_cross_similarity(seed: int, classes: int) -> None:
    similarity = (
        F.normalize(normal(seed, classes, 3), dim=1) @ F.normalize(normal(seed + 1, classes, 3), dim=1).T
    )
    matching = similarity.diagonal()
    others = similarity - torch.diag(torch.full((classes,), torch.inf, dtype=torch.float64))
    margin = (matching - others.max(dim=1).values).mean()
    cross = (similarity.clamp(min=0).sum() - matching.clamp(min=0).sum()) / classes
    assert margin >= matching.mean() - cross - 1e-12


# --- Proposition 3.7: the fine loss bounds the probability that a negative outranks the positive ---


@pytest.mark.parametrize("seed", range(3))
def test_mis_ranking_is_at_most_the_expectation_of_the_loss_term(seed: int) -> None:
    x = normal(seed, 1, 4).expand(20_000, 4)
    positives, negatives = normal(seed + 10, 20_000, 4) + x, normal(seed + 20, 20_000, 3, 4)
    losses = fine_losses(x, positives, negatives)
    wrong = (torch.einsum("nd,nqd->nq", x, negatives) >= (x * positives).sum(1)[:, None]).any(1)
    assert wrong.double().mean() <= (losses.exp() - 1).mean()
    assert (wrong <= (losses.exp() - 1 >= 1 - 1e-12)).all()  # the step of the proof, sample by sample


# --- Sampling ---


@given(st.integers(0, 1000), st.integers(2, 4))
def test_positives_are_of_the_class_and_negatives_are_not(seed: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    row_labels = rng.permutation(np.concatenate([np.arange(classes), rng.integers(0, classes, 20)]))
    labels = np.sort(rng.integers(0, classes, 6))
    sampler = PairSampler.of(row_labels, labels, negatives=5)
    positives, negatives = sampler.draw(torch.Generator().manual_seed(seed))
    assert (row_labels[positives] == labels).all()
    assert (row_labels[negatives] != labels[:, None]).all()
    assert negatives.shape == (6, 5)


def test_every_row_is_drawn_equally_often() -> None:
    row_labels = np.array([1, 0, 1, 2, 0, 1, 2])
    sampler = PairSampler.of(row_labels, np.array([1] * 2000), negatives=10)
    positives, negatives = sampler.draw(torch.Generator().manual_seed(0))
    assert np.bincount(positives, minlength=7)[[0, 2, 5]] == pytest.approx(2000 / 3, rel=0.12)
    assert np.bincount(negatives.ravel(), minlength=7)[[1, 3, 4, 6]] == pytest.approx(5000, rel=0.05)


def test_equal_generators_draw_equal_pairs() -> None:
    sampler = PairSampler.of(np.array([0, 1, 0, 1]), np.array([0, 1]), negatives=3)
    first, second = (sampler.draw(torch.Generator().manual_seed(5)) for _ in range(2))
    assert all((a == b).all() for a, b in zip(first, second, strict=True))


def test_one_class_has_no_negatives() -> None:
    positives, negatives = PairSampler.of(np.zeros(4, np.int64), np.zeros(2, np.int64), 3).draw(
        torch.Generator()
    )
    assert len(positives) == 2 and negatives.shape == (2, 0)


def test_a_condensed_class_without_rows_is_named() -> None:
    with pytest.raises(ValueError, match="class 3 of a condensed node has no source row"):
        PairSampler.of(np.array([0, 1]), np.array([0, 3]), 1)
