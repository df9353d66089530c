"""A hypergraph from two tables of pandas, as people have them."""

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hypercondense as hc
from hypercondense.errors import ConversionError, ConversionWarning

CUSTOMERS = pd.DataFrame(
    {
        "customer": ["C07", "C03", "C11", "C05"],
        "spent": [310.5, 95.0, 120.0, 44.0],
        "visits": [3, 1, 2, 9],
        "kind": ["gold", "basic", None, "gold"],
    }
)
BASKETS = pd.DataFrame({"basket": ["b2", "b2", "b1", "b1"], "customer": ["C03", "C07", "C11", "C07"]})
COLUMNS = {"node": "customer", "hyperedge": "basket", "label": "kind"}


def made(nodes: Any = CUSTOMERS, memberships: Any = BASKETS, **changes: Any) -> hc.Hypergraph:
    return hc.from_pandas(memberships, nodes, **{**COLUMNS, **changes})


def test_names_words_and_missing_labels_mean_what_they_say() -> None:
    source = made(name="shop")
    assert source.node_names == ("C07", "C03", "C11", "C05")
    assert source.feature_names == ("spent", "visits")
    assert source.label_names == ("basic", "gold") and source.labels.tolist() == [1, 0, -1, 1]
    assert source.hyperedge_names == ("b2", "b1")
    assert [*zip(*(ids.tolist() for ids in source.incidence[:2]), strict=True)] == [
        (0, 0),
        (1, 0),
        (0, 1),
        (2, 1),
    ]


def test_the_same_as_from_files(tmp_path: Any) -> None:
    CUSTOMERS.drop(columns="kind").rename(columns={"customer": "node"}).to_csv(
        tmp_path / "features.csv", index=False
    )
    CUSTOMERS[["customer", "kind"]].rename(columns={"customer": "node", "kind": "label"}).to_csv(
        tmp_path / "labels.csv", index=False
    )
    BASKETS.rename(columns={"customer": "node", "basket": "hyperedge"}).to_csv(
        tmp_path / "incidence.csv", index=False
    )
    assert hc.load(str(tmp_path)) == made()


def test_what_was_made_is_saved_for_the_command_line(tmp_path: Any) -> None:
    hc.save(made(), tmp_path / "shop")
    assert hc.load(str(tmp_path / "shop")) == made()
    with pytest.raises(FileExistsError):
        hc.save(made(), tmp_path / "shop")


def test_nodes_may_be_named_by_the_index() -> None:
    assert made(CUSTOMERS.set_index("customer")) == made()
    assert made(CUSTOMERS.set_index("customer").rename_axis(None)) == made()


def test_numbers_that_became_decimal_because_some_are_missing_are_whole() -> None:
    source = made(CUSTOMERS.assign(kind=[10, 9, None, 10]))
    assert source.label_names == ("9", "10") and source.labels.tolist() == [1, 0, -1, 1]


def test_categories_features_weights_and_the_order_of_classes_can_be_given() -> None:
    nodes = CUSTOMERS.assign(kind=CUSTOMERS["kind"].astype("category"), note="x")
    source = made(
        nodes,
        BASKETS.assign(amount=[1.0, 2.0, 3.0, 4.0]),
        features=["visits"],
        weight="amount",
        label_names=["gold", "silver", "basic"],
    )
    assert source.labels.tolist() == [0, 2, -1, 0] and source.num_classes == 3
    assert source.feature_names == ("visits",)
    assert source.incidence.weights is not None and source.incidence.weights.tolist() == [2, 1, 4, 3]
    unknown = made(CUSTOMERS.drop(columns="kind"), label=None, label_names=["gold", "basic"])
    assert unknown.labels.tolist() == [-1] * 4 and unknown.num_classes == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"node": "client"}, "nodes has no column 'client'; its columns are 'customer', 'spent'"),
        ({"hyperedge": "cart"}, "memberships has no column 'cart'; its columns are 'basket', 'customer'"),
        ({"label": "segment"}, "nodes has no column 'segment'"),
        ({"label": None, "label_names": ["a", "b"]}, "column 'kind' holds str .*text='one-hot'"),
        ({"label": None, "features": ["spent"]}, "no node has a label; at least one is needed"),
        ({"label_names": ["gold"]}, "label 'basic' in row 1 is none of the 1 classes"),
        ({"nodes": CUSTOMERS.assign(customer=["a", "b", "a", "c"])}, "rows 0 and 2 are both of 'a'"),
        ({"nodes": CUSTOMERS[1:]}, r"node 'C07' of the incidences \(entry 1\) is not among the nodes"),
        (
            {"nodes": CUSTOMERS.assign(spent=[1, None, 2, 3])},
            "'spent' has no value in 1 rows, the first is 1; .*missing='mean'",
        ),
        (
            {"memberships": BASKETS.assign(basket=["b", None, "b", "c"])},
            "'basket' of the table of memberships has no va",
        ),
        ({"nodes": {"customer": ["a"]}}, "nodes must be a table of pandas, got a dict"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_do(change: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        made(**change)
    assert "\n" not in str(caught.value)


def test_all_that_is_wrong_is_told_at_once() -> None:
    nodes = CUSTOMERS.assign(
        born=pd.Timestamp("2020-01-01", tz="UTC"), city=["x", None, "y", "z"], age=[1, None, 2, 3]
    )
    with pytest.raises(ConversionError, match="4 problems: ") as caught:
        made(nodes, BASKETS.assign(weight=[1, 2, -3, 0]))
    for word in ("'born'", "Timestamp", "'city'", "'age'", "weights must be above 0"):
        assert word in str(caught.value)


def test_ids_of_another_type_are_told_with_both_types() -> None:
    nodes = pd.DataFrame({"node": [1, 2], "x": [0.0, 1.0], "label": [0, 1]})
    incidence = pd.DataFrame({"node": ["1", "2"], "hyperedge": ["a", "a"]})
    with pytest.raises(ConversionError, match=r"there 1 is a int, and this a str; make them of one type"):
        hc.from_pandas(incidence, nodes)


def test_texts_categories_and_missing_numbers_are_handled_as_chosen_and_told() -> None:
    kinds = pd.Categorical.from_codes([0, -1, 1, 0], ["new", "old"])
    nodes = CUSTOMERS.assign(state=kinds, spent=[1.0, None, 2.0, 3.0])
    with pytest.warns(ConversionWarning) as told:
        source = made(nodes, text="one-hot", missing="mean")
    assert source.feature_names == ("spent", "visits", "state=new", "state=old")
    np.testing.assert_array_equal(source.features[:, 0], [1, 2, 2, 3])
    np.testing.assert_array_equal(source.features[:, 2:], [[1, 0], [0, 0], [0, 1], [1, 0]])
    assert {"'spent'", "'state'"} <= {word for one in told for word in str(one.message).split()}
    with pytest.warns(ConversionWarning, match="'state' is no number and was left out"):
        assert made(CUSTOMERS.assign(state=kinds), text="drop") == made()


def test_booleans_and_decimals_are_numbers() -> None:
    nodes = CUSTOMERS.assign(vip=[True, False, True, True], price=[Decimal("1.5")] * 4)
    np.testing.assert_array_equal(made(nodes).features[:, 2:], [[1, 1.5], [0, 1.5], [1, 1.5], [1, 1.5]])


def test_repeated_memberships_and_unused_columns_are_told() -> None:
    with pytest.warns(ConversionWarning, match="2 memberships are there more than once, as node 'C11'"):
        source = made(memberships=pd.concat([BASKETS, BASKETS[2:]]))
    assert source.num_incidences == 4 and "2 repeated members" in source.notes[0]
    with pytest.warns(ConversionWarning, match="not used of the table of memberships: column 'when'"):
        assert made(memberships=BASKETS.assign(when="today")) == made()


def test_a_column_of_parts_becomes_the_split() -> None:
    source = made(CUSTOMERS.assign(split=["train", "val", None, "test"]))
    parts = hc.split(source)
    assert (parts.train_ids.tolist(), parts.validation_ids.tolist(), parts.test_ids.tolist()) == (
        [0],
        [1],
        [3],
    )
    assert parts.seed is None and hc.split(source, seed=0) != parts
    with pytest.raises(ConversionError, match="split 'later' in row 3 is none of train, validation, test"):
        made(CUSTOMERS.assign(split=["train", "val", None, "later"]))


@given(
    st.lists(st.text(min_size=1, max_size=5), min_size=2, max_size=8, unique=True),
    st.lists(st.tuples(st.integers(0, 7), st.text(max_size=3)), unique=True, max_size=12),
)
def test_any_names_come_back(names: list[str], rows: list[tuple[int, str]]) -> None:
    rows = [(node % len(names), owner) for node, owner in rows]
    rows = [*dict.fromkeys(rows)]
    nodes = pd.DataFrame({"n": pd.Series(names, dtype=object), "x": 1.0, "y": np.arange(len(names)) % 2})
    memberships = pd.DataFrame(
        {
            "n": pd.Series([names[node] for node, _ in rows], dtype=object),
            "e": pd.Series([owner + "!" for _, owner in rows], dtype=object),
        }
    )
    source = hc.from_pandas(memberships, nodes, node="n", hyperedge="e", label="y")
    assert [source.node_name(node) for node in range(len(names))] == names
    owners = source.hyperedge_names or ()
    found = {
        (node, owners[owner])
        for node, owner in zip(*(ids.tolist() for ids in source.incidence[:2]), strict=True)
    }
    assert found == {(node, owner + "!") for node, owner in rows}


def test_words_and_names_given_to_the_constructor_point_here() -> None:
    ids = ([0, 1], [0, 0])
    with pytest.raises(ValueError, match=r"labels, label_names = pandas.factorize\(labels, sort=True\)"):
        hc.Hypergraph(features=[[1.0], [2.0]], labels=["a", None], incidence=ids, num_hyperedges=1)
    with pytest.raises(ValueError, match=r"hypercondense.from_pandas"):
        hc.Hypergraph(
            features=[[1.0], [2.0]], labels=[0, 1], incidence=(["a", "b"], [0, 0]), num_hyperedges=1
        )
    with pytest.raises(TypeError, match="no argument 'X'; did you mean features"):
        hc.Hypergraph(X=[[1.0]], labels=[0], incidence=([0], [0]), num_hyperedges=1)  # type: ignore[call-arg]


def test_warnings_are_those_of_the_line_that_calls() -> None:
    with pytest.warns(ConversionWarning, match="much") as caught:
        made(memberships=BASKETS.assign(much=2.0))
    assert caught[0].filename == __file__
