"""Hypothesis strategies shared by tests."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hypercondense.hypergraph import Hypergraph

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
_NUMBERS = st.floats(min_value=-(2.0**50), max_value=2.0**50, width=32)  # more is refused at the door
_SHARES = st.floats(min_value=0, max_value=1, width=32)
_WEIGHTS = st.floats(min_value=2**-20, max_value=2**20, width=32)


@st.composite
def hypergraphs(
    draw: Any, max_nodes: int = 6, max_hyperedges: int = 4, max_features: int = 3, with_parts: bool = False
) -> Hypergraph:
    """Any valid hypergraph of a few nodes: dense or sparse, weighted or not, named or not, soft or not."""
    num_nodes = draw(st.integers(1, max_nodes))
    num_features = draw(st.integers(1, max_features))
    features: Any = draw(arrays(np.float32, (num_nodes, num_features), elements=_NUMBERS))
    if draw(st.booleans()):
        features = sp.csr_array(features)
    labels = draw(st.lists(st.integers(-1, max(1, num_nodes - 1)), min_size=num_nodes, max_size=num_nodes))
    if max(labels) < 0:
        labels[0] = 0
    nodes = st.sets(st.integers(0, num_nodes - 1), min_size=1)
    hyperedges = draw(st.lists(nodes, max_size=max_hyperedges))
    node_ids = [node for members in hyperedges for node in sorted(members)]
    hyperedge_ids = [number for number, members in enumerate(hyperedges) for _ in members]
    weights = draw(st.none() | arrays(np.float32, len(node_ids), elements=_WEIGHTS))
    num_classes = max(labels) + 1
    label_names = draw(st.none() | st.lists(NAMES, min_size=num_classes, max_size=num_classes + 1))
    shape = (num_nodes, num_classes if label_names is None else len(label_names))
    return Hypergraph(
        features=features,
        labels=labels,
        incidence=(node_ids, hyperedge_ids, weights),
        num_hyperedges=len(hyperedges),
        soft_labels=draw(st.none() | arrays(np.float32, shape, elements=_SHARES).map(_shares)),
        label_names=label_names,
        feature_names=draw(st.none() | st.lists(NAMES, min_size=num_features, max_size=num_features)),
        parts=draw(st.none() | _parts(labels)) if with_parts else None,
        node_names=draw(st.none() | _differing(num_nodes)),
        hyperedge_names=draw(st.none() | _differing(len(hyperedges))),
        name=draw(NAMES),
        notes=draw(st.lists(NAMES, max_size=2)),
    )


def _differing(number: int) -> Any:
    """As many names, none empty, no two alike."""
    some = NAMES.filter(bool)
    return st.lists(some, min_size=number, max_size=number, unique=True)


def _parts(labels: list[int]) -> Any:
    """A part for every node; one with a label is for training, those without are in none."""
    first = next(node for node, label in enumerate(labels) if label >= 0)
    return st.lists(st.integers(-1, 2), min_size=len(labels), max_size=len(labels)).map(
        lambda drawn: [
            0 if node == first else part if labels[node] >= 0 else -1 for node, part in enumerate(drawn)
        ]
    )


def _shares(numbers: Any) -> Any:
    """Rows that add up to 1, in the ratio of the numbers; those of zeros are one-hot."""
    numbers = numbers.astype(np.float64)
    numbers[numbers.sum(1) == 0, 0] = 1
    return (numbers / numbers.sum(1, keepdims=True)).astype(np.float32)
