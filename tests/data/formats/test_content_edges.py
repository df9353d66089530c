"""Content and edges: what is read and what is refused."""

from pathlib import Path

import pytest

from hypercondense.data.formats import read
from makers.format_examples import refuses


@pytest.mark.parametrize(
    ("content", "edges", "message"),
    [
        ("0 1 0 b\nx 0 1 c\n", "0 4\n", "line 2: expected a whole number as node id, got 'x'"),
        ("0 1 0 b\n0 0 1 c\n", "0 4\n", "line 2: node 0 is there twice"),
        ("0 1 0 b\n1 0 c\n", "0 4\n", "got 3 in the row '1 0 c'"),
        ("0 b\n", "0 4\n", "at least 3"),
        ("0 1 x b\n", "0 4\n", "could not convert string 'x'"),
        ("0 1 0 b\n", "0 4\n1 4\n", "node 1 has no row"),
        ("0 1 0 b\n", "0 4 5\n", "line 1: expected a node id and a hyperedge id, got 3 numbers"),
        ("0 1 0 b\n", "0 4\n1\n", "line 2: .*got 1 numbers"),
        ("0 1 0 b\n", "0.0 4\n", "line 1: expected whole numbers from 0, got '0.0'"),
        ("5 1 0 b\n", "0 4\n", "no node with an id below 4"),
    ],
)
def test_content_and_edges_that_do_not_fit_are_named(
    tmp_path: Path, content: str, edges: str, message: str
) -> None:
    (tmp_path / "x.content").write_text(content)
    (tmp_path / "x.edges").write_text(edges)
    refuses(tmp_path, message)


def test_content_rows_may_come_in_any_order(tmp_path: Path) -> None:
    (tmp_path / "x.content").write_text("7 1 2\n\n3 0 10\n")
    (tmp_path / "x.edges").write_text("3 9\n7 8\n")
    hypergraph = read(tmp_path)
    assert hypergraph.features.tolist() == [[1], [0]]
    assert hypergraph.labels.tolist() == [0, 1]
    assert hypergraph.label_names == ("2", "10")
    assert hypergraph.incidence.node_ids.tolist() == [0, 1]
