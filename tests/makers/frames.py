"""Tables that behave like those of pandas as far as we use them: pandas need not be installed."""

from collections.abc import Sequence
from typing import Any

import numpy as np


class Column:
    ndim = 1

    def __init__(self, values: Any, dtype: str | None = None) -> None:
        self.values = np.asarray(values)
        self.dtype = dtype or self.values.dtype

    def isna(self) -> Any:
        return np.array([value is None or value != value for value in self.values.tolist()])  # noqa: PLR0124

    def to_numpy(self) -> Any:
        return self.values


class Frame:
    def __init__(self, columns: dict[str, Column], index: Sequence[Any] | None = None) -> None:
        self._columns = columns
        self.columns = list(columns)
        self.dtypes = [column.dtype for column in columns.values()]
        self.index = range(len(next(iter(columns.values())).values)) if index is None else index

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def to_numpy(self, dtype: Any = None) -> Any:
        return np.stack([column.values for column in self._columns.values()], axis=1).astype(dtype)
