import errno
import os
from pathlib import Path

import numpy as np
import pytest

from hypercondense.diffusion import cache, cached_diffusion, diffuse, heat_kernel, vanilla
from hypercondense.errors import ConfigError
from makers.diffusion_oracles import hypergraph_of, random_incidence
from makers.processes import started

SOURCE = hypergraph_of(random_incidence(0))


@pytest.fixture
def computed(monkeypatch):
    """The coefficients of every diffusion that was really computed."""
    calls = []

    def counting(source, coefficients, **options):
        calls.append(coefficients)
        return diffuse(source, coefficients, **options)

    monkeypatch.setattr(cache, "diffuse", counting)
    return calls


def test_the_second_time_comes_from_the_cache(tmp_path, computed):
    first = cached_diffusion(SOURCE, heat_kernel(2.0), cache_dir=tmp_path / "new")
    second = cached_diffusion(SOURCE, heat_kernel(2.0), cache_dir=tmp_path / "new")
    assert len(computed) == 1
    assert isinstance(second, np.memmap)
    assert not second.flags.writeable
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(second, diffuse(SOURCE, heat_kernel(2.0)))


def test_other_coefficients_sources_loops_and_walks_are_other_entries(tmp_path, computed):
    cached_diffusion(SOURCE, heat_kernel(2.0), cache_dir=tmp_path)
    cached_diffusion(SOURCE, vanilla(2), cache_dir=tmp_path)
    cached_diffusion(SOURCE, vanilla(2), cache_dir=tmp_path, self_loops=False)
    walked = cached_diffusion(SOURCE, vanilla(2), cache_dir=tmp_path, walks=True)
    cached_diffusion(hypergraph_of(random_incidence(1)), vanilla(2), cache_dir=tmp_path)
    assert len(computed) == 5
    np.testing.assert_array_equal(walked, diffuse(SOURCE, vanilla(2), walks=True))


def test_without_a_folder_nothing_is_kept(tmp_path, monkeypatch, computed):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert not isinstance(cached_diffusion(SOURCE, vanilla(1), cache_dir=None), np.memmap)
    assert len(computed) == 2
    assert list(tmp_path.iterdir()) == []


def _cut(entry):
    entry.write_bytes(entry.read_bytes()[:-1])


def _lengthen(entry):
    entry.write_bytes(entry.read_bytes() + b"\0")


def _empty(entry):
    entry.write_bytes(b"")


def _scramble_header(entry):
    entry.write_bytes(b"not a matrix" + entry.read_bytes()[12:])


def _reshape(entry):
    np.save(entry, np.zeros((2, 2), np.float32))


def _retype(entry):
    np.save(entry, np.zeros(SOURCE.features.shape, np.float64))


def _pickle(entry):
    np.save(entry, np.array([{}], object), allow_pickle=True)


def _flip_a_bit(entry):
    content = bytearray(entry.read_bytes())
    content[-4] ^= 1
    entry.write_bytes(content)


def _lose_the_checksum(entry):
    entry.with_suffix(".json").unlink()


def _break_the_checksum(entry):
    entry.with_suffix(".json").write_text("{")


@pytest.mark.parametrize(
    "damage",
    [
        _cut,
        _lengthen,
        _empty,
        _scramble_header,
        _reshape,
        _retype,
        _pickle,
        _flip_a_bit,
        _lose_the_checksum,
        _break_the_checksum,
        Path.unlink,
    ],
)
def test_a_damaged_entry_is_made_again(tmp_path, computed, damage):
    expected = np.array(cached_diffusion(SOURCE, vanilla(1), cache_dir=tmp_path))
    (entry,) = tmp_path.glob("*.npy")
    damage(entry)
    np.testing.assert_array_equal(cached_diffusion(SOURCE, vanilla(1), cache_dir=tmp_path), expected)
    assert len(computed) == 2
    np.testing.assert_array_equal(cached_diffusion(SOURCE, vanilla(1), cache_dir=tmp_path), expected)
    assert len(computed) == 2


@pytest.fixture
def unwritable(tmp_path):
    """A cache folder that cannot be made, not even by the superuser."""
    (tmp_path / "file").write_text("a file")
    return tmp_path / "file" / "cache"


@pytest.mark.parametrize("memory", [None, 10**9])
def test_a_cache_that_cannot_be_made_is_warned_of_and_done_without(unwritable, caplog, memory):
    found = cached_diffusion(SOURCE, vanilla(1), cache_dir=unwritable, memory=memory)
    assert not isinstance(found, np.memmap)
    np.testing.assert_array_equal(found, diffuse(SOURCE, vanilla(1)))
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert str(unwritable) in record.getMessage()
    assert "Not a directory" in record.getMessage()
    assert "going on without it" in record.getMessage()


def test_a_full_disk_is_warned_of_and_done_without(tmp_path, monkeypatch, caplog):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    found = cached_diffusion(SOURCE, vanilla(1), cache_dir=tmp_path)
    np.testing.assert_array_equal(found, diffuse(SOURCE, vanilla(1)))
    assert "No space left on device" in caplog.text
    assert list(tmp_path.iterdir()) == []


def test_a_budget_that_needs_the_cache_says_why_there_is_none(tmp_path, unwritable):
    wide = hypergraph_of(random_incidence(0), features=np.ones((SOURCE.num_nodes, 50_000), np.float32))
    memory = 9 * 2**20  # room for the pieces, not for the result
    with pytest.raises(ConfigError, match=r"cache folder; the cache .* \(Not a directory\)"):
        cached_diffusion(wide, (1.0,), cache_dir=unwritable, memory=memory, threads=1)
    cached_diffusion(wide, (1.0,), cache_dir=tmp_path / "cache", memory=memory, threads=1)


def test_an_entry_whose_checksum_cannot_be_written_serves_once(tmp_path, monkeypatch, computed):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(cache, "write_json", full)
    for _ in range(2):
        found = cached_diffusion(SOURCE, vanilla(1), cache_dir=tmp_path)
        np.testing.assert_array_equal(found, diffuse(SOURCE, vanilla(1)))
    assert len(computed) == 2
    assert [path.suffix for path in tmp_path.iterdir()] == [".npy"]


def test_no_bit_of_a_header_that_flips_blocks_a_source(tmp_path):
    expected = np.array(cached_diffusion(SOURCE, vanilla(1), cache_dir=tmp_path))
    (entry,) = tmp_path.glob("*.npy")
    whole = entry.read_bytes()
    for place in range(8 * 128):
        content = bytearray(whole)
        content[place // 8] ^= 1 << place % 8
        entry.write_bytes(content)
        assert cache._read(entry, expected.shape) is None
    np.testing.assert_array_equal(cached_diffusion(SOURCE, vanilla(1), cache_dir=tmp_path), expected)


@pytest.mark.skipif(os.name != "posix", reason="permissions as on POSIX")
def test_a_new_cache_is_for_its_owner_only(tmp_path):
    cached_diffusion(SOURCE, vanilla(1), cache_dir=tmp_path / "new" / "cache")
    assert (tmp_path / "new" / "cache").stat().st_mode & 0o777 == 0o700


def _use(folder: Path, number: int) -> None:
    """Diffuse with a cache that others use at the same time, three maps in an order of one's own."""
    kernels = [vanilla(1), vanilla(2), heat_kernel(2.0)]
    for turn in range(6):
        kernel = kernels[(number + turn) % 3]
        np.testing.assert_array_equal(
            cached_diffusion(SOURCE, kernel, cache_dir=folder / "cache"), diffuse(SOURCE, kernel)
        )


def test_twenty_processes_share_one_cache(tmp_path):
    processes = [started(_use, tmp_path, number) for number in range(20)]
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 20
    names = sorted(path.name for path in (tmp_path / "cache").iterdir() if not path.name.endswith(".lock"))
    assert [Path(name).suffix for name in names] == [".json", ".npy"] * 3  # and no draft
