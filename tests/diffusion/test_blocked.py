import gc
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hypercondense.diffusion import Polynomial, Propagation, blocked, diffuse, heat_kernel
from hypercondense.diffusion.plan import BlockPlan, fastest_plan, plan_within
from hypercondense.errors import CondensationError, ConfigError
from hypercondense.hypergraph import Hypergraph
from makers.diffusion_oracles import dense_diffusion, hypergraph_of, random_incidence, sources

WEIGHTS = heat_kernel(2.0)
PLAIN = Polynomial((0.5, 0.5))


def large_source(features):
    """Size-4 hyperedges over most of the nodes."""
    rng = np.random.default_rng(0)
    num_nodes = features.shape[0]
    members = rng.permutation(num_nodes)[: num_nodes // 8 * 4].reshape(-1, 4)
    hyperedge_ids = np.repeat(np.arange(len(members)), 4)
    return Hypergraph(
        features=features,
        labels=np.zeros(num_nodes, np.int64),
        incidence=(members.ravel(), hyperedge_ids),
        num_hyperedges=len(members),
    )


def random_features(num_nodes, num_features, *, density=1.0):
    rng = np.random.default_rng(1)
    features = rng.standard_normal((num_nodes, num_features), dtype=np.float32)
    return features * (rng.random(features.shape, dtype=np.float32) < density)


@settings(deadline=None, max_examples=60)
@given(sources(), st.integers(1, 4))
def test_blocked_diffusion_equals_the_dense_oracle(source, threads):
    got = diffuse(source, WEIGHTS, threads=threads)
    np.testing.assert_allclose(got, dense_diffusion(source, WEIGHTS), rtol=1e-5, atol=1e-5)


@settings(deadline=None, max_examples=60)
@given(sources(), st.integers(1, 20), st.integers(1, 3))
def test_block_width_and_threads_do_not_change_a_bit(source, width, threads):
    plan = BlockPlan(width=width, threads=threads, panel_width=0, num_bytes=0, direct=not source.is_sparse)
    work = blocked._Work(source.features, Propagation.of(source), WEIGHTS, plan, blocked.silent)
    np.testing.assert_array_equal(work.in_memory(), diffuse(source, WEIGHTS, threads=1))


@settings(deadline=None, max_examples=60)
@given(sources(), st.data())
def test_rows_of_some_nodes_are_those_of_the_whole_to_the_bit(source, data):
    node_ids = np.array(data.draw(st.lists(st.integers(0, source.num_nodes - 1))), np.int64)
    expected = diffuse(source, WEIGHTS)[node_ids]
    for memory in (None, 10**8):
        rows = diffuse(source, WEIGHTS, node_ids=node_ids, memory=memory)
        np.testing.assert_array_equal(rows, expected)


def test_rows_of_some_nodes_are_not_for_a_file(tmp_path):
    source = hypergraph_of(random_incidence(0))
    with pytest.raises(ValueError, match="node_ids cannot be combined"):
        diffuse(source, WEIGHTS, node_ids=np.array([0]), out=tmp_path / "out.npy")


@settings(deadline=None, max_examples=30)
@given(sources())
def test_sparse_and_dense_features_give_the_same_bits(source):
    dense = Hypergraph(
        features=source.dense_features(),
        labels=source.labels,
        incidence=source.incidence,
        num_hyperedges=source.num_hyperedges,
    )
    np.testing.assert_array_equal(diffuse(source, WEIGHTS), diffuse(dense, WEIGHTS))


@pytest.mark.parametrize("memory", [None, 13_000_000, 9_500_000, 8_900_000])
@pytest.mark.parametrize("kind", ["dense", "sparse", "mapped"])
def test_memory_budget_and_file_do_not_change_a_bit(tmp_path, kind, memory):
    features = random_features(4000, 70, density=0.2)
    expected = diffuse(large_source(features), WEIGHTS)
    if kind == "mapped":
        np.save(tmp_path / "in.npy", features)
        features = np.load(tmp_path / "in.npy", mmap_mode="r")
    source = large_source(sp.csr_array(features) if kind == "sparse" else features)
    got = diffuse(source, WEIGHTS, memory=memory, out=tmp_path / "out.npy", threads=2)
    assert isinstance(got, np.memmap)
    assert not got.flags.writeable
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("kind", ["sparse", "mapped"])
def test_budget_is_respected(tmp_path, kind):
    features = random_features(20_000, 300, density=0.1)  # 24 MB
    np.save(tmp_path / "in.npy", features)
    mapped = np.load(tmp_path / "in.npy", mmap_mode="r")
    source = large_source(sp.csr_array(features) if kind == "sparse" else mapped)
    del features
    budget = 14_000_000
    tracemalloc.start()
    try:
        held = Propagation.of(source)
        structure = tracemalloc.get_traced_memory()[0]
        del held
        gc.collect()
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        diffuse(source, WEIGHTS, memory=budget, out=tmp_path / "out.npy", threads=2)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert peak <= budget + structure


@pytest.mark.parametrize("node_ids", [None, np.arange(50)])
def test_nothing_is_left_of_a_panel_when_the_next_is_made(tmp_path, monkeypatch, node_ids):
    np.save(tmp_path / "in.npy", random_features(20_000, 100))
    source, left = large_source(np.load(tmp_path / "in.npy", mmap_mode="r")), []
    monkeypatch.setattr(blocked, "give_back", lambda: left.append(tracemalloc.get_traced_memory()[0]))
    where = {"out": tmp_path / "out.npy"} if node_ids is None else {"node_ids": node_ids}
    tracemalloc.start()
    try:
        held = Propagation.of(source)
        structure = tracemalloc.get_traced_memory()[0]
        del held
        diffuse(source, WEIGHTS, memory=12_000_000, threads=2, **where)  # threads take their buffers along
    finally:
        tracemalloc.stop()
    assert len(left) > 2 and max(left) < structure + 4 * source.num_nodes  # not even a column


def test_extra_memory_without_a_budget_is_small():
    features = random_features(20_000, 600)
    source = large_source(features)
    tracemalloc.start()
    try:
        diffuse(source, WEIGHTS, threads=2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak + features.nbytes <= 1.15 * 2 * features.nbytes


def test_a_budget_too_small_says_what_is_needed(tmp_path):
    source = large_source(random_features(4000, 70))
    with pytest.raises(ConfigError, match=r"x 70 features needs at least 8\.\d+ MB, but memory is .* 1 MB"):
        diffuse(source, WEIGHTS, memory=1_000_000, out=tmp_path / "out.npy")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ConfigError, match="result in a file"):
        diffuse(source, WEIGHTS, memory=8_900_000)


def test_a_budget_for_the_whole_result_in_memory_does_not_change_a_bit():
    source = large_source(random_features(4000, 70))
    np.testing.assert_array_equal(diffuse(source, WEIGHTS, memory=12_000_000), diffuse(source, WEIGHTS))


def test_the_least_memory_named_is_enough():
    source = large_source(random_features(4000, 70))
    propagation = Propagation.of(source)
    sizes = range(8_400_000, 8_800_000, 1000)
    fits = [_fits(size, source, propagation) for size in sizes]
    assert fits == sorted(fits)
    assert {False, True} == set(fits)
    assert plan_within(sizes[-1], source, propagation, PLAIN, threads=2, whole=False).num_bytes <= sizes[-1]


def _fits(memory, source, propagation):
    try:
        plan_within(memory, source, propagation, PLAIN, threads=2, whole=False)
    except ConfigError:
        return False
    return True


def test_plans_use_every_thread_even_for_few_columns():
    source = large_source(random_features(400, 6))
    plan = fastest_plan(source, Propagation.of(source), PLAIN, threads=3)
    assert (plan.width, plan.threads) == (2, 3)


def test_memory_running_out_names_the_need_and_the_option(monkeypatch):
    def full(*_args, **_kwargs):
        raise MemoryError

    monkeypatch.setattr(Propagation, "diffuse", full)
    with pytest.raises(CondensationError, match=r"4000 x 70 features needs .* MB of memory.*give a memory"):
        diffuse(large_source(random_features(4000, 70)), WEIGHTS)


def test_a_failure_leaves_no_file(tmp_path, monkeypatch):
    def broken(*_args, **_kwargs):
        raise RuntimeError("broken")

    monkeypatch.setattr(Propagation, "diffuse", broken)
    with pytest.raises(RuntimeError, match="broken"):
        diffuse(hypergraph_of(random_incidence(0)), WEIGHTS, out=tmp_path / "out.npy")
    assert list(tmp_path.iterdir()) == []


def test_progress_counts_columns_to_the_end(tmp_path):
    seen = []
    source = large_source(random_features(4000, 70))
    diffuse(
        source,
        WEIGHTS,
        memory=8_900_000,
        out=tmp_path / "out.npy",
        progress=lambda stage, done, total: seen.append((stage, done, total)),
    )
    done = [entry[1] for entry in seen]
    assert done == sorted(set(done))
    assert seen[-1] == ("diffuse", 70, 70)


def test_torch_threads_are_as_they_were():
    before = torch.get_num_threads()
    diffuse(hypergraph_of(random_incidence(0)), WEIGHTS, threads=3)
    assert torch.get_num_threads() == before


def test_threads_below_one_are_refused():
    with pytest.raises(ValueError, match="threads must be at least 1, got 0"):
        diffuse(hypergraph_of(random_incidence(0)), WEIGHTS, threads=0)


@settings(deadline=None)
@given(sources(), st.integers(1, 200))
def test_row_chunks_cover_every_row_once(source, chunk_bytes):
    chunks = list(blocked.row_chunks(source.features, chunk_bytes))
    assert chunks[0].start == 0
    assert chunks[-1].stop == source.num_nodes
    assert all(first.stop == second.start for first, second in pairwise(chunks))


@pytest.mark.parametrize(
    "ids", [[3, 1], np.array([3, 1], np.int16), np.array([1, 3])[::-1]], ids=["list", "int16", "view"]
)
@pytest.mark.parametrize("memory", [None, 20_000_000])
def test_rows_are_asked_for_by_ids_of_any_kind(ids, memory):
    source = large_source(random_features(4000, 5))
    expected = diffuse(source, WEIGHTS)[[3, 1]]
    np.testing.assert_array_equal(diffuse(source, WEIGHTS, node_ids=ids, memory=memory), expected)
