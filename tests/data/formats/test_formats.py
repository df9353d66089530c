"""Every format: what is read, and that a broken file ends in one clear line."""

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercondense.data.formats import READERS, read
from hypercondense.errors import FormatError
from hypercondense.hypergraph import Hypergraph
from makers import format_examples
from makers.format_examples import EXAMPLES, FEATURES, HYPEREDGE_IDS, LABELS, NODE_IDS

OPTIONAL = {"label-names-x.txt"}  # a reader does without them
TEXT = (".txt", ".csv", ".content", ".edges", ".json", ".noun", ".verb", ".adj", ".adv")


def _parts() -> list[tuple[str, str]]:
    """Every file of every format."""
    parts = []
    for name, write in EXAMPLES.items():
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder))
            parts += [(name, file.name) for file in sorted(Path(folder).iterdir())]
    return parts


PARTS = _parts()
each_part = pytest.mark.parametrize(("name", "file"), PARTS)


def refuses(path: Path) -> str:
    """Read, which must fail with one line; return it."""
    with pytest.raises(FormatError) as caught:
        read(path)
    text = str(caught.value)
    assert text
    assert "\n" not in text
    return text


def test_every_reader_has_an_example() -> None:
    assert [reader.name for reader in READERS] == list(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_format_gives_the_same_hypergraph(tmp_path: Path, name: str) -> None:
    hypergraph = read(EXAMPLES[name](tmp_path))
    assert hypergraph.labels.tolist() == LABELS
    assert hypergraph.incidence.node_ids.tolist() == NODE_IDS
    assert hypergraph.incidence.hyperedge_ids.tolist() == HYPEREDGE_IDS
    assert hypergraph.num_hyperedges == 2
    if name not in ("Yelp CSV", "Cornell text", "WordNet"):
        np.testing.assert_array_equal(hypergraph.dense_features(), FEATURES)
        assert hypergraph.notes == ()


@pytest.mark.parametrize("name", EXAMPLES)
def test_exactly_one_reader_recognises_an_example(tmp_path: Path, name: str) -> None:
    path = EXAMPLES[name](tmp_path)
    assert [reader.name for reader in READERS if reader.recognises(path)] == [name]


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_given_name_is_used(tmp_path: Path, name: str) -> None:
    assert read(str(EXAMPLES[name](tmp_path)), name="mine").name == "mine"


@pytest.mark.parametrize(
    ("name", "file"),
    [part for part in PARTS if part[0] != "tables" and part[1] not in OPTIONAL | {"manifest.json"}],
)
def test_a_file_of_the_folder_may_be_given_instead(tmp_path: Path, name: str, file: str) -> None:
    EXAMPLES[name](tmp_path)
    assert read(tmp_path / file).num_nodes == 4


def test_an_unknown_thing_lists_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    for path in (tmp_path, tmp_path / "notes.txt"):
        text = refuses(path)
        for reader in READERS:
            assert reader.name in text


def test_a_path_that_does_not_exist_is_named(tmp_path: Path) -> None:
    assert "nowhere" in refuses(tmp_path / "nowhere")


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    refuses(tmp_path / "a")


@each_part
def test_a_missing_file_is_named(tmp_path: Path, name: str, file: str) -> None:
    path = EXAMPLES[name](tmp_path)
    (tmp_path / file).unlink()
    if file in OPTIONAL:
        assert read(path).label_names is None
    elif path.is_dir():
        ending = "*" + Path(file).suffix
        text = refuses(path)
        assert file in text or ending in text or file.replace("x", "*") in text
    else:
        refuses(path)


@each_part
def test_an_empty_file_is_refused(tmp_path: Path, name: str, file: str) -> None:
    path = EXAMPLES[name](tmp_path)
    (tmp_path / file).write_bytes(b"")
    refuses(path)


@each_part
def test_a_folder_where_a_file_should_be_is_refused(tmp_path: Path, name: str, file: str) -> None:
    path = EXAMPLES[name](tmp_path)
    (tmp_path / file).unlink()
    (tmp_path / file).mkdir()
    refuses(path)


@each_part
def test_a_file_that_is_a_loop_of_links_is_refused(tmp_path: Path, name: str, file: str) -> None:
    path = EXAMPLES[name](tmp_path)
    (tmp_path / file).unlink()
    (tmp_path / file).symlink_to(tmp_path / file)
    if file not in OPTIONAL:
        refuses(path)


@each_part
def test_a_file_without_permission_is_refused(tmp_path: Path, name: str, file: str) -> None:
    path = EXAMPLES[name](tmp_path)
    (tmp_path / file).chmod(0)
    if os.access(tmp_path / file, os.R_OK):
        pytest.skip("everything is permitted to this user")
    assert "ermission" in refuses(path)


@each_part
@pytest.mark.parametrize("content", [b"\xff\xfe\0\0 \xe9", b"\x80\x04", b"PK\x03\x04", b"{}", b"\0" * 100])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, name: str, file: str, content: bytes) -> None:
    path = EXAMPLES[name](tmp_path)
    (tmp_path / file).write_bytes(content)
    refuses(path)


@pytest.mark.parametrize(("name", "file"), [part for part in PARTS if part[1].endswith(TEXT)])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_another_encoding_is_refused(tmp_path: Path, name: str, file: str, encoding: str) -> None:
    path = EXAMPLES[name](tmp_path)
    text = (tmp_path / file).read_text("utf-8")
    (tmp_path / file).write_bytes(text.encode(encoding))
    refuses(path)


@pytest.mark.parametrize(("name", "file"), [part for part in PARTS if part[1].endswith(TEXT)])
def test_latin_1_is_refused_with_its_place(tmp_path: Path, name: str, file: str) -> None:
    path = EXAMPLES[name](tmp_path)
    content = (tmp_path / file).read_bytes()
    (tmp_path / file).write_bytes(content + "é".encode("latin-1"))
    text = refuses(path)
    if file not in ("manifest.json", "x.json"):  # JSON is not text first
        assert f"byte {len(content)} is 0xe9" in text


@pytest.mark.parametrize(("name", "file"), [part for part in PARTS if not part[1].endswith(TEXT)])
def test_every_truncation_of_a_binary_file_is_refused(tmp_path: Path, name: str, file: str) -> None:
    path = EXAMPLES[name](tmp_path)
    content = (tmp_path / file).read_bytes()
    for length in range(0, len(content), 1 + len(content) // 40):
        (tmp_path / file).write_bytes(content[:length])
        refuses(path)


MUTATIONS = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.binary(max_size=4), st.integers(0, 4)),
    min_size=1,
    max_size=4,
)


def mutated(content: bytes, mutations: list[tuple[float, bytes, int]]) -> bytes:
    """Replace some bytes at some places."""
    for where, new, removed in mutations:
        place = int(where * len(content))
        content = content[:place] + new + content[place + removed :]
    return content


@each_part
def test_any_mutated_file_gives_a_hypergraph_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, name: str, file: str
) -> None:
    folder = tmp_path_factory.mktemp("mutated")
    path = EXAMPLES[name](folder)
    original = (folder / file).read_bytes()

    @settings(max_examples=80, deadline=None, derandomize=True, database=None)
    @given(MUTATIONS.map(lambda mutations: mutated(original, mutations)) | st.binary(max_size=60))
    def check(content: bytes) -> None:
        (folder / file).write_bytes(content)
        try:
            assert isinstance(read(path), Hypergraph)
        except FormatError as error:
            assert "\n" not in str(error)

    check()


@each_part
def test_reading_leaves_the_folder_as_it_was(tmp_path: Path, name: str, file: str) -> None:
    path = EXAMPLES[name](tmp_path)
    before = {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()}
    read(path)
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == before


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "sizes"),
    [  # nodes, hyperedges, incidences, incidences with self-loops, features, classes
        ("cora", (2708, 1579, 4786, 7494, 1433, 7)),
        ("pubmed", (19717, 7963, 34629, 54346, 500, 3)),
        ("coauthor_dblp", (41302, 22363, 99561, 140863, 1425, 6)),
        ("walmart-trips", (88860, 69906, 460630, 549490, 100, 11)),
        ("zoo", (101, 43, 1717, 1817, 16, 7)),
        ("twitch", (16812, 2627, 16356, 33168, 7, 2)),
    ],
)
def test_real_data_have_the_published_sizes(shared_data: Path, name: str, sizes: tuple[int, ...]) -> None:
    hypergraph = read(shared_data / name)
    assert hypergraph.name == name
    assert sizes == (
        hypergraph.num_nodes,
        hypergraph.num_hyperedges,
        hypergraph.num_incidences,
        hypergraph.with_self_loops[0].num_incidences,
        hypergraph.num_features,
        hypergraph.num_classes,
    )


def test_old_protocols_are_read(tmp_path: Path) -> None:
    for protocol in range(6):
        hypergraph = read(format_examples.hypergcn(tmp_path, protocol))
        np.testing.assert_array_equal(hypergraph.dense_features(), FEATURES)
