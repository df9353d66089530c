"""The page about one result."""

from pathlib import Path

from hypercondense.condensation import Condensation
from hypercondense.hypergraph import Hypergraph
from hypercondense.report import scores, structure, work
from hypercondense.report.blocks import Code, Headline, Page, Section
from hypercondense.report.loading import snippets
from hypercondense.report.map_block import map_section
from hypercondense.report.measured import Measured
from hypercondense.report.words import counted, cut, percent, seconds
from hypercondense.runtime.clock import TOTAL
from hypercondense.runtime.memory import format_size


def result_page(
    result: Condensation,
    folder: Path,
    *,
    source: Hypergraph | None = None,
    measured: Measured | None = None,
    missing: tuple[str, ...] = (),
    memory: int | str | None = None,
) -> Page:
    """What is known about a result, for people.

    Args:
        result: The result.
        folder: Where it lies, for commands and code that read it.
        source: What it was made of, if that is at hand.
        measured: What networks make of it, if they were trained.
        missing: Why something is not known.
        memory: Bytes that the process may take where the source is mapped.
    """
    made, condensed = result.provenance, result.hypergraph
    share = condensed.num_nodes / max(1, made.num_source_nodes)
    sections = [
        structure.sizes(result, source),
        *scores.sections(result, measured),
        map_section(result, source, memory=memory),
        structure.hyperedges(result, source),
        *work.searched(result),
        *work.tried_sizes(result),
        *work.optimized(result),
        work.cost(result),
        work.checks(result, source),
        work.provenance(result),
        _loading(folder),
    ]
    return Page(
        title=cut(made.source_name),
        subtitle=f"{counted(condensed.num_nodes, 'synthetic node')} in place of {made.num_source_nodes:,} "
        f"({percent(share, 2)}){_bytes(result)}, condensed by {cut(made.method)}{_time(result)}",
        headline=scores.headline(result, measured) or _size_headline(result),
        sections=[section for section in sections if section is not None],
        notes=(*missing, *(measured.missing if measured else ())),
    )


def _bytes(result: Condensation) -> str:
    ledger = result.ledger
    if ledger is None:
        return ""
    return f", {format_size(ledger.result.bytes)} in place of {format_size(ledger.source.bytes)}"


def _time(result: Condensation) -> str:
    total = result.seconds.get(TOTAL)
    return "" if total is None else f" in {seconds(total)}"


def _size_headline(result: Condensation) -> Headline:
    """What can be said without networks."""
    made, nodes = result.provenance, result.hypergraph.num_nodes
    times = made.num_source_nodes / max(1, nodes)
    scored = result.final_validation
    meaning = f"{counted(nodes, 'node')} in place of {made.num_source_nodes:,}."
    if scored is not None:
        meaning += f" Networks had {percent(scored)} on validation nodes when it was made."
    figure = f"{times:,.0f} × smaller" if times >= 2 else counted(nodes, "node")
    return Headline(figure=figure, meaning=meaning)


def _loading(folder: Path) -> Section:
    codes = [
        Code(library, code, f"pip install {packages}", folded=number > 0)
        for number, (library, (packages, code)) in enumerate(snippets(cut(folder, 300)).items())
    ]
    return Section(
        "loading",
        "How to use it",
        "Use features, labels and weighted incidence as they are, and give every node without a singleton "
        "hyperedge one of weight 1, on the source too.",
        codes,
    )
