"""Changing a method by the names of its fields: ``goal.epochs=80``, ``start=k-means``, ``structure=none``.

The same names are used on the command line, in plans and in Python.
"""

import json
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from types import NoneType
from typing import Any, TypeVar, get_args

import msgspec
from msgspec import Struct

from hypercondense.errors import ConfigError
from hypercondense.typed import Value, content_of, flat, read, structs_in, tag_of

M = TypeVar("M", bound=Struct)

KIND = "kind"  # the field that tells kinds of parts apart
DEFAULT = "default"  # a part that may be left out, as it is by default
_LONGEST_LIST = 120  # letters of a list of options in an error
_PUT_IN = object()  # a part whose fields follow

#: What options of release 0.1.0 are called now.
RENAMED = {
    "propagation": "map.kernel",
    "samples_per_node": "start.samples",
    "feature_step": "goal.step or goal.closed_form.step",
    "relative_step": "goal.relative",
    "snapshots": "looks",
    "self_select": "looks (0 for false)",
    "structure_step": "structure.step",
    "warm_steps": "structure.warm.steps",
    "warm_neighbours": "structure.warm.neighbours",
    "warm_step": "structure.warm.step",
    "soft_labels": "goal.labels (learnt or smoothed)",
    "label_step": "goal.labels.step",
    "unrolled_epochs": "goal.training.epochs",
    "unrolled_step": "goal.training.step",
    "teacher": "goal.teachers.network",
    "bundle": "bundles.size",
    "walks": "map.walks, or a map with walks in goal.also",
}


def changed(method: M, settings: Mapping[str, Any]) -> M:
    """The method with some fields changed, which may be texts or nested tables.

    A field is named by its path, or by its last word if it lies directly in a part of the method and no
    other field is called so. A part is named by its kind, left out by ``none``, and put in by ``default``;
    lists are JSON. Parts are changed before their fields, in whatever order they are given.

    >>> from hypercondense.condensing.recipe import Recipe
    >>> changed(Recipe(), {"goal.epochs": "80", "start": "k-means", "time": 3}).goal.epochs
    80
    """
    content = content_of(method)
    try:
        assignments = [(name.replace("-", "_"), value) for name, value in _assignments(settings)]
    except RecursionError:
        raise ConfigError("the settings are nested too deeply") from None
    for name, value in sorted(assignments, key=lambda one: _depth(one[0], content)):
        path = _path(name, content)
        if value is not _PUT_IN:
            _put(content, type(method), path, value)
        elif _at(content, path) is None:
            _put(content, type(method), path, DEFAULT)
    return read(content, type(method), text=True)


def differences(method: Value, other: Value, prefix: str = "") -> dict[str, Any]:
    """The settings that make ``method`` from ``other`` by :func:`changed`."""
    found: dict[str, Any] = {}
    for field in msgspec.structs.fields(type(method)):
        path = f"{prefix}{field.name}"
        ours, theirs = getattr(method, field.name), getattr(other, field.name)
        if ours == theirs:
            continue
        if isinstance(ours, Value):
            if type(ours) is not type(theirs):
                found[path] = tag_of(type(ours)) or DEFAULT
                theirs = type(ours)()
            found |= differences(ours, theirs, f"{path}.")
        else:
            found[path] = content_of(ours)
    return found


def defaults_of(method: Value, preset: Value) -> dict[str, Any]:
    """Defaults of all fields of a method by their dotted names: those of its preset, and of parts put in.

    >>> from hypercondense.condensing.recipe import Recipe
    >>> found = defaults_of(changed(Recipe(), {"bundles": {"size": 3}, "goal.epochs": 80}), Recipe())
    >>> found["bundles"], found["bundles.size"], found["goal.epochs"]
    (None, 2, 50)
    """
    return {**_part_defaults(method, preset), **flat(content_of(preset))}


def _part_defaults(method: Value, other: Any, prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in msgspec.structs.fields(type(method)):
        path, ours = f"{prefix}{field.name}", getattr(method, field.name)
        theirs = getattr(other, field.name)
        if isinstance(ours, Value):
            like = theirs if type(theirs) is type(ours) else type(ours)()
            found |= _part_defaults(ours, like, f"{path}.")
        else:
            found |= flat(content_of(theirs), path)
    return found


def as_text(value: Any) -> str:
    """A setting as it is written on the command line.

    >>> as_text(None), as_text(0.5), as_text([1])
    ('none', '0.5', '[1]')
    """
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value)


def _assignments(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Paths and values of nested tables; a part comes before its fields, even if it is not there yet."""
    for name, given in settings.items():
        value = content_of(given) if isinstance(given, Struct) else given
        if not isinstance(value, Mapping):
            yield f"{prefix}{name}", value.item() if hasattr(value, "item") else value  # numpy's numbers
            continue
        if KIND not in value:
            yield f"{prefix}{name}", _PUT_IN
        yield from _assignments(value, f"{prefix}{name}.")


def _depth(name: str, content: Mapping[str, Any]) -> int:
    """How deep a field lies; the kind of a part is the part, and last words come last."""
    steps = [step for step in name.split(".") if step != KIND]
    return len(steps) if steps and steps[0] in content else len(content) + 1


def _path(name: str, content: Any) -> list[str]:
    """The path of a field, from its path or from its last word."""
    known = _paths(content)
    if name in known or name.removesuffix(f".{KIND}") in known:
        return name.split(".")
    if name in RENAMED:
        raise ConfigError(f"option {name!r} is called {RENAMED[name]} now")
    found = [path for path in known if path.rpartition(".")[2] == name]
    if len(found) == 1 and found[0].count(".") == 1:
        return found[0].split(".")
    if len(found) == 1:
        raise ConfigError(f"option {name!r} must be written {found[0]}")
    if found:
        raise ConfigError(f"option {name!r} could be {' or '.join(found)}; write which")
    owner = name.rpartition(".")[0]
    while owner and owner not in known:
        owner = owner.rpartition(".")[0]
    if owner and _at(content, owner.split(".")) is None:
        raise ConfigError(f"there is no {owner} to change {name} of; put it in first with {owner}={DEFAULT}")
    if not known:
        raise ConfigError(f"unknown option {name[:40]!r}: this method has none to set")
    fields = [path for path in known if not isinstance(_at(content, path.split(".")), dict)]
    options = ", ".join(sorted(fields, key=lambda path: (-_alike(name, path), path)))
    if len(options) > _LONGEST_LIST:
        options = f"{options[:_LONGEST_LIST]} ... (`hypercondense methods NAME` lists all)"
    raise ConfigError(f"unknown option {name[:40]!r}; the options are {options}")


def _alike(name: str, path: str) -> float:
    """How near the last words of two names are, from 0 to 1; what a typo meant is listed first."""
    last, other = (one.rpartition(".")[2][:40] for one in (name, path))
    return SequenceMatcher(None, last, other).ratio()


def _paths(content: Any, prefix: str = "") -> list[str]:
    """The paths of all fields and parts."""
    found: list[str] = []
    for name, value in content.items():
        if name != KIND:
            found.append(f"{prefix}{name}")
            if isinstance(value, dict):
                found += _paths(value, f"{prefix}{name}.")
    return found


def _at(content: Any, path: list[str]) -> Any:
    for step in path:
        content = content.get(step) if isinstance(content, dict) else None
    return content


def _put(content: dict[str, Any], kind: type[Struct], path: list[str], value: Any) -> None:
    """Set the field at a path of a method's content."""
    if path[-1] == KIND:
        path = path[:-1]
    if not path:
        return  # the kind of the method itself is not to be changed
    parts: list[type[Struct]] = [kind]
    declared: list[Any] = []
    for step in path:
        declared = [
            field.type for part in parts for field in msgspec.structs.fields(part) if field.name == step
        ]
        parts = [part for each in declared for part in structs_in(each)]
    *outer, last = path
    owner = _at(content, outer)
    if not isinstance(owner, dict):
        raise ConfigError(f"there is no {'.'.join(outer)} to change {last} of; put it in first")
    owner[last] = _part(value, parts, optional=any(NoneType in get_args(each) for each in declared))


def _part(value: Any, kinds: list[type[Struct]], *, optional: bool) -> Any:
    """A value, or the default of the part that a text names."""
    if not isinstance(value, str):
        return value
    if optional and value.lower() in ("none", "null"):
        return None
    if value.startswith(("[", "{")):
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{value[:40]!r} is not JSON ({error})") from error
    tags = {tag_of(kind): kind for kind in kinds if tag_of(kind)}
    if value in tags:
        return content_of(tags[value]())
    if value == DEFAULT and len(kinds) == 1:
        return content_of(kinds[0]())
    return {KIND: value} if tags else value
