"""Folders that stay on disk: same content, same bits, checked once, refused when damaged."""

import json
import os
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings

from hypercondense import Hypergraph, condense, load, split
from hypercondense.cli import run
from hypercondense.data import synthetic
from hypercondense.data.formats import opened, read, write_mapped, write_native
from hypercondense.data.formats.opened import TENSORS_FILE
from hypercondense.errors import FormatError
from hypercondense.files.maps import new_tensors, open_tensors
from hypercondense.files.storage import file_digest
from makers.strategies import hypergraphs


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def source():
    return synthetic(num_nodes=120, num_hyperedges=80, num_classes=3, num_features=5, seed=1)


@pytest.fixture
def folder(source, tmp_path):
    write_mapped(source, tmp_path / "mapped")
    return tmp_path / "mapped"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(hypergraph=hypergraphs())
def test_content_digest_and_names_survive(hypergraph, tmp_path):
    if hypergraph.is_sparse or hypergraph.soft_labels is not None:
        return
    write_mapped(hypergraph, tmp_path / "any", overwrite=True)
    again = read(tmp_path / "any")
    assert again == hypergraph
    assert again.is_mapped and not hypergraph.is_mapped
    assert again.num_classes == hypergraph.num_classes
    write_native(again, tmp_path / "back", overwrite=True)
    assert read(tmp_path / "back") == hypergraph


def test_ids_have_32_bits_and_arrays_stay_in_the_file(folder):
    again = load(folder)
    assert again.incidence.node_ids.dtype == again.incidence.hyperedge_ids.dtype == np.int32
    assert isinstance(again.features, np.memmap) and isinstance(again.incidence.node_ids, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        again.features[0, 0] = 1


def test_names_are_read_when_asked_for(tmp_path):
    named = Hypergraph(
        features=np.eye(3),
        labels=[0, 1, 0],
        incidence=([0, 1, 2], [0, 0, 1]),
        num_hyperedges=2,
        node_names=["ann", "bøb", "eve"],
        hyperedge_names=["x", "y"],
    )
    write_mapped(named, tmp_path / "named")
    again = read(tmp_path / "named")
    assert again == named
    assert again.node_names[1] == "bøb" and again.node_names[-2:] == ("bøb", "eve")
    assert again.node_ids(["eve", "ann"]).tolist() == [2, 0]
    with pytest.raises(IndexError):
        again.node_names[3]


@pytest.mark.parametrize("method", ["means", "random"])
def test_condensing_has_the_bits_of_the_source_in_memory(source, folder, method):
    results = [condense(one, split(one), nodes=6, method=method) for one in (source, read(folder))]
    assert results[0].hypergraph.digest == results[1].hypergraph.digest


def test_other_processes_open_the_file_instead_of_getting_the_content(folder):
    again = read(folder, name="mine")
    sent = pickle.dumps(again)
    assert len(sent) < 1000
    received = pickle.loads(sent)
    assert received == again and received.name == "mine" and received.is_mapped


def test_a_path_that_is_not_seen_there_is_named(folder):
    sent = pickle.dumps(read(folder))
    folder.rename(folder.with_name("elsewhere"))
    with pytest.raises(FormatError, match="a path that all machines see"):
        pickle.loads(sent)


def test_content_is_checked_once_and_again_after_a_change(folder, monkeypatch):
    read(folder)
    checks = []
    monkeypatch.setattr(opened, "file_digest", lambda path: checks.append(path) or file_digest(path))
    read(folder)
    assert not checks
    content = bytearray((folder / TENSORS_FILE).read_bytes())
    content[-1] ^= 1
    before = (folder / TENSORS_FILE).stat()
    (folder / TENSORS_FILE).write_bytes(content)
    os.utime(folder / TENSORS_FILE, ns=(before.st_atime_ns, before.st_mtime_ns))  # as copying programs do
    with pytest.raises(FormatError, match="SHA-256"):
        read(folder)


@pytest.mark.parametrize(
    ("key", "place", "value", "told"),
    [
        ("features", (3, 2), np.nan, "node 3, column 2"),
        ("labels", 5, -2, "node 5"),
        ("incidence.node_ids", 4, 120, "incidence 4 has 120"),
        ("incidence.node_ids", 1, 0, "memberships are wrong at 1"),
        ("incidence.hyperedge_ids", -1, 81, "is empty"),
    ],
)
def test_what_is_no_hypergraph_is_refused(folder, key, place, value, told):
    """Whoever changes the tensors and the checksum in the manifest is caught by the check of the content."""
    tensors = folder / TENSORS_FILE
    arrays = {name: np.array(array) for name, array in open_tensors(tensors).items()}
    if key == "incidence.node_ids" and place == 1:
        value = arrays[key][0]
    arrays[key][place] = value
    written = new_tensors(tensors, {name: (array.dtype, array.shape) for name, array in arrays.items()})
    for name, array in arrays.items():
        written[name][...] = array
        written[name].flush()
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["sha256"][TENSORS_FILE] = file_digest(tensors)
    del manifest["checksum"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(FormatError, match=told):
        read(folder)


@pytest.mark.parametrize("cut", [0, 7, 20, -1])
def test_a_truncated_file_is_refused(folder, cut):
    content = (folder / TENSORS_FILE).read_bytes()
    (folder / TENSORS_FILE).write_bytes(content[:cut])
    with pytest.raises(FormatError, match="not a whole safetensors file"):
        read(folder)


def test_sparse_features_are_refused_in_a_sentence(tmp_path):
    sparse = Hypergraph(
        features=sp.csr_array(np.eye(2)), labels=[0, 1], incidence=([0, 1], [0, 0]), num_hyperedges=1
    )
    with pytest.raises(ValueError, match="cannot hold sparse features"):
        write_mapped(sparse, tmp_path / "no")
    assert not (tmp_path / "no").exists()


def test_the_command_writes_one(source, tmp_path, capsys):
    write_native(source, tmp_path / "native")
    out = tmp_path / "out"
    assert run(["convert", str(tmp_path / "native"), str(out), "--mapped", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["digest"] == source.digest
    assert read(out).is_mapped
