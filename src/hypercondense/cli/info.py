"""``hypercondense info``: statistics and a check of any hypergraph."""

from dataclasses import asdict
from itertools import islice
from typing import Any

from hypercondense.cli import options, output

_SHOWN_CLASSES = 1000  # in a table for people


def info(
    source: options.Source,
    memory: options.ReadingMemory = None,
    data_dir: options.DataDir = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Show the statistics of a hypergraph, after checking all of it."""
    from hypercondense.hypergraph.label_names import label_warnings
    from hypercondense.hypergraph.scaling import Columns, scale_warnings
    from hypercondense.hypergraph.statistics import statistics

    hypergraph = options.load_source(source, data_dir, memory)
    facts = asdict(statistics(hypergraph))
    columns = Columns.of(hypergraph)
    warnings = [*scale_warnings(hypergraph, columns), *label_warnings(hypergraph)]
    for warning in warnings:
        output.warn(warning)
    if json:
        told = {"digest": hypergraph.digest, "notes": list(hypergraph.notes), "warnings": warnings}
        output.print_json({"name": hypergraph.name, **facts, "features": _features(columns), **told})
        return
    names = {
        "num_nodes": "nodes",
        "num_hyperedges": "hyperedges",
        "num_incidences": "incidences",
        "num_incidences_with_self_loops": "  with self-loops",
        "num_features": "features",
        "num_classes": "classes",
        "num_labelled_nodes": "labelled nodes",
        "num_isolated_nodes": "isolated nodes",
    }
    lines = {"name": hypergraph.name, **{label: f"{facts[key]:,}" for key, label in names.items()}}
    lines["features not 0"] = f"{facts['feature_density']:.1%}"
    lines["node degree"] = _distribution(facts["node_degree"])
    lines["hyperedge size"] = _distribution(facts["hyperedge_size"])
    lines["homophily"] = "not defined" if facts["homophily"] is None else f"{facts['homophily']:.3f}"
    if facts["own_class_share"] is not None:
        lines["soft labels"] = f"{facts['own_class_share']:.1%} on the own class, mean over nodes"
    lines["feature ranges"] = _ranges(columns)
    counts = [f"{name}: {count:,}" for name, count in islice(facts["class_counts"].items(), _SHOWN_CLASSES)]
    more = len(facts["class_counts"]) - len(counts)
    lines["class counts"] = ", ".join(counts) + (f" and {more:,} more (--json has all)" if more else "")
    lines["digest"] = hypergraph.digest
    output.print_facts(lines)
    for line in hypergraph.notes:
        output.note(f"note: {line}", quiet=quiet)


def _features(columns: Any) -> dict[str, float]:
    """Range of all features, of their deviations, and how many are constant."""
    return {
        "smallest": float(columns.smallest.min()),
        "largest": float(columns.largest.max()),
        "smallest_deviation": float(columns.deviations.min()),
        "largest_deviation": float(columns.deviations.max()),
        "num_constant": int((columns.deviations == 0).sum()),
    }


def _ranges(columns: Any) -> str:
    told = _features(columns)
    return (
        f"{told['smallest']:g} to {told['largest']:g}, deviations of columns "
        f"{told['smallest_deviation']:.3g} to {told['largest_deviation']:.3g}"
    )


def _distribution(numbers: dict[str, float]) -> str:
    return (
        f"{numbers['smallest']:,} to {numbers['largest']:,}, mean {numbers['mean']:.2f}, "
        f"median {numbers['median']:g}, 90 % at most {numbers['ninetieth']:g}"
    )
