"""Values that are checked when they are made and when they are read, with the same words."""

from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, field

from hypercondense.errors import ConfigError, FormatError
from hypercondense.typed import Count, Positive, Value, content_of, digest_of, flat, read


class Ball(Value, tag_field="kind", tag="ball"):
    size: Count = 3


class Box(Value, tag_field="kind", tag="box"):
    sides: tuple[int, int] = (1, 2)
    weight: Positive = 1.0


class Prices(Value, frozen=True, kw_only=True):
    prices: dict[str, float]


class Shelf(Value):
    thing: Ball | Box = Ball()
    others: tuple[Ball | Box, ...] = ()
    colour: Literal["red", "blue"] = "red"
    extra: Box | None = None
    height: Annotated[float, Meta(ge=0)] = 2.0
    layers: dict[str, Ball | Box | None] = field(default_factory=dict)
    signs: tuple[Literal["up", "down"], ...] = ()
    prices: dict[str, Annotated[str, Meta(examples=["3.50"])]] = field(default_factory=dict)
    depth: Count | None = None


BAD: list[tuple[dict[str, Any], str]] = [
    ({"thing": {"kind": "ball", "size": 0}}, "thing.size must be a whole number >= 1, got 0"),
    ({"thing": {"kind": "ball", "size": "5"}}, "thing.size must be a whole number, got '5'"),
    ({"thing": {"kind": "ball", "size": True}}, "thing.size must be a whole number, got True"),
    ({"thing": {"kind": "cup"}}, "thing.kind must be one of ball, box, got 'cup'"),
    ({"thing": {"kind": "ball", "sides": 1}}, "unknown field 'sides' in thing; there are size"),
    ({"others": [{"kind": "box", "weight": 0}]}, "others[0].weight must be a number > 0.0, got 0"),
    ({"others": 5}, "others must be a list, got 5"),
    ({"colour": "green"}, "colour must be one of red, blue, got 'green'"),
    ({"extra": {"kind": "box", "sides": [1, 2, 3]}}, "extra.sides must be a list of length 2, got [1, 2, 3]"),
    (
        {"layers": {"a": {"kind": "ball"}, "b.c": {"kind": "ball", "size": 0}}},
        "layers.b.c.size must be a whole number >= 1, got 0",
    ),
    (
        {"layers": {"a": {"kind": "box", "sides": [1, "x"]}}},
        "layers.a.sides[1] must be a whole number, got 'x'",
    ),
    ({"layers": {"a": {"kind": "cup"}}}, "layers.a.kind must be one of ball, box, got 'cup'"),
    ({"layers": {"a": {"kind": "ball", "sides": 1}}}, "unknown field 'sides' in layers.a; there are size"),
    ({"signs": ["up", "left"]}, "signs[1] must be one of up, down, got 'left'"),
    ({"prices": {"a": "1", "b": 2}}, "prices.b must be a text such as '3.50', got 2"),
    ({"depth": "x"}, "depth must be a whole number, got 'x'"),
    (
        {"hight": 5},
        "unknown field 'hight'; there are colour, depth, extra, height, layers, others, prices, signs, thing",
    ),
    ({"height": 10**400}, f"height must be a finite number, got {10**56}..."),
]


@pytest.mark.parametrize(("content", "message"), BAD)
def test_an_error_says_where_what_was_expected_and_what_came(content: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(content, Shelf, where="shelf.json")
    assert str(caught.value) == f"shelf.json: {message}"


@pytest.mark.parametrize(
    ("old", "message"),
    [("5", "a number, got '5'"), (None, "a number, got None"), (1e999, "a finite number, got inf")],
)
def test_the_wrong_entry_of_a_table_is_named(old: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=f"^prices.old must be {message}$"):
        read({"prices": {"new": 1, "old": old}}, Prices)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ball(size=0), "size must be a whole number >= 1, got 0"),
        (lambda: Ball(size="5"), "size must be a whole number, got '5'"),
        (lambda: Box(weight=float("inf")), "weight must be a finite number, got inf"),
        (lambda: Box(weight=float("nan")), "weight must be a number > 0.0, got nan"),
        (lambda: Prices(prices={"old": float("nan")}), "prices.old must be a finite number, got nan"),
        (lambda: Shelf(thing=3), "thing must be a table, got 3"),
        (lambda: Shelf(colour="green"), "colour must be one of red, blue, got 'green'"),
    ],
)
def test_values_made_in_python_are_checked_as_strictly(make: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        make()
    assert str(caught.value) == message


def test_a_value_is_read_back_from_what_it_is_written_as() -> None:
    shelf = Shelf(thing=Box(sides=(3, 4)), others=(Ball(), Box()), extra=Box(), layers={"low": Ball()})
    assert read(content_of(shelf), Shelf) == shelf
    assert hash(read(content_of(shelf.thing), Box)) == hash(shelf.thing)


def test_equal_values_have_equal_digests_however_they_are_made() -> None:
    assert digest_of(Box(weight=2)) == digest_of(Box(weight=2.0)) != digest_of(Box(weight=3.0))
    assert digest_of(read({"weight": 2, "kind": "box"}, Box)) == digest_of(Box(weight=2))


def test_text_may_be_numbers_where_it_is_asked_for() -> None:
    assert read({"size": "7"}, Ball, text=True).size == 7


def test_the_entry_of_a_table_is_found_among_numbers_that_are_texts() -> None:
    content = {"layers": {"a": {"kind": "ball", "size": "7"}, "b": {"kind": "ball", "size": "x"}}}
    with pytest.raises(ConfigError, match=r"^layers\.b\.size must be a whole number, got 'x'$"):
        read(content, Shelf, text=True)


def test_depth_is_an_error_and_no_crash() -> None:
    content: Any = 1
    for _ in range(100_000):
        content = {"thing": content}
    with pytest.raises(FormatError, match=r"thing\.kind|nested too deeply|is missing|unknown field"):
        read(content, Shelf, error=FormatError)


def test_flat_names_are_dotted() -> None:
    assert flat(content_of(Shelf(extra=Box())))["extra.weight"] == 1.0
