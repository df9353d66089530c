"""What people bring that is not as it should be: it works as meant, or one error says what to do."""

import sys
from collections.abc import Callable
from decimal import Decimal
from types import ModuleType, SimpleNamespace
from typing import Any

import hypergraphx
import networkx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
import torch
import xgi
from torch_geometric.data import Batch, Data
from torch_geometric.data.hypergraph_data import HyperGraphData

import hypercondense as hc
from hypercondense.errors import ConversionError, ConversionWarning

NAN = float("nan")
NODES = pd.DataFrame({"node": ["a", "b", "c"], "x": [1.0, 2.0, 3.0], "label": ["p", "q", None]})
MEMBERSHIPS = pd.DataFrame({"node": ["a", "b", "b", "c"], "hyperedge": ["e", "e", "f", "f"]})
INDEX = torch.tensor([[0, 1, 1], [0, 0, 1]])
BERLIN = pd.to_datetime(["2020-01-01", "2020-01-01", "2020-06-01", "2020-06-01"]).tz_localize("Europe/Berlin")


def tables(memberships: dict[str, Any] | None = None, **nodes: Any) -> hc.Hypergraph:
    return hc.from_pandas(MEMBERSHIPS.assign(**memberships or {}), NODES.assign(**nodes))


def sets(hyperedges: Any, nodes: Any = ("a", "b")) -> hc.Hypergraph:
    return hc.from_hyperedges(hyperedges, {node: [1.0] for node in nodes}, {nodes[0]: "p"})


def pyg(kind: Any = Data, size: int = 5, **changes: Any) -> hc.Hypergraph:
    given = {"x": torch.ones(size, 2), "y": torch.arange(size) % 2, "hyperedge_index": INDEX}
    return hc.from_pyg(kind(**(given | changes)))


def codes(*places: int) -> Any:
    return pd.Categorical.from_codes(list(places), ["a", "b", "c"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tables(node=["a", None, "c"]), "'node' of the table of nodes has no value in 1 rows"),
        (lambda: tables({"node": ["a", NAN, "b", "c"]}), "'node' of the table of memberships has no value"),
        (lambda: tables({"hyperedge": BERLIN.where([True, False, True, True])}), "'hyperedge' .*no value"),
        (lambda: sets([{"a", NAN}]), r"an entry of the incidences has no node id \(nan"),
        (lambda: sets([{"a"}], nodes=("a", NAN)), r"node id nan \(node 1\) is no id"),
        (lambda: sets({NAN: ["a"]}), "hyperedge id nan .* is no id"),
    ],
)
def test_ids_that_are_nan_are_refused(make: Callable[[], hc.Hypergraph], message: str) -> None:
    with pytest.raises(ConversionError, match=message):
        make()


def test_ids_of_several_types_are_fine_unless_two_would_be_called_the_same() -> None:
    source = tables({"node": ["a", 7, 7, "c"]}, node=["a", 7, "c"])
    assert source.node_names == ("a", "7", "c")
    with pytest.raises(ConversionError, match="node ids '7' and 7 would both be called '7'; rename one"):
        tables({"node": ["7", 7, 7, "c"]}, node=["7", 7, "c"])
    with pytest.raises(ConversionError, match="node ids 1 and '1' would both be called '1'; rename one"):
        sets([{1, "1"}], nodes=(1, "1"))


def test_a_second_row_of_a_node_is_refused() -> None:
    with pytest.raises(ConversionError, match="rows 0 and 3 are both of 'a'"):
        hc.from_pandas(MEMBERSHIPS, pd.concat([NODES, NODES[:1]]))


def test_members_that_cannot_be_ids_are_named_all_at_once() -> None:
    with pytest.raises(ConversionError, match=r"2 problems: .*a list, which cannot be an id.*a dict, which"):
        sets([[["a"]], [{"b": 1}]])
    with pytest.raises(ConversionError, match="a ndarray, which cannot be an id; use texts or whole numbers"):
        sets([(np.array([1]),)])


def test_ids_that_would_be_called_otherwise_in_each_run_are_not() -> None:
    with pytest.raises(ConversionError, match=r"node id <object.*; \(4\) 2 more node ids are none"):
        sets([[]], nodes=[object() for _ in range(5)])
    assert sets([], nodes=(frozenset("cab"), "d")).node_names == ("{a, b, c}", "d")


def test_tensors_and_tables_of_pandas_are_read_by_place_or_by_index() -> None:
    source = hc.from_hyperedges([torch.tensor([0, 1])], torch.eye(2), torch.tensor([0, 1]))
    assert source.num_incidences == 2 and source.labels.tolist() == [0, 1] and source.label_names is None
    features = pd.DataFrame({"age": [30, 40]}, index=["ann", "bob"])
    labels = pd.Series(["law", "art"], index=["bob", "ann"])
    source = hc.from_hyperedges([{"ann", "bob"}], features, labels)
    assert source.feature_names == ("age",) and source.labels.tolist() == [0, 1]


def test_advice_for_rows_without_ids_is_that_of_the_library() -> None:
    polars = pytest.importorskip("polars")
    with pytest.raises(ConversionError, match=r"in 1 rows, the first is row 0; .*by drop_nulls\('node'\)$"):
        hc.from_polars(
            polars.DataFrame({"node": ["a"], "hyperedge": [0]}),
            polars.DataFrame({"node": [None, "a"], "x": [1.0, 2], "label": [0, 1]}),
        )


def test_labels_of_several_classes_are_refused() -> None:
    with pytest.raises(ConversionError, match=r"label \[1\] in row 0 is a list; a node has one class"):
        tables(label=[[1], [2], None])
    with pytest.raises(ConversionError, match="in row 0 is a list; a node has one class"):
        hc.from_scipy(np.eye(2), np.eye(2), np.eye(2))


def test_a_batch_of_pyg_counts_hyperedges_wrongly_and_is_refused() -> None:
    one = Data(x=torch.ones(2, 1), y=torch.arange(2), hyperedge_index=torch.tensor([[0, 1, 0], [0, 1, 2]]))
    batch = Batch.from_data_list([one, one])
    assert len(batch.hyperedge_index[1].unique()) == 5  # of six hyperedges
    with pytest.raises(ConversionError, match="it is a batch, in which PyG counts hyperedges as"):
        hc.from_pyg(batch)


def test_values_of_arrow_that_python_cannot_hold_are_named() -> None:
    nodes = pa.table({"node": ["a", "b"], "x": pa.array([2**60, 1], pa.timestamp("s")), "label": [0, 1]})
    with pytest.raises(ConversionError, match=r"'x' of the table of nodes has timestamp\[s\] values"):
        hc.from_arrow(pa.table({"node": ["a"], "hyperedge": ["e"]}), nodes)


def test_numbers_beyond_all_floats_are_infinite() -> None:
    with pytest.raises(ConversionError, match="'x' must hold finite numbers of 32 bits: row 1 is -inf"):
        tables(x=pd.Series([1, -(10**400), 2], dtype=object))


def test_errors_of_dhg_say_its_own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    dhg: Any = ModuleType("dhg")
    dhg.Hypergraph = SimpleNamespace
    monkeypatch.setitem(sys.modules, "dhg", dhg)
    structure = SimpleNamespace(e=([(0, 3)], [1.0]), num_v=4, v_weight=[1.0] * 4)
    with pytest.raises(
        ConversionError, match=r"3 problems.*'num_v' is 4, but 'features' has 3 rows.*'labels'"
    ):
        hc.from_dhg(structure, {"features": torch.eye(3), "labels": [0]})


def hypergraph_of_hypergraphx(*names: Any) -> Any:
    made = hypergraphx.Hypergraph()
    for node in ("a", "b"):
        made.add_node(node, metadata={"x": 1.0, "label": node})
    for edge, name in zip([("a", "b"), ("a",)], names, strict=True):
        made.add_edge(edge, metadata={"name": name})
    return made


def complex_of_toponetx(*names: Any) -> Any:
    toponetx = pytest.importorskip("toponetx", reason="`make peers` runs this where it is")
    made = toponetx.ColoredHyperGraph()
    for edge, name in zip([("a", "b"), ("a",)], names, strict=True):
        made.add_cell(edge, rank=1, name=name)
    for node in ("a", "b"):
        made.add_node(node, x=1.0, label=node)
    return made


@pytest.mark.parametrize(
    ("make", "read"),
    [(hypergraph_of_hypergraphx, hc.from_hypergraphx), (complex_of_toponetx, hc.from_toponetx)],
)
def test_hyperedges_of_one_name_are_all_kept(make: Callable[..., Any], read: Callable[[Any], Any]) -> None:
    assert read(make("e", "f")).hyperedge_names == ("e", "f")
    given = make("e", "e")
    with pytest.warns(ConversionWarning, match="some hyperedges have one 'name' in common"):
        source = read(given)
    assert source.num_hyperedges == 2 and source.num_incidences == 3
    with pytest.raises(
        ConversionError, match=r"'name' of hyperedge .* must be a text or a number, got \[1\]"
    ):
        read(make([1], "f"))


def test_weights_of_hypernetx_that_are_no_numbers_are_named() -> None:
    hypernetx = pytest.importorskip("hypernetx", reason="`make peers` runs this where it is")
    table = pd.DataFrame({"edge": ["e"], "weight": ["heavy"]})
    given = hypernetx.Hypergraph({"e": ["a", "b"]}, edge_properties=table)
    with pytest.raises(
        ConversionError, match=r"'e' of the weights of edges must be a number, got 'heavy'.*no fea"
    ):
        hc.from_hypernetx(given)


def test_self_loops_of_dhg_that_are_not_there_are_told() -> None:
    dhg = pytest.importorskip("dhg", reason="`make peers` runs this where it is")
    data = {"features": torch.eye(3), "labels": None, "num_self_loops": 5}
    with pytest.raises(ConversionError, match=r"no 'labels'; they have features.*'num_self_loops' is 5, but"):
        hc.from_dhg(dhg.Hypergraph(3, [(0, 1)]), data)


def test_codes_of_minus_one_are_missing_values() -> None:
    assert tables(label=codes(0, -1, 1)).labels.tolist() == [0, -1, 1]
    assert tables(label=[0, -1, 1]).labels.tolist() == [0, -1, 1]
    with pytest.raises(ConversionError, match="'node' of the table of nodes has no value in 1 rows"):
        tables(node=codes(0, -1, 2))
    with pytest.raises(ConversionError, match="'hyperedge' of the table of memberships has no value"):
        tables({"hyperedge": codes(0, 0, -1, 1)})
    assert tables(node=codes(0, 1, 2)).node_names == ("a", "b", "c")


def test_times_with_zones_name_hyperedges_and_are_no_features() -> None:
    names = tables({"hyperedge": BERLIN}).hyperedge_names
    assert names == ("2020-01-01 00:00:00+01:00", "2020-06-01 00:00:00+02:00")
    with pytest.raises(ConversionError, match=r"column 'x' holds Timestamp .*make numbers of it"):
        tables(x=BERLIN[:3])


def test_decimals_are_numbers_ids_and_weights() -> None:
    one, two, three = map(Decimal, ("1", "2.0", "3"))
    source = tables({"weight": [Decimal("0.5")] * 3 + [two]}, x=[one, two, Decimal("0.25")])
    assert source.features.ravel().tolist() == [1, 2, 0.25]
    assert source.incidence.weights is not None and source.incidence.weights.tolist() == [0.5, 0.5, 0.5, 2]
    assert tables({"node": [one, two, two, three]}, node=[one, two, three]).num_incidences == 4
    with pytest.raises(ConversionError, match="'x' has no value in 1 rows, the first is 1"):
        tables(x=[one, Decimal("NaN"), three])


def test_the_number_of_nodes_is_never_that_which_pyg_guesses() -> None:
    assert pyg().num_nodes == 5  # the last three are in no hyperedge
    index = torch.tensor([[0, 0, 0], [0, 1, 2]])
    data = HyperGraphData(x=torch.ones(3, 2), y=torch.arange(3) % 2, edge_index=index)
    assert data.num_nodes == 1  # a guess of PyG's, because there are as many hyperedges as nodes
    assert hc.from_pyg(data).num_nodes == 3
    with pytest.raises(ConversionError, match="'num_nodes' is 2, but 'x' has 5 rows"):
        pyg(num_nodes=2)
    with pytest.raises(ConversionError, match=r"has node 1, but 'x' has 1 rows"):
        pyg(size=1)
    with pytest.raises(ConversionError, match="it has no 'x'; its attributes are hyperedge_index, y"):
        pyg(x=None)


def test_tensors_without_values_are_refused_by_name() -> None:
    with pytest.raises(ConversionError, match=r"2 problems: .*'x' is on the device 'meta'.*'y' is on"):
        pyg(x=torch.ones(5, 2, device="meta"), y=torch.ones(5, device="meta"))


class OnDevice:
    """Values that must be asked for on the CPU, as those of a graphics card."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)
        self.ndim, self.shape = self.values.ndim, self.values.shape

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("can't convert a tensor of a device to numpy; use Tensor.cpu()")

    def detach(self) -> "OnDevice":
        return self

    def cpu(self) -> Any:
        return SimpleNamespace(numpy=lambda: self.values)


def test_a_hypergraph_of_dhg_on_another_device_is_copied_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    dhg: Any = ModuleType("dhg")
    dhg.Hypergraph = SimpleNamespace
    monkeypatch.setitem(sys.modules, "dhg", dhg)
    structure = SimpleNamespace(
        e=([(0, 1), (1, 2)], [1.0, 2.0]), num_v=3, device="cuda:0", v_weight=[1.0] * 3
    )
    features, labels = torch.eye(3)[:, :2], OnDevice([0, 1, 0])
    source = hc.from_dhg(structure, {"features": features, "labels": labels})
    assert source.labels.tolist() == [0, 1, 0] and source.features.tolist() == np.eye(3, 2).tolist()
    with pytest.raises(ConversionError, match="'features' is on the device 'meta'"):
        hc.from_dhg(structure, {"features": torch.ones(3, 2, device="meta"), "labels": labels})


def with_facts(table: pd.DataFrame, **facts: Any) -> pd.DataFrame:
    table.attrs["hypercondense"] = facts
    return table


def arrow(names: list[str], **metadata: str) -> Any:
    columns = [pa.array(["a", "b"] if name != "x" else [1.0, 2.0]) for name in names]
    return pa.Table.from_arrays(columns, names=names).replace_schema_metadata(metadata or None)


def graph_of_xgi() -> Any:
    made = xgi.Hypergraph({"e": [1, 2]})
    made["hypercondense"] = {"name": 5}
    made.set_node_attributes({1: {"colour": "red", "label": 0}, 2: {"colour": "blue"}})
    made.set_edge_attributes({"e": {"weight": "heavy"}})
    return made


def graph_of_networkx() -> Any:
    made = networkx.Graph(hypercondense=5)
    made.add_node(1, bipartite=0, colour="red", label=0)
    made.add_node(2, bipartite=[0])
    made.add_node("e", bipartite=1)
    made.add_edge(1, "e", weight="heavy")
    made.add_edge(1, 2)
    return made


ALL_AT_ONCE: dict[str, tuple[Callable[[], hc.Hypergraph], int, list[str]]] = {
    "pandas": (
        lambda: hc.from_pandas(
            MEMBERSHIPS.assign(weight=["1", None, 2, -3], node=["a", None, "b", "zz"]),
            NODES.assign(city="x", tall=[np.inf, 1, 2], node=["a", "a", "c"], split=["train", "huh", None]),
            label="kind",
        ),
        8,
        ["'kind'", "rows 0 and 1 are both", "dropna", "weights", "'city'", "'tall'", "'huh'"],
    ),
    "no column of hyperedges": (
        lambda: hc.from_pandas(MEMBERSHIPS.drop(columns="hyperedge"), NODES.assign(city="x")),
        2,
        ["'hyperedge'", "'city'"],
    ),
    "PyG": (
        lambda: pyg(
            y=torch.tensor([0, -100, 1, 0]),
            hyperedge_index=torch.tensor([[0, 7], [0, -1]]),
            train_mask=torch.ones(4, dtype=torch.bool),
            val_mask=torch.ones(5, 2, dtype=torch.bool),
            incidence_weight=torch.ones(9),
            hyperedge_weight=torch.ones(0),
            is_self_loop=torch.ones(0, dtype=torch.bool),
        ),
        9,
        ["below 0", "node 7", "-100", "'y' has 4", "'train_mask'", "'val_mask'", "'incidence_weight'"],
    ),
    "two columns of one name": (
        lambda: hc.from_pandas(
            pd.concat([MEMBERSHIPS, MEMBERSHIPS[["node"]]], axis=1),
            pd.concat([NODES, NODES[["x"]]], axis=1).assign(city="x"),
            label_names="pq",
        ),
        4,
        ["memberships has two columns 'node'", "nodes has two columns 'x'", "'city'", "label_names"],
    ),
    "two columns of Arrow": (
        lambda: hc.from_arrow(
            arrow(["node", "hyperedge", "node"]), arrow(["node", "x", "x", "y"], hypercondense="{")
        ),
        5,
        ["memberships has two columns 'node'", "nodes has two columns 'x'", "not JSON", "'y' holds str"],
    ),
    "what pandas keeps of ours": (
        lambda: hc.from_pandas(MEMBERSHIPS, with_facts(NODES.assign(tall=[1, NAN, 3]), name=5)),
        2,
        ["attrs of the table of nodes: name must be a text", "'tall' has no value"],
    ),
    "what PyG keeps of ours": (
        lambda: pyg(
            hypercondense={"num_classes": "two"},
            node_names=["a", "a", "b", "c", "d"],
            hyperedge_names=["e"],
            y_soft=torch.ones(5, 2),
            train_mask=torch.tensor([4, 0, 1, 2, 3]),
            x=torch.full((5, 2), NAN),
        ),
        6,
        [
            "data.hypercondense: num_classes",
            "'a' and 'a' would both",
            "add up to 1",
            "ids?",
            "column 0 is nan",
        ],
    ),
    "names of PyG": (
        lambda: pyg(hypercondense=[], node_names="abcde", hyperedge_names=5, num_hyperedges="many"),
        4,
        ["must be a table", "'node_names' must be a list", "'hyperedge_names' must be", "must be a whole"],
    ),
    "counts of PyG": (
        lambda: pyg(
            hypercondense={"feature_names": ["wide"], "label_names": ["only"]},
            hyperedge_names=["e", "f", "g"],
            y_soft=torch.ones(4, 2),
        ),
        4,
        ["'hyperedge_names' has 3 entries, but there are 2", "'y_soft' has 4 entries", "1 label names"],
    ),
    "facts that do not fit": (
        lambda: pyg(
            hypercondense={"feature_names": ["wide"], "label_names": ["only"]},
            y_soft=torch.full((5, 3), 0.5),
            train_mask=torch.ones(5),
            val_mask=torch.ones(5),
        ),
        4,
        ["1 feature names for 2", "1 label names for 2", "5 x 1, got shape (5, 3)", "in another mask"],
    ),
    "HIF": (
        lambda: hc.from_hif(
            {
                "network-type": "directed",
                "metadata": {"hypercondense": {"name": 5}},
                "incidences": [{"edge": "e", "node": "a", "weight": -1}],
                "nodes": [{"node": "a", "attrs": {"label": 0, "x": "tall", "split": "huh"}}],
            }
        ),
        5,
        ["'directed'", "metadata.hypercondense: name must be a text", "above 0", "no features", "'huh'"],
    ),
    "XGI": (
        lambda: hc.from_xgi(graph_of_xgi()),
        3,
        ["H['hypercondense']: name must be a text", "'colour' holds str", "weights that do not fit"],
    ),
    "networkx": (
        lambda: hc.from_networkx(graph_of_networkx()),
        5,
        ["graph.graph['hypercondense']", "bipartite=0 (node)", "between a node and", "'heavy'", "'colour'"],
    ),
    "sets": (
        lambda: hc.from_hyperedges(
            [[["a"]], {"a", "zz"}, "abc", {"b": "heavy"}],
            {"a": [1], "b": [np.nan]},
            {"k": "p", "a": "q"},
            split={"q": "train"},
        ),
        7,
        ["['a']", "'zz'", "'abc'", "'heavy'", "labels name", "split name", "column 0 is nan"],
    ),
    "scipy": (
        lambda: hc.from_scipy(np.eye(2), np.eye(3), [0], node_names=["a"], hyperedge_names=["x"], split=[]),
        5,
        ["rows of features", "labels", "names of nodes", "names of hyperedges", "the split"],
    ),
}


@pytest.mark.parametrize("name", ALL_AT_ONCE)
@pytest.mark.filterwarnings("ignore::hypercondense.errors.ConversionWarning")
def test_all_that_is_wrong_is_told_at_once(name: str) -> None:
    make, number, words = ALL_AT_ONCE[name]
    with pytest.raises(ConversionError, match=f"{number} problems: ") as caught:
        make()
    assert [word for word in words if word not in str(caught.value)] == []


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: hc.from_pyg({"x": 1}), "data must be a Data or HyperGraphData of PyG, got a dict"),
        (lambda: hc.from_xgi(None), "given must be a hypergraph of XGI, got a NoneType"),
        (lambda: hc.from_networkx([]), "graph must be a graph of networkx, got a list"),
        (lambda: hc.from_polars(NODES, NODES), r"incidence must be a DataFrame of Polars .*collect\(\)"),
        (lambda: hc.from_arrow(NODES, NODES), "incidence must be a table of Arrow, got a DataFrame"),
        (lambda: hc.from_hyperedges(None, {}, {}), "hyperedges must be collections of nodes"),
    ],
)
def test_something_else_than_a_library_has_is_named(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make()


def test_what_the_other_library_tells_and_nobody_uses_is_named() -> None:
    xgi, networkx = pytest.importorskip("xgi"), pytest.importorskip("networkx")
    given = xgi.Hypergraph({"e": [1, 2]})
    given.set_node_attributes({1: {"x": 1, "label": 0}, 2: {"x": 2}})
    given.edges["e"]["colour"] = given["licence"] = "red"
    with pytest.warns(ConversionWarning, match="'licence' of the whole, attribute 'colour' of hyperedges"):
        hc.from_xgi(given)
    graph = networkx.Graph(licence="MIT")
    graph.add_node(1, bipartite=0, x=1, label=0)
    graph.add_node("e", bipartite=1, colour="red")
    graph.add_edge(1, "e", since=2020)
    with pytest.warns(
        ConversionWarning, match="'colour' of hyperedges, .*'licence' of the.*'since' of edges"
    ):
        hc.from_networkx(graph)


def test_ids_with_huge_gaps_take_no_memory() -> None:
    with pytest.warns(ConversionWarning, match="999999999999 hyperedges have no members"):
        source = pyg(hyperedge_index=torch.tensor([[0, 1, 1], [0, 0, 10**12]]))
    assert source.num_hyperedges == 2 and source.hyperedge_names == ("0", "1000000000000")


def test_types_that_numpy_has_not_are_numbers_too() -> None:
    half = torch.tensor([0.5, 2, 2], dtype=torch.bfloat16)
    source = pyg(x=torch.full((5, 2), 0.5, dtype=torch.bfloat16), incidence_weight=half)
    assert source.features[0].tolist() == [0.5, 0.5]
    assert source.incidence.weights is not None and source.incidence.weights.tolist() == [0.5, 2, 2]
    sparse = torch.tensor([[1.0, 0], [2, 1]]).to_sparse()
    assert hc.from_scipy(sparse, torch.eye(2), torch.tensor([0, 1])).num_incidences == 3


def test_lists_of_features_and_labels_are_of_nodes_by_their_numbers() -> None:
    source = hc.from_hyperedges([{0, 1}, {1, 2}], np.eye(3), [0, -1, 1], split=["train", None, "test"])
    assert source.labels.tolist() == [0, -1, 1] and source.parts is not None
    assert source.parts.tolist() == [0, -1, 2] and source.node_names is None


def test_a_label_that_is_no_number_is_a_word() -> None:
    assert tables(label=[np.inf, 1, None]).label_names == ("1", "inf")


@pytest.mark.slow
def test_a_million_ids_of_text_are_kept() -> None:
    ids = [f"customer {number}" for number in range(10**6)]
    incidence = sp.csr_array(([1.0, 1.0], ([5, 999_999], [0, 0])), shape=(10**6, 1))
    source = hc.from_scipy(incidence, np.ones((10**6, 1), np.float32), [0, 1] * 500_000, node_names=ids)
    assert source.num_nodes == 10**6 and source.node_name(123_456) == "customer 123456"
    assert source.incidence.node_ids.tolist() == [5, 999_999]


@pytest.mark.parametrize("what", ["labels", "split"])
@pytest.mark.parametrize("given", [{0: 1, 1: 0}, "ab"])
def test_what_has_no_order_of_nodes_is_no_list_of_them(what, given):
    arguments = {"labels": [0, 1], "split": ["train", "test"], what: given}
    with pytest.raises(TypeError, match=f"{what} must be a list or an array with an entry for each node"):
        hc.from_scipy(np.eye(2), np.eye(2), arguments["labels"], split=arguments["split"])


def test_numbers_of_arrays_are_parts_of_a_split():
    given = hc.from_hyperedges([[0, 1, 2]], features=np.eye(3), labels=[0, 1, 0], split=np.array([0, 1, 2]))
    assert given.parts.tolist() == [0, 1, 2]


def test_a_number_of_hyperedges_below_0_is_refused_and_sparse_tensors_are_read():
    data = {"x": torch.eye(3), "y": torch.tensor([0, 1, 0]), "hyperedge_index": torch.zeros(2, 0).long()}
    with pytest.raises(ConversionError, match="'num_hyperedges' must be 0 or more, got -3"):
        hc.from_pyg(Data(**data, num_hyperedges=-3))
    index = torch.tensor([[0, 1, 2], [0, 0, 1]])
    found = hc.from_pyg(Data(**{**data, "hyperedge_index": index.to_sparse()}))
    assert found.incidence.node_ids.tolist() == [0, 1, 2]
