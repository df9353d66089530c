"""Tables: what is read and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from hypercondense.data.formats import read
from hypercondense.errors import FormatError
from makers import format_examples
from makers.format_examples import refuses


def tables(folder: Path, **contents: str) -> Path:
    format_examples.tables(folder)
    for name, content in contents.items():
        (folder / f"{name}.csv").write_text(content, "utf-8")
    return folder


def test_tables_give_names_to_classes_and_features(tmp_path: Path) -> None:
    hypergraph = read(tables(tmp_path))
    assert hypergraph.label_names == ("cat", "dög")
    assert hypergraph.feature_names == ("wide", "tall")
    assert hypergraph.node_names == ("n0", "n1", "n2", "n3")
    assert hypergraph.hyperedge_names == ("e", "f")


def test_tables_may_lack_labels_of_nodes(tmp_path: Path) -> None:
    assert read(tables(tmp_path, labels="node,label\nn2,b\nn0,\n")).labels.tolist() == [-1, -1, 0, -1]


def test_tables_may_have_weights_quotes_and_columns_in_any_order(tmp_path: Path) -> None:
    content = '\ufeffWeight,"hyperedge","node"\r\n2,"a, b",n1\r\n\r\n0.5,c,n0\r\n'
    hypergraph = read(tables(tmp_path, incidence=content))
    assert hypergraph.incidence.node_ids.tolist() == [1, 0]
    assert hypergraph.incidence.weights is not None
    assert hypergraph.incidence.weights.tolist() == [2, 0.5]


def test_tables_may_be_separated_by_tabs(tmp_path: Path) -> None:
    tables(tmp_path)
    for file in list(tmp_path.iterdir()):
        file.with_suffix(".tsv").write_text(file.read_text("utf-8").replace(",", "\t"), "utf-8")
        file.unlink()
    (tmp_path / "csv").mkdir()
    assert read(tmp_path).digest == read(tables(tmp_path / "csv")).digest


@pytest.mark.parametrize("prefix", ["", "mine-"])
def test_one_incidence_file_finds_its_siblings(tmp_path: Path, prefix: str) -> None:
    tables(tmp_path)
    for file in list(tmp_path.iterdir()):
        file.rename(tmp_path / (prefix + file.name))
    assert read(tmp_path / f"{prefix}incidence.csv").num_incidences == 5


def test_a_table_called_anything_is_known_by_its_columns(tmp_path: Path) -> None:
    tables(tmp_path)
    (tmp_path / "incidence.csv").rename(tmp_path / "pairs.csv")
    assert read(tmp_path / "pairs.csv").num_incidences == 5


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ({"incidence": "node,hyperedge\nn0,e\nn9,e\n"}, "row 2: node 'n9' is not in the feature table"),
        ({"incidence": "node,hyperedge\nn0,e\nn1,e\nn0,e\n"}, "row 3: node 'n0' is in hyperedge 'e' twice"),
        ({"incidence": "node,hyperedge\nn0\n"}, "row 1: 1 fields, but the header has 2"),
        ({"incidence": "node,edge\nn0,e\n"}, "one column 'hyperedge', its header is node, edge"),
        ({"incidence": "node,hyperedge\n"}, "no rows"),
        ({"incidence": "node,hyperedge,weight\nn0,e,x\n"}, "row 1, column 'weight': expected a number"),
        ({"incidence": "node,hyperedge,weight\nn0,e,0\n"}, "weights must be positive"),
        ({"incidence": 'node,hyperedge\n"n0,e\n'}, "line 2: unexpected end of data"),
        ({"features": "node,a\nn0,1\nn0,2\n"}, "row 2: node 'n0' is there twice"),
        ({"features": "node,a\nn0,1\n,2\n"}, "row 2: the node has no name"),
        ({"incidence": "node,hyperedge\nn0,e\nn1,\n"}, "row 2: the hyperedge has no name"),
        ({"features": "node\nn0\n"}, "no column of features"),
        ({"features": "node,a\nn0,1\nn1,\nn2,0\nn3,0\n"}, "row 2, column 'a': expected a number, got ''"),
        ({"features": "node,a\nn0,1\nn1,nan\nn2,0\nn3,0\n"}, "node 1, column 0 is nan"),
        ({"labels": "node,label\nn9,a\n"}, "row 1: node 'n9' is not in the feature table"),
        ({"labels": "node,label\nn0,a\nn0,b\n"}, "row 2: node 'n0' is there twice"),
        ({"labels": "node,label\nn0,\n"}, "none of the 4 nodes has a label"),
        ({"incidence": "node,hyperedge\n" + "x" * 200_000 + ",e\n"}, "row 1: node 'xxxxx"),
    ],
)
def test_tables_that_do_not_fit_are_named(tmp_path: Path, contents: Any, message: str) -> None:
    refuses(tables(tmp_path, **contents), message)


def test_two_tables_of_one_kind_are_refused(tmp_path: Path) -> None:
    tables(tmp_path)
    (tmp_path / "labels.tsv").write_text("node\tlabel\n")
    refuses(tmp_path, "both there")


def test_tables_with_other_names_are_told_what_they_should_be_called(tmp_path: Path) -> None:
    (tmp_path / "customers.csv").write_text("customer,age\nann,3\n", "utf-8")
    for path in (tmp_path, tmp_path / "customers.csv"):
        with pytest.raises(FormatError, match=r"not called as those of a hypergraph, which is a folder with"):
            read(path)
