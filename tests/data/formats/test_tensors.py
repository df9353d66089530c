"""Tensor triples: what is read and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from hypercondense.data.formats import read
from makers import format_examples
from makers.format_examples import FEATURES, refuses


def test_tensors_with_gaps_repeats_and_small_names_are_read(tmp_path: Path) -> None:
    format_examples.tensors(tmp_path)
    (tmp_path / "x_Y.pt").rename(tmp_path / "x_y.pt")
    torch.save(torch.zeros(3), tmp_path / "x_split_E.pt")
    torch.save(torch.tensor([[0, 1, 1], [0, 2, 2]]), tmp_path / "x_E.pt")
    hypergraph = read(tmp_path)
    assert hypergraph.name == "x"
    assert hypergraph.num_hyperedges == 2
    assert len(hypergraph.notes) == 2


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("E", torch.zeros(2, 3), "x_E.pt must be whole numbers in two rows"),
        ("E", torch.zeros(3, 2, dtype=torch.int64), "two rows"),
        ("E", torch.tensor([[9], [0]]), "has node 9"),
        ("E", torch.tensor([[0], [-1]]), "the smallest is -1"),
        ("Y", torch.tensor([0, 1]), "2 labels for 4 nodes"),
        ("Y", torch.tensor([0.5, 1, 1, 1]), "entry 0 is 0.5"),
        ("X_vec", torch.zeros(4), "shape"),
        ("X_vec", torch.full((4, 2), torch.nan), "node 0, column 0 is nan"),
        ("X_vec", torch.zeros(4, 2, dtype=torch.complex64), "real numbers"),
    ],
)
def test_tensors_that_do_not_fit_are_named(tmp_path: Path, part: str, value: Any, message: str) -> None:
    format_examples.tensors(tmp_path)
    torch.save(value, tmp_path / f"x_{part}.pt")
    refuses(tmp_path, message)


def test_half_precision_tensors_are_read(tmp_path: Path) -> None:
    format_examples.tensors(tmp_path)
    for kind in (torch.bfloat16, torch.float16, torch.float64):
        torch.save(torch.tensor(FEATURES, dtype=kind), tmp_path / "x_X_vec.pt")
        np.testing.assert_array_equal(read(tmp_path).features, FEATURES)
