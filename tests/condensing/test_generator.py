"""Anchor-guided hyperedges (Eq. 7 to 9)."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from hypercondense.condensing.generator import (
    AnchorGenerator,
    nearest_candidates,
    span_basis,
    structure_health,
    warm_start,
    warm_targets,
)


def all_nodes(n: int) -> torch.Tensor:
    return torch.arange(n).expand(n, n).clone()


def make(n: int = 6, d: int = 4, **options: object) -> tuple[AnchorGenerator, torch.Tensor]:
    torch.manual_seed(0)
    made = AnchorGenerator(all_nodes(n), num_features=d, hidden=8, **options)  # type: ignore[arg-type]
    return made.double(), torch.randn(n, d, dtype=torch.float64)


def test_the_split_first_layer_is_the_layer_on_the_concatenation() -> None:
    anchors, x = make()
    joint = torch.cat([anchors.from_anchor.weight, anchors.from_candidate.weight], dim=1)
    for i in range(6):
        for j in range(6):
            hidden = F.relu(joint @ torch.cat([x[i], x[j]]) + anchors.from_anchor.bias)
            hidden = F.relu(anchors.inner[0](hidden))
            torch.testing.assert_close(anchors.scores(x)[i, j], anchors.last(hidden)[0])


def test_incidence_is_the_score_above_the_threshold_with_anchors_as_columns() -> None:
    anchors, x = make(threshold_start=0.3)
    with torch.no_grad():
        anchors.threshold += torch.linspace(-0.2, 0.3, 6)
    incidence = anchors(x)
    expected = F.relu(anchors.scores(x).sigmoid() - anchors.threshold[:, None]).T
    expected = expected * (expected.count_nonzero(dim=0) > 1)
    torch.testing.assert_close(incidence, expected)


def test_few_candidates_give_the_same_numbers_as_all_for_those_pairs() -> None:
    anchors, x = make()
    few = torch.tensor([[i, (i + 2) % 6] for i in range(6)])
    everything = anchors(x)
    anchors.candidates = few
    incidence = anchors(x)
    for i in range(6):
        outside = [j for j in range(6) if j not in few[i]]
        assert (incidence[outside, i] == 0).all()
        torch.testing.assert_close(incidence[few[i], i], everything[few[i], i])


def test_blocks_of_anchors_give_the_same_incidence_and_gradients() -> None:
    anchors, x = make()
    results = []
    for pairs in (1000, 13):
        anchors.pairs_at_once = pairs
        point = x.clone().requires_grad_()
        anchors.zero_grad()
        incidence = anchors(point)
        (incidence**2).sum().backward()
        results.append([incidence, point.grad, *(p.grad.clone() for p in anchors.parameters())])
    for once, blocked in zip(*results, strict=True):
        torch.testing.assert_close(once, blocked)


def test_gradients_are_those_of_finite_differences() -> None:
    anchors, x = make(threshold_start=0.4)
    assert torch.autograd.gradcheck(anchors, (x.requires_grad_(),))


def test_a_hyperedge_with_one_member_left_is_dropped() -> None:
    anchors, x = make()
    scores = anchors.scores(x).sigmoid()
    with torch.no_grad():  # the threshold of anchor 2 lets only its best candidate pass
        anchors.threshold[2] = scores[2].topk(2).values.mean()
    assert (anchors(x)[:, 2] == 0).all()


def test_no_score_above_its_threshold_is_an_empty_structure_with_a_dead_gradient() -> None:
    anchors, x = make(threshold_start=0.99)
    incidence = anchors(x.requires_grad_())
    assert (incidence == 0).all()
    incidence.sum().backward()
    assert (x.grad == 0).all()


@pytest.mark.parametrize(
    ("kind", "size", "learns"), [("anchor", 6, True), ("shared", 1, True), ("fixed", 1, False)]
)
def test_thresholds_are_one_each_one_for_all_or_fixed(kind: str, size: int, learns: bool) -> None:
    anchors, _ = make(threshold=kind)
    assert anchors.threshold.shape == (size,)
    assert anchors.threshold.requires_grad is learns


def test_scale_makes_the_scores_independent_of_units() -> None:
    anchors, x = make()
    before = anchors.scores(x)
    anchors.scale.fill_(0.01)
    torch.testing.assert_close(anchors.scores(x * 0.01), before)


def test_nearest_candidates_begin_with_the_node_itself_even_among_equals() -> None:
    x = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    nearest = nearest_candidates(x, 3)
    assert nearest[:, 0].tolist() == [0, 1, 2, 3]
    assert set(nearest[0].tolist()) == {0, 1, 2}
    assert nearest_candidates(x, 10).shape == (4, 4)


def test_warm_start_teaches_small_pure_hyperedges() -> None:
    torch.manual_seed(0)
    labels = torch.arange(3).repeat_interleave(5)
    x = F.one_hot(labels, 3).float() + 0.1 * torch.randn(15, 3)
    anchors = AnchorGenerator(nearest_candidates(x, 10), num_features=3, hidden=32)
    targets = warm_targets(x, labels, anchors.candidates, neighbours=2)
    assert targets.sum(1).tolist() == [3.0] * 15  # the anchor and two neighbours
    assert targets[:, 0].all()
    warm_start(anchors, x, targets, steps=150, step_size=0.01)
    health = structure_health(anchors(x), labels.numpy())
    assert health.class_purity > 0.95
    assert 2 <= health.mean_hyperedge_size <= 5.5
    assert health.live_thresholds > 0.9
    assert (anchors.threshold == 0.5).all()  # only the MLP was taught


def test_warm_targets_never_cross_classes_even_with_too_few_neighbours() -> None:
    x = torch.eye(4)
    targets = warm_targets(x, torch.tensor([0, 1, 1, 2]), all_nodes(4).roll(0), neighbours=3)
    assert targets[0].sum() == 1 and targets[3].sum() == 1


def test_health_of_a_known_structure() -> None:
    incidence = torch.tensor([[0.5, 0.0, 0.0], [0.2, 0.0, 0.3], [0.0, 0.0, 0.1]])
    health = structure_health(incidence, np.array([0, 0, 1]))
    assert health.density == pytest.approx(4 / 9)
    assert health.mean_hyperedge_size == 2
    assert health.class_purity == pytest.approx(3 / 4)
    assert health.live_thresholds == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("options", "message"), [({"layers": 1}, "layers"), ({"threshold_start": 1.0}, "threshold_start")]
)
def test_impossible_options_are_named(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(**options)


def test_the_span_of_few_nodes_keeps_all_their_differences() -> None:
    x = torch.randn(4, 10, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    basis = span_basis(x)
    torch.testing.assert_close((x @ basis) @ basis.T, x)
    torch.testing.assert_close(basis.T @ basis, torch.eye(4, dtype=torch.float64))
    assert span_basis(x.T) is None


def test_along_a_basis_the_mlp_scores_the_coordinates() -> None:
    x = torch.randn(4, 10, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    along = AnchorGenerator(all_nodes(4), num_features=10, hidden=8, basis=span_basis(x)).double()
    plain = AnchorGenerator(all_nodes(4), num_features=4, hidden=8, scale=(10 / 4) ** 0.5).double()
    plain.load_state_dict({k: v for k, v in along.state_dict().items() if k != "basis"})
    torch.testing.assert_close(along.scores(x), plain.scores(x @ span_basis(x)))
