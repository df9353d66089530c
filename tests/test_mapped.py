import numpy as np

from hypercondense.diffusion.mapped import new_map, open_map, release


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
