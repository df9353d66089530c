"""The map of nodes as a picture that works alone, and as data for the script that answers questions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from hypercondense.condensation import Condensation
from hypercondense.hypergraph import Hypergraph
from hypercondense.report.blocks import Column, Map, Section, Table
from hypercondense.report.charts import COLOURS
from hypercondense.report.mapping import MOST_MEMBERS, SIDE, NodeMap, node_map
from hypercondense.report.words import class_name, class_names, counted, cut, percent

_LONGEST = 40  # letters of the name of a node
_ROWS = 200  # condensed nodes in the table
_HEIGHT = 620  # of the picture, whose width is SIDE


def map_section(
    result: Condensation, source: Hypergraph | None, *, memory: int | str | None = None
) -> Section:
    """The map with all that belongs to it."""
    places = node_map(result, source, memory=memory)
    names = class_names(result.hypergraph if source is None else source)
    colours = _colours(result.hypergraph.labels, len(names))
    shown, number = len(places.condensed_ids), result.hypergraph.num_nodes
    sampled = _sampled(shown, number, "condensed node")
    if source is not None:
        of = _sampled(len(places.source_ids), source.num_nodes, "source node")
        caption = f"Small: {of}. Large, outlined: {sampled}."
    else:
        caption = f"{sampled.capitalize()}; the source is not at hand."
    lead = (
        "Nodes as a network sees them, after two steps of message passing, on the two directions in which "
        f"the source differs most ({percent(places.shown_share, 0)} of its variance)."
    )
    block = Map(
        picture=_picture(result, source, places, colours, names),
        data=_data(result, source, places, names),
        legend=_legend(colours, names),
        classes=list(enumerate(names)),
        nodes=[
            (place, cut(f"{node} · {class_name(names, int(result.hypergraph.labels[node]))}", _LONGEST))
            for place, node in enumerate(places.condensed_ids)
        ],
        caption=caption,
        table=_table(result, source, names),
    )
    return Section("map", "Map of nodes", lead, [block])


def _sampled(shown: int, number: int, thing: str) -> str:
    """How many of all are shown.

    >>> _sampled(3, 9, "node"), _sampled(9, 9, "node"), _sampled(1, 1, "node")
    ('3 of 9 nodes', 'all 9 nodes', '1 node')
    """
    if shown < number:
        return f"{shown:,} of {counted(number, thing)}"
    return f"{'all ' * (number > 1)}{counted(number, thing)}"


def _colours(labels: Any, number: int) -> list[int]:
    """The colour of every class: the most frequent have one of their own, all others are grey."""
    counts = np.bincount(labels[labels >= 0], minlength=number)
    order = np.argsort(-counts, kind="stable")
    colours = [COLOURS] * (number + 1)  # the last is that of nodes without a label
    for colour, label in enumerate(sorted(order[:COLOURS])):
        colours[int(label)] = colour
    return colours


def _legend(colours: Sequence[int], names: Sequence[str]) -> list[tuple[str, str]]:
    found = [
        (f"fill-c{colours[label]}", name) for label, name in enumerate(names) if colours[label] < COLOURS
    ]
    others = len(names) - len(found)
    return [*found, (f"fill-c{COLOURS}", f"{others:,} other classes")] if others else found


def _picture(
    result: Condensation,
    source: Hypergraph | None,
    places: NodeMap,
    colours: Sequence[int],
    names: Sequence[str],
) -> Markup:
    label = "Map of nodes; the table below and the lists above tell the same in words"
    drawn = Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">').format(SIDE, _HEIGHT, label)
    drawn += Markup('<g class="sources">')
    if source is not None:
        labels = source.labels[places.source_ids]
        for one in np.unique(labels):
            dots = "".join(f"M{x} {_down(y)}h0" for x, y in places.source[labels == one])
            drawn += Markup('<path class="dot line-c{}" data-class="{}" d="{}"/>').format(
                colours[one], one, dots
            )
    drawn += Markup('</g><g class="ties"></g><g class="condensed">')
    for place, node in enumerate(places.condensed_ids):
        x, y = places.condensed[place]
        one = int(result.hypergraph.labels[node])
        drawn += Markup(
            '<circle class="node fill-c{}" data-class="{}" data-place="{}" cx="{}" cy="{}" r="9">'
            "<title>{}</title></circle>"
        ).format(colours[one], one, place, x, _down(y), f"condensed node {node}, {class_name(names, one)}")
    return drawn + Markup("</g></svg>")


def _down(y: int) -> int:
    return round((SIDE - int(y)) * _HEIGHT / SIDE)


def _data(
    result: Condensation, source: Hypergraph | None, places: NodeMap, names: Sequence[str]
) -> dict[str, Any]:
    """What the script knows: places, classes and names, and which real nodes a condensed one was made of."""
    at = {int(node): place for place, node in enumerate(places.source_ids)}
    condensed = []
    for place, node in enumerate(places.condensed_ids):
        members = result.members[node]
        shown = [at[int(one)] for one in members[:MOST_MEMBERS] if int(one) in at]
        x, y = places.condensed[place]
        label = int(result.hypergraph.labels[node])
        condensed.append([int(x), _down(y), label, f"condensed node {node}", len(members), shown])
    real = []
    if source is not None:
        for place, node in enumerate(places.source_ids):
            x, y = places.source[place]
            name = cut(source.node_name(int(node)), _LONGEST)
            real.append([int(x), _down(y), int(source.labels[node]), name])
    return {"classes": list(names), "source": real, "condensed": condensed}


def _table(result: Condensation, source: Hypergraph | None, names: Sequence[str]) -> Table:
    """The first condensed nodes with what they were made of."""
    number = min(_ROWS, result.hypergraph.num_nodes)
    rows = []
    for node in range(number):
        members = result.members[node]
        known = [str(one) if source is None else source.node_name(int(one)) for one in members[:MOST_MEMBERS]]
        listed = ", ".join(cut(name, _LONGEST) for name in known)
        more = f" and {len(members) - len(known):,} more" if len(members) > len(known) else ""
        label = class_name(names, int(result.hypergraph.labels[node]))
        rows.append([str(node), label, f"{len(members):,}", listed + more])
    columns = [Column("node", "number"), Column("class"), Column("made of", "number"), Column("real nodes")]
    first = "" if number == result.hypergraph.num_nodes else f", the first {number}"
    return Table(
        f"Condensed nodes and what they were made of{first}",
        columns,
        rows,
        f"Condensed nodes as a table{first}",
    )
