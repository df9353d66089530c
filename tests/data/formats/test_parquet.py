"""Parquet and the layout of a hub: what comes back, what is told, and files of others."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hypercondense as hc
from hypercondense.cli import run
from hypercondense.data.formats import WRITERS, read
from hypercondense.errors import ConfigError
from hypercondense.hypergraph.scaling import Scale
from interchange.ways import ASPECTS, same
from makers.format_examples import condensation, refuses, tiny

SHARES = np.array([[1, 0], [0, 1], [0, 1], [0.5, 0.5]], np.float32)


@pytest.mark.parametrize("to", ["parquet", "hub"])
@pytest.mark.parametrize("aspect", ASPECTS)
def test_everything_comes_back(tmp_path: Path, to: str, aspect: str) -> None:
    WRITERS[to](ASPECTS[aspect], tmp_path / "x")
    assert same(read(tmp_path / "x"), ASPECTS[aspect])
    assert same(read(tmp_path / "x" / "nodes.parquet"), ASPECTS[aspect])


def parts(folder: Path, **changes: Any) -> Path:
    """Tables of somebody else, in two parts."""
    nodes = {"node": ["a", "b", "c"], "label": ["x", None, "y"], "age": [1.5, 2.5, 3.5]} | changes
    for place, rows in enumerate((slice(0, 2), slice(2, 3))):
        own = {key: pa.array(values)[rows] for key, values in nodes.items() if values is not None}
        pq.write_table(pa.table(own), folder / f"nodes-{place}.parquet")
    pairs = pa.table({"node": ["a", "b", "c"], "hyperedge": [7, 7, 9]})
    pq.write_table(pairs, folder / "incidences.parquet", compression="gzip")
    return folder


def test_tables_of_others_are_read_in_parts(tmp_path: Path) -> None:
    source = read(parts(tmp_path))
    assert source.node_names == ("a", "b", "c") and source.hyperedge_names == ("7", "9")
    assert source.label_names == ("x", "y") and source.labels.tolist() == [0, -1, 1]
    assert source.feature_names == ("age",) and source.features[:, 0].tolist() == [1.5, 2.5, 3.5]
    lists = read(parts(tmp_path, age=None, features=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    assert lists.features.tolist() == [[1, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"age": ["1", "2", "3"]}, "column 'age' holds str"),
        ({"age": [b"1", b"2", b"3"], "born": [[1], [2], [3]]}, "2 problems: .*'age'.* is binary.*'born'"),
        ({"node": ["a", "b", "b"]}, "rows 1 and 2 are both of 'b'"),
        ({"node": ["a", "b", "d"]}, "node 'c' of the incidences"),
        ({"age": None}, "nodes have no features"),
        ({"age": None, "features": [[1.0], [1.0], [1.0, 2.0]]}, "of one length"),
        ({"age": [1.0, float("nan"), 2.0]}, "'age' has no value in 1 rows"),
    ],
)
def test_what_cannot_be_meant_is_told_by_its_column(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    refuses(parts(tmp_path, **changes), message)


def test_what_unpacks_to_much_more_is_refused_before_it_is(tmp_path: Path) -> None:
    parts(tmp_path)
    many = 20_000_000
    for table in (
        {"node": pa.array(np.zeros(many, np.int8)), "hyperedge": pa.array(np.zeros(many, np.int8))},
        {"node": pa.DictionaryArray.from_arrays(np.zeros(many, np.int32), ["a" * 10**6]),
         "hyperedge": pa.array(np.zeros(many, np.int8))},
    ):  # fmt: skip
        pq.write_table(pa.table(table), tmp_path / "incidences.parquet")
        assert (tmp_path / "incidences.parquet").stat().st_size < 3 * 10**6
        refuses(tmp_path, "would need .* of memory")
    (tmp_path / "incidences.parquet").write_bytes(b"PAR1" + b"\0" * 100 + b"PAR1")
    refuses(tmp_path, "no whole Parquet file")


def result() -> hc.Condensation:
    hypergraph = tiny(
        name="small", soft_labels=SHARES, label_names=["cat|dog", "x_y"], notes=["made by hand"]
    )
    made = condensation(hypergraph)
    return hc.Condensation(
        hypergraph=hypergraph,
        members=made.members,
        provenance=made.provenance,
        warnings=("worse than random <nodes>",),
        scale=Scale(means=np.zeros(2, np.float32), deviations=np.ones(2, np.float32)),
    )


def test_commands_write_what_reads_back_with_the_same_digest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result().save("small")
    for to in ("parquet", "hub"):
        assert run(["export", "small", "--to", to, "--quiet"]) == 0
        assert run(["convert", f"small-{to}", f"again-{to}", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["digest"] == result().hypergraph.digest
    told = json.loads(pq.read_schema("small-parquet/nodes.parquet").metadata[b"hypercondense"])
    assert told["provenance"]["warnings"] == ["worse than random <nodes>"] and told["scale"] == [
        [0, 0],
        [1, 1],
    ]
    members = pq.read_table("small-parquet/members.parquet").to_pydict()
    assert members == {"node": [0, 1, 2, 3], "source": [0, 1, 2, 3]}
    assert run(["export", "small", "--to", "npz", "--licence", "MIT"]) == 2
    assert "--licence is for --to hub" in capsys.readouterr().err
    assert run(["convert", "small-parquet", "mapped", "--mapped"]) == 2  # not by columns of soft labels
    assert "cannot hold soft labels" in capsys.readouterr().err


def test_a_hub_folder_has_a_card_and_croissant_metadata(tmp_path: Path) -> None:
    from hypercondense.data.formats import write_hub

    folder = tmp_path / "x"
    write_hub(result(), folder, licence="MIT")
    write_hub(result(), folder, overwrite=True, licence="MIT")
    text = (folder / "README.md").read_text("utf-8")
    header = dict(line.split(": ", 1) for line in text.split("---\n")[1].splitlines())
    assert json.loads(header["license"]) == "mit" and "condensed" in json.loads(header["tags"])
    assert [one["data_files"] for one in json.loads(header["configs"])] == [
        "incidences.parquet",
        "nodes.parquet",
        "members.parquet",
    ]
    for words in (
        "hc.train",
        "random",
        r"worse than random \<nodes\>",
        result().hypergraph.digest,
        "made by hand",
    ):
        assert words in text
    content = json.loads((folder / "croissant.json").read_text("utf-8"))
    sums = {one["contentUrl"]: one["sha256"] for one in content["distribution"]}
    assert {*sums, "croissant.json"} == {file.name for file in folder.iterdir()}
    for name, told in sums.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == told
    check_croissant(content, folder)
    story = json.loads((folder / "provenance.json").read_text("utf-8"))
    assert story["method"] == "random" and "ledger" in story


def check_croissant(content: dict[str, Any], folder: Path) -> None:
    """What Croissant 1.0 asks for: types, unique ids, checksums, and columns that are in their files."""
    assert content["@type"] == "sc:Dataset" and content["conformsTo"].endswith("croissant/1.0")
    assert all(isinstance(content[key], str) and content[key] for key in ("name", "description", "license"))
    ids = [one["@id"] for one in content["distribution"]]
    for one in content["distribution"]:
        assert one["@type"] == "cr:FileObject" and re.fullmatch("[0-9a-f]{64}", one["sha256"])
        assert one["encodingFormat"]
    for records in content["recordSet"]:
        assert records["@type"] == "cr:RecordSet"
        ids += [records["@id"], *(field["@id"] for field in records["field"])]
        file = f"{records['@id']}.parquet"
        columns = [field["source"]["extract"]["column"] for field in records["field"]]
        assert columns == pq.read_schema(folder / file).names
        assert all(field["source"]["fileObject"]["@id"] == file for field in records["field"])
        assert all(field["dataType"] in ("sc:Integer", "sc:Float", "sc:Text") for field in records["field"])
    assert len(set(ids)) == len(ids)


def test_the_licence_is_that_of_the_registered_source(tmp_path: Path) -> None:
    WRITERS["hub"](hc.load("digits"), tmp_path / "x")
    assert 'license: "cc-by-4.0"' in (tmp_path / "x" / "README.md").read_text("utf-8")
    WRITERS["hub"](tiny(name="mine"), tmp_path / "y")
    assert 'license: "unknown"' in (tmp_path / "y" / "README.md").read_text("utf-8")


def test_without_pyarrow_the_error_names_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ConfigError, match=r"pip install 'hypercondense\[arrow\]'"):
        WRITERS["parquet"](tiny(), tmp_path / "x")
