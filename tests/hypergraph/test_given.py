"""Tables of pandas: numbers are taken, the rest is refused by column."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from makers.format_examples import FEATURES, tiny


def frame(index: list[str] | None = None, **columns: Any) -> pd.DataFrame:
    numbers = {"wide": FEATURES[:, 0], "tall": FEATURES[:, 1]}
    return pd.DataFrame({**numbers, **columns}, index=index)


def test_a_table_names_features_and_nodes() -> None:
    hypergraph = tiny(features=frame(["ann", "bob", "eve", "joe"]))
    assert hypergraph.feature_names == ("wide", "tall")
    assert hypergraph.node_names == ("ann", "bob", "eve", "joe")
    np.testing.assert_array_equal(hypergraph.dense_features(), FEATURES)


def test_given_names_come_before_those_of_a_table_and_numbers_are_no_names() -> None:
    assert tiny(features=frame(), feature_names=["a", "b"]).feature_names == ("a", "b")
    assert tiny(features=frame()).node_names is None
    assert tiny(features=frame(["x", "x", "y", "z"])).node_names is None


@pytest.mark.parametrize("kind", ["float32", "int64", "uint8", "Int64", "Float64"])
def test_numbers_of_any_kind_are_taken(kind: str) -> None:
    table = frame(more=pd.Series([1, 2, 3, 4], dtype=kind))
    np.testing.assert_array_equal(tiny(features=table).dense_features()[:, 2], [1, 2, 3, 4])


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        (
            ["red", "blue", "red", "red"],
            "object",
            r"'bad' has type object \(the first value is 'red'\).*to_numeric",
        ),
        (
            ["red", "blue", "red", "red"],
            "string",
            r"'bad' has type str.*\(the first value is 'red'\).*to_numeric",
        ),
        (["red", None, "red", "red"], "object", r"'bad' has type object \(the first value is 'red'\)"),
        ([True, False, True, True], "bool", r"'bad' holds booleans; .* table\['bad'\].astype\(int\)"),
        ([True, None, True, True], "boolean", r"'bad' has no value in row 1; fill it"),
        (["a", "b", "a", "a"], "category", r"'bad' holds categories; .*get_dummies\(table\['bad'\]\)"),
        ([1.0, np.nan, 2.0, 3.0], "float64", r"'bad' has no value in row 1; fill it"),
        ([1, None, 2, 3], "Int64", r"'bad' has no value in row 1; fill it"),
        ([1, None, 2, 3], "object", r"'bad' has no value in row 1"),
        (["2026-01-01"] * 4, "datetime64[ns]", r"'bad' has type datetime64.*the first value is"),
    ],
)
def test_a_column_that_is_no_number_is_named_with_how_to_encode_it(
    values: list[Any], kind: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        tiny(features=frame(bad=pd.Series(values, dtype=kind)))
    assert "\n" not in str(caught.value)


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two columns 'wide'; rename one"):
        tiny(features=frame().rename(columns={"tall": "wide"}))


def test_rows_in_another_order_are_refused_where_both_have_names() -> None:
    """Pandas would align them; here the order of the rows decides."""
    table = frame(index=["a", "b", "c", "d"])
    kinds = pd.Series([0, 1, 0, 1], index=["a", "c", "b", "d"])
    with pytest.raises(ValueError, match=r"row 1 is 'b' and 'c'; give labels.reindex\(features.index\)"):
        tiny(features=table, labels=kinds)
    assert tiny(features=table, labels=kinds.reindex(table.index)).labels.tolist() == [0, 0, 1, 1]


def test_an_index_may_name_classes() -> None:
    assert tiny(label_names=pd.Index(["cat", "dog"])).label_names == ("cat", "dog")
