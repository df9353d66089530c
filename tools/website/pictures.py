"""What every method makes of the same small hypergraph in two dimensions."""

import io
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

import hypercondense as hc

EMPTY = b'<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"/>'
_COLOURS = np.array(["#3366cc", "#d9822b", "#2e8b57"])


def two_dimensions(num_nodes: int = 360) -> hc.Hypergraph:
    """Three classes, each of two clouds, and hyperedges between near nodes of mostly one class."""
    rng = np.random.default_rng(7)
    centres = np.array([[0, 0], [2.2, 0.3], [1.0, 1.8], [3.0, 2.0], [-0.8, 1.7], [1.9, -1.5]])
    cloud = rng.integers(0, 6, num_nodes)
    features = centres[cloud] + rng.normal(scale=0.42, size=(num_nodes, 2))
    anchors = rng.choice(num_nodes, 160, replace=False)
    distances = ((features[anchors][:, None] - features[None]) ** 2).sum(2)
    members = np.argsort(distances, axis=1)[:, :5]
    return hc.Hypergraph(
        features=features,
        labels=cloud % 3,
        incidence=(members.ravel(), np.repeat(np.arange(160), 5)),
        num_hyperedges=160,
        name="three classes",
    )


def draw_methods(names: Sequence[str]) -> Iterator[bytes]:
    """An SVG for each method: source nodes pale, condensed nodes large, their hyperedges as lines."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "hypercondense"
    source = two_dimensions()
    split = hc.split(source, seed=0)
    for name in names:
        with _without_warnings():
            result = hc.condense(source, split, method=name, nodes=12, seed=0)
        yield _drawn(source, result)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Leave out what a result on so few nodes is warned of: its page says when a method fails."""
    logger = logging.getLogger("hypercondense")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def _drawn(source: hc.Hypergraph, result: hc.Condensation) -> bytes:
    import matplotlib.pyplot as plt

    small = result.hypergraph
    figure, axes = plt.subplots(figsize=(5.2, 3.6))
    real, made = source.dense_features(), small.dense_features()
    axes.scatter(*real.T, s=9, c=_COLOURS[source.labels], alpha=0.35, linewidths=0)
    for hyperedge in range(small.num_hyperedges):
        members = made[small.incidence.node_ids[small.incidence.hyperedge_ids == hyperedge]]
        centre = members.mean(0)
        for member in members if len(members) > 1 else ():
            axes.plot(*np.stack([centre, member]).T, color="#555555", linewidth=0.8, zorder=2)
    axes.scatter(*made.T, s=90, c=_COLOURS[small.labels], edgecolors="black", linewidths=1, zorder=3)
    axes.set_xticks([])
    axes.set_yticks([])
    figure.patch.set_facecolor("white")
    target = io.BytesIO()
    figure.savefig(target, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    return target.getvalue()
