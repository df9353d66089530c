"""Small plans and made-up lines that tests of experiments share."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypercondense.experiments.line import Line
from hypercondense.experiments.plan import Plan
from hypercondense.experiments.plan_reader import read_plan
from hypercondense.experiments.settings import Settings
from hypercondense.typed import content_of

QUICK = """
name = "quick"
title = "Quick"
seeds = 2
runs = 2

[datasets.digits]
ratios = [0.01]

[variants.random]
[variants.ahgcdd]
options = { epochs = 2, structure.warm.steps = 2, hidden = 8 }
[variants.whole]
runs = 1
"""


def write_plan(folder: Path, text: str = QUICK, name: str = "plan.toml") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def plan_of(folder: Path, text: str = QUICK) -> Plan:
    return read_plan(write_plan(folder, text))


def content(settings: Settings, values: Sequence[float] = (0.5,), **more: Any) -> dict[str, Any]:
    """What a line holds, with made-up facts."""
    facts = {
        "versions": {"hypercondense": "1.0", "torch": "2.0"},
        "source_digest": f"digest of {settings.source}",
        "split_digest": f"split {settings.split_seed}",
        "condense_seconds": 2.0,
        "train_seconds": 4.0,
        "peak_memory_mb": 100.0,
        "run_memory_mb": 200.0,
        "num_source_incidences": 1000,
        "notes": [],
    }
    values = list(values)
    return {"key": settings.key, "settings": content_of(settings), "values": values, **facts, **more}


def line(settings: Settings, values: Sequence[float] = (0.5,), number: int = 1, **more: Any) -> Line:
    return Line.parse(json.dumps(content(settings, values, **more)).encode(), number, Path("made-up.jsonl"))


def lines_of(plan: Plan, scores: dict[str, Sequence[float]], **more: Any) -> list[Line]:
    """A line for every run of a plan whose variant has scores."""
    found: dict[str, Line] = {}
    for place in plan.places():
        for run in plan.settings_at(place):
            if place.variant in scores:
                found[run.key] = line(run, scores[place.variant], len(found) + 1, **more)
    return list(found.values())
