"""Tables of pandas, or what behaves like them: numbers are taken, the rest is refused by column."""

from typing import Any

import numpy as np
import pytest

from makers.format_examples import FEATURES, tiny
from makers.frames import Column, Frame

GOOD = {"wide": Column(FEATURES[:, 0]), "tall": Column(FEATURES[:, 1])}


def test_a_table_names_features_and_nodes() -> None:
    hypergraph = tiny(features=Frame(GOOD, index=["ann", "bob", "eve", "joe"]))
    assert hypergraph.feature_names == ("wide", "tall")
    assert hypergraph.node_names == ("ann", "bob", "eve", "joe")
    np.testing.assert_array_equal(hypergraph.dense_features(), FEATURES)


def test_given_names_come_before_those_of_a_table_and_numbers_are_no_names() -> None:
    assert tiny(features=Frame(GOOD), feature_names=["a", "b"]).feature_names == ("a", "b")
    assert tiny(features=Frame(GOOD)).node_names is None
    assert tiny(features=Frame(GOOD, index=["x", "x", "y", "z"])).node_names is None


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            Column(["red", "blue", "red", "red"], "object"),
            r"'bad' has type object \(row 0 is 'red'\).*to_nume",
        ),
        (Column([True, False, True, True], "bool"), r"'bad' holds booleans; .* table\['bad'\].astype\(int\)"),
        (
            Column(["a", "b", "a", "a"], "category"),
            r"'bad' holds categories; .*get_dummies\(table\['bad'\]\)",
        ),
        (Column([1.0, np.nan, 2.0, 3.0]), r"'bad' has no value in row 1; fill it"),
        (Column([1, None, 2, 3], "object"), r"'bad' has no value in row 1"),
    ],
)
def test_a_column_that_is_no_number_is_named_with_how_to_encode_it(column: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        tiny(features=Frame({**GOOD, "bad": column}))
    assert "\n" not in str(caught.value)


def test_an_index_of_pandas_may_name_classes() -> None:
    class Index(list[str]):
        def __bool__(self) -> bool:
            raise ValueError("The truth value of a Index is ambiguous.")

    assert tiny(label_names=Index(["cat", "dog"])).label_names == ("cat", "dog")


def test_tables_of_pandas_itself() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"wide": FEATURES[:, 0], "tall": FEATURES[:, 1]}, index=list("abcd"))
    assert tiny(features=frame).node_names == ("a", "b", "c", "d")
    with pytest.raises(ValueError, match="'member' holds booleans"):
        tiny(features=frame.assign(member=True))
