"""What networks score: the headline, every network, every class, and the confusion that condensing adds."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hypercondense.condensation import Condensation
from hypercondense.evaluation import Score
from hypercondense.report import charts
from hypercondense.report.blocks import Cell, Column, Headline, Section, Table
from hypercondense.report.measured import ClassScore, Measured
from hypercondense.report.words import class_names, counted, percent, points

_MATRIX = 12  # classes whose confusion is shown as a square
_WORST = 10  # classes and confusions that are shown before the fold
_STEPS = 4  # shades of a matrix on either side


def headline(result: Condensation, measured: Measured | None) -> Headline | None:
    """Retention against random nodes and the whole."""
    if measured is None:
        return None
    score, kept = measured.first, measured.retention(measured.first)
    nodes, everything = result.hypergraph.num_nodes, result.provenance.num_source_nodes
    who = f"{score.model.upper()} trained on {counted(nodes, 'synthetic node')}"
    table = _compared(result, measured)
    if kept is None:
        text = f"{who}: {score.metric} on {len(measured.split.test_ids):,} real test nodes."
        return Headline(percent(score.mean), text, table=table)
    trainings = f"{score.runs} training{'s' * (score.runs > 1)} each"
    return Headline(
        f"{percent(kept.share)} retained",
        f"{who} keeps this share of the {score.metric} it has when trained on all {everything:,} nodes, on "
        f"{len(measured.split.test_ids):,} real test nodes ({trainings}).",
        f"95 % interval {percent(kept.low)} to {percent(kept.high)}",
        table,
    )


def _compared(result: Condensation, measured: Measured) -> Table:
    score, nodes = measured.first, result.hypergraph.num_nodes
    rows: list[tuple[str, int, float, str]] = []
    if measured.random_mean is not None:
        rows.append(("random nodes", nodes, measured.random_mean, "random"))
    rows.append(("this result", nodes, score.mean, "own"))
    whole = None if score.whole is None else score.whole.mean
    if whole is not None:
        rows.append(("everything", len(measured.split.train_ids), whole, "whole"))
    return Table(
        f"{score.metric} of {score.model.upper()} on real test nodes",
        [
            *(Column("trained on"), Column("labelled nodes", "number"), Column(score.metric, "number")),
            *(Column("retention", "number"), Column("", "wide")),
        ],
        [
            [
                *(name, f"{number:,}", percent(value)),
                *(percent(value / whole if whole else None), charts.bar(value, kind)),
            ]
            for name, number, value, kind in rows
        ],
        kind="headline-table",
    )


def sections(result: Condensation, measured: Measured | None) -> list[Section]:
    """Networks, classes and confusion; nothing where no network was trained."""
    if measured is None:
        return []
    found = [_networks(measured)]
    classes = measured.classes()
    if classes:
        names = class_names(measured.source)
        found.append(
            Section(
                "classes",
                "Every class",
                _class_lead(classes, names),
                [*_class_tables(classes, names), *_confusion(measured, names)],
            )
        )
    return found


def _networks(measured: Measured) -> Section:
    first = measured.scores[0]
    rows = [_network_row(measured, score) for score in measured.scores]
    columns = [
        Column("network"),
        Column("retention", "number"),
        Column("95 % interval", "number"),
        Column(first.metric, "number"),
        Column("everything", "number"),
        Column("calibration error", "number"),
        Column("one training", "number"),
    ]
    lead = f"Trained on the result, scored on {len(measured.split.test_ids):,} real test nodes."
    if len(measured.scores) == 1:
        lead += " More networks: --model all."
    caption = f"mean and standard deviation of {first.runs} training{'s' * (first.runs > 1)}"
    return Section("networks", "Every network", lead, [Table(caption, columns, rows)])


def _network_row(measured: Measured, score: Score) -> list[str]:
    kept = measured.retention(score)
    spread = f" ± {100 * score.std:.1f}" if score.runs > 1 else ""
    return [
        score.model.upper(),
        percent(kept.share if kept else None),
        "–" if kept is None else f"{percent(kept.low)} to {percent(kept.high)}",
        f"{100 * score.mean:.1f}{spread} %",
        percent(score.whole.mean if score.whole else None),
        percent(score.calibration),
        f"{sum(score.train_seconds) / max(1, len(score.train_seconds)):.2f} s",
    ]


def _class_lead(classes: Sequence[ClassScore], names: Sequence[str]) -> str:
    known = [one for one in classes if one.lost is not None]
    if not known:
        return "Recall: the share of the test nodes of a class that are predicted correctly."
    worst = max(known, key=lambda one: one.lost or 0.0)
    if (worst.lost or 0.0) <= 0:
        return "No class loses by condensing."
    return (
        f"Class {names[worst.label]} loses most: {percent(worst.condensed)} of its test nodes are predicted "
        f"correctly, {percent(worst.whole)} when trained on everything."
    )


def _class_tables(classes: Sequence[ClassScore], names: Sequence[str]) -> list[Table]:
    """All classes, or the ones that lose most and all of them below a fold."""
    order = sorted(classes, key=lambda one: -(one.lost if one.lost is not None else 1 - one.condensed))
    caption = "Recall by class; differences in percentage points"
    if len(order) <= _MATRIX:
        return [_class_table(order, names, caption)]
    worst = _class_table(order[:_WORST], names, f"The {_WORST} classes that lose most")
    every = _class_table(order, names, caption, folded=f"All {len(order)} classes")
    return [worst, every]


def _class_table(
    classes: Sequence[ClassScore], names: Sequence[str], caption: str, folded: str | None = None
) -> Table:
    columns = [Column("class"), Column("this result", "number"), Column("everything", "number")]
    columns += [Column("difference", "number"), Column("random", "number")]
    columns += [Column("test nodes", "number"), Column("", "wide")]
    rows = [
        [
            names[one.label],
            percent(one.condensed),
            percent(one.whole),
            points(None if one.lost is None else -one.lost),
            percent(one.random),
            f"{one.nodes:,}",
            charts.bar(one.condensed, "own"),
        ]
        for one in classes
    ]
    return Table(caption, columns, rows, folded)


def _confusion(measured: Measured, names: Sequence[str]) -> list[Table]:
    added = measured.added_confusion()
    if added is None:
        return []
    found = [_largest(added, names)]
    if len(names) <= _MATRIX:
        found.append(_matrix(added, names))
    return found


def _largest(added: NDArray[np.float64], names: Sequence[str]) -> Table:
    """Which classes are taken for which more often than by networks trained on everything."""
    off = added.copy()
    np.fill_diagonal(off, 0.0)
    order = np.argsort(-off, axis=None)[:_WORST]
    pairs = [np.unravel_index(place, off.shape) for place in order]
    rows = [
        [names[true], names[told], f"{off[true, told]:+.1f}"] for true, told in pairs if off[true, told] > 0
    ]
    return Table(
        "Confusion that condensing adds: test nodes in the mean of all trainings, largest first",
        [Column("class"), Column("taken for"), Column("more nodes", "number")],
        rows or [["none", "none", "0.0"]],
        kind="narrow",
    )


def _matrix(added: NDArray[np.float64], names: Sequence[str]) -> Table:
    largest = max(1.0, float(np.abs(added).max()))
    rows: list[list[str | Cell]] = []
    for true, name in enumerate(names):
        cells = [_shaded(added[true, told], largest, same=true == told) for told in range(len(names))]
        rows.append([name, *cells])
    return Table(
        "Rows are classes, columns what was predicted: more (+) or fewer (−) test nodes than by networks "
        "trained on everything",
        [Column("class"), *(Column(name, "number") for name in names)],
        rows,
        "The whole table of confusion",
        kind="matrix",
    )


def _shaded(value: float, largest: float, *, same: bool) -> Cell:
    step = round(_STEPS * abs(value) / largest)
    good = (value > 0) == same
    text = f"{value:+.1f}".replace("-", "−")
    return Cell("0" if abs(value) < 0.05 else text, "" if not step else f"{'good' if good else 'bad'}-{step}")
