"""Saving and loading a condensed hypergraph: all or nothing, nothing changed."""

import json
from pathlib import Path

import numpy as np
import pytest

from hypercondense.condensation import Condensation, Provenance, load_condensed
from hypercondense.errors import FormatError
from hypercondense.hypergraph import Hypergraph


def example() -> Condensation:
    hypergraph = Hypergraph(
        features=np.arange(6, dtype=np.float32).reshape(3, 2) / 7,
        labels=[0, 0, 1],
        incidence=([0, 1, 1, 2], [0, 0, 1, 1], [0.5, 0.25, 1.0, 0.1]),
        num_hyperedges=2,
        label_names=["cat", "dög"],
        name="tiny",
        notes=["made up"],
    )
    return Condensation(
        hypergraph=hypergraph,
        members=(np.array([3, 5]), np.array([], np.int64), np.array([9])),
        provenance=Provenance(
            method="ahgcdd",
            settings={"time": 2.0, "candidates": None},
            seed=7,
            source_name="source",
            source_digest="a" * 64,
            num_source_nodes=100,
            split_digest="b" * 64,
            split_seed=0,
            ratio=0.03,
            ratio_of="all",
        ),
        history=({"epoch": 0, "loss": 0.1},),
        seconds={"total": 1.5},
        peak_memory_mb=12.5,
        start_validation=0.5,
        final_validation=0.625,
        warnings=("a warning",),
    )


def test_everything_survives_save_and_load(tmp_path: Path) -> None:
    made = example()
    made.save(tmp_path / "out")
    loaded = load_condensed(tmp_path / "out")
    assert loaded.hypergraph.digest == made.hypergraph.digest
    assert loaded.hypergraph.notes == ("made up",)
    assert all((a == b).all() for a, b in zip(loaded.members, made.members, strict=True))
    for name in (
        "provenance",
        "history",
        "seconds",
        "peak_memory_mb",
        "start_validation",
        "final_validation",
        "warnings",
    ):
        assert getattr(loaded, name) == getattr(made, name), name


def test_only_the_two_files_are_there_and_none_is_a_pickle(tmp_path: Path) -> None:
    example().save(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "condensed.safetensors",
        "manifest.json",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]  # no draft is left


def test_an_existing_folder_is_replaced_only_when_told_to(tmp_path: Path) -> None:
    made = example()
    made.save(tmp_path / "out")
    with pytest.raises(FileExistsError, match="exists already"):
        made.save(tmp_path / "out")
    made.save(tmp_path / "out", overwrite=True)
    assert load_condensed(tmp_path / "out").provenance.seed == 7


def change_manifest(folder: Path, **changes: object) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def flip_a_byte(folder: Path) -> None:
    path = folder / "condensed.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (flip_a_byte, "was changed or cut off"),
        (lambda folder: (folder / "condensed.safetensors").write_bytes(b""), "was changed or cut off"),
        (lambda folder: (folder / "condensed.safetensors").unlink(), "has no condensed.safetensors"),
        (lambda folder: (folder / "manifest.json").unlink(), "has no manifest.json"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "is not a JSON file"),
        (lambda folder: (folder / "manifest.json").write_text("[]"), "must hold a JSON object"),
        (lambda folder: change_manifest(folder, format="other"), "not 'hypercondense.condensed'"),
        (lambda folder: change_manifest(folder, format_version=99), "format version 99 cannot be read"),
        (lambda folder: change_manifest(folder, hypergraph={}), "does not fit its tensors"),
        (lambda folder: change_manifest(folder, digest="0"), "digest"),
        (lambda folder: change_manifest(folder, provenance={"x": 1}), "does not fit"),
    ],
)
def test_damage_is_noticed_and_named(tmp_path: Path, damage, message: str) -> None:
    example().save(tmp_path / "out")
    damage(tmp_path / "out")
    with pytest.raises(FormatError, match=message):
        load_condensed(tmp_path / "out")


def test_density_and_size_of_a_known_structure() -> None:
    made = example()
    assert made.density == pytest.approx(4 / 6)
    assert made.mean_hyperedge_size == 2


def test_pyg_gets_the_self_loops_the_weights_and_the_declared_sizes() -> None:
    data = example().to_pyg()
    assert data.num_nodes == 3 and data.num_hyperedges == 5
    assert data.hyperedge_index.shape == (2, 7)
    assert data.incidence_weight[-3:].tolist() == [1.0, 1.0, 1.0]
    assert data.x.shape == (3, 2) and data.y.tolist() == [0, 0, 1]
