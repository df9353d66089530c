"""Classes that somebody may not have meant are told of."""

import numpy as np
import pytest

from hypercondense import condense
from hypercondense.hypergraph import Hypergraph, split, split_from_ids
from hypercondense.hypergraph.label_names import label_warnings


def called(*names: str) -> Hypergraph:
    """Ten nodes of each class."""
    labels = np.repeat(np.arange(len(names)), 10)
    return Hypergraph(
        features=np.eye(len(labels)),
        labels=labels,
        incidence=(np.arange(len(labels)), labels),
        num_hyperedges=len(names),
        label_names=names,
    )


@pytest.mark.parametrize("name", ["NA", "nan", " N/A ", "None", "NULL", "?", "-"])
def test_what_is_called_like_a_missing_value_is_told(name: str) -> None:
    (told,) = label_warnings(called("yes", name))
    assert repr(name) in told and "10 nodes" in told and "empty" in told


def test_classes_that_differ_in_case_or_spaces_are_told() -> None:
    (told,) = label_warnings(called("yes", "no", "Yes ", "x" * 10_000))
    assert "'yes', 'Yes '" in told and len(told) < 300


def test_usual_names_are_not_told_of() -> None:
    assert list(label_warnings(called("yes", "no", "nana", "unknown"))) == []


def test_condensing_says_so_too_and_names_classes_that_nobody_learns() -> None:
    source = called("yes", "no", "NA")
    parts = split(source, seed=0)
    result = condense(source, parts, nodes=3, method="means")
    assert any("'NA' of 10 nodes" in one for one in result.warnings)
    without = parts.train_ids[source.labels[parts.train_ids] != 2]
    parts = split_from_ids(
        source, train_ids=without, validation_ids=parts.validation_ids, test_ids=parts.test_ids
    )
    result = condense(source, parts, nodes=3, method="means")
    assert any("no training node of class 2 (NA): nothing" in one for one in result.warnings)
