"""What is particular to each format."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import format_examples
from format_examples import FEATURES, HYPEREDGE_IDS, LABELS, NODE_IDS
from hypercondense.data.formats import read
from hypercondense.data.formats.text import encode_labels
from hypercondense.data.label_features import label_features
from hypercondense.errors import FormatError


def refuses(path: Path, message: str, **options: Any) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        read(path, **options)
    assert "\n" not in str(caught.value)


# Features made from labels


def test_label_features_without_noise_are_one_hot() -> None:
    expected = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    assert label_features([1, 0, -1], width=4, noise=0, seed=5).tolist() == expected


def test_label_features_have_the_noise_they_say() -> None:
    labels = np.arange(2000) % 7
    noise = label_features(labels, width=50, noise=0.6, seed=1) - label_features(
        labels, width=50, noise=0, seed=1
    )
    assert noise.std() == pytest.approx(0.6, rel=0.01)
    assert noise.mean() == pytest.approx(0, abs=0.01)


def test_label_features_follow_the_seed() -> None:
    first, again, other = (label_features([0, 1], seed=seed) for seed in (0, 0, 1))
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != other.tobytes()


@pytest.mark.parametrize(
    ("width", "noise", "message"), [(2, 0.6, "width 2"), (9, -1, "noise"), (9, np.nan, "noise")]
)
def test_impossible_label_features_are_refused(width: int, noise: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        label_features([0, 2], width=width, noise=noise)


def test_labels_are_put_in_order_of_value_or_alphabet() -> None:
    assert encode_labels(["10", "9", "-1"])[1] == ("-1", "9", "10")
    assert encode_labels(["b", "10", "9"])[1] == ("10", "9", "b")
    assert encode_labels(["", "a"])[0].tolist() == [-1, 0]


# HyperGCN pickles


def hypergcn(folder: Path, **contents: Any) -> Path:
    format_examples.hypergcn(folder)
    for name, content in contents.items():
        (folder / f"{name}.pickle").write_bytes(pickle.dumps(content))
    return folder


@pytest.mark.parametrize(
    "labels", [np.array(LABELS), np.eye(2)[LABELS], np.eye(2, dtype=int)[LABELS].tolist()]
)
def test_hypergcn_labels_may_be_one_hot(tmp_path: Path, labels: Any) -> None:
    assert read(hypergcn(tmp_path, labels=labels)).labels.tolist() == LABELS


def test_hypergcn_labels_may_be_rows_of_arrays(tmp_path: Path) -> None:
    assert read(hypergcn(tmp_path, labels=list(np.eye(2)[LABELS]))).labels.tolist() == LABELS


@pytest.mark.parametrize(
    "features", [FEATURES, np.asfortranarray(FEATURES), FEATURES.astype(">f8"), FEATURES.tolist()]
)
def test_hypergcn_features_may_be_dense(tmp_path: Path, features: Any) -> None:
    hypergraph = read(hypergcn(tmp_path, features=features))
    np.testing.assert_array_equal(hypergraph.features, FEATURES)


def test_hypergcn_drops_empty_hyperedges_and_repeated_members_with_a_note(tmp_path: Path) -> None:
    hypergraph = read(hypergcn(tmp_path, hypergraph={"a": [1, 0, 1], "b": [], "c": {0, 1}, "d": [0, 1]}))
    assert hypergraph.num_hyperedges == 3  # the identical ones are kept
    assert hypergraph.incidence.node_ids.tolist() == [0, 1] * 3
    assert hypergraph.notes == (
        "1 repeated members of a hyperedge were dropped",
        "1 empty hyperedges were dropped",
    )


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ({"hypergraph": {0: [0, 9]}}, "node ids must be 0 to 3: incidence 1 has node 9"),
        ({"hypergraph": {0: [0, -1]}}, "has node -1"),
        ({"hypergraph": {0: [0, 1.5]}}, "whole numbers, there is a float"),
        ({"hypergraph": {0: ["x"]}}, "whole numbers, there is a str"),
        ({"hypergraph": {0: [2**70]}}, "hypergraph.pickle"),
        ({"hypergraph": {0: 5}}, "not a int"),
        ({"hypergraph": "text"}, "not a str"),
        ({"labels": [0, 1]}, "2 labels for 4 nodes"),
        ({"labels": [0, 1, 0.5, 1]}, "entry 2 is 0.5"),
        ({"labels": []}, "labels.pickle"),
        ({"labels": np.ones((4, 2))}, "not one-hot"),
        ({"labels": {0: 1}}, "not a dict"),
        ({"labels": [[0, 1], [1]]}, "rows of one length"),
        ({"features": "text"}, "not a str"),
        ({"features": [[1.0], "x"]}, "it also holds a str"),
        ({"features": np.full((4, 2), np.nan)}, "node 0, column 0 is nan"),
    ],
)
def test_hypergcn_content_that_does_not_fit_is_named(tmp_path: Path, contents: Any, message: str) -> None:
    refuses(hypergcn(tmp_path, **contents), message)


@pytest.mark.parametrize(("part", "value"), [("indices", [0, 1, 0, 1, 99]), ("indptr", [0, 9, 0, 4, 5])])
def test_hypergcn_sparse_features_with_wrong_indices_are_refused(
    tmp_path: Path, part: str, value: Any
) -> None:
    matrix = sp.csr_matrix(FEATURES)
    setattr(matrix, part, np.array(value, np.int32))
    refuses(hypergcn(tmp_path, features=matrix), "features.pickle: (columns|row starts)")


# Cornell text


def cornell(folder: Path, **contents: str) -> Path:
    format_examples.cornell(folder)
    for name, content in contents.items():
        (folder / f"{name.replace('_', '-')}-x.txt").write_text(content, "utf-8")
    return folder


def test_cornell_features_are_made_from_labels_and_say_so(tmp_path: Path) -> None:
    hypergraph = read(cornell(tmp_path), noise=0.25, width=7, seed=3)
    expected = label_features(LABELS, width=7, noise=0.25, seed=3)
    assert hypergraph.features.tobytes() == expected.tobytes()
    assert "derived from the labels" in hypergraph.notes[0]
    assert "0.25" in hypergraph.notes[0]
    assert hypergraph.label_names == ("cats", "dögs")


def test_cornell_takes_stored_features_if_there_are_any(tmp_path: Path) -> None:
    hypergraph = read(cornell(tmp_path, node_features="1,0\n0,1\n1,1\n0.5,0\n"))
    np.testing.assert_array_equal(hypergraph.features, FEATURES)
    assert hypergraph.notes == ()


def test_cornell_takes_the_first_of_several_labels(tmp_path: Path) -> None:
    hypergraph = read(cornell(tmp_path, node_labels="1\n2,1\n\n1 2"))
    assert hypergraph.labels.tolist() == [0, 1, -1, 0]
    assert "2 nodes have several labels; the first is used" in hypergraph.notes


def test_cornell_drops_blank_lines_and_repeated_members_with_a_note(tmp_path: Path) -> None:
    hypergraph = read(cornell(tmp_path, hyperedges="1,1,2\r\n\r\n3,4"))
    assert hypergraph.incidence.node_ids.tolist() == [0, 1, 2, 3]
    assert hypergraph.num_hyperedges == 2
    assert hypergraph.notes[1:] == (
        "1 repeated members of a hyperedge were dropped",
        "1 empty hyperedges were dropped",
    )


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ({"hyperedges": "1,2\n3,9\n"}, "hyperedges-x.txt, line 2: node ids must be 1 to 4 .*got 9"),
        ({"hyperedges": "1,2\n0,3\n"}, "line 2: .*got 0"),
        ({"hyperedges": "1,2\n3.0,4\n"}, "line 2: expected whole numbers from 0, got '3.0'"),
        ({"hyperedges": "1,2\n-3,4\n"}, "line 2: expected whole numbers from 0, got '-3'"),
        ({"hyperedges": "1,99999999999999999999\n"}, "line 1: .*got '99999999999999999999'"),
        ({"hyperedges": "\n\n"}, "is empty"),
        ({"node_labels": "1\n2\n3\n1\n"}, "line 3: labels must be 1 to 2, got 3"),
        ({"node_labels": "1\n0\n2\n1\n"}, "line 2: labels must be 1 to 2, got 0"),
        ({"node_labels": "cat\n"}, "line 1: .*got 'cat'"),
        ({"node_features": "1 2\n3\n"}, "number of columns changed"),
        ({"node_features": "1 2\n"}, "4 labels for 1 nodes"),
    ],
)
def test_cornell_content_that_does_not_fit_is_named(tmp_path: Path, contents: Any, message: str) -> None:
    refuses(cornell(tmp_path, **contents), message)


def test_cornell_width_must_hold_all_classes(tmp_path: Path) -> None:
    refuses(cornell(tmp_path), "width 1 is too small for 2 classes", width=1)


def test_two_hypergraphs_in_one_folder_are_told_apart_by_file(tmp_path: Path) -> None:
    cornell(tmp_path)
    (tmp_path / "hyperedges-y.txt").write_text("1\n")
    refuses(tmp_path, "hyperedges-x.txt, hyperedges-y.txt")
    assert read(tmp_path / "hyperedges-x.txt").num_nodes == 4
    refuses(tmp_path / "hyperedges-y.txt", "node-labels-y.txt is missing")


# LE / AllSet text


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


# MAG-PM tensors


def test_tensors_with_gaps_repeats_and_small_names_are_read(tmp_path: Path) -> None:
    format_examples.tensors(tmp_path)
    (tmp_path / "x_Y.pt").rename(tmp_path / "x_y.pt")
    torch.save(torch.zeros(3), tmp_path / "x_split_E.pt")
    torch.save(torch.tensor([[0, 1, 1], [0, 2, 2]]), tmp_path / "x_E.pt")
    hypergraph = read(tmp_path)
    assert hypergraph.name == "x"
    assert hypergraph.num_hyperedges == 2
    assert len(hypergraph.notes) == 2


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("E", torch.zeros(2, 3), "x_E.pt must be whole numbers in two rows"),
        ("E", torch.zeros(3, 2, dtype=torch.int64), "two rows"),
        ("E", torch.tensor([[9], [0]]), "has node 9"),
        ("E", torch.tensor([[0], [-1]]), "the smallest is -1"),
        ("Y", torch.tensor([0, 1]), "2 labels for 4 nodes"),
        ("Y", torch.tensor([0.5, 1, 1, 1]), "entry 0 is 0.5"),
        ("X_vec", torch.zeros(4), "shape"),
        ("X_vec", torch.full((4, 2), torch.nan), "node 0, column 0 is nan"),
        ("X_vec", torch.zeros(4, 2, dtype=torch.complex64), "real numbers"),
    ],
)
def test_tensors_that_do_not_fit_are_named(tmp_path: Path, part: str, value: Any, message: str) -> None:
    format_examples.tensors(tmp_path)
    torch.save(value, tmp_path / f"x_{part}.pt")
    refuses(tmp_path, message)


def test_half_precision_tensors_are_read(tmp_path: Path) -> None:
    format_examples.tensors(tmp_path)
    for kind in (torch.bfloat16, torch.float16, torch.float64):
        torch.save(torch.tensor(FEATURES, dtype=kind), tmp_path / "x_X_vec.pt")
        np.testing.assert_array_equal(read(tmp_path).features, FEATURES)


# Yelp


def test_yelp_features_are_coordinates_state_city_and_words(tmp_path: Path) -> None:
    hypergraph = read(format_examples.yelp(tmp_path))
    assert hypergraph.is_sparse
    assert hypergraph.feature_names == (
        *("latitude", "longitude", "state 1", "state 2", "city 1", "city 2", "city 3"),
        *("name cafe", "name grill", "name pizza", "name roma"),
    )
    assert hypergraph.dense_features().tolist() == [
        [1.5, -2, 1, 0, 1, 0, 0, 1, 0, 0, 1],
        [0, 3, 1, 0, 0, 1, 0, 0, 1, 0, 1],
        [4, 5, 0, 1, 0, 0, 1, 0, 0, 1, 0],
        [6, 7, 0, 1, 1, 0, 0, 0, 0, 2, 0],
    ]
    assert hypergraph.label_names == ("3", "7")


@pytest.mark.parametrize(
    ("part", "content", "message"),
    [
        ("latlong", "a,b\n1,2\n", "latlong.csv has 1 rows, but yelp_restaurant_locations.csv has 4"),
        ("latlong", "a,b\n1,2\n1,x\n1,2\n1,2\n", "row 2, column 'b': expected a number, got 'x'"),
        (
            "locations",
            "city_int,state_int\n1,1\n1,1\n1,1\n1,900\n",
            "row 4: state_int must be 1 to 4, got 900",
        ),
        ("locations", "city_int,state_int\n1,1\n1,1.5\n1,1\n1,1\n", "row 2, .*whole number, got '1.5'"),
        ("locations", "city_int\n1\n2\n3\n1\n", "must have one column 'state_int'"),
        ("name", "name\na\n", "name.csv has 1 rows"),
        ("business_stars", "stars\n3\n", "1 labels for 4 nodes"),
        ("incidence_H", "he,node\n1,1.5\n", "row 1: expected ids from 1, got 1.5"),
        ("incidence_H", "he,node\n1,0\n", "row 1: expected ids from 1, got 0"),
        ("incidence_H", "he,node\n1,5\n", "row 1: node 5, but there are 4 nodes"),
        ("incidence_H", "he,node\n1,x\n", "could not convert"),
        ("incidence_H", "he,other\n1,2\n", "must have columns node and he"),
        ("incidence_H", "he,node\n", "at least one row"),
    ],
)
def test_yelp_content_that_does_not_fit_is_named(
    tmp_path: Path, part: str, content: str, message: str
) -> None:
    format_examples.yelp(tmp_path)
    (tmp_path / f"yelp_restaurant_{part}.csv").write_text(content)
    refuses(tmp_path, message)


def test_yelp_names_without_words_give_no_columns(tmp_path: Path) -> None:
    format_examples.yelp(tmp_path)
    (tmp_path / "yelp_restaurant_name.csv").write_text("name\nthe\nof\n?\nand\n")
    assert read(tmp_path).num_features == 7


# npz


def npz(path: Path, **changes: Any) -> Path:
    arrays = {
        "features": FEATURES,
        "labels": LABELS,
        "node_ids": NODE_IDS,
        "hyperedge_ids": HYPEREDGE_IDS,
    } | changes
    np.savez_compressed(path, **{key: value for key, value in arrays.items() if value is not None})
    return path


def test_npz_holds_weights_names_and_notes(tmp_path: Path) -> None:
    path = npz(
        tmp_path / "file.npz",
        weights=[1.0, 2, 3, 4, 5],
        num_nodes=4,
        num_hyperedges=2,
        label_names=["a", "b"],
        feature_names=["c", "d"],
        name="mine",
        notes=["seen"],
        other=[1],
    )
    hypergraph = read(path)
    assert hypergraph.incidence.weights is not None
    assert hypergraph.incidence.weights.tolist() == [1, 2, 3, 4, 5]
    assert hypergraph.label_names == ("a", "b")
    assert hypergraph.feature_names == ("c", "d")
    assert hypergraph.name == "mine"
    assert hypergraph.notes == ("seen", "arrays of the file that were not used: other")


def test_npz_holds_sparse_features_and_may_be_called_anything(tmp_path: Path) -> None:
    matrix = sp.csr_array(FEATURES)
    path = npz(
        tmp_path / "x.npz",
        features=None,
        features_data=matrix.data,
        features_indices=matrix.indices,
        features_indptr=matrix.indptr,
        features_shape=matrix.shape,
    ).rename(tmp_path / "file.dat")
    hypergraph = read(path)
    assert hypergraph.is_sparse
    np.testing.assert_array_equal(hypergraph.dense_features(), FEATURES)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": None}, "lacks the array 'labels'"),
        ({"features": None}, "lacks 'features'"),
        ({"node_ids": [0.0, 1, 2, 2, 3.5]}, "entry 4 is 3.5"),
        ({"node_ids": np.array(["a"])}, "whole numbers, got type"),
        ({"num_hyperedges": 10**15}, "are empty"),
        ({"num_hyperedges": [1, 2]}, "must be one whole number"),
        ({"num_nodes": 10**15}, "4 rows but num_nodes"),
        ({"features": np.full((4, 2), np.inf)}, "column 0 is inf"),
        ({"weights": ["a"] * 5}, "x.npz"),
        ({"label_names": ["a"]}, "1 label names"),
        ({"labels": [LABELS]}, "flat list"),
        ({"hyperedge_ids": [[0]]}, "flat list"),
    ],
)
def test_npz_content_that_does_not_fit_is_named(tmp_path: Path, changes: Any, message: str) -> None:
    refuses(npz(tmp_path / "x.npz", **changes), message)


# Tables


def tables(folder: Path, **contents: str) -> Path:
    format_examples.tables(folder)
    for name, content in contents.items():
        (folder / f"{name}.csv").write_text(content, "utf-8")
    return folder


def test_tables_give_names_to_classes_and_features(tmp_path: Path) -> None:
    hypergraph = read(tables(tmp_path))
    assert hypergraph.label_names == ("cat", "dög")
    assert hypergraph.feature_names == ("wide", "tall")


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
