"""HGCPA: its repulsion, its two stages, and what it shares with the other gradient methods."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from hypercondense.catalogue import condense
from hypercondense.condensation import Condensation
from hypercondense.condensing.baselines.hgcpa import HGCPA, crowding
from hypercondense.data import synthetic
from hypercondense.diffusion import diffuse, vanilla
from hypercondense.hypergraph import split
from hypercondense.nn.short_trainings import ShortTrainings

SOURCE = synthetic(num_nodes=150, num_hyperedges=100, num_features=8, num_classes=3, seed=2)
PARTS = split(SOURCE)


def run(nodes: int = 9, how: Any = None, **settings: Any) -> Condensation:
    return condense(
        SOURCE, PARTS, nodes=nodes, method="hgcpa", settings=settings, **{"select": False, **(how or {})}
    )


def test_crowding_of_equal_directions_is_the_inverse_temperature() -> None:
    same = F.normalize(torch.ones(5, 3, dtype=torch.float64), dim=1)
    value = crowding(same, torch.tensor([0, 0, 0, 1, 1]), temperature=0.25)
    torch.testing.assert_close(value, torch.tensor(4.0, dtype=torch.float64))


def test_crowding_equals_a_plain_loop() -> None:
    chance = torch.Generator().manual_seed(0)
    rows = torch.randn(7, 4, generator=chance, dtype=torch.float64)
    labels = torch.tensor([0, 0, 0, 1, 1, 2, 1])
    terms = []
    for i in range(7):
        mates = [j for j in range(7) if j != i and labels[j] == labels[i]]
        if mates:
            terms.append(torch.stack([(rows[i] @ rows[j] / 0.3).exp() for j in mates]).mean().log())
    torch.testing.assert_close(crowding(rows, labels, temperature=0.3), torch.stack(terms).mean())


def test_crowding_ignores_other_classes_and_has_finite_gradients() -> None:
    rows = torch.randn(4, 3, generator=torch.Generator().manual_seed(1)).requires_grad_()
    crowding(rows, torch.tensor([0, 0, 1, 2]), temperature=0.5).backward()
    assert rows.grad is not None
    assert rows.grad[:2].abs().sum() > 0
    assert (rows.grad[2:] == 0).all()


def test_crowding_of_nodes_alone_in_their_class_is_zero_and_can_be_differentiated() -> None:
    rows = torch.ones(3, 2, requires_grad=True)
    value = crowding(rows, torch.tensor([0, 1, 2]), temperature=0.5)
    value.backward()
    assert float(value.detach()) == 0
    assert rows.grad is not None and (rows.grad == 0).all()


def test_without_adaptation_features_are_means_of_propagated_rows() -> None:
    result = run(9, epochs=0, hops=2, samples=5)
    propagated = diffuse(SOURCE, vanilla(2))
    means = [propagated[ids].mean(0) for ids in result.members]
    np.testing.assert_allclose(result.hypergraph.features, means, rtol=1e-5, atol=1e-6)
    assert all(len(ids) == 5 for ids in result.members)


def test_without_hops_features_are_means_of_the_source_rows() -> None:
    result = run(9, epochs=0, hops=0, samples=3)
    means = [SOURCE.features[ids].mean(0) for ids in result.members]
    np.testing.assert_allclose(result.hypergraph.features, means, rtol=1e-5, atol=1e-6)


def test_the_structure_is_the_identity() -> None:
    made = run(9, epochs=2).hypergraph
    np.testing.assert_array_equal(made.incidence.matrix(9, 9).toarray(), np.eye(9))


def test_adaptation_lowers_the_alignment_loss() -> None:
    history = run(30, epochs=60, diversity=0).history
    first, last = (np.mean([row["alignment"] for row in rows]) for rows in (history[:10], history[-10:]))
    assert last < first


def test_more_weight_on_diversity_keeps_nodes_of_a_class_further_apart() -> None:
    ends = [run(30, epochs=60, diversity=weight).history[-1]["crowding"] for weight in (0.0, 3.0)]
    assert ends[1] < ends[0]


def test_the_start_is_returned_if_adaptation_makes_it_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = iter([0.9, *[0.1] * 4, 0.0])  # the start, four looks, and the random nodes of the guard
    monkeypatch.setattr(ShortTrainings, "__call__", lambda self, candidate: next(scores))
    result = run(epochs=8, how={"select": True})
    assert (result.start_validation, result.final_validation) == (0.9, 0.9)
    assert result.hypergraph.digest == run(epochs=0).hypergraph.digest
    assert not result.warnings


def test_an_interrupted_run_continues_to_the_same_bits(tmp_path: Path) -> None:
    def interrupt(stage: str, done: int, total: int, **figures: float) -> None:
        if stage == "condense" and done == 6:
            raise KeyboardInterrupt

    how: dict[str, Any] = {"checkpoint": tmp_path / "state", "checkpoint_every": 0.0}
    with pytest.raises(KeyboardInterrupt):
        run(epochs=10, how={**how, "progress": interrupt})
    resumed = run(epochs=10, how={**how, "resume": True})
    straight = run(epochs=10)
    assert resumed.hypergraph.digest == straight.hypergraph.digest
    assert resumed.history == straight.history


@pytest.mark.parametrize(
    "wrong", [{"hops": -1}, {"epochs": -1}, {"diversity": -0.1}, {"temperature": 0}, {"samples": 0}]
)
def test_wrong_options_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
        HGCPA(**wrong)
