"""How a result was made: what was tried, what it cost, what to know about it, and where it came from."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hypercondense.condensation import Condensation
from hypercondense.hypergraph import Hypergraph
from hypercondense.report import charts
from hypercondense.report.again import command_of
from hypercondense.report.blocks import Chart, Charts, Code, Column, Facts, Notes, Section, Table
from hypercondense.report.words import cut, flat, percent, seconds
from hypercondense.runtime.clock import TOTAL

_MOST_ROWS = 60  # of a history that is told as text
_BESIDE = ("guard", "loading")  # of a ledger: what is no part of the cost
_TIMES = ("seconds",)  # of a history: what is no loss and no score


def searched(result: Condensation) -> list[Section]:
    """What a search tried, what it chose and why."""
    choice = result.choice
    if choice is None:
        return []
    trials: Sequence[Mapping[str, Any]] = choice.get("trials") or ()
    blocks: list[Any] = []
    if trials:
        scores = [float(one["score"]) for one in trials]
        chosen = {"method": choice.get("method"), "settings": choice.get("settings")}
        low = min(scores) - 0.02
        rows = [
            [
                cut(one.get("label", one["method"])),
                "chosen" if {name: one.get(name) for name in chosen} == chosen else "",
                percent(float(one["score"])),
                charts.bar((float(one["score"]) - low) / ((max(scores) - low) or 1.0), "own"),
                ", ".join(percent(float(value)) for value in one.get("scores", ())),
                seconds(float(one.get("seconds", 0.0))),
                cut(" ".join(f"{name}={value}" for name, value in flat(one["settings"]).items()), 300),
            ]
            for one in trials
        ]
        columns = [Column("recipe"), Column(""), Column("validation", "number"), Column("", "wide")]
        columns += [Column("of each network", "number"), Column("time", "number"), Column("settings")]
        blocks.append(Table("Recipes that were tried, in the order they were", columns, rows))
    return [Section("search", "What was tried", f"Chosen was {cut(choice['why'], 400)}.", blocks)]


def tried_sizes(result: Condensation) -> list[Section]:
    """Size against retention, where it was searched for."""
    if not result.curve:
        return []
    points = sorted(result.curve, key=lambda one: one.nodes)
    rows = [
        [
            f"{one.nodes:,}",
            "taken" if one.nodes == result.hypergraph.num_nodes else "",
            percent(one.score),
            f"{percent(one.retention)} ± {100 * one.standard_error:.1f}",
            charts.interval(
                one.retention - 2 * one.standard_error,
                one.retention,
                one.retention + 2 * one.standard_error,
                of=(min(p.retention - 2 * p.standard_error for p in points), 1.02),
                kind="own",
            ),
            f"{one.probability:.2f}",
        ]
        for one in points
    ]
    columns = [Column("nodes", "number"), Column(""), Column("validation", "number")]
    columns += [Column("retention", "number"), Column("", "wide"), Column("probability", "number")]
    asked = result.provenance.retain
    lead = "" if asked is None else f"Asked for was the smallest size that keeps {percent(asked)}."
    return [Section("sizes", "Size against retention", lead, [Table("On validation nodes", columns, rows)])]


def optimized(result: Condensation) -> list[Section]:
    """Losses and scores over time, one picture for each figure of the history."""
    history = result.history
    names = list(dict.fromkeys(name for row in history for name in row if name not in ("epoch", *_TIMES)))
    if len(history) < 2 or not names or (result.choice and result.choice.get("trials")):
        return []  # a search keeps a row for each trial, which its table tells
    lines: dict[tuple[float, ...], list[str]] = {}  # figures that are one and the same are drawn once
    for name in names:
        line = tuple(float(row.get(name, np.nan)) for row in history)
        if np.isfinite(line).any():
            lines.setdefault(line, []).append(cut(name))
    drawn = [_figure(" and ".join(same), list(line), history) for line, same in lines.items()]
    return [Section("history", "Losses and figures over time", "", [Charts(drawn)])] if drawn else []


def _figure(name: str, line: list[float], history: Sequence[Mapping[str, float]]) -> Chart:
    known = [value for value in line if np.isfinite(value)]
    steps = np.unique(np.linspace(0, len(line) - 1, min(len(line), _MOST_ROWS)).astype(int))
    epochs = [row.get("epoch", place) for place, row in enumerate(history)]
    rows = [[f"{epochs[step]:g}", f"{line[step]:.5g}"] for step in steps if np.isfinite(line[step])]
    left_out = "" if len(steps) == len(line) else f", {len(rows)} of {len(line)} rows"
    return Chart(
        f"{name}: {known[0]:.4g} at first, {known[-1]:.4g} at the end",
        charts.lines({name: line}),
        (f"epoch {epochs[0]:g}", f"{epochs[-1]:g}"),
        (f"{min(known):.3g}", f"{max(known):.3g}"),
        Table(name, [Column("epoch", "number"), Column(name, "number")], rows, f"As numbers{left_out}"),
    )


def cost(result: Condensation) -> Section:
    """The ledger."""
    ledger = result.ledger
    if ledger is None:
        total = seconds(result.seconds.get(TOTAL, 0.0))
        facts = {"time": total, "memory at most": f"{result.peak_memory_mb:,.0f} MB"}
        return Section("cost", "What it cost", "It was made before ledgers were kept.", [Facts(facts)])
    total_seconds = ledger.seconds.get(TOTAL, 0.0)
    order = sorted(ledger.seconds, key=lambda name: (name in _BESIDE) + (name == TOTAL) / 2)
    rows = [
        [
            name if name not in _BESIDE else f"{name} (beside it)",
            seconds(value),
            percent(value / total_seconds if total_seconds and name not in _BESIDE else None),
            charts.bar(value / total_seconds if total_seconds else 0.0, "soft" if name in _BESIDE else "own"),
        ]
        for name in order
        for value in [ledger.seconds[name]]
    ]
    facts = dict(ledger.lines())
    lead = f"{facts['cost'][0].upper()}{facts['cost'][1:]}."
    columns = [Column("work"), Column("time", "number"), Column("share", "number"), Column("", "wide")]
    told = {name: facts[name] for name in ("trained on everything", "size and memory")}
    return Section(
        "cost", "What it cost", lead, [Table("Seconds by kind of work", columns, rows), Facts(told)]
    )


def checks(result: Condensation, source: Hypergraph | None) -> Section:
    """Warnings, and what was looked at while the page was made."""
    blocks: list[Any] = []
    if result.warnings:
        blocks.append(Notes([cut(line, 500) for line in result.warnings], "warnings"))
    notes = [*result.hypergraph.notes, *(() if source is None else source.notes)]
    lines = ["Checksums of the tensors and of the manifest are right."]
    if source is not None:
        lines.append("Source and split are the ones it was condensed from.")
        lines.append(_copies(result, source))
    lines += [cut(note, 500) for note in dict.fromkeys(notes)]
    blocks.append(Notes(lines))
    number = len(result.warnings)
    lead = "No warnings." if not number else f"{number} warning{'s' * (number > 1)}."
    return Section("checks", "Warnings and audit", lead, blocks)


def _copies(result: Condensation, source: Hypergraph) -> str:
    """How many condensed nodes are made of a real node with exactly their features: no stand-ins."""
    rows = result.hypergraph.dense_features() if result.scale is None else None
    number = 0
    for node, members in enumerate(result.members):
        if rows is not None and len(members):
            number += bool((source.dense_features(members[:50]) == rows[node]).all(1).any())
    if not number:
        return "No condensed node has exactly the features of a real node it was made of."
    return (
        f"{number:,} of {result.hypergraph.num_nodes:,} condensed nodes have exactly the features of a real "
        "node they were made of: the result shows these nodes to whoever has it."
    )


def provenance(result: Condensation) -> Section:
    """Where it came from, and the command that makes it again."""
    made = result.provenance
    again = command_of(result)
    facts = {
        "source": cut(made.source_name),
        "source digest": made.source_digest[:16],
        "split": "your own" if made.split_seed is None else f"50/25/25 by seed {made.split_seed}",
        "method": cut(made.method),
        "seed": str(made.seed),
        "chosen for": made.metric,
        "code": cut(made.code or "release 0.1.0", 13),
        **{cut(name): cut(version) for name, version in made.versions.items()},
    }
    options = [[cut(name), cut(value, 200)] for name, value in flat(made.settings).items()]
    blocks: list[Any] = []
    if again is not None:
        blocks.append(Code("The command that makes it again", cut(again, 3000)))
    blocks.append(Facts(facts))
    if options:
        table = Table("Every option", [Column("option"), Column("value")], options, "Every option")
        blocks.append(table)
    return Section("provenance", "Where it came from", "", blocks)
