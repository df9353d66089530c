"""Reading TOML strictly: unknown keys and wrong types are errors that say where and what is allowed."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hypercondense.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_WORDS = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


def read_toml(path: Path) -> "Table":
    """Read a TOML file."""
    try:
        return Table(tomllib.loads(path.read_text("utf-8")), str(path))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not a TOML file ({error})") from error


class Table:
    """A TOML table that knows where it is."""

    def __init__(self, content: Mapping[str, Any], where: str) -> None:
        self.content = content
        self.where = where

    def allow(self, keys: Iterable[str]) -> "Table":
        """Refuse any other key than these."""
        allowed = list(keys)
        for key in self.content:
            if key not in allowed:
                raise ConfigError(f"{self.where}: unknown key {key!r}; allowed are {', '.join(allowed)}")
        return self

    def get(self, key: str, kind: type, default: Any = None) -> Any:
        """The value of a key, checked; the default where it is missing."""
        if key not in self.content:
            return default
        return self._checked(key, self.content[key], kind)

    def need(self, key: str, kind: type) -> Any:
        """The value of a key that must be there."""
        if key not in self.content:
            raise ConfigError(f"{self.where}: {key} is missing; it must be {_WORDS[kind]}")
        return self.get(key, kind)

    def items_of(self, key: str, kind: type, default: Iterable[Any] = ()) -> tuple[Any, ...]:
        """A list whose entries all are of a kind."""
        entries = self.get(key, list, list(default))
        return tuple(self._checked(f"{key}[{place}]", entry, kind) for place, entry in enumerate(entries))

    def choices(self, key: str, kind: type, default: Iterable[Any]) -> tuple[Any, ...]:
        """A list of at least one entry and of no entry twice."""
        entries = self.items_of(key, kind, default)
        if not entries or len(set(entries)) < len(entries):
            raise self.error(f"{key} must have at least one entry and none twice, got {list(entries)}")
        return entries

    def count(self, key: str, default: int) -> int:
        """A whole number of at least 1."""
        number: int = self.get(key, int, default)
        if number < 1:
            raise self.error(f"{key} must be at least 1, got {number}")
        return number

    def table(self, key: str) -> "Table":
        """A table within this one; empty if it is not there."""
        return Table(self.get(key, dict, {}), f"{self.where}, {key}")

    def tables(self, key: str) -> dict[str, "Table"]:
        """All tables of a table by their names."""
        outer = self.table(key)
        return {
            name: Table(outer._checked(name, inner, dict), f"{outer.where}.{name}")
            for name, inner in outer.content.items()
        }

    def error(self, message: str) -> ConfigError:
        """An error that says where."""
        return ConfigError(f"{self.where}: {message}")

    def _checked(self, key: str, value: Any, kind: type) -> Any:
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise self.error(f"{key} must be {_WORDS[kind]}, got {str(value)[:60]!r}")
        return value
