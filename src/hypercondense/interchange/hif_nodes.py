"""Attributes of the nodes of a HIF file: numbers become features, however many names there are."""

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from hypercondense.interchange.assemble import Arrived
from hypercondense.interchange.attributes import FEATURES, OURS, put_nodes
from hypercondense.interchange.columns import Choices, features_of
from hypercondense.interchange.problems import shown, tell

_FULL = 4  # cells for each number that is given: with more, features are kept sparse


class _Numbers:
    """Numbers by node and attribute, in the order attributes first come; and attributes that are none."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.columns: dict[str, int] = {}
        self.others: dict[str, int] = {}  # and the first node that has it
        self.too_large: dict[str, int] = {}
        nodes, places, values = array("q"), array("q"), array("d")
        layout: tuple[str, ...] = ()  # of the last node whose attributes all are numbers
        own: list[int] = []
        for node, row in enumerate(rows):
            features = {key: given for key, given in row.items() if key not in OURS}
            if not {*map(type, features.values())} <= {int, float}:
                features = self._only_numbers(node, features)
            if layout != (layout := tuple(features)):
                own = [self.columns.setdefault(key, len(self.columns)) for key in layout]
            try:
                made = array("d", features.values())
            except OverflowError:
                made = array("d", [self._within(node, *item) for item in features.items()])
            values += made
            places.extend(own)
            nodes.extend([node] * len(own))
        numbers = np.frombuffer(values, np.float64)
        known = ~np.isnan(numbers)  # of dictionaries in memory: JSON has no such number
        self.nodes, self.places = (
            np.frombuffer(nodes, np.int64)[known],
            np.frombuffer(places, np.int64)[known],
        )
        self.values = numbers[known]
        self.shape = (len(rows), len(self.columns))

    def _only_numbers(self, node: int, features: dict[str, Any]) -> dict[str, Any]:
        numbers = {key: given for key, given in features.items() if type(given) in (int, float)}
        for key, given in features.items():
            if given is not None and key not in numbers:
                self.others.setdefault(key, node)
        return numbers

    def _within(self, node: int, key: str, given: float) -> float:
        try:
            return float(given)
        except OverflowError:
            self.too_large.setdefault(key, node)
            return 0.0

    @property
    def missing(self) -> int:
        return self.shape[0] * self.shape[1] - len(self.values)

    def matrix(self) -> Any:
        return sp.csr_array((self.values, (self.nodes, self.places)), shape=self.shape)


def put_hif_nodes(arrived: Arrived, rows: Sequence[Mapping[str, Any]], choices: Choices) -> None:
    """Fill in features, labels, soft labels and parts from the attributes of every node."""
    own = [{key: row[key] for key in OURS if key in row} for row in rows]
    put_nodes(arrived, own, choices)
    numbers = _Numbers(rows)
    for key, node in numbers.too_large.items():
        arrived.problems.add(
            f"attribute {key[:40]!r} of node {shown(arrived.nodes[node])} is a number nobody can compute with"
        )
    blocks: list[Any] = [] if arrived.features is None else [arrived.features]
    names = _names_of_rows(arrived)
    if numbers.columns:
        blocks.append(_filled(arrived, numbers, choices))
        names += list(numbers.columns)
    made = _texts(arrived, rows, numbers.others, choices)
    if made is not None:
        blocks.append(made[0])
        names += made[1]
    if blocks:
        sparse = any(sp.issparse(block) for block in blocks)
        arrived.features = (sp.hstack if sparse else np.hstack)(blocks) if len(blocks) > 1 else blocks[0]
        arrived.feature_names = _told_names(arrived, names)


def _names_of_rows(arrived: Arrived) -> list[str]:
    """What columns of an attribute ``features`` are called."""
    if arrived.features is None:
        return []
    width = arrived.features.shape[1]
    return list(arrived.feature_names or (f"{FEATURES} {column}" for column in range(width)))


def _told_names(arrived: Arrived, names: list[str]) -> Sequence[str] | None:
    facts = arrived.facts
    if facts is not None and facts.num_features == len(names):
        return facts.feature_names
    only_rows = all(name == f"{FEATURES} {column}" for column, name in enumerate(names))
    return None if only_rows else names


def _filled(arrived: Arrived, numbers: _Numbers, choices: Choices) -> Any:
    """Features: what a node lacks is 0, as HyperTorch reads it, or by choice; and that is told."""
    if arrived.facts is not None and arrived.facts.sparse:
        return numbers.matrix()
    if numbers.missing:
        _tell_missing(arrived, numbers, choices)
    mean = choices.missing == "mean" and numbers.missing
    if not mean and numbers.shape[0] * numbers.shape[1] > _FULL * len(numbers.values):
        return numbers.matrix()
    dense = np.zeros(numbers.shape)
    if mean:
        sums = np.bincount(numbers.places, numbers.values, numbers.shape[1])
        dense += sums / np.maximum(1, np.bincount(numbers.places, minlength=numbers.shape[1]))
    dense[numbers.nodes, numbers.places] = numbers.values
    return dense


def _tell_missing(arrived: Arrived, numbers: _Numbers, choices: Choices) -> None:
    counts = np.bincount(numbers.places, minlength=numbers.shape[1])
    column = int(counts.argmin())
    has = np.zeros(numbers.shape[0], bool)
    has[numbers.nodes[numbers.places == column]] = True
    node, name = arrived.nodes[int(has.argmin())], list(numbers.columns)[column]
    told = (
        f"{int((counts < numbers.shape[0]).sum())} of {numbers.shape[1]} numeric attributes are not there "
        f"for every node, as {name[:40]!r} of node {shown(node)}"
    )
    if choices.missing == "error":
        arrived.problems.add(f"{told}; fill them, or choose missing='zero' or missing='mean'")
    else:
        tell(f"{told}: {'0' if choices.missing == 'zero' else 'the mean of the others'} is taken")


def _texts(
    arrived: Arrived, rows: Sequence[Mapping[str, Any]], others: Mapping[str, int], choices: Choices
) -> tuple[Any, list[str]] | None:
    """Attributes that are no numbers: left out as by HyperTorch, a column of each value, or refused."""
    if not others:
        return None
    if choices.text == "one-hot":
        columns = {key: [row.get(key) for row in rows] for key in others}
        return features_of(columns, choices, arrived.problems, what="attribute")
    some = [
        f"{key[:40]!r} ({shown(rows[node][key])} of node {shown(arrived.nodes[node])})"
        for key, node in list(others.items())[:8]
    ]
    told = f"attributes that are no numbers: {', '.join(some)}" + (
        f" and {len(others) - 8} more" if len(others) > 8 else ""
    )
    if choices.text == "error":
        arrived.problems.add(
            f"{told}; text='one-hot' makes a column of each value, text='drop' leaves them out"
        )
    else:
        tell(f"{told} were left out")
    return None
