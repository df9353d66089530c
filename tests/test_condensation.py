"""Saving and loading a condensed hypergraph: all or nothing, nothing changed."""

import contextlib
import dataclasses
import functools
import json
from pathlib import Path

import msgspec
import numpy as np
import pytest

from hypercondense.condensation import Condensation, Provenance, load_condensed
from hypercondense.errors import FormatError
from hypercondense.files.storage import read_tensors, write_tensors
from hypercondense.hypergraph import Hypergraph
from hypercondense.runtime.code_version import code_version


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
    manifest = json.loads(path.read_text())
    manifest.pop("checksum", None)  # what is changed on purpose has none
    path.write_text(json.dumps({**manifest, **changes}))


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
        (lambda folder: change_manifest(folder, format="other"), "must say format 'hypercondense.condensed'"),
        (lambda folder: change_manifest(folder, format_version=99), "99, .* reads 1 to 4; install a newer"),
        (lambda folder: change_manifest(folder, format_version=0), "format_version must be .* >= 1, got 0"),
        (lambda folder: change_manifest(folder, format_version="3"), "must be a whole number, got '3'"),
        (lambda folder: change_manifest(folder, hypergraph={}), "num_nodes is missing in hypergraph"),
        (lambda folder: change_manifest(folder, fun=1), r"manifest\.json: unknown field 'fun'; there are"),
        (lambda folder: change_manifest(folder, digest=5), "digest"),
        (lambda folder: change_manifest(folder, digest="0"), "digest"),
        (
            lambda folder: change_manifest(folder, provenance={"x": 1}),
            "unknown field 'x' in provenance",
        ),
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
        ("code", 5),
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
        ("seconds", None),
        ("peak_memory_mb", "12"),
        ("start_validation", "0.5"),
        ("final_validation", []),
        ("warnings", 5),
        ("choice", []),
    ],
)
def test_a_manifest_of_other_types_is_named(tmp_path: Path, key: str, value: object) -> None:
    example().save(tmp_path / "out")
    change_manifest(tmp_path / "out", **{key: value})
    with pytest.raises(FormatError, match=f"{key} must be "):
        load_condensed(tmp_path / "out")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"loss": 0.1', '"loss": 1e400', r"history\[0\]\.loss must be a finite number, got inf"),
        ('"loss": 0.1', '"loss": "low"', r"history\[0\]\.loss must be a whole number or a number, got 'low'"),
        ('"time": 2.0', '"time": NaN', r"provenance\.settings\.time must be a finite number, got nan"),
        ('"total": 1.5', '"total": -1e999', r"seconds\.total must be a finite number, got -inf"),
        ('"total": 1.5', '"total": null', r"seconds\.total must be a number, got None"),
        ("12.5", "1" + "0" * 400, "peak_memory_mb must be a finite number, got 1000"),
        ('"choice": null', '"choice": ' + '{"x":' * 10_000 + "1" + "}" * 10_000, "JSON file|too deeply"),
    ],
)
def test_the_place_of_a_wrong_number_is_told(tmp_path: Path, old: str, new: str, message: str) -> None:
    example().save(tmp_path / "out")
    path = tmp_path / "out" / "manifest.json"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(FormatError, match=message) as caught:
        load_condensed(tmp_path / "out")
    assert str(path) in str(caught.value)


def test_no_content_of_a_manifest_ends_in_anything_but_a_format_error(tmp_path: Path) -> None:
    example().save(tmp_path / "out")
    path = tmp_path / "out" / "manifest.json"
    whole = json.loads(path.read_text())
    deep = functools.reduce(lambda inner, _: {"x": inner}, range(400), 1)
    for place in (whole, whole["provenance"], whole["hypergraph"]):
        for key, value in list(place.items()):
            for odd in (None, -1, 1.5, 10**30, "x", [], [None], {}, {"x": "y"}, [[1]], deep, True):
                place[key] = odd
                path.write_text(json.dumps(whole))
                with contextlib.suppress(FormatError):
                    load_condensed(tmp_path / "out")
            place[key] = value


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("with_choice", [True, False])
def test_folders_of_release_0_1_0_are_read(tmp_path: Path, version: int, with_choice: bool) -> None:
    made, folder = example(), tmp_path / "out"
    made.save(folder)
    manifest = {**json.loads((folder / "manifest.json").read_text()), **OLD, "format_version": version}
    del manifest["checksum"]
    if not with_choice:  # there was no search yet
        del manifest["choice"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    loaded = load_condensed(folder)
    assert loaded.hypergraph.digest == made.hypergraph.digest
    assert loaded.provenance.settings == {"time": 2.0, "candidates": None}
    assert loaded.history == made.history and loaded.choice is None
    assert loaded.provenance.code is None


OLD = {
    "provenance": {
        "method": "ahgcdd",
        "settings": {"time": 2.0, "candidates": None},
        "seed": 7,
        "source_name": "source",
        "source_digest": "a" * 64,
        "num_source_nodes": 100,
        "split_digest": "b" * 64,
        "split_seed": 0,
        "ratio": 0.03,
        "ratio_of": "all",
        "source_location": None,
        "versions": {"hypercondense": "0.1.0", "python": "3.11.7", "torch": "2.9.1"},
        "preprocessing": ["features: none, use the source's as they are"],
    },
    "choice": None,
}


def test_the_code_that_made_it_is_recorded(tmp_path: Path) -> None:
    made = example()
    made.save(tmp_path / "out")
    assert made.provenance.code == load_condensed(tmp_path / "out").provenance.code == code_version()


@pytest.mark.parametrize("key", ["versions", "preprocessing", "seed"])
def test_what_runs_now_is_not_taken_for_what_was_not_told(tmp_path: Path, key: str) -> None:
    example().save(tmp_path / "out")
    provenance = json.loads((tmp_path / "out" / "manifest.json").read_text())["provenance"]
    del provenance[key]
    change_manifest(tmp_path / "out", provenance=provenance)
    with pytest.raises(FormatError, match=rf"provenance\.{key} must be .*, got None|{key} is missing"):
        load_condensed(tmp_path / "out")


def test_settings_and_choice_may_be_nested(tmp_path: Path) -> None:
    recipe = {"start": {"kind": "kmeans", "rounds": 20}, "steps": [{"kind": "ridge"}, {"kind": "bundle"}]}
    made = example()
    made = dataclasses.replace(
        made,
        provenance=msgspec.structs.replace(made.provenance, settings=recipe),
        choice={"method": recipe, "trials": [{"score": 0.5}]},
    )
    made.save(tmp_path / "out")
    loaded = load_condensed(tmp_path / "out")
    assert loaded.provenance == made.provenance and loaded.choice == made.choice


def test_what_could_not_be_read_again_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="peak_memory_mb must be a number >= 0"):
        dataclasses.replace(example(), peak_memory_mb=-1.0).save(tmp_path / "out")
    assert not list(tmp_path.iterdir())


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


@pytest.mark.parametrize("key", ["labels", "members.source_ids", "members.row_starts"])
def test_a_tensor_that_lacks_is_named(tmp_path: Path, key: str) -> None:
    example().save(tmp_path / "out")
    tensors = tmp_path / "out" / "condensed.safetensors"
    arrays = {name: array for name, array in read_tensors(tensors).items() if name != key}
    change_manifest(tmp_path / "out", sha256=write_tensors(tensors, arrays))
    with pytest.raises(FormatError, match=f"the tensors lack {key}"):
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


def test_members_are_told_by_the_ids_the_source_came_with(tmp_path: Path) -> None:
    made = dataclasses.replace(example(), member_names=("ann", "böb", "eve"))  # of nodes 3, 5 and 9
    assert made.members_by_name() == (("ann", "böb"), (), ("eve",))
    assert example().members_by_name() == (("3", "5"), (), ("9",))
    made.save(tmp_path / "out")
    assert load_condensed(tmp_path / "out").members_by_name() == made.members_by_name()
    dataclasses.replace(made, member_names=("ann", "böb")).save(tmp_path / "short")
    with pytest.raises(FormatError, match=r"members.names must have a name for each of 3 members, got 2"):
        load_condensed(tmp_path / "short")


def test_a_manifest_that_was_changed_is_refused_unless_that_was_meant(tmp_path: Path) -> None:
    example().save(tmp_path / "out")
    path = tmp_path / "out" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["provenance"]["seed"] += 1
    path.write_text(json.dumps(manifest))
    with pytest.raises(
        FormatError, match=r"was changed after it was written; .* remove its field 'checksum'"
    ):
        load_condensed(tmp_path / "out")
    del manifest["checksum"]
    path.write_text(json.dumps(manifest))
    assert load_condensed(tmp_path / "out").provenance.seed == manifest["provenance"]["seed"]


def test_numbers_of_numpy_are_written_like_others(tmp_path: Path) -> None:
    made = dataclasses.replace(example(), seconds={"total": np.float64(1.5)}, peak_memory_mb=np.float64(2.5))
    made.save(tmp_path / "out")
    assert load_condensed(tmp_path / "out").seconds == {"total": 1.5}
