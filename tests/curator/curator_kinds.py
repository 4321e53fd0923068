"""How tables are written to files, and cells that are neither numbers nor words."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

WRITE: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "parquet": lambda frame, path: frame.write_parquet(path),
    "pq": lambda frame, path: frame.write_parquet(path),
    "arrow": lambda frame, path: frame.write_ipc(path),
    "csv": lambda frame, path: frame.write_csv(path),
    "tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "ndjson": lambda frame, path: frame.write_ndjson(path),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
}
"""Suffix -> how a table is written."""


class Strange:
    """An object that fails whatever it is asked."""

    def _fail(self, *_: object) -> Any:
        raise RuntimeError

    __str__ = __float__ = __int__ = __index__ = __bool__ = __len__ = _fail
    __iter__ = __array__ = item = _fail


JUNK: list[Any] = [
    [1],
    {"a": 1},
    b"17",
    (17,),
    dt.date(2020, 1, 1),
    dt.timedelta(17),
    pd.Timestamp("2020-01-01"),
    pd.Timedelta(17),
    pd.NA,
    pd.NaT,
    17j,
    object(),
    Strange(),
    np.datetime64("2020-01-01", "ns"),
    np.timedelta64(17, "ns"),
    np.array([17, 18]),
    np.void(b"17"),
]
"""Cells that are neither numbers nor words."""
