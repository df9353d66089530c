"""The layout of a data hub: tables of Parquet, a card (README.md) and Croissant metadata."""

import json
from pathlib import Path
from typing import Any

from hypercondense.condensation import Condensation
from hypercondense.data.dataset import NOT_STATED
from hypercondense.data.formats.croissant import croissant
from hypercondense.data.formats.made import hypergraph_in, story_of
from hypercondense.data.formats.parquet import FILES, write_tables_to
from hypercondense.data.registry import lookup
from hypercondense.errors import safe
from hypercondense.files.storage import file_digest, replaced_folder, write_json
from hypercondense.hypergraph import Hypergraph
from hypercondense.version import __version__

CARD, CROISSANT, STORY, SCALE = "README.md", "croissant.json", "provenance.json", "scale.csv"
#: What a hub calls licences.
_LICENCES = {"Apache-2.0": "apache-2.0", "MIT": "mit", "CC BY 4.0": "cc-by-4.0", NOT_STATED: "unknown"}
_SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"))


def write_hub(
    given: Hypergraph | Condensation, path: Path, *, overwrite: bool = False, licence: str | None = None
) -> None:
    """Write the folder ``path``: whole or not at all. An existing one stays unless ``overwrite``.

    Args:
        given: A hypergraph, or better a result, whose card tells how it was made.
        path: The folder.
        overwrite: Whether one of these files may be replaced.
        licence: Of the data; by default that of the registered data set it was made from, else unknown.

    Raises:
        FileExistsError: As :func:`hypercondense.files.storage.check_target` tells.
        ConfigError: pyarrow is not installed.
    """
    ours = (*FILES, CARD, CROISSANT, STORY, SCALE)
    with replaced_folder(path, overwrite=overwrite, ours=ours) as folder:
        files = write_tables_to(folder, given)
        tables = list(files)
        if isinstance(given, Condensation):
            files.append(folder / STORY)
            write_json(files[-1], story_of(given))
            if given.scale is not None:
                files.append(folder / SCALE)
                given.scale.to_csv(files[-1], given.hypergraph.feature_names)
        sums = {file.name: file_digest(file) for file in files}
        licence = licence or licence_of(given)
        (folder / CARD).write_text(card(given, sums, licence), "utf-8")
        sums[CARD] = file_digest(folder / CARD)
        name, description = hypergraph_in(given).name, description_of(given)
        write_json(
            folder / CROISSANT, croissant(name, description, licence=licence, sums=sums, tables=tables)
        )


def licence_of(given: Hypergraph | Condensation) -> str:
    """The licence of the registered data set that something was made from, or that none is stated."""
    name = given.provenance.source_name if isinstance(given, Condensation) else given.name
    found = lookup(name)
    return NOT_STATED if found is None else found.licence


def description_of(given: Hypergraph | Condensation) -> str:
    """One sentence."""
    hypergraph = hypergraph_in(given)
    sizes = (
        f"{hypergraph.num_nodes:,} nodes, {hypergraph.num_hyperedges:,} hyperedges, "
        f"{hypergraph.num_features:,} features, {hypergraph.num_classes:,} classes"
    )
    if not isinstance(given, Condensation):
        return safe(f"The hypergraph {hypergraph.name}: {sizes}.")
    made = given.provenance
    return safe(
        f"A synthetic hypergraph ({sizes}) condensed from the {made.num_source_nodes:,} nodes of "
        f"{made.source_name} by {made.method}, to train hypergraph neural networks on."
    )


def card(given: Hypergraph | Condensation, sums: dict[str, str], licence: str) -> str:
    """The text of README.md: a header for the hub, then what people ask first."""
    hypergraph = hypergraph_in(given)
    header = {
        "pretty_name": safe(hypergraph.name),
        "license": _LICENCES.get(licence, "other"),
        **({} if licence in _LICENCES else {"license_name": safe(licence)}),
        "task_categories": ["graph-ml"],
        "tags": ["hypergraph", "hypercondense", *(["condensed"] if isinstance(given, Condensation) else [])],
        "size_categories": [_size(hypergraph.num_nodes)],
        "configs": [
            {"config_name": name.removesuffix(".parquet"), "data_files": name}
            for name in sums
            if name in FILES
        ],
    }
    # JSON is YAML, whatever letters names have.
    lines = [f"{key}: {json.dumps(value)}" for key, value in header.items()]
    blocks = [
        "\n".join(["---", *lines, "---"]),
        f"# {_plain(hypergraph.name)}",
        _plain(description_of(given)),
    ]
    if isinstance(given, Condensation):
        blocks += _made(given)
    blocks += [_USE_RESULT if isinstance(given, Condensation) else _USE, _files(sums, hypergraph.digest)]
    blocks.append(f"## Licence\n\nOf the data it was made from: {_plain(licence)}.")
    if hypergraph.notes:
        blocks.append("## Notes\n\n" + "\n".join(f"- {_plain(note)}" for note in hypergraph.notes))
    return "\n\n".join(blocks) + "\n"


_COLUMNS = """`nodes.parquet` has `node`, `label` (empty where unknown), perhaps `split` and
`soft_label:CLASS`, and features: a column each, or `feature_columns` and `feature_values` where they
are sparse.
`incidences.parquet` has `node`, `hyperedge` and perhaps `weight`."""
_USE = f"""## How to use it

```python
import hypercondense as hc

source = hc.load("path/of/this/folder")
data = source.to_pyg()  # or to_dhg, to_xgi, to_pandas, to_hif ...
```

{_COLUMNS}"""
_USE_RESULT = f"""## How to train on it

```python
import hypercondense as hc

small = hc.load("path/of/this/folder")
network = hc.train(small, model="hgnn")
data = small.to_pyg()  # for networks of PyG: weights, soft labels and self-loops are in it
```

Test on nodes of the source that were not in its training part. `preprocessing` in `provenance.json` says
what to do to them first, and `scale.csv`, where it is there, by what numbers.

{_COLUMNS}
`members.parquet` tells which source nodes every node started from."""


def _made(result: Condensation) -> list[str]:
    made = result.provenance
    facts = {
        "method": made.method,
        "source": f"{made.source_name} ({made.num_source_nodes:,} nodes, digest `{made.source_digest}`)",
        "split": f"digest `{made.split_digest}`",
        "seed": str(made.seed),
        "code": str(made.code),
        "versions": ", ".join(f"{name} {version}" for name, version in made.versions.items()),
        **result.facts(),
    }
    rows = [f"| {_plain(name)} | {_plain(told)} |" for name, told in facts.items()]
    warnings = [f"- {_plain(warning)}" for warning in result.warnings] or ["None."]
    return [
        "\n".join(["## How it was made, and what it cost", "", "| | |", "|---|---|", *rows]),
        f"Settings: `{json.dumps(dict(made.settings), sort_keys=True, default=str)}`".replace("\n", " "),
        "\n".join(["## Warnings", "", *warnings]),
    ]


def _files(sums: dict[str, str], digest: str) -> str:
    rows = [f"| `{name}` | `{told}` |" for name, told in sums.items()]
    head = [
        "## Files",
        "",
        "| file | SHA-256 |",
        "|---|---|",
        *rows,
        "",
        f"Digest of the content: `{digest}`",
    ]
    return "\n".join([*head, f"Written by hypercondense {__version__}."])


def _size(nodes: int) -> str:
    return next((name for most, name in _SIZES if nodes < most), "n>1M")


def _plain(text: Any) -> str:
    """Text in a line of Markdown, in which only quoted digests mean something."""
    return "".join(f"\\{letter}" if letter in "|<>[]*_" else letter for letter in safe(str(text)))
