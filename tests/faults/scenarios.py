"""Commands that write or start processes, how each is continued, and what must be the same in the end."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypercondense.condensation import load_condensed
from hypercondense.data import synthetic
from hypercondense.data.formats import read_native, write_native, write_npz
from hypercondense.diffusion.cache import _read as read_entry
from hypercondense.experiments.results import read_lines

PLAN = """
name = "quick"
title = "Quick"
seeds = 3
runs = 1
[datasets.made]
source = "synthetic"
ratios = [0.05]
generator = {num_nodes = 200, num_hyperedges = 150, num_features = 8}
[variants.random]
"""
_OUT = ["--out", "out", "--quiet", "--json"]
_CONDENSE = ["condense", "source", "--nodes", "9", "--no-select", "--checkpoint-every", "0"]


@dataclass(frozen=True)
class Scenario:
    """A command, in a folder that was prepared for it.

    ``again`` continues it, ``bits`` tells what came of it, and ``whole`` fails if something half is there.
    """

    name: str
    command: list[str]
    again: list[str]
    bits: Callable[[Path], str]
    whole: Callable[[Path], None]


def prepare(folder: Path) -> None:
    """What all commands read."""
    folder.mkdir(parents=True, exist_ok=True)
    source = synthetic(num_nodes=300, num_hyperedges=200, num_features=12, num_classes=3, seed=1)
    write_native(source, folder / "source")
    large = synthetic(num_nodes=20_000, num_hyperedges=5000, num_features=100, num_classes=3, seed=1)
    write_npz(large, folder / "large.npz")
    (folder / "plan.toml").write_text(PLAN)
    _write_parts(folder / "parts")
    from hypercondense.cli import run

    condensed = ["condense", str(folder / "source"), "--nodes", "9", "--method", "random", "--no-select"]
    assert run([*condensed, "--no-cache", "--quiet", "--out", str(folder / "condensed")]) == 0


def _write_parts(folder: Path) -> None:
    """Tables in parts: a chain of nodes, each in two hyperedges."""
    folder.mkdir()
    rows = [f"n{node},{node % 3},{node / 7:.3f},{node % 5}\n" for node in range(20_000)]
    (folder / "nodes.csv").write_text("node,label,wide,tall\n" + "".join(rows))
    for part in range(2):
        rows = [f"n{node},h{(node + part) // 4}\n" for node in range(part, 20_000, 2)]
        (folder / f"incidences-{part}.csv").write_text("node,hyperedge\n" + "".join(rows))


def _condensed_bits(folder: Path) -> str:
    made = load_condensed(folder / "out")
    history = json.dumps([dict(row) for row in made.history])
    content = (folder / "out" / "condensed.safetensors").read_bytes()
    return hashlib.sha256(content + history.encode()).hexdigest()


def _condensed_whole(folder: Path) -> None:
    if (folder / "out").exists():
        load_condensed(folder / "out")


def _native_whole(folder: Path) -> None:
    if (folder / "out").exists():
        read_native(folder / "out")


def _lines(folder: Path) -> str:
    found = read_lines(folder / "results.jsonl")
    assert found.warning is None
    return json.dumps(sorted((line.settings.key, line.result.values) for line in found.lines))


def _lines_whole(folder: Path) -> None:
    if (folder / "results.jsonl").exists():
        read_lines(folder / "results.jsonl")  # half a line at the end is left out


def _cache_whole(folder: Path) -> None:
    _condensed_whole(folder)
    for entry in (folder / "cache").rglob("*.npy"):
        if entry.with_suffix(".json").exists() and not entry.parent.name.startswith("."):
            assert read_entry(entry, (300, 12)) is not None


def _printed(folder: Path) -> str:
    """What a command printed, without how long it took and how much memory."""
    return json.dumps(_timeless(json.loads((folder / "stdout").read_text())))


def _timeless(value: Any) -> Any:
    if isinstance(value, list):
        return [_timeless(one) for one in value]
    if isinstance(value, dict):
        return {key: _timeless(one) for key, one in value.items() if not key.endswith(("seconds", "ledger"))}
    return value


def _native_bits(folder: Path) -> str:
    return read_native(folder / "out").digest


def _nothing(folder: Path) -> None:
    """Nothing is written."""


def _condense(name: str, *more: str) -> Scenario:
    command = [*_CONDENSE, *more, *_OUT]
    return Scenario(name, command, [*command, "--resume"], _condensed_bits, _condensed_whole)


_CONVERT = ["convert", "large.npz", "out", "--force", "--quiet"]
_RUN = ["run", "plan.toml", "--results", "results.jsonl", "--workers", "2", "--quiet"]
_EVALUATE = ["evaluate", "condensed", "--runs", "2", "--workers", "2", "--quiet", "--json"]
_COMPARE = ["compare", "source", "--nodes", "9", "--methods", "random,k-center", "--seeds", "1"]
_COMPARE += ["--models", "hgnn,mlp", "--runs", "1", "--no-cache", "--workers", "2", "--quiet", "--json"]
_TUNE = ["tune", "condensed", "--models", "mlp", "--runs", "1", "--workers", "2", "--quiet", "--json"]
_MAPPED = ["convert", "parts", "out", "--mapped", "--force", "--quiet"]
_CACHED = [*_CONDENSE, "--method", "ridge", "--set", "goal.closed_form.epochs=5", *_OUT]

SCENARIOS = {
    one.name: one
    for one in (
        _condense("condense", "--method", "ahgcdd", "--set", "goal.epochs=25", "--no-cache"),
        _condense("search", "--method", "auto", "--budget", "3", "--no-cache"),
        Scenario("cache", _CACHED, [*_CACHED, "--resume"], _condensed_bits, _cache_whole),
        Scenario("convert", _CONVERT, _CONVERT, _native_bits, _native_whole),
        Scenario("mapped", _MAPPED, _MAPPED, _native_bits, _native_whole),
        Scenario("run", _RUN, _RUN, _lines, _lines_whole),
        Scenario("evaluate", _EVALUATE, _EVALUATE, _printed, _nothing),
        Scenario("compare", _COMPARE, _COMPARE, _printed, _nothing),
        Scenario("tune", _TUNE, _TUNE, _printed, _nothing),
    )
}
