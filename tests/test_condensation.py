"""Saving and loading a condensed hypergraph: all or nothing, nothing changed."""

import json
from pathlib import Path

import numpy as np
import pytest

from hypercondense.condensation import Condensation, Provenance, load_condensed
from hypercondense.errors import FormatError
from hypercondense.files.storage import read_tensors, write_tensors
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
        (lambda folder: change_manifest(folder, digest=5), "digest"),
        (lambda folder: change_manifest(folder, digest="0"), "digest"),
        (lambda folder: change_manifest(folder, provenance={"x": 1}), "does not fit"),
    ],
)
def test_damage_is_noticed_and_named(tmp_path: Path, damage, message: str) -> None:
    example().save(tmp_path / "out")
    damage(tmp_path / "out")
    with pytest.raises(FormatError, match=message):
        load_condensed(tmp_path / "out")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("split_seed", 1.5),
        ("split_seed", True),
        ("seed", "0"),
        ("source_location", 5),
        ("source_name", None),
        ("source_digest", 5),
        ("split_digest", []),
        ("num_source_nodes", 1e2),
        ("ratio", "half"),
        ("settings", []),
        ("preprocessing", "none"),
    ],
)
def test_provenance_of_another_type_is_named(tmp_path: Path, key: str, value: object) -> None:
    example().save(tmp_path / "out")
    provenance = json.loads((tmp_path / "out" / "manifest.json").read_text())["provenance"]
    change_manifest(tmp_path / "out", provenance={**provenance, key: value})
    with pytest.raises(FormatError, match=f"{key} must be "):
        load_condensed(tmp_path / "out")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", None),
        ("notes", "one"),
        ("hypergraph", 5),
        ("provenance", []),
        ("history", {}),
        ("history", [5]),
        ("seconds", None),
        ("peak_memory_mb", "12"),
        ("start_validation", "0.5"),
        ("final_validation", []),
        ("warnings", 5),
    ],
)
def test_a_manifest_of_other_types_is_named(tmp_path: Path, key: str, value: object) -> None:
    example().save(tmp_path / "out")
    change_manifest(tmp_path / "out", **{key: value})
    with pytest.raises(FormatError, match=f"{key} must be "):
        load_condensed(tmp_path / "out")


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("row_starts", [0, 2, 1, 3]),
        ("row_starts", [1, 2, 2, 3]),
        ("row_starts", [0, 2, 2, 2]),
        ("row_starts", [0, 2, 3]),
        ("row_starts", []),
        ("row_starts", [0.0, 2.0, 2.0, 3.0]),
        ("row_starts", [[0, 2, 2, 3]]),
        ("source_ids", [[3], [5], [9]]),
        ("source_ids", [3, 5, 100]),
        ("source_ids", [3, 5, -1]),
    ],
)
def test_impossible_members_are_named(tmp_path: Path, key: str, values: list[object]) -> None:
    folder = tmp_path / "out"
    example().save(folder)
    arrays = read_tensors(folder / "condensed.safetensors")
    arrays[f"members.{key}"] = np.array(values) if values else np.empty(0, np.int64)
    change_manifest(folder, sha256=write_tensors(folder / "condensed.safetensors", arrays))
    with pytest.raises(FormatError, match=rf"members\.{key} must be "):
        load_condensed(folder)


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
