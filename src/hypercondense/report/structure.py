"""What became what, and the hyperedges of both."""

import numpy as np

from hypercondense.condensation import Condensation
from hypercondense.condensing.costs import extent_of
from hypercondense.hypergraph import Hypergraph
from hypercondense.hypergraph.streamed import hyperedge_sizes
from hypercondense.report import charts
from hypercondense.report.blocks import Chart, Charts, Column, Facts, Section, Table
from hypercondense.report.words import class_names, counted, percent
from hypercondense.runtime.memory import format_size
from hypercondense.telling import structure_line


def sizes(result: Condensation, source: Hypergraph | None) -> Section:
    """Nodes, hyperedges, memberships and bytes of both."""
    condensed, ledger = extent_of(result.hypergraph), result.ledger
    whole = ledger.source if ledger else None if source is None else extent_of(source)
    everything = result.provenance.num_source_nodes
    rows = [_size_row("nodes", condensed.nodes, everything)]
    if whole is not None:
        rows += [
            _size_row("hyperedges", condensed.hyperedges, whole.hyperedges),
            _size_row("memberships", condensed.incidences, whole.incidences),
            _size_row("bytes in memory", condensed.bytes, whole.bytes, size=True),
        ]
    else:
        unknown = {"hyperedges": condensed.hyperedges, "memberships": condensed.incidences}
        rows += [[name, "not known", f"{count:,}", "–", ""] for name, count in unknown.items()]
        rows.append(["bytes in memory", "not known", format_size(condensed.bytes), "–", ""])
    columns = [Column("what"), Column("source", "number"), Column("condensed", "number")]
    columns += [Column("share", "number"), Column("", "wide")]
    facts = {
        "features": f"{result.hypergraph.num_features:,}"
        + ("" if result.scale is None else ", standardized; the result holds the scale"),
        "classes": f"{result.hypergraph.num_classes:,}"
        + ("" if result.hypergraph.soft_labels is None else ", with soft labels"),
        "ratio asked for": _asked(result),
    }
    told = structure_line(result.hypergraph, result.provenance.settings, result.choice)
    blocks = [Table("Sizes of source and condensed hypergraph", columns, rows), Facts(facts)]
    return Section("size", "What became what", f"Structure: {told}.", [*blocks, _classes(result, source)])


def _size_row(name: str, small: int, large: int, *, size: bool = False) -> list[str]:
    share = small / large if large else 0.0
    shown = [format_size(large), format_size(small)] if size else [f"{large:,}", f"{small:,}"]
    return [name, *shown, percent(share, 2), charts.bar(share, "own")]


def _asked(result: Condensation) -> str:
    made = result.provenance
    if made.retain is not None:
        return f"the smallest that keeps {percent(made.retain)}, with a confidence of {made.confidence:g}"
    if made.ratio is None:
        return counted(result.hypergraph.num_nodes, "node")
    of = "all nodes" if made.ratio_of == "all" else "training nodes"
    return f"{percent(made.ratio, 2)} of {of}; share of each class: {made.allocate}"


def _classes(result: Condensation, source: Hypergraph | None) -> Table:
    names = class_names(result.hypergraph if source is None else source)
    number = len(names)
    own = _counts(result.hypergraph, number)
    whole = None if source is None else _counts(source, number)
    rows = [
        [name, "–" if whole is None else f"{whole[label]:,}", f"{own[label]:,}"]
        for label, name in enumerate(names)
    ]
    return Table(
        "Nodes of every class",
        [Column("class"), Column("source", "number"), Column("condensed", "number")],
        rows,
        f"Nodes of every class ({number})",
        kind="narrow",
    )


def _counts(hypergraph: Hypergraph, number: int) -> list[int]:
    known = hypergraph.labels[hypergraph.labels >= 0]
    return [int(count) for count in np.bincount(known, minlength=number)]


def hyperedges(result: Condensation, source: Hypergraph | None) -> Section:
    """Sizes and weights of hyperedges."""
    both = [("condensed", result.hypergraph, "own")]
    both += [] if source is None else [("source", source, "whole")]
    drawn = [_size_chart(name, hypergraph, kind) for name, hypergraph, kind in both]
    drawn += [_weight_chart(name, hypergraph, kind) for name, hypergraph, kind in both]
    empty = all(one is None for one in drawn)
    lead = "There are no hyperedges: networks give every node a self-loop." if empty else ""
    return Section(
        "hyperedges", "Hyperedges", lead, [] if empty else [Charts([one for one in drawn if one is not None])]
    )


def _size_chart(name: str, hypergraph: Hypergraph, kind: str) -> Chart | None:
    sizes = hyperedge_sizes(hypergraph.incidence.hyperedge_ids, hypergraph.num_hyperedges)
    bins = charts.size_bins(sizes)
    if not bins:
        return None
    return _histogram(f"Members of a hyperedge, {name}", bins, kind, ("members", "hyperedges"))


def _weight_chart(name: str, hypergraph: Hypergraph, kind: str) -> Chart | None:
    weights = hypergraph.incidence.weights
    if weights is None or len(weights) == 0:
        return None
    bins = charts.even_bins(weights.tolist())
    return _histogram(f"Weights of memberships, {name}", bins, kind, ("weight", "memberships"))


def _histogram(caption: str, bins: list[charts.Bin], kind: str, names: tuple[str, str]) -> Chart:
    table = Table(
        caption,
        [Column(names[0]), Column(names[1], "number")],
        [[one.label, f"{one.count:,}"] for one in bins],
        "As numbers",
    )
    most = max(one.count for one in bins)
    return Chart(
        caption,
        charts.columns(bins, kind),
        _ends(names[0], bins),
        ("0", f"{most:,} {names[1]}"),
        table,
    )


def _ends(name: str, bins: list[charts.Bin]) -> tuple[str, str]:
    """What stands below a histogram: its ends, or every bin where there are few."""
    if len(bins) < charts.FEWEST_COLUMNS:
        return f"{name}: {', '.join(one.label for one in bins)}", ""
    return f"{name} {bins[0].low:g}", f"{bins[-1].high:g}"
