import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hypercondense.data import load
from hypercondense.data.registry import DATASETS
from hypercondense.data.synthetic import synthetic
from hypercondense.errors import ConfigError, DatasetNotFoundError, FormatError
from hypercondense.hypergraph import Hypergraph


def hypergraph(num_nodes: int, num_hyperedges: int, *, num_features: int, num_classes: int) -> Hypergraph:
    ids = np.arange(max(num_nodes, num_hyperedges))
    return Hypergraph(
        features=np.zeros((num_nodes, num_features), np.float32),
        labels=np.arange(num_nodes) % num_classes,
        incidence=(ids % num_nodes, ids % num_hyperedges),
        num_hyperedges=num_hyperedges,
    )


class Reader:
    """Stands in for the format readers: returns one hypergraph and remembers what it was asked for."""

    def __init__(self) -> None:
        self.calls: list[tuple[Path, dict[str, Any]]] = []
        self.result = hypergraph(1290, 341, num_features=100, num_classes=2)

    def read(self, path: Path, **options: Any) -> Hypergraph:
        self.calls.append((path, options))
        return self.result


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Reader:
    reader = Reader()
    module = ModuleType("hypercondense.data.formats")
    module.read = reader.read  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hypercondense.data.formats", module)
    monkeypatch.delenv("HYPERCONDENSE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return reader


def put(root: Path, name: str) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    for file in DATASETS[name].files:
        (folder / file.path).touch()
    return folder


def test_a_registered_name_is_read_with_its_recipe(reader: Reader, tmp_path: Path) -> None:
    folder = put(tmp_path / "data", "house-committees")
    load("House", data_dir=tmp_path / "data", seed=3)
    load("house-committees", data_dir=tmp_path / "data", noise=1.0)
    recipe = {"name": "house-committees", "width": 100}
    assert reader.calls == [
        (folder, {**recipe, "seed": 3, "noise": 0.6}),
        (folder, {**recipe, "seed": 0, "noise": 1.0}),
    ]


def test_another_variant_of_known_data_is_refused_with_both_numbers(reader: Reader, tmp_path: Path) -> None:
    put(tmp_path, "zoo")
    reader.result = hypergraph(101, 42, num_features=16, num_classes=7)
    with pytest.raises(FormatError) as error:
        load("zoo", data_dir=tmp_path)
    assert "zoo has 43 hyperedges" in str(error.value)
    assert f"the files in {tmp_path / 'zoo'} have 42" in str(error.value)


def test_statistics_that_were_never_checked_only_warn(
    reader: Reader, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put(tmp_path, "yelp")
    reader.result = hypergraph(50758, 679302, num_features=1862, num_classes=9)
    load("yelp", data_dir=tmp_path)
    assert "4,574,352 incidences with self loops" in caplog.text and "have 679,302" in caplog.text


def test_noise_for_data_with_features_is_refused(reader: Reader, tmp_path: Path) -> None:
    put(tmp_path, "zoo")
    with pytest.raises(ValueError, match="zoo has its own"):
        load("zoo", data_dir=tmp_path, noise=0.1)


def test_an_absent_data_set_says_how_to_get_it(reader: Reader, tmp_path: Path) -> None:
    with pytest.raises(DatasetNotFoundError) as error:
        load("cora", data_dir=tmp_path)
    text = str(error.value)
    assert text.startswith("cora is not on this machine; run `hypercondense datasets fetch cora`")
    assert str(tmp_path / "cora") in text
    with pytest.raises(DatasetNotFoundError, match=r"put features\.pickle, .* from https://github.com"):
        load("pokec", data_dir=tmp_path)


@pytest.mark.parametrize(
    ("typed", "meant"), [("pubmad", "pubmed"), ("wallmart", "walmart-trips"), ("CORRA", "cora")]
)
def test_an_unknown_name_suggests_close_ones(reader: Reader, typed: str, meant: str) -> None:
    with pytest.raises(DatasetNotFoundError) as error:
        load(typed)
    assert "neither a registered data set nor an existing file or folder" in str(error.value)
    assert f"did you mean {meant}" in str(error.value)


def test_a_name_like_no_other_lists_the_registered_ones(reader: Reader) -> None:
    with pytest.raises(DatasetNotFoundError, match="registered are cora, pubmed"):
        load("zzzzzzzz")


def test_a_path_is_read_whatever_it_is_called(reader: Reader, tmp_path: Path) -> None:
    for name in ("mine", "cora"):
        (tmp_path / name).mkdir()
    load("mine", seed=1)
    load("./cora", noise=0.2)
    load(Path("cora"))
    assert reader.calls == [
        (Path("mine"), {"seed": 1}),
        (Path("cora"), {"seed": 0, "noise": 0.2}),
        (Path("cora"), {"seed": 0}),
    ]


def test_a_registered_name_wins_over_a_folder_of_that_name_if_it_is_on_the_machine(
    reader: Reader, tmp_path: Path
) -> None:
    (tmp_path / "House").mkdir()
    registered = put(tmp_path / "data", "house-committees")
    load("House", data_dir=tmp_path / "data")
    load("./House", data_dir=tmp_path / "data")
    assert [path for path, _ in reader.calls] == [registered, Path("House")]


@pytest.mark.parametrize("typed", ["Mushroom", "mushroom"])
def test_a_folder_called_like_a_data_set_that_is_not_on_the_machine_is_read(
    reader: Reader, tmp_path: Path, typed: str
) -> None:
    (tmp_path / "Mushroom").mkdir()
    load(typed, seed=2)
    assert reader.calls == [(Path("Mushroom"), {"seed": 2})]


def test_a_folder_here_with_the_files_of_a_data_set_is_checked_as_that(
    reader: Reader, tmp_path: Path
) -> None:
    put(tmp_path, "mushroom").rename(tmp_path / "Mushroom")
    with pytest.raises(FormatError, match="mushroom has 8,124 nodes, but the files in Mushroom have 1,290"):
        load("Mushroom")
    reader.result = hypergraph(8124, 298, num_features=22, num_classes=2)
    load("Mushroom")
    assert reader.calls[-1] == (Path("Mushroom"), {"name": "mushroom", "seed": 0})


@pytest.mark.parametrize("name", ["house-committees", "synthetic"])
def test_a_folder_that_is_called_like_what_is_read_is_told(
    reader: Reader, tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    put(tmp_path / "data", "house-committees")
    load(name, data_dir=tmp_path / "data")
    assert "of this name" not in caplog.text
    (tmp_path / name).mkdir()
    load(name, data_dir=tmp_path / "data")
    assert f"the folder of this name here is .{os.sep}{name}" in caplog.text


def test_the_folder_that_is_read_is_no_other(
    reader: Reader, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put(tmp_path, "house-committees")
    load("house-committees", data_dir=tmp_path)
    assert "of this name" not in caplog.text


def test_two_folders_here_that_differ_in_case_only_are_both_named(reader: Reader, tmp_path: Path) -> None:
    for name in ("Mushroom", "MUSHROOM"):
        (tmp_path / name).mkdir(exist_ok=True)
    if len(list(tmp_path.iterdir())) < 2:
        pytest.skip("this file system does not distinguish case")
    with pytest.raises(ConfigError, match="MUSHROOM and Mushroom differ in case only"):
        load("mushroom")
    load("./Mushroom")
    assert [path for path, _ in reader.calls] == [Path("Mushroom")]


def test_a_folder_here_is_found_in_any_case(
    reader: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Customers").mkdir()
    load("customers")
    (tmp_path / "CUSTOMERS").mkdir()
    if len(list(tmp_path.iterdir())) == 2:
        with pytest.raises(ConfigError, match="CUSTOMERS and Customers differ in case only"):
            load("customers")


def test_a_path_that_is_not_there_is_called_so(reader: Reader) -> None:
    for source in ("data/cora.npz", Path("cora.npz")):
        with pytest.raises(DatasetNotFoundError, match="there is no file or folder"):
            load(source)


def test_embedded_data_need_no_files(reader: Reader) -> None:
    assert load("digits").num_nodes == 1797
    assert load("synthetic", seed=4).digest == synthetic(seed=4).digest
    assert reader.calls == []


@pytest.mark.parametrize("name", ["digits", "synthetic"])
def test_embedded_data_are_what_the_registry_says(name: str) -> None:
    made, expected = load(name), DATASETS[name].expected
    assert (made.num_nodes, made.num_hyperedges) == (expected.num_nodes, expected.num_hyperedges)
    assert (made.num_features, made.num_classes) == (expected.num_features, expected.num_classes)
    assert expected.num_incidences in (made.num_incidences, None)


@pytest.mark.data
@pytest.mark.parametrize("name", ["cora", "pubmed", "coauthor_dblp", "walmart-trips", "zoo"])
def test_shared_data_have_their_published_statistics(name: str, shared_data: Path) -> None:
    pytest.importorskip("hypercondense.data.formats")
    if not (shared_data / name).is_dir():
        pytest.skip(f"{shared_data / name} is not there")
    loaded = load(name, data_dir=shared_data)
    assert loaded.name == name
    if DATASETS[name].label_derived:
        assert any("labels" in note for note in loaded.notes)
