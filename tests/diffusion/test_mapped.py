import errno
import os

import numpy as np
import pytest

from hypercondense.diffusion import diffuse, vanilla
from hypercondense.diffusion.mapped import new_map, open_map
from hypercondense.files.maps import release
from makers.diffusion_oracles import hypergraph_of, random_incidence


def refuse_to_reserve(monkeypatch, number):
    def refusing(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "posix_fallocate", refusing, raising=False)


def bytes_on_disk(path):
    with path.open("rb") as file:
        os.fsync(file.fileno())
        return 512 * os.fstat(file.fileno()).st_blocks


@pytest.mark.skipif(os.name != "posix", reason="tells no blocks")
@pytest.mark.parametrize("way", ["at once", "not supported", "not there"])
def test_a_new_map_has_its_space_before_anything_is_written(tmp_path, monkeypatch, way):
    if way == "not supported":
        refuse_to_reserve(monkeypatch, errno.EOPNOTSUPP)
    elif way == "not there":
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
    made = new_map(tmp_path / "m.npy", (1000, 777))
    assert bytes_on_disk(tmp_path / "m.npy") >= made.nbytes
    assert (tmp_path / "m.npy").stat().st_size == made.offset + made.nbytes
    np.testing.assert_array_equal(open_map(tmp_path / "m.npy"), 0.0)


def test_a_full_disk_is_an_error_and_leaves_no_draft(tmp_path, monkeypatch):
    refuse_to_reserve(monkeypatch, errno.ENOSPC)
    with pytest.raises(OSError, match="No space left"):
        diffuse(hypergraph_of(random_incidence(0)), vanilla(1), out=tmp_path / "m.npy")
    assert list(tmp_path.iterdir()) == []


def test_released_pages_keep_what_was_written(tmp_path):
    written = new_map(tmp_path / "m.npy", (100, 50))
    written[:] = 3.0
    release(written)
    np.testing.assert_array_equal(written, 3.0)
    np.testing.assert_array_equal(open_map(tmp_path / "m.npy"), 3.0)


def test_changes_of_a_private_map_and_matrices_in_memory_are_left_alone(tmp_path):
    new_map(tmp_path / "m.npy", (10, 5))[:] = 1.0
    private = np.load(tmp_path / "m.npy", mmap_mode="c")
    private[:] = 7.0
    matrix = np.ones(3)
    release(private)
    release(matrix)
    np.testing.assert_array_equal(private, 7.0)
    np.testing.assert_array_equal(matrix, 1.0)
