"""The neural hyperedge linker: draws, the bound, what it learns, what it links."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from hypercondense.condensing.baselines.hgcond.linker import (
    HyperedgeLinker,
    gaussian_divergence,
    negative_bound,
    train_linker,
)
from hypercondense.condensing.baselines.hgcond.pairs import MembershipSampler
from hypercondense.hypergraph import Hypergraph
from hypercondense.runtime.rng import seeded
from makers.strategies import hypergraphs

GROUPS, MATES = 6, 20


@pytest.fixture(scope="module")
def planted() -> Hypergraph:
    """Nodes in groups; hyperedges of 4 lie within a group, and features tell the group."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(GROUPS), MATES)
    features = 3.0 * np.eye(GROUPS, 10)[group] + rng.normal(size=(GROUPS * MATES, 10))
    members = [rng.choice(np.flatnonzero(group == home), 4, replace=False) for home in np.tile(range(6), 30)]
    return Hypergraph(
        features=features,
        labels=group % 2,
        incidence=(np.concatenate(members), np.repeat(np.arange(len(members)), 4)),
        num_hyperedges=len(members),
    )


def rows_of(source: Hypergraph, ids: object = slice(None)) -> torch.Tensor:
    return torch.tensor(source.dense_features()[ids])  # type: ignore[index]


def sampler_of(source: Hypergraph, size: int = 64, strangers: int = 32) -> MembershipSampler:
    return MembershipSampler(source, size, strangers, np.random.default_rng(1))


def linker_of(source: Hypergraph, **options: float) -> HyperedgeLinker:
    with seeded(0):
        center = torch.from_numpy(source.dense_features().mean(0))
        return HyperedgeLinker(center, hidden=16, latent=8, **options)  # type: ignore[arg-type]


def trained(source: Hypergraph, steps: int = 150, **options: float) -> tuple[HyperedgeLinker, list[float]]:
    linker = linker_of(source, **options)
    with seeded(1):
        bounds = train_linker(
            linker,
            source.dense_features(),
            sampler_of(source),
            steps=steps,
            step_size=0.01,
            divergence_weight=0.01,
        )
    return linker, bounds


@settings(deadline=None)
@given(hypergraphs())
def test_drawn_members_share_the_anchors_hyperedge_and_outside_strangers_do_not(source: Hypergraph) -> None:
    sampler = sampler_of(source, size=8, strangers=5)
    sizes = np.bincount(source.incidence.hyperedge_ids, minlength=source.num_hyperedges)
    assert len(sampler) == sizes[sizes > 1].sum()
    if len(sampler) == 0:
        return
    matrix = source.incidence.matrix(source.num_nodes, source.num_hyperedges).toarray() > 0
    pairs = sampler.draw()
    anchors, members = pairs.node_ids["anchors"], pairs.node_ids["members"]
    assert (anchors != members).all()
    assert (matrix[anchors] & matrix[members]).any(1).all()
    for anchor, outside in zip(anchors, pairs.outside, strict=True):
        for stranger, is_outside in zip(pairs.node_ids["strangers"], outside, strict=True):
            shared = matrix[anchor] & matrix[stranger]
            assert shared.any() or is_outside
            assert not is_outside or not shared.all() or not matrix[anchor].any()


def test_a_stranger_in_the_only_hyperedge_is_never_outside() -> None:
    source = Hypergraph(
        features=[[0.0]] * 3, labels=[0, 0, 1], incidence=([0, 1, 2], [0, 0, 0]), num_hyperedges=1
    )
    assert not sampler_of(source).draw().outside.any()


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(-2, 2), st.floats(-2, 2)), min_size=1, max_size=4))
def test_the_divergence_equals_that_of_torch(parts: list[tuple[float, float]]) -> None:
    mean, log_variance = torch.tensor(parts, dtype=torch.float64).T[:, None]
    posterior = torch.distributions.Normal(mean, (0.5 * log_variance).exp())
    prior = torch.distributions.Normal(torch.zeros_like(mean), torch.ones_like(mean))
    expected = torch.distributions.kl_divergence(posterior, prior).sum(1)
    torch.testing.assert_close(gaussian_divergence(mean, log_variance), expected)


def test_the_bound_of_a_linker_that_knows_nothing_has_a_closed_form(planted: Hypergraph) -> None:
    linker = linker_of(planted)
    with torch.no_grad():
        for parameter in linker.parameters():
            parameter.zero_()
    pairs = sampler_of(planted).draw()
    rows = {role: rows_of(planted, ids) for role, ids in pairs.node_ids.items()}
    surprise, divergence = negative_bound(linker, rows, pairs, divergence_weight=1.0)
    assert float(surprise.detach()) == pytest.approx(2 * math.log(2))  # every probability is one half
    assert float(divergence.detach()) == 0.0  # the posterior is the prior


def test_gradients_of_the_bound_are_finite_even_where_features_are_constant() -> None:
    source = Hypergraph(
        features=[[1.0, 2.0]] * 4, labels=[0, 1, 0, 1], incidence=([0, 1, 2], [0, 0, 0]), num_hyperedges=1
    )
    linker = linker_of(source)
    pairs = sampler_of(source).draw()
    rows = {role: rows_of(source, ids) for role, ids in pairs.node_ids.items()}
    sum(negative_bound(linker, rows, pairs, divergence_weight=0.1)).backward()  # type: ignore[union-attr]
    assert all(parameter.grad.isfinite().all() for parameter in linker.parameters())  # type: ignore[union-attr]


def test_it_learns_a_planted_structure_and_is_frozen_afterwards(planted: Hypergraph) -> None:
    linker, bounds = trained(planted)
    group = np.repeat(np.arange(GROUPS), MATES)
    same = group[:, None] == group[None, :]
    mean, _ = linker.encode(rows_of(planted))
    scores = linker.logits(mean, mean).numpy()
    pairs = ~np.eye(len(group), dtype=bool)
    assert roc_auc_score(same[pairs], scores[pairs]) > 0.9
    assert np.mean(bounds[-10:]) < 0.7 * bounds[0]
    assert not any(parameter.requires_grad for parameter in linker.parameters())


def test_hyperedges_have_their_anchor_at_weight_one_and_a_bounded_number_of_likely_members(
    planted: Hypergraph,
) -> None:
    linker, _ = trained(planted, threshold=0.6, max_members=5)
    rows = rows_of(planted, slice(None, None, 5)).requires_grad_()
    incidence = linker(rows)
    sizes = (incidence > 0).sum(0)
    assert sizes.max() == 5
    assert (sizes != 1).all()
    assert (incidence.diagonal()[sizes > 0] == 1).all()
    assert ((incidence == 0) | (incidence > 0.6)).all()
    incidence.sum().backward()
    assert rows.grad is not None and rows.grad.isfinite().all() and rows.grad.any()


def test_who_cannot_reach_the_threshold_stays_alone(planted: Hypergraph) -> None:
    incidence = linker_of(planted, threshold=1.0)(rows_of(planted))
    assert not incidence.any()


def test_training_gives_the_same_bits_for_a_memory_map(planted: Hypergraph, tmp_path: object) -> None:
    path = f"{tmp_path}/features.npy"
    np.save(path, planted.dense_features())
    linker = linker_of(planted)
    with seeded(1):
        bounds = train_linker(
            linker,
            np.load(path, mmap_mode="r"),
            sampler_of(planted),
            steps=5,
            step_size=0.01,
            divergence_weight=0.01,
        )
    assert bounds == trained(planted, steps=5)[1]
