"""A sparse matrix by its rows, times a dense one."""

from typing import NamedTuple

from torch import Tensor
from torch.nn import functional


class Compressed(NamedTuple):
    """Entries grouped by row: row ``i`` has the entries ``starts[i]`` to ``starts[i + 1]``."""

    starts: Tensor
    columns: Tensor
    values: Tensor

    def part(self, rows: slice) -> "Compressed":
        """Consecutive rows, over the same memory."""
        starts = self.starts[rows.start : rows.stop + 1]
        entries = slice(int(starts[0]), int(starts[-1]))
        return Compressed(starts - starts[0], self.columns[entries], self.values[entries])

    def times(self, dense: Tensor) -> Tensor:
        """Sum ``value * dense[column]`` over the entries of each row; a row without entries is 0."""
        if self.columns.numel() == 0 or dense.shape[1] == 0:
            return dense.new_zeros(len(self.starts) - 1, dense.shape[1])
        # An embedding bag is the same sum as a CSR product, several times faster on a CPU.
        return functional.embedding_bag(
            self.columns,
            dense.contiguous(),
            self.starts,
            mode="sum",
            per_sample_weights=self.values,
            include_last_offset=True,
        )
