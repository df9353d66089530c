import hashlib
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from hypercondense.data.locate import target
from hypercondense.data.registry import DATASETS, known_names, lookup

PAPER = {
    "cora", "pubmed", "coauthor_dblp", "walmart-trips", "yelp", "mag-pm", "actor", "amazon-ratings", "pokec",
}  # fmt: skip
OTHERS = {
    "citeseer", "coauthor_cora", "house-committees", "zoo", "20newsW100", "mushroom", "ntu2012", "modelnet40",
    "twitch", "wordnet",
}  # fmt: skip


def test_every_promised_data_set_is_registered() -> None:
    assert set(DATASETS) == PAPER | OTHERS | {"digits", "synthetic"}


@pytest.mark.parametrize("name", DATASETS)
def test_an_entry_is_complete(name: str) -> None:
    dataset = DATASETS[name]
    assert dataset.name == name
    assert dataset.title and dataset.format and dataset.source and dataset.licence
    assert dataset.embedded == (not dataset.files)
    assert dataset.expected.num_nodes and dataset.expected.num_classes
    assert (dataset.noise is None) == (dataset.width is None)
    for file in dataset.files:
        assert "/" not in file.path
        assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert (file.sha256 is None) == (file.size is None)
        assert file.url is None or urlsplit(file.url).scheme == "https"


def test_names_and_aliases_are_unique_and_found_in_any_case() -> None:
    given = [name for dataset in DATASETS.values() for name in (dataset.name, *dataset.aliases)]
    assert len({name.casefold() for name in given}) == len(given) == len(known_names())
    for name in given:
        assert lookup(name.upper()) is lookup(name.lower()) is not None


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("DBLP", "coauthor_dblp"),
        ("dblp-ca", "coauthor_dblp"),
        ("walmart", "walmart-trips"),
        ("20NEWSW100", "20newsW100"),
        ("ModelNet40", "modelnet40"),
    ],
)
def test_an_alias_leads_to_its_data_set(alias: str, name: str) -> None:
    assert lookup(alias) is DATASETS[name]


def test_an_unknown_name_is_none() -> None:
    assert lookup("nothing") is None


def test_label_derived_features_are_noted() -> None:
    derived = {name for name, dataset in DATASETS.items() if dataset.label_derived}
    assert derived == {"walmart-trips", "house-committees"}
    for name in derived:
        assert (DATASETS[name].noise, DATASETS[name].width) == (0.6, 100)
        assert "made from the labels" in DATASETS[name].note


@pytest.mark.data
def test_checksums_and_sizes_are_those_of_the_shared_files(shared_data: Path) -> None:
    seen = 0
    for dataset in DATASETS.values():
        for file in dataset.files:
            path = target(dataset, shared_data) / file.path
            if path.is_file():
                assert hashlib.sha256(path.read_bytes()).hexdigest() == file.sha256
                assert path.stat().st_size == file.size
                seen += 1
    assert seen
