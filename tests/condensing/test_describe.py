"""Every field has a line that says what it is."""

import msgspec
import pytest
from msgspec import Struct

from hypercondense.catalogue import METHODS
from hypercondense.condensing.describe import field_lines, meanings_of, summary_of
from hypercondense.condensing.presets import PRESETS
from hypercondense.condensing.recipe import Recipe
from hypercondense.condensing.settings import changed
from hypercondense.typed import content_of, flat, structs_in


def parts_of(kind: type[Struct]) -> list[type[Struct]]:
    """A kind of methods and the kinds of all its parts."""
    inner = [part for field in msgspec.structs.fields(kind) for part in structs_in(field.type)]
    return [kind, *(part for one in inner for part in parts_of(one))]


KINDS = {part for _, method in METHODS.values() for part in parts_of(type(method))}


@pytest.mark.parametrize("kind", sorted(KINDS, key=str), ids=lambda kind: kind.__name__)
def test_every_field_of_every_part_has_a_meaning_and_nothing_else_has(kind: type[Struct]) -> None:
    meanings = meanings_of(kind)
    assert list(meanings) == [field.name for field in msgspec.structs.fields(kind)]
    assert all(meaning and "``" not in meaning for meaning in meanings.values())
    assert summary_of(kind).endswith(".")


@pytest.mark.parametrize("name", METHODS)
def test_the_lines_of_a_method_are_its_fields_with_their_values(name: str) -> None:
    method = METHODS[name][1]
    lines = {line.path: line for line in field_lines(method)}
    leaves = {path for path in flat(content_of(method)) if path.rpartition(".")[2] != "kind"}
    assert leaves <= set(lines)
    assert all(line.meaning for line in lines.values())
    fields = {path: line.value for path, line in lines.items() if path in leaves}
    if name in PRESETS:  # what is shown may be given
        kinds = {path: line.value for path, line in lines.items() if path not in leaves and line.value}
        there = {path: "default" for path in lines if path not in leaves and path not in kinds}
        del there["map"]  # always there
        parts = {path: (kinds | there)[path] for path in lines if path in kinds | there}
        parts |= {"structure.warm": "default"} if "structure.warm.steps" in leaves else {}
        assert changed(Recipe(goal=None), parts | fields) == method


def test_a_meaning_is_one_sentence_on_one_line() -> None:
    class Example(Struct):
        """An example.

        Args:
            one: First
                line; and ``two``. More of it. Even more.
            two: Short
        """

        one: int
        two: int

    assert meanings_of(Example) == {"one": "First line; and two.", "two": "Short"}
    assert summary_of(Example) == "An example."
