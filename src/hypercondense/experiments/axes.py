"""The axes of tables, and the quantities that are shown in them."""

from typing import Literal, TypeAlias, get_args

Axis: TypeAlias = Literal["dataset", "ratio", "variant", "model", "task", "quantity"]
Quantity: TypeAlias = Literal["score", "seconds", "memory", "training"]

AXES: tuple[Axis, ...] = get_args(Axis)
QUANTITIES: tuple[Quantity, ...] = get_args(Quantity)
