from pathlib import Path

import pytest

from hypercondense.data import locate
from hypercondense.data.registry import DATASETS
from hypercondense.errors import ConfigError

ZOO = DATASETS["zoo"]


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Three places for data; the first is given, the others come from the environment."""
    monkeypatch.setenv("HYPERCONDENSE_DATA", str(tmp_path / "variable"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("sys.platform", "linux")
    return {
        "given": tmp_path / "given",
        "variable": tmp_path / "variable",
        "cache": tmp_path / "cache" / "hypercondense" / "datasets",
    }


def put_zoo(root: Path, *names: str, called: str = "zoo") -> Path:
    folder = root / called
    folder.mkdir(parents=True)
    for name in names or ("zoo.content", "zoo.edges"):
        (folder / name).touch()
    return folder


def test_places_are_searched_in_order(homes: dict[str, Path]) -> None:
    assert locate.find(ZOO, homes["given"]) is None
    for place in ("cache", "variable", "given"):
        folder = put_zoo(homes[place])
        assert locate.find(ZOO, homes["given"]) == folder


def test_an_incomplete_folder_is_passed_over(homes: dict[str, Path]) -> None:
    put_zoo(homes["given"], "zoo.edges")
    whole = put_zoo(homes["variable"])
    assert locate.find(ZOO, homes["given"]) == whole


def distinguishes_case(folder: Path) -> bool:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a").touch()
    return not (folder / "A").exists()


def test_folders_are_found_in_any_case(homes: dict[str, Path]) -> None:
    folder = put_zoo(homes["variable"], called="Zoo")
    assert locate.find(ZOO, homes["given"]) == folder
    assert locate.target(ZOO, homes["variable"]) == folder  # what is missing goes there too


def test_two_whole_folders_that_differ_in_case_only_are_both_named(homes: dict[str, Path]) -> None:
    if not distinguishes_case(homes["given"]):
        pytest.skip("this file system does not distinguish case")
    put_zoo(homes["given"], "zoo.edges", called="ZOO")  # not whole: no choice to be made
    first = put_zoo(homes["given"])
    assert locate.find(ZOO, homes["given"]) == first == locate.target(ZOO, homes["given"])
    second = put_zoo(homes["given"], called="Zoo")
    with pytest.raises(ConfigError, match="differ in case only") as caught:
        locate.find(ZOO, homes["given"])
    assert str(first) in str(caught.value) and str(second) in str(caught.value)


def test_a_link_to_a_folder_is_no_second_one(homes: dict[str, Path]) -> None:
    if not distinguishes_case(homes["given"]):
        pytest.skip("this file system does not distinguish case")
    folder = put_zoo(homes["given"], called="Zoo")
    folder.with_name("zoo").symlink_to(folder)
    found = locate.find(ZOO, homes["given"])
    assert found is not None and found.samefile(folder)


def test_an_embedded_data_set_has_no_folder(homes: dict[str, Path]) -> None:
    (homes["given"] / "digits").mkdir(parents=True)
    assert locate.find(DATASETS["digits"], homes["given"]) is None


def test_freely_named_files_are_found_by_pattern(homes: dict[str, Path]) -> None:
    folder = homes["given"] / "mag-pm"
    folder.mkdir(parents=True)
    for part in ("X_vec", "Y", "E"):
        assert locate.find(DATASETS["mag-pm"], homes["given"]) is None
        (folder / f"anything_{part}.pt").touch()
    assert locate.find(DATASETS["mag-pm"], homes["given"]) == folder


def test_new_data_goes_to_the_first_place(homes: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    assert locate.target(ZOO, homes["given"]) == homes["given"] / "zoo"
    assert locate.target(ZOO) == homes["variable"] / "zoo"
    monkeypatch.setenv("HYPERCONDENSE_DATA", "")
    assert locate.target(ZOO) == homes["cache"] / "zoo"


def test_advice_names_the_command_or_the_files(homes: dict[str, Path]) -> None:
    folder = homes["given"] / "x"
    assert locate.advice(ZOO, folder) == (
        f"run `hypercondense datasets fetch zoo`, or put zoo.content, zoo.edges from {ZOO.source} "
        f"into {folder}"
    )
    actor = DATASETS["actor"]
    assert locate.advice(actor, folder) == (
        f"put features.pickle, hypergraph.pickle, labels.pickle from {actor.source} into {folder}"
    )
    yelp = DATASETS["yelp"]
    assert locate.advice(yelp, folder) == (
        f"put yelp_restaurant_incidence_H.csv from {yelp.source} into {folder}, then run "
        f"`hypercondense datasets fetch yelp`"
    )
