"""The native folder: bit for bit, checked, whole or not there."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hypercondense.data.formats import read, read_native, write_native
from hypercondense.errors import FormatError
from hypercondense.hypergraph import UNNAMED, Hypergraph
from hypercondense.hypergraph.names import is_beside_content
from makers.format_examples import tiny
from makers.strategies import hypergraphs


def same_bits(first: Hypergraph, second: Hypergraph) -> bool:
    arrays, facts = first.to_arrays()
    other_arrays, other_facts = second.to_arrays()
    return (
        facts == other_facts
        and arrays.keys() == other_arrays.keys()
        and all(
            arrays[key].dtype == other_arrays[key].dtype
            and arrays[key].shape == other_arrays[key].shape
            and arrays[key].tobytes() == other_arrays[key].tobytes()
            for key in arrays
        )
    )


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(hypergraphs())
def test_any_hypergraph_survives_save_and_load_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory, hypergraph: Hypergraph
) -> None:
    path = tmp_path_factory.mktemp("native") / "saved"
    write_native(hypergraph, path)
    loaded = read_native(path)
    assert same_bits(loaded, hypergraph)
    assert loaded.digest == hypergraph.digest
    assert loaded.name == ("saved" if hypergraph.name == UNNAMED else hypergraph.name)
    assert loaded.notes == hypergraph.notes


def _changed(value: Any) -> Any:
    if value.dtype.kind == "f":
        return np.nextafter(value, np.float32(1e30))
    return value + 1


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(hypergraphs(), st.data())
def test_the_digest_changes_when_any_number_changes(hypergraph: Hypergraph, data: st.DataObject) -> None:
    arrays, facts = hypergraph.to_arrays()
    counted = [key for key in arrays if arrays[key].size and not is_beside_content(key)]
    key = data.draw(st.sampled_from(counted))
    changed = arrays[key].copy()
    place = data.draw(st.integers(0, changed.size - 1))
    changed.flat[place] = _changed(changed.flat[place])
    try:
        other = Hypergraph.from_arrays(arrays | {key: changed}, facts)
    except ValueError:
        assume(False)
    assert same_bits(other, hypergraph) == (other.digest == hypergraph.digest)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(hypergraphs(), st.sampled_from(["label_names", "feature_names"]))
def test_the_digest_changes_when_a_name_changes(hypergraph: Hypergraph, key: str) -> None:
    arrays, facts = hypergraph.to_arrays()
    assume(facts[key] is not None)
    changed = [facts[key][0] + "x", *facts[key][1:]]
    assert Hypergraph.from_arrays(arrays, facts | {key: changed}).digest != hypergraph.digest
    arrays.pop("soft_labels", None)  # they may have a column for a class that is only named
    plain = Hypergraph.from_arrays(arrays, facts)
    assert Hypergraph.from_arrays(arrays, facts | {key: None}).digest != plain.digest


def test_dense_and_sparse_have_different_digests() -> None:
    import scipy.sparse as sp

    assert tiny(features=sp.csr_array(tiny().features)).digest != tiny().digest


def test_an_existing_folder_stays_unless_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "saved"
    write_native(tiny(name="old"), path)
    with pytest.raises(FileExistsError):
        write_native(tiny(name="new"), path)
    assert read_native(path).name == "old"
    write_native(tiny(name="new"), path, overwrite=True)
    assert read_native(path).name == "new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["saved"]


def _edit(path: Path, **changes: Any) -> None:
    manifest = json.loads((path / "manifest.json").read_text())
    del manifest["checksum"]  # what is changed on purpose has none
    (path / "manifest.json").write_text(json.dumps(manifest | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 4}, "newer hypercondense"),
        ({"version": "1"}, "version must be a whole number, got '1'"),
        ({"version": True}, "version must be a whole number, got True"),
        ({"format": "other"}, "must say format"),
        ({"digest": "0" * 64}, "digest"),
        ({"digest": None}, "digest"),
        ({"version": 0}, "version must be a whole number >= 1, got 0"),
        ({"facts": {}}, "num_nodes is missing in facts"),
        ({"facts": []}, "facts"),
        ({"sha256": {}}, "SHA-256"),
        ({"notes": "x"}, "notes"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(tmp_path: Path, changes: Any, message: str) -> None:
    write_native(tiny(), tmp_path / "saved")
    _edit(tmp_path / "saved", **changes)
    with pytest.raises(FormatError, match=message):
        read_native(tmp_path / "saved")


@pytest.mark.parametrize(
    "changes",
    [
        {"num_hyperedges": 10**15},
        {"num_nodes": 10**15},
        {"num_features": 10**18},
        {"num_nodes": None},
        {"label_names": 5},
    ],
)
def test_facts_that_claim_anything_are_refused(tmp_path: Path, changes: Any) -> None:
    import scipy.sparse as sp

    for hypergraph in (tiny(), tiny(features=sp.csr_array(tiny().features))):
        write_native(hypergraph, tmp_path / "saved", overwrite=True)
        _edit(tmp_path / "saved", facts=hypergraph.to_arrays()[1] | changes)
        with pytest.raises(FormatError):
            read_native(tmp_path / "saved")


def test_a_changed_tensor_file_is_refused(tmp_path: Path) -> None:
    write_native(tiny(), tmp_path / "saved")
    file = tmp_path / "saved" / "hypergraph.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(FormatError, match="SHA-256"):
        read(tmp_path / "saved")


def test_a_hypergraph_without_a_name_is_called_like_its_folder(tmp_path: Path) -> None:
    write_native(tiny(name=UNNAMED), tmp_path / "shop")
    assert read(tmp_path / "shop").name == "shop"
    assert read(tmp_path / "shop" / "manifest.json").name == "shop"
    assert read(tmp_path / "shop", name="other").name == "other"
