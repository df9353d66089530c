"""GraphBolt's on-disk layout before it is preprocessed: ``metadata.yaml`` and the arrays that it names."""

from pathlib import Path
from typing import Any

from hypercondense.data.edge_lists import Graph, Relation, numbered, open_array
from hypercondense.errors import ConfigError, FormatError, one_line
from hypercondense.files.regular import open_regular
from hypercondense.typed import Value, Whole, read

METADATA = "metadata.yaml"
_LARGEST = 100_000  # bytes of metadata: each takes microseconds to parse
_DEEPEST = 50
_SETS = ("train_set", "validation_set", "test_set")
_SEEDS = ("seeds", "seed_nodes")


class _Nodes(Value, forbid_unknown_fields=False):
    num: Whole
    type: str | None = None


class _File(Value, forbid_unknown_fields=False):
    path: str
    format: str = "numpy"
    name: str = ""
    type: str | None = None
    domain: str = "node"


class _Topology(Value, forbid_unknown_fields=False):
    nodes: tuple[_Nodes, ...]
    edges: tuple[_File, ...]


class _Set(Value, forbid_unknown_fields=False):
    data: tuple[_File, ...]
    type: str | None = None


class _Task(Value, forbid_unknown_fields=False):
    train_set: tuple[_Set, ...]
    validation_set: tuple[_Set, ...] = ()
    test_set: tuple[_Set, ...] = ()


class _Metadata(Value, forbid_unknown_fields=False):
    graph: _Topology
    feature_data: tuple[_File, ...]
    tasks: tuple[_Task, ...]
    dataset_name: str = ""


def read_graphbolt(folder: Path) -> Graph:
    """The graph of a folder; nodes of the type that the first task is about become nodes.

    Raises:
        FormatError: Something is missing or of another kind.
    """
    file = folder / METADATA
    told = read(_content(file), _Metadata, where=str(file), error=FormatError)
    if not told.tasks or not told.tasks[0].train_set:
        raise FormatError(f"{file} must have a task with a train_set: its nodes are those with labels")
    kind = told.tasks[0].train_set[0].type
    sizes = {one.type: one.num for one in told.graph.nodes}
    if kind not in sizes:
        raise FormatError(f"{file} has a task about nodes of type {kind}, which its graph does not have")
    relations = tuple(
        relation for one in told.graph.edges if (relation := _relation(folder, one, kind, sizes, file))
    )
    if not relations:
        raise FormatError(f"{file} has no edges that lead to nodes of type {kind}")
    features = _numpy(folder, _features(told, kind, file), file)
    shape = open_array(features, "fiu", "numbers, a row for each node").shape
    if (
        len(shape) != 2 or shape[0] != sizes[kind] or not shape[1]
    ):  # before anything is made for so many nodes
        raise FormatError(f"{file} has {sizes[kind]} nodes of type {kind}, and {features} has shape {shape}")
    sets = [_set(folder, getattr(told.tasks[0], name), kind, file) for name in _SETS]
    labels, parts = numbered(sets, sizes[kind], str(file))
    name = told.dataset_name or folder.resolve().name
    return Graph(name, sizes[kind], features, relations, labels, parts)


def _content(file: Path) -> Any:
    try:
        import yaml
    except ImportError as error:
        raise ConfigError(
            "metadata.yaml needs PyYAML; install it with pip install 'hypercondense[large]'"
        ) from error
    with open_regular(file) as opened:
        text = opened.read(_LARGEST + 1)
    if len(text) > _LARGEST:
        raise FormatError(f"{file} must be at most {_LARGEST:,} bytes; it is no metadata")
    try:
        depth = 0
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise FormatError(f"{file} has aliases (*), which stand for any amount of text; write it out")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                raise FormatError(f"{file} is nested too deeply")
        return yaml.safe_load(text)
    except FormatError:
        raise
    except Exception as error:  # a value that is not what its tag says makes the library raise anything
        raise FormatError(f"{file} is not YAML: {one_line(error, longest=160)}") from error


def _relation(
    folder: Path, edges: _File, kind: str | None, sizes: dict[str | None, int], file: Path
) -> Relation | None:
    """The edges of one type, or ``None`` if they lead to no nodes of the kind that has labels."""
    ends: list[str | None] = [None, None]
    if edges.type is not None:
        ends = [*edges.type.split(":")]
        if len(ends) != 3:
            raise FormatError(f"{file} has edges of type {edges.type[:60]!r}, which must be three, A:IS:B")
    if kind not in (ends[0], ends[-1]):
        return None
    members_first = ends[0] == kind and ends[-1] != kind
    other = ends[-1] if members_first else ends[0]
    if other not in sizes:
        raise FormatError(f"{file} has edges of type {edges.type}, and no number of nodes of type {other}")
    as_text = edges.format == "csv"
    path = _below(folder, edges, file) if as_text else _numpy(folder, edges, file)
    return Relation(path, members_first, sizes[other], is_csv=as_text)


def _features(told: _Metadata, kind: str | None, file: Path) -> _File:
    found = [one for one in told.feature_data if one.domain == "node" and one.type == kind]
    usual = [one for one in found if one.name in ("feat", "features")] or found
    if len(usual) != 1:
        names = ", ".join(one.name for one in found) or "none"
        raise FormatError(
            f"{file} must have one feature_data of nodes of type {kind} called feat, got {names}"
        )
    return usual[0]


def _set(folder: Path, sets: tuple[_Set, ...], kind: str | None, file: Path) -> tuple[Any, Any]:
    """Node ids and labels of a set, none where it is missing."""
    import numpy as np

    found = [one for one in sets if one.type == kind]
    if not found:
        return np.empty(0, np.int64), None
    arrays = {one.name: one for one in found[0].data}
    seeds = next((arrays[name] for name in _SEEDS if name in arrays), None)
    if seeds is None:
        raise FormatError(f"{file} has a set without {' or '.join(_SEEDS)}")
    ids = open_array(_numpy(folder, seeds, file), "iu", "whole numbers, ids of nodes")
    if (labels := arrays.get("labels")) is None:
        return ids, None
    return ids, open_array(_numpy(folder, labels, file), "iuf", "classes")


def _numpy(folder: Path, one: _File, file: Path) -> Path:
    """Where an array is, as numpy writes it."""
    if one.format != "numpy":
        raise FormatError(
            f"{file} has {one.path[:60]!r} as {one.format[:20]!r}; only numpy is read, so save it as .npy"
        )
    return _below(folder, one, file)


def _below(folder: Path, one: _File, file: Path) -> Path:
    """Where a file is that the metadata name."""
    path = folder / one.path
    if "\0" in one.path or not path.resolve().is_relative_to(folder.resolve()):
        raise FormatError(f"{file} names {one.path[:60]!r}, which is not below its folder")
    return path
