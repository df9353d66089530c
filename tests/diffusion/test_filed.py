"""Factors of P in files multiply as those in memory do, to the bit, whatever is read at once."""

import gc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hypercondense.data import synthetic
from hypercondense.data.formats import read
from hypercondense.data.formats.opened import write_mapped
from hypercondense.diffusion import Polynomial, Propagation, diffuse, heat_kernel
from hypercondense.diffusion.filed import filed_propagation
from hypercondense.errors import ConfigError
from hypercondense.hypergraph import Hypergraph
from makers.diffusion_oracles import sources

CHEBYSHEV = Polynomial((0.2, 0.3, 0.5, -0.1), chebyshev=True)


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sources(), st.booleans(), st.booleans(), st.sampled_from([1, 3, 50]), st.integers(1, 2))
def test_shards_do_not_change_a_bit(tmp_path, source, loops, walks, entries, threads):
    how = {"self_loops": loops, "walks": walks}
    in_files = filed_propagation(
        source, **how, memory=10**6, threads=threads, scratch=tmp_path, entries=entries
    )
    in_memory, features = Propagation.of(source, **how), source.dense_features()
    for kernel in (heat_kernel(2.0), CHEBYSHEV):
        np.testing.assert_array_equal(in_files.diffuse(features, kernel), in_memory.diffuse(features, kernel))


def test_hyperedges_that_repeat_others_do_not_change_a_bit(tmp_path):
    few, times = [[0, 1, 4], [1, 2], [0, 3], [5]], (1800, 6000, 1, 2)
    members = [one for one, number in zip(few, times, strict=True) for _ in range(number)]
    members = [members[place] for place in np.random.default_rng(0).permutation(len(members))]
    lengths = [len(one) for one in members]
    incidence = np.concatenate(members), np.repeat(np.arange(len(members)), lengths)
    how = {"features": np.eye(6), "labels": [0, 1] * 3, "num_hyperedges": len(members)}
    for weights in (None, 0.1 + (incidence[0] % 3)):
        source = Hypergraph(incidence=(*incidence, weights), **how)
        in_files, in_memory = (
            filed_propagation(source, memory=10**6, scratch=tmp_path),
            Propagation.of(source),
        )
        assert in_files.to_nodes.shape == in_memory.to_nodes.shape == (5, 3)
        for kernel in (heat_kernel(2.0), CHEBYSHEV):
            np.testing.assert_array_equal(
                in_files.diffuse(source.features, kernel), in_memory.diffuse(source.features, kernel)
            )


@pytest.fixture
def mapped(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_mapped(synthetic(num_nodes=300, num_hyperedges=200, seed=3), tmp_path / "source")
    return read(tmp_path / "source")


def test_a_budget_does_not_change_a_bit_of_a_mapped_source(mapped, tmp_path):
    expected, some = diffuse(mapped, heat_kernel(2.0)), np.array([7, 3, 299])
    how = {"memory": 2 * 10**8, "scratch": tmp_path, "threads": 2}
    np.testing.assert_array_equal(diffuse(mapped, heat_kernel(2.0), **how), expected)
    out = diffuse(mapped, heat_kernel(2.0), out=tmp_path / "out.npy", **how)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(diffuse(mapped, heat_kernel(2.0), node_ids=some, **how), expected[some])


def test_other_features_are_diffused_in_their_place(mapped, tmp_path):
    other = np.ascontiguousarray(mapped.features[:, :3]) * 2
    got = diffuse(mapped, (0.0, 1.0), features=other, memory=2 * 10**8, scratch=tmp_path)
    np.testing.assert_array_equal(got, 2 * diffuse(mapped, (0.0, 1.0))[:, :3])


def test_files_go_when_the_source_does(mapped, tmp_path):
    source = read(tmp_path / "source")
    diffuse(source, (0.0, 1.0), memory=2 * 10**8, scratch=tmp_path / "scratch")
    assert len(list((tmp_path / "scratch").iterdir())) == 1
    diffuse(source, (0.5, 0.5), memory=2 * 10**8, scratch=tmp_path / "scratch")
    assert len(list((tmp_path / "scratch").iterdir())) == 1
    del source
    gc.collect()
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_budget_below_the_factors_is_refused_before_they_are_made(mapped, tmp_path):
    with pytest.raises(ConfigError, match=r"factors of P of 300 nodes .* at least 67\.\d MB"):
        diffuse(mapped, (0.0, 1.0), memory=10**6, scratch=tmp_path / "scratch")
    assert not (tmp_path / "scratch").exists()


def test_rows_of_a_factor_are_those_of_the_matrix(mapped, tmp_path):
    factor = filed_propagation(mapped, memory=10**8, scratch=tmp_path).to_nodes
    matrix, ids = Propagation.of(mapped).to_nodes.matrix, np.array([5, 0, 17])
    lengths, columns, values = factor.rows(ids)
    np.testing.assert_array_equal(lengths, np.diff(matrix.indptr)[ids])
    np.testing.assert_array_equal(columns, matrix[ids].indices)
    np.testing.assert_array_equal(values, matrix[ids].data)
