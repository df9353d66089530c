"""Cornell text: what is read and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypercondense.data.formats import read
from hypercondense.data.label_features import label_features
from makers import format_examples
from makers.format_examples import FEATURES, LABELS, refuses


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
        ({"node_labels": ","}, "holds no labels"),
        ({"node_labels": "cat\n"}, "line 1: .*got 'cat'"),
        ({"node_features": "1 2\n3\n"}, "number of columns changed"),
        ({"node_features": ",,\n"}, "holds no numbers"),
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
