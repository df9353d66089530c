"""What nodes and hyperedges are called: kept everywhere, found again, no part of the digest."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hypercondense.condensation import load_condensed
from hypercondense.condensing.assembly import induced
from hypercondense.data.formats import read, write_native, write_npz, write_tables
from hypercondense.hypergraph.names import from_text_arrays, to_text_arrays
from makers.format_examples import condensation, tiny

STRANGE = ("a, b", 'say "hi"\n', "🦊", "\x1b[31mred")
NAMED = tiny(node_names=STRANGE, hyperedge_names=("one", "two"), name="named")


@pytest.mark.parametrize("writer", [write_native, write_npz, write_tables])
def test_names_come_back_from_every_format_we_write(tmp_path: Path, writer: Any) -> None:
    path = tmp_path / ("named.npz" if writer is write_npz else "named")
    writer(NAMED, path)
    again = read(path)
    assert again.node_names == STRANGE
    assert again.hyperedge_names == ("one", "two")


def test_names_are_no_part_of_the_digest_so_that_older_results_fit_their_source() -> None:
    assert NAMED.digest == tiny().digest


def test_results_keep_the_names_of_their_nodes(tmp_path: Path) -> None:
    condensation(NAMED).save(tmp_path / "small")
    assert load_condensed(tmp_path / "small").hypergraph.node_names == STRANGE


def test_chosen_nodes_keep_their_names() -> None:
    small = induced(NAMED, np.array([2, 0]))
    assert small.node_names == ("🦊", "a, b")
    assert small.hyperedge_names == ("one",)


def test_nodes_are_found_by_name_or_by_number_where_they_have_none() -> None:
    assert NAMED.node_ids(["🦊", "a, b"]).tolist() == [2, 0]
    assert tiny().node_ids(["3", 0]).tolist() == [3, 0]
    assert (NAMED.node_name(2), tiny().node_name(2)) == ("🦊", "2")


@pytest.mark.parametrize(
    ("named", "wanted", "message"),
    [
        (True, ["🦊", "ghost"], r"no node called 'ghost' \(entry 1\); nodes are called like 'a, b'"),
        (False, ["4"], r"no node '4' \(entry 0\).*numbers from 0 to 3"),
        (False, ["-1"], "no node '-1'"),
        (False, ["ann"], "no node 'ann'.*have no names here"),
    ],
)
def test_a_node_that_does_not_exist_is_named(named: bool, wanted: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        (NAMED if named else tiny()).node_ids(wanted)
    assert "\n" not in str(caught.value) and "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x.row_starts": np.array([0, 9], np.int64)}, "rise from 0 to 2"),
        ({"x.row_starts": np.array([0, 2, 1, 2], np.int64)}, "must not fall"),
        ({"x.row_starts": np.array([0.0, 2.0])}, "whole numbers"),
        ({"x.text": np.array([255, 255], np.uint8), "x.row_starts": np.array([0, 2])}, "not UTF-8"),
    ],
)
def test_arrays_of_names_that_cannot_be_are_refused(changes: dict[str, Any], message: str) -> None:
    arrays = {**to_text_arrays("x", ("a", "b")), **changes}
    with pytest.raises(ValueError, match=message):
        from_text_arrays("x", arrays)
