"""GraphBolt's and OGB-LSC's layouts become the hypergraph of their labelled nodes."""

import numpy as np
import pytest

from hypercondense.cli import run
from hypercondense.data.edge_lists import in_lines
from hypercondense.data.formats import read, write_mapped
from hypercondense.data.gathering import gather_graph
from hypercondense.errors import FormatError
from makers.format_examples import graphbolt, tiny


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def lsc(folder):
    papers, writes, cites = (folder / "processed" / name for name in
                             ("paper", "author___writes___paper", "paper___cites___paper"))  # fmt: skip
    other = folder / "processed" / "author___affiliated_with___institution"
    for one in (papers, writes, cites, other):
        one.mkdir(parents=True)
    np.save(papers / "node_feat.npy", tiny().dense_features().astype(np.float16))
    np.save(papers / "node_label.npy", np.array([0, 1, np.nan, 0]))
    np.save(writes / "edge_index.npy", np.array([[0, 0, 1], [0, 1, 3]]))
    np.save(cites / "edge_index.npy", np.array([[3, 3], [0, 2]]))
    np.save(other / "edge_index.npy", np.array([[0], [0]]))


def test_authors_are_hyperedges_of_their_papers(folder, tmp_path, capsys):
    graphbolt(folder)
    assert run(["convert", str(folder), str(tmp_path / "out"), "-q"]) == 0, capsys.readouterr().err
    again = read(tmp_path / "out")
    assert again.name == "four" and again.is_mapped
    assert again.incidence.hyperedge_ids.tolist() == [0, 0, 0, 1, 1]
    assert again.incidence.node_ids.tolist() == [0, 1, 2, 2, 3]
    assert again.labels.tolist() == [0, 1, 1, 0] and again.parts.tolist() == [0, 0, 1, 2]
    assert np.array_equal(again.features, tiny().dense_features())
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".out")] == []


def test_within_one_type_a_node_is_a_hyperedge_of_what_it_points_to(folder, tmp_path):
    graphbolt(folder)
    text = (folder / "metadata.yaml").read_text().replace("author:writes:paper", "paper:cites:paper")
    (folder / "metadata.yaml").write_text(text)
    gather_graph(folder, tmp_path / "out")
    assert read(tmp_path / "out").incidence.node_ids.tolist() == [0, 1, 2, 2, 3]


def test_edges_may_be_columns_and_lead_the_other_way(folder, tmp_path):
    graphbolt(folder)
    np.save(folder / "writes.npy", np.array([[0, 0], [1, 0], [2, 0], [2, 1], [3, 1]]))
    text = (folder / "metadata.yaml").read_text().replace("author:writes:paper", "paper:by:author")
    (folder / "metadata.yaml").write_text(text)
    gather_graph(folder, tmp_path / "out")
    assert read(tmp_path / "out").incidence.node_ids.tolist() == [0, 1, 2, 2, 3]


def as_text(folder, lines):
    """Edges as lines of text instead of an array."""
    (folder / "writes.csv").write_text(lines)
    metadata("format: numpy, path: writes.npy", "format: csv, path: writes.csv")(folder)


def test_edges_may_be_lines_of_text(folder, tmp_path):
    graphbolt(folder)
    as_text(folder, "0,0\n0,1\n0,2\n1,2\n1,3\n")
    gather_graph(folder, tmp_path / "out")
    assert read(tmp_path / "out").incidence.node_ids.tolist() == [0, 1, 2, 2, 3]
    blocks = list(in_lines(folder / "writes.csv", block=10))  # two lines and a half
    assert len(blocks) > 1
    ends = [np.concatenate(some).tolist() for some in zip(*blocks, strict=True)]
    assert ends == [[0, 0, 0, 1, 1], [0, 1, 2, 2, 3]]


def test_papers_of_ogb_lsc_are_in_hyperedges_of_authors_and_of_citations(folder, tmp_path):
    lsc(folder)
    gather_graph(folder, tmp_path / "out", memory=2 * 10**9)
    again = read(tmp_path / "out")
    assert (again.num_nodes, again.num_hyperedges) == (4, 3)
    assert again.incidence.node_ids.tolist() == [0, 1, 3, 0, 2]
    assert again.labels.tolist() == [0, 1, -1, 0] and again.parts is None


def metadata(old, new):
    def spoil(folder):
        text = (folder / "metadata.yaml").read_text()
        assert old in text
        (folder / "metadata.yaml").write_text(text.replace(old, new))

    return spoil


def array(name, values):
    return lambda folder: np.save(folder / name, np.array(values))


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (metadata("num: 4", "num: 5"), "5 nodes of type paper, and .*feat.npy has shape"),
        (metadata("num: 4", "num: 9007199254740992"), "9007199254740992 nodes of type paper"),
        (metadata("format: numpy, path: feat.npy", "format: torch, path: feat.npy"), "only numpy is read"),
        (metadata("format: numpy, path: writes.npy", "format: csv, path: ../w.csv"), "not below its folder"),
        (lambda folder: as_text(folder, "src,dst\n0,0\n"), "writes.csv must have lines of two whole numbers"),
        (lambda folder: as_text(folder, "0,0,1\n"), "lines of two whole numbers, as 0,7 .*3"),
        (lambda folder: as_text(folder, "0,0\n1,\n"), "an edge with an end only"),
        (lambda folder: as_text(folder, "0,0\n0,9\n"), "an edge to 9, and there are 4 nodes"),
        (lambda folder: as_text(folder, ""), "writes.csv must have lines of two whole numbers"),
        (metadata("format: numpy, path: writes.npy", "format: csv, path: lost.csv"), "lost.csv"),
        (metadata("path: writes.npy", "path: ../writes.npy"), "not below its folder"),
        (metadata("path: writes.npy", "path: lost.npy"), "lost.npy"),
        (metadata("author:writes:paper", "author:in:place"), "no edges that lead to nodes of type paper"),
        (metadata("dataset_name: four", "dataset_name: &a [1]\nother: *a"), "aliases"),
        (metadata("graph:", "graph: ["), "is not YAML"),
        (metadata("tasks:", "duties:"), "tasks"),
        (metadata("name: seeds", "name: plants"), "a set without seeds"),
        (array("writes.npy", [[0, 0], [0, 9]]), "an edge to 9, and there are 4 nodes"),
        (array("writes.npy", [[0, 2], [0, 1]]), "an edge to 2, and there are 2 nodes of the other type"),
        (array("writes.npy", [[0, 0], [1, 1]]), "more than once"),
        (array("writes.npy", [0.5]), "must be whole numbers"),
        (array("train-ids.npy", [0, 2]), "names a node twice"),
        (array("train-labels.npy", [0.5, 1]), "no whole numbers"),
        (lambda folder: (folder / "feat.npy").write_bytes(b"no"), "feat.npy"),
    ],
)
def test_what_is_wrong_is_told_in_one_line_and_nothing_is_left(folder, tmp_path, spoil, told):
    graphbolt(folder)
    spoil(folder)
    with pytest.raises(FormatError, match=told) as error:
        gather_graph(folder, tmp_path / "out")
    assert "\n" not in str(error.value)
    assert sorted(file.name for file in tmp_path.iterdir() if file.name != "cache") == ["in"]


def test_a_source_with_a_split_can_be_written_to_stay_on_disk(tmp_path):
    write_mapped(tiny(parts=[0, 1, 2, -1]), tmp_path / "out")
    assert read(tmp_path / "out").parts.tolist() == [0, 1, 2, -1]
