"""Yelp: known features, and what is refused."""

from pathlib import Path

import pytest

from hypercondense.data.formats import read
from makers import format_examples
from makers.format_examples import refuses


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
