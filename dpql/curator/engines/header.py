"""Names and types of a file's columns, from its header alone; no row is read."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from dpql.curator.engines.places import FORMATS, special_file
from dpql.curator.engines.polars_csv import header_names
from dpql.curator.engines.polars_files import SEPARATORS
from dpql.errors import RunFault


def header(place: Path) -> dict[str, str]:
    """Return for each column ``integer``, ``float``, ``category`` or ``unknown``.

    Text files have names only, so their columns are unknown.

    Raises:
        RunFault: the file cannot be read, or is of no known kind (DPQL501, DPQL502,
            DPQL511).
    """
    form = FORMATS.get(place.suffix.lower())
    if form not in {*SEPARATORS, "parquet", "ipc"}:
        raise _unknown()
    try:
        if place.exists() and not (place.is_file() or place.is_dir()):
            raise special_file("names of columns")  # noqa: TRY301  as it is below
        if form in SEPARATORS:
            with place.open("rb") as file:
                names = header_names(file.readline(), SEPARATORS[form].encode())
            return {name: "unknown" for name in names if name is not None}
        read = pl.read_parquet_schema if form == "parquet" else pl.read_ipc_schema
        schema = read(place)
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise RunFault.of("DPQL501", "there is no such file to read") from None
    except RunFault:
        raise
    except (Exception, pl.exceptions.PanicException):  # noqa: BLE001  whatever it says
        raise _unknown() from None
    return {name: _kind(dtype) for name, dtype in schema.items()}


def _unknown() -> RunFault:
    return RunFault.of("DPQL502", "the file is neither csv, tsv, parquet nor arrow")


def _kind(dtype: pl.DataType) -> str:
    if dtype.is_integer():
        return "integer"
    if dtype.is_float() or dtype.is_decimal():
        return "float"
    words = (pl.String, pl.Categorical, pl.Enum, pl.Boolean)
    return "category" if isinstance(dtype, words) else "unknown"
