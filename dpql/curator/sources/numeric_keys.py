"""The code of a number among keys that are whole numbers, however it is stored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from dpql.curator.sources.numbers import exact_integers


class NumericKeys:
    """Looks numbers up among keys; threads may share it."""

    def __init__(self, keys: Sequence[str]) -> None:
        """Take different keys, one at least, each a whole number of 64 bits."""
        numbers = np.array([int(key) for key in keys], np.int64)
        self._codes = np.argsort(numbers)
        self._numbers = numbers[self._codes]

    def __call__(self, cells: pl.Series) -> pl.Series:
        """Return the codes of numbers; null where a number is no key."""
        found = exact_integers(cells)
        numbers = found.fill_null(0).to_numpy()
        at = np.searchsorted(self._numbers, numbers)
        np.minimum(at, len(self._numbers) - 1, out=at)
        same = (self._numbers[at] == numbers) & found.is_not_null().to_numpy()
        frame = pl.DataFrame({"code": self._codes[at], "same": same})
        return frame.select(pl.when("same").then("code")).to_series()
