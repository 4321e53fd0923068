"""Names and types of a file's columns, from its header alone; no row is read."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from dpql.errors import RunFault

_TEXT = {".csv": ",", ".tsv": "\t", ".txt": ","}


def header(place: Path) -> dict[str, str]:
    """Return for each column ``integer``, ``float``, ``category`` or ``unknown``.

    Text files have names only, so their columns are unknown; so are dates and lists,
    which no spec can declare.

    Raises:
        RunFault: the file cannot be read, or is of no known kind (DPQL501, DPQL502).
    """
    try:
        if place.suffix in _TEXT:
            with place.open(encoding="utf-8", errors="replace") as file:
                names = file.readline().rstrip("\r\n").split(_TEXT[place.suffix])
            return {name.strip('"'): "unknown" for name in names}
        if place.suffix == ".parquet":
            schema = pl.read_parquet_schema(place)
        elif place.suffix in {".arrow", ".ipc", ".feather"}:
            schema = pl.read_ipc_schema(place)
        else:
            raise RunFault.of(
                "DPQL502", "the file is neither csv, tsv, parquet nor arrow"
            )
    except OSError:
        raise RunFault.of("DPQL501", "there is no such file to read") from None
    return {name: _kind(dtype) for name, dtype in schema.items()}


def _kind(dtype: pl.DataType) -> str:
    if dtype.is_integer():
        return "integer"
    if dtype.is_float() or dtype.is_decimal():
        return "float"
    words = (pl.String, pl.Categorical, pl.Enum, pl.Boolean)
    return "category" if isinstance(dtype, words) else "unknown"
