"""WordNet's data files: what is made of them, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

from hypercondense.data import load
from hypercondense.data.formats import read, wordnet
from hypercondense.hypergraph import Hypergraph
from makers import format_examples
from makers.format_examples import refuses

#: Of WordNet 3.1: changes with any change of how it is built, and docs/datasets.md names it.
DIGEST = "88f1291f32d82fc267ab1c06e8afd8b2ba3e2c92e86fcc753ddb088f9974da4d"
ROOT = Path(__file__).parents[3]

NOUNS = """\
00000001 05 n 02 Dog 0 domestic_dog 0 004 ~ 00000002 n 0000 ~ 00000003 n 0000 ~ 00000003 n 0102 \
@ 00000004 n 0000 | a tame animal, "the DOG barked"
00000002 05 n 0b puppy 0 w1 0 w2 0 w3 0 w4 0 w5 0 w6 0 w7 0 w8 0 w9 0 wa 0 000 | a young dog-like animal
00000003 05 n 01 PUPPY 1 000 | it's tame, for us
00000004 03 n 01 animal 0 000 | of the
"""
VERBS = (
    "00000001 38 v 01 dog 0 002 + 00000001 n 0101 ; 00000001 s 0000 02 + 01 00 + 08 01 | follow an animal\n"
)
ADJECTIVES = "00000001 00 s 01 tame(ip) 0 000 | like a dog\n"
ADVERBS = "00000001 02 r 01 tame 0 000 | follow\n"


def files(folder: Path, *, noun: str = NOUNS, verb: str = VERBS, adj: str = ADJECTIVES) -> Path:
    contents = {"noun": noun, "verb": verb, "adj": adj, "adv": ADVERBS}
    for part, content in contents.items():
        (folder / f"data.{part}").write_text(content, "utf-8")
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Hypergraph:
    return read(files(tmp_path_factory.mktemp("wordnet")))


@pytest.fixture(scope="module")
def whole(shared_data: Path) -> Hypergraph:
    if not (shared_data / "wordnet").is_dir():
        pytest.skip(f"{shared_data / 'wordnet'} is not there")
    return load("wordnet", data_dir=shared_data)


def hyperedges(hypergraph: Hypergraph) -> list[list[int]]:
    node_ids, ids, _ = hypergraph.incidence
    return [node_ids[ids == hyperedge].tolist() for hyperedge in range(hypergraph.num_hyperedges)]


def test_nodes_are_the_synsets_in_the_order_of_the_files_and_classes_their_lexicographer_files(
    made: Hypergraph,
) -> None:
    assert made.label_names is not None
    names = [made.label_names[label] for label in made.labels]
    assert names == [
        "noun.animal", "noun.animal", "noun.animal", "noun.Tops", "verb.motion", "adj.all", "adv.all",
    ]  # fmt: skip


def test_the_classes_are_the_45_lexicographer_files_in_their_order() -> None:
    assert len(set(wordnet.CLASSES)) == len(wordnet.CLASSES) == 45
    places = {
        "adj.all": 0,
        "adv.all": 2,
        "noun.Tops": 3,
        "noun.time": 28,
        "verb.body": 29,
        "verb.weather": 43,
    }
    assert {name: wordnet.CLASSES.index(name) for name in places} == places
    assert wordnet.CLASSES[44] == "adj.ppl"


def test_hyperedges_are_shared_lemmas_and_then_relations_of_three_or_more(made: Hypergraph) -> None:
    assert hyperedges(made) == [
        [0, 4],  # Dog, dog: case and part of speech do not matter
        [1, 2],  # puppy, PUPPY
        [5, 6],  # tame(ip), tame
        [0, 1, 2],  # the hyponyms of dog, one of them twice; with its one hypernym it would be a pair
    ]


def test_features_are_the_words_of_glosses_without_stop_words(made: Hypergraph) -> None:
    assert made.is_sparse
    assert made.feature_names == ("animal", "barked", "dog", "follow", "like", "tame", "young")
    assert made.dense_features().astype(int).tolist() == [
        [1, 1, 1, 0, 0, 1, 0],  # the example in the gloss counts, and so do capitals
        [1, 0, 1, 0, 1, 0, 1],
        [0, 0, 0, 0, 0, 1, 0],
        [0, 0, 0, 0, 0, 0, 0],
        [1, 0, 0, 1, 0, 0, 0],
        [0, 0, 1, 0, 1, 0, 0],
        [0, 0, 0, 1, 0, 0, 0],
    ]


def test_the_words_in_most_glosses_are_kept_and_ties_go_by_the_alphabet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wordnet, "NUM_WORDS", 4)  # animal 3, dog 3, then follow, like and tame 2 each
    assert read(files(tmp_path)).feature_names == ("animal", "dog", "follow", "like")


def test_other_lexicographer_files_change_labels_only(tmp_path: Path, made: Hypergraph) -> None:
    other = read(files(tmp_path, noun=NOUNS.replace(" 05 n ", " 18 n "), verb=VERBS.replace(" 38 ", " 29 ")))
    assert not np.array_equal(other.labels, made.labels)
    assert other.feature_names == made.feature_names
    assert (other.features != made.features).nnz == 0
    assert hyperedges(other) == hyperedges(made)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("00000002 05 n 0b", "00000002 05 n 11", "line 2: 17 words are declared, but there are 11"),
        ("00000002 05 n 0b", "00000002 05 v 0b", "line 2: expected offset, file, type n, .*'00000002 05 v"),
        (" 004 ~", " 005 ~", "line 1: 5 pointers are declared, but there are 4"),
        ("@ 00000004 n 0000", "@ 00000009 n 0000", "line 1: @ points to synset 00000009 of type n"),
        ("00000003 05", "00000002 05", "line 3: synset 00000002 is there twice"),
        ("00000004 03", "00000004 45", "line 4: lexicographer files are 00 to 44, got 45"),
        (" | it's", " it's", "line 3: expected offset"),
        ("00000004 03", "\n00000004 03", "line 4: expected offset, .* got ''"),
        ("of the\n", "of the", "line 4: the file ends within this line"),
    ],
)
def test_a_line_that_does_not_fit_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in NOUNS
    refuses(files(tmp_path, noun=NOUNS.replace(old, new)), f"data.noun, {message}")


def test_frames_that_are_not_all_there_are_named(tmp_path: Path) -> None:
    verb = VERBS.replace(" + 08 01", "")
    refuses(files(tmp_path, verb=verb), "data.verb, line 1: 2 frames are declared, but there are 1")


def test_a_file_cut_within_a_line_is_refused(tmp_path: Path) -> None:
    cuts = [length for length in range(0, len(NOUNS), 7) if NOUNS[:length][-1:] != "\n"]
    for length in cuts:
        refuses(files(tmp_path, noun=NOUNS[:length]), r"data\.noun(, line \d: the file ends| is empty)")


def test_a_file_cut_between_lines_is_noticed_by_what_points_to_it(tmp_path: Path) -> None:
    noun = NOUNS[: NOUNS.index("00000004 03")]
    refuses(files(tmp_path, noun=noun), "data.noun, line 1: @ points to synset 00000004 .*files whole")


def test_files_with_nothing_to_build_from_are_refused(tmp_path: Path) -> None:
    for part in wordnet.PARTS:
        (tmp_path / part).write_text("  1 licence  \n")
    refuses(tmp_path, "no synset")
    format_examples.wordnet(tmp_path)
    for part in wordnet.PARTS:
        head, _, _ = (tmp_path / part).read_text().partition(" | ")
        (tmp_path / part).write_text(f"{head} | of the\n")
    refuses(tmp_path, "glosses without words")


@pytest.mark.data
def test_wordnet_is_built_to_the_bit_as_documented(whole: Hypergraph) -> None:
    assert whole.digest == DIGEST
    assert DIGEST in (ROOT / "docs" / "datasets.md").read_text("utf-8")


@pytest.mark.data
def test_classes_and_features_of_wordnet_are_as_documented(whole: Hypergraph) -> None:
    counts = np.bincount(whole.labels, minlength=45)
    assert (counts.min(), counts.max()) == (42, 14460)  # noun.motive, adj.all
    assert whole.features.nnz == 447_679
    assert (np.diff(whole.features.indptr) == 0).sum() == 5_434
    assert whole.feature_names is not None
    assert not {"the", "and", "not"} & set(whole.feature_names)
