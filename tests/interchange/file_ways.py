"""Every format of files and back again: what survives, for the table of docs/interchange.md."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from hypercondense.data.formats import WRITERS, read, write_mapped, write_native
from hypercondense.errors import ConversionWarning, FormatError
from hypercondense.hypergraph import Hypergraph
from interchange.ways import ASPECTS

NO, REFUSED, TOLD, NEVER = "no", "refused", "told", "never"


def _content_edges(hypergraph: Hypergraph, path: Path) -> None:
    """LE/AllSet text, which this program only reads: rows of features, then one for each hyperedge."""
    names = [str(node) for node in range(hypergraph.num_nodes)]  # ids are whole numbers in such a file
    owners = [str(hypergraph.num_nodes + number) for number in range(hypergraph.num_hyperedges)]
    classes = hypergraph.label_names or [f"c{label}" for label in range(hypergraph.num_classes)]
    if (hypergraph.labels < 0).any():
        raise FormatError("every node has a class in such a file")
    rows = [
        " ".join([name, *map(str, row), classes[label]])
        for name, row, label in zip(names, hypergraph.dense_features(), hypergraph.labels, strict=True)
    ]
    rows += [" ".join([owner, *["0"] * hypergraph.num_features, "0"]) for owner in owners]
    pairs = zip(*(ids.tolist() for ids in hypergraph.incidence[:2]), strict=True)
    path.mkdir()
    (path / "x.content").write_text("\n".join(rows) + "\n")
    (path / "x.edges").write_text("".join(f"{names[node]} {owners[owner]}\n" for node, owner in pairs))


#: How each format is written, and where to.
FORMATS: dict[str, tuple[Callable[[Hypergraph, Path], Any], str]] = {
    "native folder": (write_native, "x"),
    "mapped folder": (write_mapped, "x"),
    "npz": (WRITERS["npz"], "x.npz"),
    "tables": (WRITERS["tables"], "x"),
    "LE/AllSet text (read only)": (_content_edges, "x"),
    "HIF": (WRITERS["hif"], "x.json"),
    "Parquet": (WRITERS["parquet"], "x"),
    "hub": (WRITERS["hub"], "x"),
}


def _labels(hypergraph: Hypergraph) -> list[int]:
    """Classes by the order in which they first come: they may be numbered anew."""
    first = dict.fromkeys(label for label in hypergraph.labels.tolist() if label >= 0)
    places = {label: place for place, label in enumerate(first)}
    return [places.get(label, -1) for label in hypergraph.labels.tolist()]


def _incidence(hypergraph: Hypergraph) -> list[Any]:
    return [None if one is None else one.tolist() for one in hypergraph.incidence]


#: What must be equal for an aspect to have survived.
SURVIVES: dict[str, Callable[[Hypergraph], Any]] = {
    "ids of nodes": lambda one: one.node_names,
    "ids of hyperedges": lambda one: one.hyperedge_names,
    "weights of hyperedges": _incidence,
    "weights of memberships": _incidence,
    "features": lambda one: one.dense_features().tolist(),
    "sparse features": lambda one: (one.is_sparse, one.dense_features().tolist()),
    "names of features": lambda one: one.feature_names,
    "labels": _labels,
    "unknown labels": _labels,
    "names of classes": lambda one: one.label_names,
    "soft labels": lambda one: None if one.soft_labels is None else one.soft_labels.tolist(),
    "split": lambda one: None if one.parts is None else one.parts.tolist(),
    "isolated nodes": lambda one: (one.num_nodes, _incidence(one)),
    "identical hyperedges": lambda one: (one.num_hyperedges, _incidence(one)),
    "notes": lambda one: one.notes,
}


def back(name: str, given: Hypergraph) -> tuple[Hypergraph | None, bool]:
    """What comes back, and whether a warning told of a loss; ``None`` where it is refused."""
    write, place = FORMATS[name]
    with TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            write(given, Path(folder) / place)
        except (FormatError, ValueError):
            return None, True
        told = any(issubclass(one.category, ConversionWarning) for one in caught)
        made = read(Path(folder) / place)
        if made.is_mapped:  # its file is removed
            arrays, facts = made.to_arrays()
            kept = {key: np.array(array) for key, array in arrays.items()}
            return Hypergraph.from_arrays(kept, facts, name=made.name, notes=made.notes), told
        return made, told


def survives(name: str, aspect: str) -> str:
    """``yes``, ``told``, ``refused``, or ``no`` where this program does not write the format."""
    given, compared = ASPECTS[aspect], SURVIVES[aspect]
    made, told = back(name, given)
    if made is None:
        return REFUSED
    return "yes" if compared(made) == compared(given) else TOLD if told else NO


def _tables(folder: Path, pairs: str) -> Path:
    for name, text in {
        "incidence.csv": f"node,hyperedge\n{pairs}",
        "features.csv": "node,x\na,1\nb,2\n",
        "labels.csv": "node,label\na,0\nb,1\n",
    }.items():
        (folder / name).write_text(text)
    return folder


def _npz(folder: Path, nodes: list[int], owners: list[int]) -> Path:
    np.savez(folder / "x.npz", features=np.eye(2), labels=[0, 1], node_ids=nodes, hyperedge_ids=owners,
             num_hyperedges=2)  # fmt: skip
    return folder / "x.npz"


def _edges(folder: Path, pairs: str) -> Path:
    (folder / "x.content").write_text("0 1 c\n1 2 d\n2 0 0\n3 0 0\n")
    (folder / "x.edges").write_text(pairs)
    return folder


def _hif(folder: Path, *nodes: str) -> Path:
    rows = [{"node": one, "attrs": {"x": 1, "label": one}} for one in "ab"]
    pairs = [{"node": one, "edge": "x"} for one in nodes]
    content = {"nodes": rows, "edges": [{"edge": "x"}, {"edge": "y"}], "incidences": pairs}
    (folder / "x.json").write_text(json.dumps(content))
    return folder / "x.json"


def _parquet(folder: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"node": ["a", "b", "a"], "hyperedge": ["x"] * 3}), folder / "incidences.parquet")
    pq.write_table(pa.table({"node": ["a", "b"], "label": [0, 1], "x": [1.0, 2]}), folder / "nodes.parquet")
    return folder


#: Files with a hyperedge that has no members, and with a member that is named twice; others cannot say it.
EMPTY: dict[str, Callable[[Path], Path]] = {
    "npz": lambda folder: _npz(folder, [0, 1], [0, 0]),
    "HIF": lambda folder: _hif(folder, "a", "b"),
}
REPEATED: dict[str, Callable[[Path], Path]] = {
    "npz": lambda folder: _npz(folder, [0, 1, 1, 0], [0, 0, 0, 1]),
    "tables": lambda folder: _tables(folder, "a,x\nb,x\na,x\n"),
    "LE/AllSet text (read only)": lambda folder: _edges(folder, "0 2\n1 2\n0 2\n1 3\n"),
    "HIF": lambda folder: _hif(folder, "a", "b", "a"),
    "Parquet": _parquet,
    "hub": _parquet,
}


def handled(name: str, makers: dict[str, Callable[[Path], Path]]) -> str:
    """Whether it is left out and a note tells so, or refused, or cannot be said in such a file."""
    if name not in makers:
        return NEVER
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = read(makers[name](Path(folder)))
        except FormatError:
            return REFUSED
        return TOLD if any("dropped" in note for note in made.notes) else "SILENT"


HEADER = ["", *ASPECTS, "empty hyperedges", "repeated members"]


def row(name: str) -> str:
    """The line of a format in the table of docs/interchange.md."""
    cells = [survives(name, aspect) for aspect in ASPECTS]
    return f"| {' | '.join([name, *cells, handled(name, EMPTY), handled(name, REPEATED)])} |"


if __name__ == "__main__":  # the whole table: `make peers`
    print(f"| {' | '.join(HEADER)} |", f"|---|{':-:|' * (len(HEADER) - 1)}", sep="\n")  # noqa: T201
    print(*map(row, FORMATS), sep="\n")  # noqa: T201
