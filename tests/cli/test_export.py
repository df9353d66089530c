"""Export: what other programs get is what we have, and what would be lost is refused."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given

from hypercondense.cli import run
from hypercondense.condensation import load_condensed
from hypercondense.data.formats import WRITERS, read
from hypercondense.errors import FormatError
from hypercondense.hypergraph import Hypergraph
from makers import format_examples
from makers.format_examples import tiny
from makers.strategies import hypergraphs

SOFT = np.array([[0.9, 0.1], [0.2, 0.8], [0, 1], [1, 0]], np.float32)

pytestmark = pytest.mark.filterwarnings("ignore:a folder of tables cannot hold")


@given(hypergraphs())
def test_npz_gives_everything_back(hypergraph: Hypergraph) -> None:
    names = [hypergraph.name, *(hypergraph.label_names or ()), *(hypergraph.feature_names or ())]
    names += [*(hypergraph.node_names or ()), *(hypergraph.hyperedge_names or ())]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.npz"
        if any(name.endswith("\0") for name in (*names, *hypergraph.notes)):
            with pytest.raises(FormatError, match="NUL"):
                WRITERS["npz"](hypergraph, path)
            assert list(Path(folder).iterdir()) == []
            return
        WRITERS["npz"](hypergraph, path)
        again = read(path)
    assert again.digest == hypergraph.digest
    assert (again.name, again.notes) == (hypergraph.name, hypergraph.notes)
    assert (again.node_names or ()) == (hypergraph.node_names or ())
    assert (again.hyperedge_names or ()) == (hypergraph.hyperedge_names or ())


def labels_by_name(hypergraph: Hypergraph) -> list[str]:
    names = hypergraph.label_names or [str(label) for label in range(hypergraph.num_classes)]
    return [names[label] if label >= 0 else "" for label in hypergraph.labels]


@given(hypergraphs())
def test_tables_give_everything_back_or_are_not_written(hypergraph: Hypergraph) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        try:
            WRITERS["tables"](hypergraph, path)
        except FormatError:
            assert list(Path(folder).iterdir()) == []
            return
        again = read(path)
    np.testing.assert_array_equal(again.dense_features(), hypergraph.dense_features())
    assert labels_by_name(again) == labels_by_name(hypergraph)
    assert again.num_hyperedges == hypergraph.num_hyperedges
    for ours, theirs in zip(again.incidence, hypergraph.incidence, strict=True):
        np.testing.assert_array_equal(ours, theirs)  # type: ignore[arg-type]
    if hypergraph.soft_labels is not None:
        np.testing.assert_array_equal(again.soft_labels, hypergraph.soft_labels)  # type: ignore[arg-type]


@given(hypergraphs())
def test_tables_hold_whatever_has_hyperedges_and_ordinary_names(hypergraph: Hypergraph) -> None:
    plain = Hypergraph(
        features=hypergraph.features,
        labels=hypergraph.labels,
        incidence=hypergraph.incidence,
        num_hyperedges=hypergraph.num_hyperedges,
        label_names=[f"class {label}" for label in range(hypergraph.num_classes)],
        soft_labels=hypergraph.soft_labels,
    )
    if plain.num_hyperedges:
        with TemporaryDirectory() as folder:
            WRITERS["tables"](plain, Path(folder) / "x")
            assert read(Path(folder) / "x").num_nodes == plain.num_nodes


@pytest.mark.parametrize(
    "changes",
    [
        {"label_names": ["a", "a"]},
        {"label_names": ["a", ""]},
        {"label_names": ["a", " b"]},
        {"feature_names": ["node", "x"]},
        {"feature_names": ["x ", "y"]},
        {"incidence": ([], []), "num_hyperedges": 0},
    ],
)
def test_what_tables_would_lose_is_refused_and_npz_keeps_it(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    hypergraph = tiny(**changes)
    with pytest.raises(FormatError, match="npz can"):
        WRITERS["tables"](hypergraph, tmp_path / "x")
    assert list(tmp_path.iterdir()) == []
    WRITERS["npz"](hypergraph, tmp_path / "x.npz")
    assert read(tmp_path / "x.npz").digest == hypergraph.digest


def test_columns_of_soft_labels_are_the_classes(tmp_path: Path) -> None:
    hypergraph = tiny(soft_labels=np.hstack([SOFT, np.zeros((4, 1))]), label_names=["z", "b", "unseen"])
    WRITERS["tables"](hypergraph, tmp_path / "x")
    again = read(tmp_path / "x")
    assert again.label_names == ("z", "b", "unseen")
    assert again.labels.tolist() == hypergraph.labels.tolist()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("node,cat,dög\nn0,1,0\n", "must have every node of the feature table once"),
        ("node,cat,dög\nn0,1,0\nn1,1,0\nn2,1,0\nn2,1,0\n", "must have every node of the feature table once"),
        ("node,cat\nn0,1\nn1,1\nn2,1\nn3,1\n", "no column 'dög'"),
        ("node\nn0\n", "no column of classes"),
        ("node,cat,dög\nn0,x,0\n", "expected a number, got 'x'"),
        ("node,cat,dög\nn0,1,0\nn1,1,0\nn2,1,0\nn3,1,1\n", "add"),
    ],
)
def test_soft_labels_that_do_not_fit_are_refused(tmp_path: Path, table: str, message: str) -> None:
    format_examples.tables(tmp_path)
    (tmp_path / "soft_labels.csv").write_text(table, "utf-8")
    with pytest.raises(FormatError, match=message):
        read(tmp_path)


@pytest.mark.parametrize("to", WRITERS)
def test_what_is_there_is_replaced_only_when_asked(tmp_path: Path, to: str) -> None:
    WRITERS[to](tiny(), tmp_path / "x")
    other = tiny(features=np.zeros((4, 1)))
    with pytest.raises(FileExistsError, match="exists already"):
        WRITERS[to](other, tmp_path / "x")
    WRITERS[to](other, tmp_path / "x", overwrite=True)
    assert read(tmp_path / "x").num_features == 1
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_other_files_are_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "thesis.tex").write_text("years")
    for write in WRITERS.values():
        with pytest.raises(FileExistsError, match="choose another place"):
            write(tiny(), tmp_path / "x", overwrite=True)
    assert (tmp_path / "x" / "thesis.tex").read_text() == "years"


def test_a_result_is_exported_beside_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        run(["condense", "digits", "--nodes", "20", "--method", "ahgcdd-x", "--out", "made/small", "-q"]) == 0
    )
    hypergraph = load_condensed(tmp_path / "made" / "small").hypergraph
    for to, name in (("npz", "small.npz"), ("tables", "small-tables")):
        assert run(["export", "made/small", "--to", to, "--quiet"]) == 0
        assert capsys.readouterr() == ("", "")
        np.testing.assert_array_equal(
            read(tmp_path / "made" / name).dense_features(), hypergraph.dense_features()
        )
    assert run(["export", "made/small", "--to", "npz"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert run(["export", "made/small.npz", "--to", "tables", "--force", "--json"]) == 0
    assert '"out": "made/small-tables"' in capsys.readouterr().out
    monkeypatch.chdir(tmp_path / "made" / "small")
    assert run(["export", ".", "--to", "npz", "--force"]) == 0
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == [
        "small",
        "small-tables",
        "small.npz",
    ]
