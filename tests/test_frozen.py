"""Tables in frozen values: they are read as dictionaries are, and nothing changes them."""

import json
import pickle
from collections.abc import Callable
from copy import deepcopy
from dataclasses import fields, is_dataclass
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, get_type_hints

import numpy as np
import pytest

import hypercondense
from hypercondense.experiments.plan import Variant
from hypercondense.experiments.settings import Settings
from hypercondense.frozen import Frozen, Table, frozen
from hypercondense.typed import Value, content_of, digest_of, read

CONTENT: dict[str, Any] = {"a": 1, "b": {"c": [1, {"d": None}]}}


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.__setitem__("a", 2),
        lambda table: table.__delitem__("a"),
        lambda table: table.__ior__({"a": 2}),
        lambda table: table.update(a=2),
        lambda table: table.setdefault("new", 2),
        lambda table: table.pop("a"),
        lambda table: table.popitem(),
        lambda table: table.clear(),
        lambda table: table["b"].update(c=2),
        lambda table: table["b"]["c"][1].clear(),
    ],
)
def test_nothing_changes_a_table(change: Callable[[Any], Any]) -> None:
    table = frozen(CONTENT)
    with pytest.raises(TypeError, match="cannot be changed; change a copy"):
        change(table)
    assert json.loads(json.dumps(table)) == CONTENT


def test_a_table_is_no_view_of_what_it_was_made_of() -> None:
    content = deepcopy(CONTENT)
    table = frozen(content)
    content["b"]["c"].append(2)
    content["a"] = 2
    assert table["a"] == 1 and len(table["b"]["c"]) == 2


def test_a_table_is_compared_hashed_copied_and_written_as_its_content() -> None:
    table = frozen(CONTENT)
    assert table == frozen(deepcopy(CONTENT)) and {table: "found"}[frozen(CONTENT)] == "found"
    assert content_of(table) == CONTENT and digest_of(table) == digest_of(CONTENT)
    for again in (pickle.loads(pickle.dumps(table)), deepcopy(table)):
        assert again == table and type(again) is Table and type(again["b"]) is Table
    assert {**table, "a": 2}["a"] == 2 and type(dict(table)) is dict


def test_settings_are_hashable_and_equal_ones_are_one() -> None:
    content = {"source": "cora", "ratio": 0.1, "method": "m", "options": {"also": [{"time": 1.0}]}}
    made = Settings(**content)
    assert len({made, read(content, Settings), pickle.loads(pickle.dumps(made))}) == 1
    assert hash(made) != hash(Settings(**{**content, "options": {}}))
    with pytest.raises(TypeError, match="cannot be changed"):
        made.options["also"] = ()  # type: ignore[index]


def test_a_variant_keeps_what_it_was_made_with() -> None:
    options = {"goal.epochs": 3}
    variant = Variant(
        key="a",
        label="a",
        method="ahgcdd",
        options=options,
        defaults={},
        select=False,
        allocate="proportional",
        seeds=1,
        runs=1,
        only={"cora": (0.1,)},
        reference=False,
    )
    options["goal.epochs"] = 4
    assert variant.options == {"goal.epochs": 3} and hash(variant) == hash(
        pickle.loads(pickle.dumps(variant))
    )


def frozen_dataclasses() -> list[type]:
    names = [module.name for module in walk_packages(hypercondense.__path__, "hypercondense.")]
    modules = [import_module(name) for name in names if not name.endswith("__main__")]
    found = {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}
    ours = [kind for kind in found if kind.__module__.startswith("hypercondense") and is_dataclass(kind)]
    return [kind for kind in ours if kind.__dataclass_params__.frozen]  # type: ignore[attr-defined]


def test_no_frozen_dataclass_has_a_table_that_is_not() -> None:
    kinds = frozen_dataclasses()
    assert Variant in kinds
    for kind in kinds:
        hints = get_type_hints(kind)
        tables = [field.name for field in fields(kind) if "Mapping" in str(hints[field.name])]
        assert not tables or issubclass(kind, Frozen), f"{kind.__name__}: {tables}"
        changeable = [field.name for field in fields(kind) if "dict[" in str(hints[field.name])]
        assert not changeable, f"{kind.__name__}: {changeable}"


def test_arrays_of_results_cannot_be_written_through() -> None:
    source = hypercondense.synthetic(num_nodes=60, num_hyperedges=40, seed=0)
    parts = hypercondense.split(source, seed=0)
    result = hypercondense.condense(source, parts, nodes=6, method="means", scale="standard")
    assert result.scale is not None
    shares = hypercondense.train(result, source, parts, model="mlp").predict(source).shares
    for array in (*result.members, result.scale.means, result.scale.deviations, parts.test_ids, shares):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
    own = np.arange(3)
    assert frozen(own).base is own and own.flags.writeable  # a view: whoever gave it may go on with it
    assert repr(result.scale) == "Scale(64 features)"


def test_every_table_of_a_value_is_frozen() -> None:
    class Shop(Value):
        prices: dict[str, float] | None = None
        shelves: tuple[dict[str, Any], ...] = ()

    shop = Shop(prices={"tea": 2}, shelves=({"names": ["a"]},))
    assert hash(shop) == hash(read(content_of(shop), Shop))
    assert type(shop.prices) is Table and shop.shelves[0]["names"] == ("a",)
