"""Tables in many files, in any order, become the hypergraph that they were written from."""

import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hypercondense.cli import run
from hypercondense.data import synthetic
from hypercondense.data.formats import read
from hypercondense.data.gathering import gather
from hypercondense.data.parts import database
from hypercondense.errors import ConfigError, FormatError


def frames(source, *, names=False):
    node_ids, hyperedge_ids, _ = source.incidence
    incidences = pd.DataFrame({"node": node_ids, "hyperedge": hyperedge_ids})
    nodes = pd.DataFrame({"node": np.arange(source.num_nodes), "label": source.labels})
    nodes["features"] = list(source.dense_features())
    if names:
        incidences = incidences.assign(
            node="n" + incidences.node.astype(str), hyperedge=incidences.hyperedge.map("h{:03d}".format)
        )
        nodes = nodes.assign(node="n" + nodes.node.astype(str))
    return incidences, nodes


def write(folder, table, frame, parts=1, ending="parquet"):
    folder.mkdir(exist_ok=True)
    with duckdb.connect() as connection:
        for number in range(parts):
            part = frame.iloc[number::parts]
            relation = connection.from_df(part)
            file = str(folder / f"{table}-{number}.{ending}")
            relation.write_parquet(file) if ending == "parquet" else part.to_csv(file, index=False)


@pytest.fixture(scope="module")
def source():
    return synthetic(num_nodes=90, num_hyperedges=60, num_classes=3, num_features=4, seed=2)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_shuffled_parts_give_the_digest_of_the_source(source, tmp_path, capsys):
    incidences, nodes = frames(source)
    write(tmp_path / "in", "incidences", incidences.sample(frac=1, random_state=0), parts=3)
    write(tmp_path / "in", "nodes", nodes.sample(frac=1, random_state=1), parts=2)
    command = ["convert", str(tmp_path / "in"), str(tmp_path / "out"), "--mapped", "--memory", "2GB", "-q"]
    assert run(command) == 0, capsys.readouterr().err
    assert read(tmp_path / "out").digest == source.digest
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".out")] == []


def test_names_are_kept_and_nodes_have_the_order_of_their_rows(source, tmp_path):
    incidences, nodes = frames(source, names=True)
    write(tmp_path / "in", "incidences", incidences.sample(frac=1, random_state=0), parts=2)
    write(tmp_path / "in", "nodes", nodes)
    gather(tmp_path / "in", tmp_path / "out")
    again = read(tmp_path / "out")
    assert again.digest == source.digest
    assert again.node_names[:2] == ("n0", "n1") and again.hyperedge_names[59] == "h059"


def test_csv_with_a_column_per_feature_weights_and_words_as_classes(tmp_path):
    incidences = pd.DataFrame({"node": [1, 0, 2], "hyperedge": [0, 0, 1], "weight": [0.5, 2.0, 1.0]})
    nodes = pd.DataFrame({"node": [0, 1, 2], "label": ["b", "a", None], "x": [1.5, 2, 3], "y": [4, 5, 6]})
    write(tmp_path / "in", "incidences", incidences, ending="csv")
    write(tmp_path / "in", "nodes", nodes, ending="csv")
    gather(tmp_path / "in", tmp_path / "out")
    again = read(tmp_path / "out")
    assert again.label_names == ("a", "b") and again.labels.tolist() == [1, 0, -1]
    assert again.feature_names == ("x", "y") and again.features[0].tolist() == [1.5, 4.0]
    assert again.incidence.node_ids.tolist() == [0, 1, 2]
    assert again.incidence.weights.tolist() == [2.0, 0.5, 1.0]


def test_features_may_be_a_matrix_of_numpy(source, tmp_path):
    incidences, nodes = frames(source)
    write(tmp_path / "in", "incidences", incidences)
    write(tmp_path / "in", "nodes", nodes.drop(columns="features"))
    np.save(tmp_path / "in" / "features.npy", source.dense_features())
    gather(tmp_path / "in", tmp_path / "out")
    assert read(tmp_path / "out").digest == source.digest


def spoilt(what, incidences, nodes, folder):
    if what == "null":
        incidences = incidences.astype("Int64")
        incidences.iloc[3, 1] = pd.NA
    if what == "twice":
        incidences = pd.concat([incidences, incidences.iloc[:1]])
    if what == "unknown":
        incidences = pd.concat([incidences, pd.DataFrame({"node": [90], "hyperedge": [0]})])
    if what == "two rows":
        nodes = pd.concat([nodes, nodes.iloc[:1]])
    if what == "lengths":
        nodes["features"] = [row[: 3 + (place > 0)] for place, row in enumerate(nodes.features)]
    write(folder, "incidences", incidences, parts=3)
    write(folder, "nodes", nodes)
    if what == "lost":
        (folder / "incidences-1.parquet").unlink()
    if what == "schema":
        write(folder, "nodes-9", nodes.rename(columns={"label": "class"}))
        (folder / "nodes-9-0.parquet").rename(folder / "nodes-1.parquet")
    if what == "cut":
        content = (folder / "incidences-1.parquet").read_bytes()
        (folder / "incidences-1.parquet").write_bytes(content[:-20])


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("null", "1 rows of incidences have no hyperedge"),
        ("twice", "more than once, perhaps in different parts"),
        ("unknown", "'90' is in incidences but has no row"),
        ("two rows", "'0' has more than one row in nodes"),
        ("lengths", "one length, they have 3 to 4"),
        ("lost", "part 1 is missing"),
        ("schema", "nodes-1.parquet has the columns"),
        ("cut", "cannot be read: .*incidences-1.parquet"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_left(source, tmp_path, what, told):
    spoilt(what, *frames(source), tmp_path / "in")
    with pytest.raises(FormatError, match=told):
        gather(tmp_path / "in", tmp_path / "out")
    assert [file.name for file in tmp_path.iterdir()] == ["in"]


def test_too_little_memory_is_refused_at_the_beginning(source, tmp_path):
    spoilt("nothing", *frames(source), tmp_path / "in")
    with pytest.raises(ConfigError, match="allow more with --memory"):
        gather(tmp_path / "in", tmp_path / "out", memory=10**8)


def test_a_full_disk_while_sorting_is_told_as_that(tmp_path):
    full = duckdb.IOException('IO Error: Could not write file "x": No space left on device')
    told = r"disk is full while the tables are sorted .* make room beside"
    with pytest.raises(ConfigError, match=told), database(10**9, tmp_path, threads=1):
        raise full
    told = "cannot be read: IO Error: damaged"
    with pytest.raises(FormatError, match=told), database(10**9, tmp_path, threads=1):
        raise duckdb.IOException("IO Error: damaged")


def test_more_than_may_be_written_while_sorting_is_refused_and_nothing_is_left(source, tmp_path, monkeypatch):
    spoilt("nothing", *frames(source), tmp_path / "in")
    monkeypatch.setattr(duckdb, "connect", _without_room(duckdb.connect))
    with pytest.raises(ConfigError, match="make room on the disk"):
        gather(tmp_path / "in", tmp_path / "out")
    assert [file.name for file in tmp_path.iterdir()] == ["in"]


def _without_room(connect):
    class Full:
        def __init__(self, config):
            self.own = connect(config=config)

        def __enter__(self):
            return self

        def __exit__(self, *args):
            self.own.close()

        def __getattr__(self, name):
            return getattr(self.own, name)

        def sql(self, query):
            raise duckdb.OutOfMemoryException("failed to offload data block: max_temp_directory_size")

    return Full


def test_rows_that_a_small_file_declares_are_counted_before_they_are_read(tmp_path, capsys):
    rows = np.zeros(20_000_000, np.int8)
    folder = tmp_path / "in"
    write(folder, "nodes", pd.DataFrame({"node": [0], "label": [0], "x": [1.0]}))
    write(folder, "incidences", pd.DataFrame({"node": rows, "hyperedge": rows}))
    assert run(["convert", str(folder), str(tmp_path / "out"), "--mapped"]) == 2
    told = capsys.readouterr().err
    assert "declare 960 MB" in told and "allow more with --memory" in told
    with pytest.raises(FormatError, match="more than once"):  # which is what is wrong if it may be read
        gather(folder, tmp_path / "out", memory=2 * 10**9)


def test_one_long_name_in_every_row_is_counted_too(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    texts = pa.DictionaryArray.from_arrays(np.zeros(10_000, np.int32), ["a" * 100_000])
    pq.write_table(
        pa.table({"node": np.arange(10_000), "label": texts, "x": np.ones(10_000)}), folder / "nodes.parquet"
    )
    write(folder, "incidences", pd.DataFrame({"node": [0], "hyperedge": [0]}))
    with pytest.raises(FormatError, match="declare 1 GB"):
        gather(folder, tmp_path / "out")


def test_the_name_of_a_folder_is_no_column(tmp_path):
    write(tmp_path / "label=1", "nodes", pd.DataFrame({"node": [0, 1], "x": [1.0, 2.0]}))
    write(tmp_path / "label=1", "incidences", pd.DataFrame({"node": [0], "hyperedge": [0]}))
    with pytest.raises(FormatError, match="must have a column 'label'"):
        gather(tmp_path / "label=1", tmp_path / "out")


def test_texts_are_no_weights_and_the_first_line_is_a_header_whatever_follows(tmp_path):
    nodes = pd.DataFrame({"node": ["a", "b"], "label": ["c", "d"], "x": [1.0, 2.0]})
    incidences = pd.DataFrame({"node": ["a", "b"], "hyperedge": ["h", "h"], "weight": ["x", "y"]})
    write(tmp_path / "in", "nodes", nodes, ending="csv")
    write(tmp_path / "in", "incidences", incidences, ending="csv")
    with pytest.raises(FormatError, match="column 'weight' of incidences must be numbers, it is VARCHAR"):
        gather(tmp_path / "in", tmp_path / "out")


def test_the_command_says_one_line_and_nothing_else(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "incidences.csv").write_text("node,hyperedge\n0,0\n1,0\n2,1\n")
    (tmp_path / "parts" / "nodes.csv").write_text("node,label,a\n0,0,1.5\n1,1,0.5\n2,1,2.5\n")
    words = ["convert", str(tmp_path / "parts"), str(tmp_path / "out"), "--mapped"]
    command = [sys.executable, "-m", "hypercondense", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and len(done.stderr.splitlines()) == 1 and done.stdout == ""
    command[-2:] = [str(tmp_path / "other")]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and "OUT --mapped" in refused.stderr
