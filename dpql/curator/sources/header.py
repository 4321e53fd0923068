"""Names and types of a file's columns, from its header alone; no row is read."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from dpql.curator.sources.csv import header_names
from dpql.curator.sources.formats import FORMATS, SEPARATORS, suffixes
from dpql.curator.sources.lines import LONGEST_LINE, opened
from dpql.curator.sources.locate import File, special_file
from dpql.diagnostics import shown
from dpql.errors import RunFault
from dpql.model.location import split_separator


def header(location: Path | str) -> dict[str, str]:
    """Return for each column the type that its cells suggest, or ``unknown``.

    Text files have names only, so their columns are unknown. A location may begin with
    a separator, as that of data may.

    Raises:
        RunFault: the file cannot be read, or is of no known kind (DPQL501, DPQL502,
            DPQL511).
    """
    separator, rest = split_separator(str(location))
    path = Path(rest)
    suffix, compression = suffixes(path.name)
    format_ = FORMATS.get(suffix)
    if format_ not in {*SEPARATORS, "parquet", "ipc"}:
        raise _unknown()
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise special_file("names of columns")  # noqa: TRY301  as it is below
        if format_ in SEPARATORS:
            file = File(content=str(path), values={}, compression=compression)
            with opened(file) as text:
                line = text.readline(LONGEST_LINE)
            mark = separator or SEPARATORS[format_]
            names = header_names(line, mark.encode())
            return {name: "unknown" for name in names if name is not None}
        read = pl.read_parquet_schema if format_ == "parquet" else pl.read_ipc_schema
        schema = read(path)
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        name = shown(str(path), limit=400)
        raise RunFault.of(
            "DPQL501",
            f"there is no file `{name}` that can be read",
            hint="check the path, and who may read it",
        ) from None
    except RunFault:
        raise
    except (Exception, pl.exceptions.PanicException):  # noqa: BLE001  whatever it says
        raise _unknown() from None
    return {name: _kind(dtype) for name, dtype in schema.items()}


def _unknown() -> RunFault:
    return RunFault.of("DPQL502", "the file is neither csv, tsv, parquet nor arrow")


_KINDS: dict[str, tuple[type[pl.DataType], ...]] = {
    "category": (pl.String, pl.Categorical, pl.Enum),
    "boolean": (pl.Boolean,),
    "date": (pl.Date,),
    "time": (pl.Datetime,),
}


def _kind(dtype: pl.DataType) -> str:
    if dtype.is_integer():
        return "integer"
    if dtype.is_float() or dtype.is_decimal():
        return "float"
    for name, dtypes in _KINDS.items():
        if isinstance(dtype, dtypes):
            return name
    return "unknown"
