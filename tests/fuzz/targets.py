"""Every reader: good files to begin with, and how to read them."""

import json
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from fuzz.contract import Check, Inconsistent
from hypercondense.condensing.checkpoint import Checkpoint
from hypercondense.data.formats import (
    read,
    read_native,
    write_mapped,
    write_native,
    write_npz,
    write_parquet,
    write_tables,
)
from hypercondense.diffusion import cached_diffusion, vanilla
from hypercondense.errors import ConversionWarning, FormatError
from hypercondense.hypergraph import Hypergraph, split
from hypercondense.hypergraph.scaling import Scale
from makers import format_examples
from makers.experiment_cases import content
from makers.format_examples import tiny

SOURCE = tiny()
IDENTITY = {"seed": 0, "settings": {"goal": {"epochs": 5}}, "labels": [0, 1]}
PLAN = """\
name = "main"
title = "A table"
notes = ["one"]
models = ["hgnn", "mlp"]
seeds = 2
runs = 3
split_seeds = [0, 1]
[datasets.digits]
ratios = [0.01, 0.02]
[datasets.made]
source = "synthetic"
ratios = [0.1]
generator = {num_nodes = 100, noise = 0.5}
[variants.random]
[variants.ahgcdd]
options = {"goal.epochs" = 5}
only = {digits = [0.01]}
[variants.auto]
budget = 3
[layout]
rows = ["variant", "model"]
[figure]
kind = "ratio"
"""


def _write_results(folder: Path) -> None:
    from hypercondense.experiments.results import ResultsFile
    from hypercondense.experiments.settings import Settings

    file = ResultsFile(folder / "results.jsonl")
    for seed in range(2):
        file.append(content(Settings(source="digits", ratio=0.01, method="random", seed=seed), notes=["a"]))
    (folder / ".results.jsonl.lock").unlink()


def _write_recipe(folder: Path) -> None:
    from hypercondense.catalogue import make_method
    from hypercondense.typed import content_of

    recipe = {"recipe_version": 1, **content_of(make_method("unrolled"))}
    (folder / "recipe.json").write_text(json.dumps(recipe))


def _write_split(folder: Path) -> None:
    (folder / "split.json").write_text(json.dumps({"train": [0, 1], "validation": [2], "test": [3]}))


def _write_checkpoint(folder: Path) -> None:
    tensors = {"features": torch.ones(2, 2), "step": torch.tensor(3.0)}
    Checkpoint(folder, IDENTITY).save(tensors, {"epoch": 1, "history": [{"loss": 0.5}], "broken": None})


def _write_soft(folder: Path) -> None:
    shares = np.array([[0.9, 0.1], [0.2, 0.8], [0, 1], [1, 0]], np.float32)
    weights = np.array([1, 2, 0.5, 1, 1], np.float32)
    made = tiny(
        soft_labels=shares,
        incidence=(*SOURCE.incidence[:2], weights),
        label_names=["cat", "dog"],
        feature_names=["wide", "tall"],
        notes=["a note"],
    )
    write_npz(made, folder / "x.npz", overwrite=True)


def _write_sparse(folder: Path) -> None:
    import scipy.sparse as sp

    write_npz(tiny(features=sp.csr_array(SOURCE.features)), folder / "x.npz", overwrite=True)


def _write_sparse_native(folder: Path) -> None:
    import scipy.sparse as sp

    write_native(tiny(features=sp.csr_array(SOURCE.features), name="sparse"), folder, overwrite=True)


def _cache(folder: Path) -> Any:
    return cached_diffusion(SOURCE, vanilla(1), cache_dir=folder)


def _plan(folder: Path) -> None:
    (folder / "plan.toml").write_text(PLAN)


def _table_files(folder: Path) -> None:
    write_tables(tiny(), folder, overwrite=True)


def _write_network(folder: Path) -> None:
    from hypercondense.evaluation.network import NetworkFacts, TrainedNetwork
    from hypercondense.nn import build

    facts = NetworkFacts(
        model="hgnn",
        options={"hidden": 3},
        num_features=2,
        num_classes=2,
        label_names=("cat", "dog"),
        source_name="tiny",
        source_digest="0" * 64,
        epoch=3,
        seed=0,
    )
    model = build("hgnn", num_features=2, num_classes=2, hidden=3)
    TrainedNetwork(facts, model, Scale.of(SOURCE)).save(folder / "network.safetensors")


def _shelf(folder: Path) -> tuple[Any, Any]:
    from hypercondense.evaluation.kept import Shelf
    from hypercondense.nn.training import Configuration

    return Shelf(folder, {"source": SOURCE.digest}), Configuration(model="hgnn")


def _write_score(folder: Path) -> None:
    from hypercondense.evaluation.kept import KeptScore

    shelf, configuration = _shelf(folder)
    score = KeptScore(
        value=0.5,
        macro_f1=0.4,
        calibration=None,
        validation=0.25,
        epoch=7,
        options={"a": 1},
        seconds=2.0,
        predicted=(0, 1),
    )
    shelf.save(configuration, 0, score)


def _write_nodes(folder: Path) -> None:
    (folder / "nodes.csv").write_text('node,kind\n0,"a, b"\n2,c\n')


@contextmanager
def _own_cache(folder: Path) -> Iterator[None]:
    """What has been checked is noted in the cache of the user: here, in one of its own."""
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(folder)
    try:
        yield
    finally:
        os.environ.pop("XDG_CACHE_HOME")
        os.environ |= {} if before is None else {"XDG_CACHE_HOME": before}


def _write_mapped(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as cache, _own_cache(Path(cache)):
        write_mapped(tiny(), folder, overwrite=True)


def _write_csv_parts(folder: Path) -> None:
    (folder / "nodes.csv").write_text("node,label,wide,tall\na,cat,1,0\nb,dog,0,1\nc,dog,1,1\nd,cat,0.5,0\n")
    (folder / "incidences-0.csv").write_text("node,hyperedge,weight\na,x,1\nb,x,2\n")
    (folder / "incidences-1.csv").write_text("node,hyperedge,weight\nc,x,0.5\nc,y,1\nd,y,1\n")


def _write_parquet_parts(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    node_ids, hyperedge_ids, _ = SOURCE.incidence
    pq.write_table(pa.table({"node": node_ids, "hyperedge": hyperedge_ids}), folder / "incidences.parquet")
    pq.write_table(pa.table({"node": [0, 1, 2, 3], "label": SOURCE.labels}), folder / "nodes.parquet")
    np.save(folder / "features.npy", SOURCE.dense_features())


def _write_soft_parquet(folder: Path) -> None:
    import scipy.sparse as sp

    shares = np.array([[0.9, 0.1], [0.2, 0.8], [0, 1], [1, 0]], np.float32)
    made = tiny(features=sp.csr_array(SOURCE.features), soft_labels=shares, node_names=["a", "b", "c", "7"])
    write_parquet(made, folder, overwrite=True)


def _write_hif(folder: Path) -> None:
    shares = np.array([[0.9, 0.1], [0.2, 0.8], [0, 1], [1, 0]], np.float32)
    made = tiny(
        soft_labels=shares, label_names=["cat", "dog"], node_names=["a", "b", "c", "7"], notes=["one"]
    )
    made.to_hif(folder / "x.json", overwrite=True)


def _write_plain_hif(folder: Path) -> None:
    node = {"node": "n", "attrs": {"x": 1, "y": 0.5, "label": "a", "since": "today"}}
    edges = [{"edge": 1, "weight": 2}]
    content = {"nodes": [node, {"node": 7}], "edges": edges, "incidences": [{"node": "n", "edge": 1}]}
    (folder / "x.json").write_text(json.dumps(content))


def _write_packed_hif(ending: str) -> Callable[[Path], object]:
    return lambda folder: tiny().to_hif(folder / f"x.json.{ending}", overwrite=True)


#: What writes good files of each reader into an empty folder; several are several beginnings.
WRITERS: dict[str, tuple[Callable[[Path], object], ...]] = {
    "native": (format_examples.native, _write_sparse_native),
    "mapped": (_write_mapped,),
    "condensed": (format_examples.condensed,),
    "HyperGCN": (format_examples.hypergcn, lambda folder: format_examples.hypergcn(folder, protocol=5)),
    "Yelp": (format_examples.yelp,),
    "Cornell": (format_examples.cornell,),
    "LE/AllSet": (format_examples.content_edges,),
    "MAG-PM": (format_examples.tensors,),
    "WordNet": (format_examples.wordnet,),
    "npz": (_write_soft, _write_sparse, format_examples.npz),
    "tables": (format_examples.tables, _table_files),
    "parts": (_write_csv_parts, _write_parquet_parts),
    "GraphBolt": (format_examples.graphbolt,),
    "Parquet": (format_examples.parquet, _write_soft_parquet),
    "HIF": (_write_hif, _write_plain_hif, _write_packed_hif("gz"), _write_packed_hif("zst")),
    "plan": (_plan,),
    "results": (_write_results,),
    "recipe": (_write_recipe,),
    "split": (_write_split,),
    "checkpoint": (_write_checkpoint,),
    "cache": (_cache,),
    "network": (_write_network,),
    "score": (_write_score,),
    "nodes": (_write_nodes,),
}


@cache
def beginnings(reader: str) -> tuple[dict[str, bytes], ...]:
    """The good files of a reader."""
    found = []
    for write in WRITERS[reader]:
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder))
            found.append({path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())})
    return tuple(found)


def _check_hypergraph(folder: Path) -> None:
    files = (folder / name for name in ("x.npz", "x.json", "x.json.gz", "x.json.zst"))
    path = next((file for file in files if file.exists()), folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConversionWarning)
        hypergraph = read(path)
    _check_written(hypergraph, folder / "again")


def _check_mapped(folder: Path) -> None:
    with _own_cache(folder / "cache"):
        _check_hypergraph(folder)


def _check_parts(folder: Path) -> None:
    """What ``convert --mapped`` does."""
    from hypercondense.data.gathering import gather

    with _own_cache(folder / "cache"):
        try:
            gather(folder, folder / "again", threads=1)
        except ValueError as error:  # numbers that are no hypergraph
            raise FormatError(error) from error
        gathered = read(folder / "again")
        _check_written(gathered, folder / "third")


def _check_graph(folder: Path) -> None:
    """What ``convert`` does with a graph."""
    from hypercondense.data.gathering import gather_graph

    with _own_cache(folder / "cache"):
        try:
            gather_graph(folder, folder / "again")
        except ValueError as error:  # numbers that are no hypergraph
            raise FormatError(error) from error
        _check_written(read(folder / "again"), folder / "third")


def _check_written(hypergraph: Hypergraph, place: Path) -> None:
    write_native(hypergraph, place)
    if read_native(place).digest != hypergraph.digest:
        raise Inconsistent("another digest")


def _check_plan(folder: Path) -> None:
    from hypercondense.experiments.plan_reader import read_plan

    plan = read_plan(folder / "plan.toml")
    runs = [plan.settings_at(place) for place in plan.places()]
    if sum(map(len, runs)) > 100_000:
        raise Inconsistent("a plan of more runs than anybody can make")
    if not (folder / f"{plan.name}.md").resolve().is_relative_to(folder.resolve()):
        raise Inconsistent("the page of the plan lies elsewhere")


def _check_results(folder: Path) -> None:
    from hypercondense.experiments.results import read_lines
    from hypercondense.experiments.summary import summarize

    found = read_lines(folder / "results.jsonl")
    if found.lines:
        summarize(found.lines)


def _check_recipe(folder: Path) -> None:
    from hypercondense.catalogue import make_method
    from hypercondense.condensing.recipe import Recipe
    from hypercondense.typed import content_of
    from hypercondense.typed import read as typed

    method: Any = make_method(str(folder / "recipe.json"))
    if typed(content_of(method), Recipe) != method:
        raise Inconsistent("another recipe")


def _check_split(folder: Path) -> None:
    from hypercondense.cli.options import read_split

    try:
        made = read_split(SOURCE, folder / "split.json", 0)
    except ValueError as error:  # ids that do not fit are wrong arguments of a function, too
        raise FormatError(error) from error
    if len(np.unique(np.concatenate([made.train_ids, made.test_ids]))) > SOURCE.num_nodes:
        raise Inconsistent("more nodes than there are")


def _check_checkpoint(folder: Path) -> None:
    found = Checkpoint(folder, IDENTITY, resume=True).load()
    if found is not None and found[0].keys() != {"features", "step"}:
        raise Inconsistent("another state")


def _check_network(folder: Path) -> None:
    from hypercondense.evaluation.network import load_network

    try:
        predicted = load_network(folder / "network.safetensors").predict(SOURCE)
        predicted.to_csv(folder / "predicted.csv")
        shares = predicted.shares
    except ValueError as error:  # one of other features, which cannot be asked about these
        raise FormatError(error) from error
    if not np.allclose(shares.sum(1), 1, atol=1e-5):
        raise Inconsistent("shares that do not add up to 1")


def _check_score(folder: Path) -> None:
    shelf, configuration = _shelf(folder)
    found = shelf.load(configuration, 0)
    if found is not None and (found.value, found.epoch, found.seconds) != (0.5, 7, 2.0):
        raise Inconsistent("another score")


def _check_nodes(folder: Path) -> None:
    from hypercondense.cli.predict import nodes_asked_for

    try:
        ids = nodes_asked_for(SOURCE, folder / "nodes.csv")
    except ValueError as error:
        raise FormatError(error) from error
    if len(ids) and not 0 <= min(ids) <= max(ids) < SOURCE.num_nodes:
        raise Inconsistent("nodes that do not exist")


def _check_cache(folder: Path) -> None:
    if not np.array_equal(_cache(folder), _expected()):
        raise Inconsistent("other numbers")


@cache
def _expected() -> Any:
    return cached_diffusion(SOURCE, vanilla(1), cache_dir=None)


CHECKS: dict[str, Check] = {
    **dict.fromkeys(list(WRITERS)[:15], _check_hypergraph),
    "mapped": _check_mapped,
    "parts": _check_parts,
    "GraphBolt": _check_graph,
    "plan": _check_plan,
    "results": _check_results,
    "recipe": _check_recipe,
    "split": _check_split,
    "checkpoint": _check_checkpoint,
    "cache": _check_cache,
    "network": _check_network,
    "score": _check_score,
    "nodes": _check_nodes,
}


def warm_up() -> None:
    """Import everything before processes are forked, and see that good files are accepted."""
    split(SOURCE)
    _expected()
    for reader in WRITERS:
        for files in beginnings(reader):
            with tempfile.TemporaryDirectory() as folder:
                for name, written in files.items():
                    (Path(folder) / name).write_bytes(written)
                CHECKS[reader](Path(folder))
