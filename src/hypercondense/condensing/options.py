"""Options of a method as text and JSON: the one place where names become functions and back."""

import dataclasses
import math
import operator
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from hypercondense.errors import ConfigError

T = TypeVar("T")


def choice(default: str, choices: Mapping[str, Any]) -> Any:
    """A field of an options dataclass whose value is chosen by name from ``choices``."""
    return dataclasses.field(default=choices[default], metadata={"choices": choices})


def configure(cls: type[T], settings: Mapping[str, Any]) -> T:
    """Make ``cls``, a dataclass of options, from settings that may be text; unknown names are errors.

    >>> from hypercondense.condensing.ahgcdd import AHGCDD
    >>> configure(AHGCDD, {"time": "3", "schedule": "linear"}).time
    3.0
    """
    fields = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    hints = typing.get_type_hints(cls)
    values = {}
    for name, value in settings.items():
        key = name.replace("-", "_")
        if key not in fields:
            raise ConfigError(f"unknown option {name!r}; the options are {', '.join(sorted(fields))}")
        values[key] = _parse(key, value, hints[key], fields[key].metadata.get("choices"))
    try:
        return cls(**values)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def check_options(
    options: Any, *, at_least: Mapping[str, float] | None = None, above: Mapping[str, float] | None = None
) -> None:
    """Raise ``ValueError`` for an option below its least value; ``None`` passes."""
    for bounds, fits, words in ((at_least, operator.ge, "at least"), (above, operator.gt, "above")):
        for name, bound in (bounds or {}).items():
            value = getattr(options, name)
            if value is not None and not fits(value, bound):
                raise ValueError(f"{name} must be {words} {bound:g}, got {value}")


def settings_of(options: Any) -> dict[str, Any]:
    """Every option of a dataclass as JSON-ready values; :func:`configure` is the inverse."""
    settings = {}
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        choices = field.metadata.get("choices")
        settings[field.name] = value if choices is None else _name_of(value, choices)
    return settings


def changed_settings(options: Any) -> dict[str, Any]:
    """The options that differ from the defaults of their class; with :func:`configure` they make it again."""
    defaults = settings_of(type(options)())
    return {name: value for name, value in settings_of(options).items() if value != defaults[name]}


def _name_of(value: Any, choices: Mapping[str, Any]) -> str:
    for name, choice_value in choices.items():
        if value is choice_value:
            return name
    return f"{value.__module__}.{value.__qualname__}"  # a function of the caller's own


def _parse(name: str, value: Any, hint: Any, choices: Mapping[str, Any] | None) -> Any:
    if choices is not None:
        if callable(value):
            return value
        if value not in choices:
            raise ConfigError(f"option {name} must be one of {', '.join(choices)}, got {value!r}")
        return choices[value]
    if typing.get_origin(hint) is typing.Literal:
        allowed = typing.get_args(hint)
        if value not in allowed:
            raise ConfigError(f"option {name} must be one of {', '.join(allowed)}, got {value!r}")
        return value
    return str(value) if hint is str else _number(name, value, hint)


def _number(name: str, value: Any, hint: Any) -> Any:
    kinds = typing.get_args(hint) if typing.get_origin(hint) is types.UnionType else (hint,)
    if type(None) in kinds and (value is None or str(value).lower() == "none"):
        return None
    if bool in kinds:
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if str(value).lower() not in words:
            raise ConfigError(f"option {name} must be true or false, got {value!r}")
        return words[str(value).lower()]
    kind = int if int in kinds else float
    try:
        number = float(value)
        if not math.isfinite(number) or (kind is int and number != int(number)):
            raise ValueError
        return kind(number)
    except (TypeError, ValueError, OverflowError):
        what = "a whole number" if kind is int else "a finite number"
        raise ConfigError(f"option {name} must be {what}, got {value!r}") from None
