"""No reader escapes the fuzzer: whatever opens a file is known here, with the readers that try it."""

import ast
from pathlib import Path

import hypercondense
from fuzz.targets import CHECKS, WRITERS
from hypercondense.data.formats import READERS

PACKAGE = Path(hypercondense.__file__).parent
CALLS = {
    "open", "open_regular", "read_regular", "read_text", "read_bytes", "read_json", "read_tensors",
    "safe_open", "load_file", "fromfile", "memmap", "open_memmap", "open_map", "loadtxt",
    "genfromtxt", "loadmat", "read_csv", "read_parquet", "read_table", "parquet_file", "ZipFile", "TarFile",
    "ParquetFile", "read_schema",
}  # fmt: skip
QUALIFIED = {("np", "load"), ("numpy", "load"), ("torch", "load"), ("pickle", "load"), ("tomllib", "load")}

#: Modules that open files for reading, and the readers of the fuzzer that go through them.
TRIED = {
    "catalogue": ["recipe"],
    "cli/options": ["split"],
    "cli/predict": ["nodes"],
    "condensation": ["condensed"],
    "condensing/checkpoint": ["checkpoint"],
    "data/formats/__init__": ["npz"],
    "data/formats/condensed": ["condensed"],
    "data/formats/content_edges": ["LE/AllSet"],
    "data/formats/cornell": ["Cornell"],
    "data/formats/csv_table": ["tables"],
    "data/formats/files": ["Cornell", "LE/AllSet", "tables"],
    "data/formats/hif": ["HIF"],
    "data/formats/native": ["native"],
    "data/formats/packed": ["HIF"],
    "data/formats/npz": ["npz"],
    "data/formats/opened": ["mapped"],
    "data/formats/parquet": ["Parquet"],
    "data/formats/safe_pickle": ["HyperGCN"],
    "data/formats/tables": ["tables"],
    "data/formats/tensors": ["MAG-PM"],
    "data/formats/text": ["Cornell", "LE/AllSet"],
    "data/formats/wordnet_lines": ["WordNet"],
    "data/formats/yelp": ["Yelp"],
    "data/edge_lists": ["GraphBolt"],
    "data/gathering": ["parts"],
    "data/graphbolt": ["GraphBolt"],
    "data/parts": ["parts"],
    "diffusion/cache": ["cache"],
    "diffusion/mapped": ["cache"],
    "evaluation/kept": ["score"],
    "evaluation/network": ["network"],
    "experiments/plan_reader": ["plan"],
    "experiments/results": ["results"],
    "files/maps": ["mapped"],
    "files/manifest": ["native", "condensed"],
    "files/regular": ["native", "npz", "plan"],
    "files/storage": ["native", "condensed", "checkpoint"],
}
#: Modules that open files which are no input from anybody, and why.
OWN = {
    "cli/__init__": "the null device, in place of a pipe that nobody reads",
    "data/download": "continues a download, whose checksum decides",
    "data/formats/croissant": "tables that were just written",
    "interchange/hif_content": "the schema of the standard, which comes with the package",
    "diffusion/blocked": "a file of its own that it has just made",
    "diffusion/shards": "files of its own that it has just made",
    "diffusion/elsewhere": "a file of its own that it has just made",
    "experiments/publish": "documents of this project, whose tables are filled in",
    "report/render": "the first letters of a file, to see whether it is a page of ours",
    "runtime/code_version": "the source of this package",
    "runtime/memory": "what the system says",
    "runtime/threads": "what the system says",
}


def _reads(call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Name):
        name, owner = function.id, None
    elif isinstance(function, ast.Attribute):
        name, owner = function.attr, function.value.id if isinstance(function.value, ast.Name) else None
    else:
        return False
    if (owner, name) in QUALIFIED:
        return True
    modes = [value.value for value in (*call.args, *(one.value for one in call.keywords if one.arg == "mode"))
             if isinstance(value, ast.Constant)]  # fmt: skip
    writes = name == "open" and any(isinstance(mode, str) and mode[:1] in "wxa" for mode in modes)
    return name in CALLS and owner != "webbrowser" and not writes


def _readers() -> set[str]:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        if any(isinstance(node, ast.Call) and _reads(node) for node in ast.walk(tree)):
            found.add(path.relative_to(PACKAGE).with_suffix("").as_posix())
    return found


def test_every_module_that_opens_files_is_tried_by_the_fuzzer() -> None:
    unknown = _readers() - TRIED.keys() - OWN.keys()
    assert not unknown, (
        f"{sorted(unknown)} open files: add a writer of good files and a check to tests/fuzz/targets.py, and "
        "a line to TRIED above, or to OWN if what it opens is no input from anybody"
    )
    assert not (TRIED.keys() | OWN.keys()) - _readers(), "these read nothing any more: remove their lines"


def test_every_reader_that_is_named_is_tried() -> None:
    named = {reader for readers in TRIED.values() for reader in readers}
    assert named <= WRITERS.keys() == CHECKS.keys()


def test_every_format_of_hypergraphs_is_tried() -> None:
    assert {reader.name.split()[0] for reader in READERS} <= WRITERS.keys()
