"""Commands that write or start processes, how each is continued, and what must be the same in the end."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

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
    from hypercondense.cli import run

    condensed = ["condense", str(folder / "source"), "--nodes", "9", "--method", "random", "--no-select"]
    assert run([*condensed, "--no-cache", "--quiet", "--out", str(folder / "condensed")]) == 0


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


def _scores(folder: Path) -> str:
    return json.dumps(json.loads((folder / "stdout").read_text())["values"])


def _nothing(folder: Path) -> None:
    """Nothing is written."""


def _condense(name: str, *more: str) -> Scenario:
    command = [*_CONDENSE, *more, *_OUT]
    return Scenario(name, command, [*command, "--resume"], _condensed_bits, _condensed_whole)


_CONVERT = ["convert", "large.npz", "out", "--force", "--quiet"]
_RUN = ["run", "plan.toml", "--results", "results.jsonl", "--workers", "2", "--quiet"]
_EVALUATE = ["evaluate", "condensed", "--runs", "2", "--workers", "2", "--quiet", "--json"]
_CACHED = [*_CONDENSE, "--method", "ridge", "--set", "goal.closed_form.epochs=5", *_OUT]

SCENARIOS = {
    one.name: one
    for one in (
        _condense("condense", "--method", "ahgcdd", "--set", "goal.epochs=25", "--no-cache"),
        _condense("search", "--method", "auto", "--budget", "3", "--no-cache"),
        Scenario("cache", _CACHED, [*_CACHED, "--resume"], _condensed_bits, _cache_whole),
        Scenario(
            "convert", _CONVERT, _CONVERT, lambda folder: read_native(folder / "out").digest, _native_whole
        ),
        Scenario("run", _RUN, _RUN, _lines, _lines_whole),
        Scenario("evaluate", _EVALUATE, _EVALUATE, _scores, _nothing),
    )
}
