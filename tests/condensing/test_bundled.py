"""Rows as bundles of noisy nodes."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercondense.cli import run as run_command
from hypercondense.condensation import Condensation, load_condensed
from hypercondense.condensing import Bundled, Unrolled
from hypercondense.condensing.bundled import bundles_of
from hypercondense.diffusion import diffuse, vanilla
from hypercondense.hypergraph import Hypergraph, Split, split

FAST: dict[str, Any] = {"epochs": 2, "unrolled_epochs": 3, "window": 2, "horizon": 6, "hidden": 8}
FAST |= {"samples_per_node": 5}


def run(source: Hypergraph, parts: Split, *, nodes: int = 18, **settings: Any) -> Condensation:
    return Bundled(**{**FAST, **settings}).condense(source, parts, nodes=nodes)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(1, 7))
def test_bundles_are_a_partition_into_groups_of_one_class(labels: list[int], size: int) -> None:
    given_labels = np.sort(np.array(labels))
    bundles = bundles_of(given_labels, size)
    assert np.concatenate(bundles).tolist() == list(range(len(labels)))
    for label in set(labels):
        sizes = [len(bundle) for bundle in bundles if given_labels[bundle[0]] == label]
        assert all((given_labels[bundle] == given_labels[bundle[0]]).all() for bundle in bundles)
        assert max(sizes) <= size and max(sizes) - min(sizes) <= 1
        assert len(sizes) == -(-labels.count(label) // size)  # no more rows than needed


@pytest.mark.parametrize("bundle", [2, 3])
def test_the_noise_of_a_bundle_adds_up_to_nothing(source: Hypergraph, parts: Split, bundle: int) -> None:
    plain = run(source, parts, bundle=bundle, noise=0.0).hypergraph
    noisy = run(source, parts, bundle=bundle).hypergraph
    for ids in bundles_of(plain.labels, bundle):
        rows = plain.dense_features(ids)
        assert (rows == rows[0]).all()
        np.testing.assert_allclose(noisy.dense_features(ids).mean(0), rows[0], atol=1e-6)
        assert len(ids) == 1 or np.abs(noisy.dense_features(ids) - rows).max() > 0.1


def test_the_noise_is_half_the_difference_of_raw_features_of_the_class(
    source: Hypergraph, parts: Split
) -> None:
    result = run(source, parts, noise=0.5)
    small = result.hypergraph
    for first, second in (ids for ids in bundles_of(small.labels, 2) if len(ids) == 2):
        difference = small.dense_features([first])[0] - small.dense_features([second])[0]
        of_class = parts.train_ids[source.labels[parts.train_ids] == small.labels[first]]
        pairs = [
            pair
            for pair in combinations(of_class, 2)
            if np.allclose(np.abs(difference), 0.5 * np.abs(np.subtract(*source.dense_features(list(pair)))))
        ]
        assert len(pairs) == 1
        assert set(pairs[0]) <= set(result.members[first]) & set(result.members[second])


def test_convolutions_over_a_bundle_return_its_row(source: Hypergraph, parts: Split) -> None:
    """A pair in a hyperedge of weight 10, loops of weight 1: each P leaves an eleventh of the noise."""
    rows = run(source, parts, noise=0.0).hypergraph.dense_features()
    noisy = run(source, parts).hypergraph
    left = rows + (noisy.dense_features() - rows) / 11**2
    np.testing.assert_allclose(diffuse(noisy, vanilla(2)), left, atol=1e-5)


def test_bundles_of_one_are_the_method_without_them(source: Hypergraph, parts: Split) -> None:
    alone = run(source, parts, bundle=1, smoothing=0.0)
    assert alone.hypergraph.digest == Unrolled(**FAST).condense(source, parts, nodes=18).hypergraph.digest


def test_classes_with_one_node_have_no_noise_and_no_hyperedge(source: Hypergraph, parts: Split) -> None:
    small = run(source, parts, nodes=3)
    assert small.hypergraph.num_hyperedges == 3 and small.hypergraph.num_incidences == 3  # the identity
    assert any("no bundles" in warning for warning in small.warnings)
    for other in (run(source, parts, nodes=3, bundle=1), run(source, parts, nodes=6)):
        assert not any("no bundles" in warning for warning in other.warnings)


def test_more_nodes_than_a_class_has_for_training(source: Hypergraph) -> None:
    labels = np.minimum(source.labels, 1)
    labels[:2] = 2  # two nodes, of which one is for training
    rare = Hypergraph(
        features=source.features,
        labels=labels,
        incidence=source.incidence,
        num_hyperedges=source.num_hyperedges,
    )
    parts = split(rare, seed=0)
    assert np.count_nonzero(labels[parts.train_ids] == 2) == 1
    small = Bundled(**FAST, bundle=4).condense(rare, parts, nodes=rare.num_nodes).hypergraph
    of_class = small.dense_features(np.flatnonzero(small.labels == 2))
    assert len(of_class) >= 2  # drawn from a single node, so there is no difference to be noise
    np.testing.assert_allclose(of_class, np.broadcast_to(of_class[0], of_class.shape), atol=1e-5)


def test_soft_labels_are_those_of_the_row(source: Hypergraph, parts: Split) -> None:
    soft = {"soft_labels": True, "self_select": False}
    plain, smoothed = (run(source, parts, smoothing=s, **soft).hypergraph.soft_labels for s in (0.0, 0.3))
    assert plain is not None and smoothed is not None
    for ids in bundles_of(np.sort(run(source, parts).hypergraph.labels), 2):
        assert (plain[ids] == plain[ids[0]]).all()
    np.testing.assert_allclose(smoothed, 0.7 * plain + 0.1, rtol=1e-5)  # of three classes


def test_labels_are_smoothed_and_nothing_else_is_changed(source: Hypergraph, parts: Split) -> None:
    plain = run(source, parts, smoothing=0.0).hypergraph
    assert plain.soft_labels is None
    for smoothing in (0.06, 1.0):
        small = run(source, parts, smoothing=smoothing).hypergraph
        expected = (1 - smoothing) * np.eye(3)[plain.labels] + smoothing / 3
        np.testing.assert_allclose(small.soft_labels, expected, atol=1e-6)
        assert (small.labels == plain.labels).all()
        assert (small.dense_features() == plain.dense_features()).all()


def test_what_selects_sees_smoothed_labels(source: Hypergraph, parts: Split) -> None:
    seen: list[Hypergraph] = []

    def select(candidate: Hypergraph) -> float:
        seen.append(candidate)
        return 0.0

    Bundled(**FAST).condense(source, parts, nodes=18, select=select)
    *candidates, real = seen  # at the end it is compared with real nodes
    assert len(candidates) > 1 and real.soft_labels is None
    assert all(candidate.soft_labels is not None for candidate in candidates)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bundle": 0}, "bundle"),
        ({"noise": -0.1}, "noise"),
        ({"smoothing": -0.1}, "smoothing must be at least 0"),
        ({"smoothing": 1.01}, "smoothing is a share"),
        ({"smoothing": float("nan")}, "smoothing"),
        ({"structure": True}, "structure"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Bundled(**options)


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = [part for name, value in FAST.items() for part in ("--set", f"{name}={value}")]
    words = ["condense", "digits", "--nodes", "40", "--method", "bundled", "--no-cache", *settings]
    assert run_command([*words, "--set", "bundle=2", "--out", str(tmp_path / "small"), "--quiet"]) == 0
    small = load_condensed(tmp_path / "small").hypergraph
    assert small.num_nodes == 40 and small.num_hyperedges == 20
    capsys.readouterr()
    assert (
        run_command(["evaluate", str(tmp_path / "small"), "--model", "unigcnii", "--runs", "1", "--json"])
        == 0
    )
    assert json.loads(capsys.readouterr().out)["mean"] > 0.5
