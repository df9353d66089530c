"""Rows as bundles of noisy nodes."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercondense.condensing.bundles import Bundles, bundles_of
from hypercondense.condensing.job import Job, Made
from hypercondense.condensing.material import Material
from hypercondense.diffusion import diffuse, vanilla
from hypercondense.hypergraph import Hypergraph, Split, split
from makers.jobs import job_of, quick, relabelled, variant

LABELS = np.repeat([0, 1, 2], [6, 5, 6])  # one bundle of a node alone


@pytest.fixture(scope="module")
def job(source: Hypergraph, parts: Split) -> Job:
    return job_of(source, parts, LABELS)


def rows_made(job: Job, bundles: Bundles, **settings: Any) -> Made:
    """What is unfolded: rows of the classes that bundles have."""
    labels = bundles.row_labels(job.labels)
    rows = Job(material=job.material, labels=labels, select=False)
    return quick("unrolled", goal=None, start__samples=5, **settings).run(rows)


def unfolded(job: Job, **fields: Any) -> Made:
    bundles = Bundles(**fields)
    return bundles.unfold(rows_made(job, bundles), job)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(1, 7))
def test_bundles_are_a_partition_into_groups_of_one_class(labels: list[int], size: int) -> None:
    given_labels = np.sort(np.array(labels))
    bundles = bundles_of(given_labels, size)
    assert np.concatenate(bundles).tolist() == list(range(len(labels)))
    assert Bundles(size=size).row_labels(given_labels).tolist() == [given_labels[ids[0]] for ids in bundles]
    for label in set(labels):
        sizes = [len(bundle) for bundle in bundles if given_labels[bundle[0]] == label]
        assert all((given_labels[bundle] == given_labels[bundle[0]]).all() for bundle in bundles)
        assert max(sizes) <= size and max(sizes) - min(sizes) <= 1
        assert len(sizes) == -(-labels.count(label) // size)  # no more rows than needed


@pytest.mark.parametrize("size", [2, 3])
def test_the_noise_of_a_bundle_adds_up_to_nothing(job: Job, size: int) -> None:
    plain, noisy = (unfolded(job, size=size, noise=noise).hypergraph for noise in (0.0, 0.5))
    for ids in bundles_of(LABELS, size):
        rows = plain.dense_features(ids)
        assert (rows == rows[0]).all()
        np.testing.assert_allclose(noisy.dense_features(ids).mean(0), rows[0], atol=1e-6)
        assert len(ids) == 1 or np.abs(noisy.dense_features(ids) - rows).max() > 0.1


def test_the_noise_is_half_the_difference_of_raw_features_of_the_class(
    job: Job, source: Hypergraph, parts: Split
) -> None:
    made = unfolded(job, noise=0.5)
    small = made.hypergraph
    for first, second in (ids for ids in bundles_of(LABELS, 2) if len(ids) == 2):
        difference = np.abs(small.dense_features([first])[0] - small.dense_features([second])[0])
        of_class = parts.train_ids[source.labels[parts.train_ids] == small.labels[first]]
        pairs = np.array(list(combinations(of_class, 2)))
        apart = source.dense_features(pairs[:, 0]) - source.dense_features(pairs[:, 1])
        found = pairs[np.isclose(difference, 0.5 * np.abs(apart), rtol=1e-5, atol=1e-6).all(1)]
        assert len(found) == 1
        assert set(found[0]) <= set(made.members[first]) & set(made.members[second])


@pytest.mark.parametrize("grip", [10.0, 2.0])
def test_convolutions_over_a_bundle_return_its_row(job: Job, grip: float) -> None:
    """A pair in a hyperedge of weight 10, loops of weight 1: each P leaves an eleventh of the noise."""
    rows = unfolded(job, noise=0.0).hypergraph.dense_features()
    noisy = (unfolded(job) if grip == 10 else unfolded(job, grip=grip)).hypergraph
    left = rows + (noisy.dense_features() - rows) / (grip + 1) ** 2
    np.testing.assert_allclose(diffuse(noisy, vanilla(2)), left, atol=1e-5)


def test_bundles_of_one_are_the_recipe_without_them(source: Hypergraph, parts: Split) -> None:
    alone = quick("bundled", bundles__size=1, bundles__smoothing=0.0).run(job_of(source, parts))
    assert alone.hypergraph.digest == quick("unrolled").run(job_of(source, parts)).hypergraph.digest


def test_the_rows_are_what_is_optimized_and_judged(source: Hypergraph, parts: Split) -> None:
    """Nodes are made of the chosen rows; the score is that of the rows, by the judge of the goal."""
    bundles = Bundles(noise=0.0, smoothing=0.0)
    made = quick("bundled", bundles__noise=0.0, bundles__smoothing=0.0).run(
        job_of(source, parts, LABELS, select=True)
    )
    rows = quick("unrolled").run(job_of(source, parts, bundles.row_labels(LABELS), select=True))
    for ids, row in zip(bundles_of(LABELS, 2), rows.hypergraph.features, strict=True):
        assert (made.hypergraph.dense_features(ids) == row).all()
    assert (made.history, made.start_validation, made.final_validation) == (
        rows.history,
        rows.start_validation,
        rows.final_validation,
    )
    assert made.judge is not None


def test_classes_with_one_node_have_no_noise_and_no_hyperedge(source: Hypergraph, parts: Split) -> None:
    few, more = (job_of(source, parts, labels) for labels in ([0, 1, 2], [0, 0, 1, 1, 2, 2]))
    made = unfolded(few)
    assert made.hypergraph.num_hyperedges == made.hypergraph.num_incidences == 3  # the identity
    assert any("no bundles" in warning for warning in made.warnings)
    assert not unfolded(few, size=1).warnings and not unfolded(more).warnings


def test_more_nodes_than_a_class_has_for_training(source: Hypergraph) -> None:
    labels = np.minimum(source.labels, 1)
    labels[:2] = 2  # two nodes, of which one is for training
    rare = variant(source, labels=labels)
    parts = split(rare, seed=0)
    assert np.count_nonzero(labels[parts.train_ids] == 2) == 1
    made = unfolded(job_of(rare, parts, [0, 0, 1, 1, 2, 2, 2]), size=4).hypergraph
    of_class = made.dense_features(np.flatnonzero(made.labels == 2))
    assert len(of_class) == 3  # drawn from a single node, so there is no difference to be noise
    np.testing.assert_allclose(of_class, np.broadcast_to(of_class[0], of_class.shape), atol=1e-5)


def test_soft_labels_are_those_of_the_row(source: Hypergraph, parts: Split) -> None:
    plain, smoothed = (
        quick("bundled", goal__labels="learnt", bundles__smoothing=smoothing)
        .run(job_of(source, parts, LABELS))
        .hypergraph.soft_labels
        for smoothing in (0.0, 0.3)
    )
    assert plain is not None and smoothed is not None
    for ids in bundles_of(LABELS, 2):
        assert (plain[ids] == plain[ids[0]]).all()
    np.testing.assert_allclose(smoothed, 0.7 * plain + 0.1, rtol=1e-5)  # of three classes


def test_labels_are_smoothed_and_nothing_else_is_changed(job: Job) -> None:
    plain = unfolded(job, smoothing=0.0).hypergraph
    assert plain.soft_labels is None
    for smoothing in (0.06, 1.0):
        small = unfolded(job, smoothing=smoothing).hypergraph
        expected = (1 - smoothing) * np.eye(3)[plain.labels] + smoothing / 3
        np.testing.assert_allclose(small.soft_labels, expected, atol=1e-6)
        assert (small.labels == plain.labels).all()
        assert (small.dense_features() == plain.dense_features()).all()


def test_only_features_of_training_nodes_make_noise(job: Job, source: Hypergraph, parts: Split) -> None:
    others = np.setdiff1d(np.arange(source.num_nodes), parts.train_ids)
    blind = Job(
        material=Material(relabelled(source, others, 0), parts), labels=LABELS, seed=job.seed, select=False
    )
    assert unfolded(blind).hypergraph.features.tolist() == unfolded(job).hypergraph.features.tolist()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"size": 0}, "size must be a whole number >= 1, got 0"),
        ({"noise": -0.1}, "noise must be a number >= 0"),
        ({"noise": float("inf")}, "noise must be"),
        ({"smoothing": -0.1}, "smoothing must be a number >= 0"),
        ({"smoothing": 1.01}, "smoothing must be a number <= 1"),
        ({"smoothing": float("nan")}, "smoothing must be"),
    ],
)
def test_fields_that_make_no_sense_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Bundles(**fields)
