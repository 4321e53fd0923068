"""Whatever holds rows becomes a lazy polars frame, judged by its schema alone.

Text files are read wholly as text. A csv record is a line: no quote character exists,
so no record can swallow another; quotes around a cell are stripped later. Short lines
end in nulls, long ones lose their excess, bytes that are no UTF-8 become U+FFFD. A line
of ndjson that is not JSON is a row of nulls.
"""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from dpql.curator.engines.polars_files import files_of, scan_folder, scan_lines
from dpql.errors import Diagnostic, RunFault
from dpql.model.spec import Column, Data, IdColumn, NumberColumn

_FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".ipc": "ipc",
    ".arrow": "ipc",
    ".feather": "ipc",
}
_WORDS = (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Rows not yet read: a lazy frame of the declared columns and their types.

    ``costly`` says that a second scan would parse the text a second time.
    """

    frame: pl.LazyFrame = field(repr=False)
    types: Mapping[str, Any]
    text: bool = False
    costly: bool = False


def open_frame(frame: object, data: Data) -> Source:
    """Return the rows as a source; refuse what cannot hold the declared columns.

    Raises:
        RunFault: DPQL501 no such file, DPQL502 no kind of data that is known, DPQL503
            a column is missing, DPQL504 a column is of an impossible type.
    """
    lazy, text = _lazy(frame, data)
    schema = lazy.collect_schema()
    if text:
        lazy = lazy.rename({name: name.strip('"') for name in schema}, strict=False)
        schema = lazy.collect_schema()
    names = [column.name for column in data.columns]
    missing = [name for name in names if name not in schema]
    if missing:
        raise RunFault(
            Diagnostic("DPQL503", f"no column `{name}` in the data of `{data.source}`")
            for name in missing
        )
    wrong = [
        column for column in data.columns if not _holds(schema[column.name], column)
    ]
    if wrong:
        raise RunFault(
            Diagnostic(
                "DPQL504",
                f"column `{column.name}` is of type {_type_name(schema[column.name])}, "
                f"which cannot hold {_kind(column)}",
            )
            for column in wrong
        )
    return Source(
        frame=lazy.select(names),
        types={name: schema[name] for name in names},
        text=text,
        costly=text or isinstance(frame, pl.LazyFrame),
    )


def _lazy(frame: object, data: Data) -> tuple[pl.LazyFrame, bool]:
    """Return the frame, and whether its cells are text with quotes to strip."""
    if isinstance(frame, pl.LazyFrame):
        return frame, False
    if isinstance(frame, pl.DataFrame):
        return frame.lazy(), False
    if isinstance(frame, str | Path):
        return _scanned(str(frame), data)
    if isinstance(frame, Mapping):
        texts = dict.fromkeys(frame, pl.String)
        return pl.DataFrame(dict(frame), schema=texts).lazy(), False
    if hasattr(frame, "__arrow_c_stream__"):
        return pl.DataFrame(frame).lazy(), False
    raise RunFault.of(
        "DPQL502",
        f"the data of `{data.source}` are of no kind that can be read",
        hint="hand in a path, a polars, pandas or pyarrow table, or a duckdb relation",
    )


def _scanned(place: str, data: Data) -> tuple[pl.LazyFrame, bool]:
    remote = "://" in place
    folder = not remote and Path(place).is_dir()
    if folder:
        found = files_of(place)
    else:
        found = [place] if remote else sorted(glob.glob(place))  # noqa: PTH207
    if not found:
        raise RunFault.of("DPQL501", f"no file for the data of `{data.source}`")
    if folder:
        return scan_folder(
            place, found, [column.name for column in data.columns]
        ), False
    kind = _FORMATS.get(Path(found[0]).suffix.lower())
    match kind:
        case "parquet":
            parquet = pl.scan_parquet(
                place, extra_columns="ignore", hive_partitioning=False
            )
            return parquet, False
        case "ipc":
            return pl.scan_ipc(place, hive_partitioning=False), False
        case "ndjson" if remote:
            raise RunFault.of(
                "DPQL502",
                f"the data of `{data.source}` are lines of JSON that are not in a file",
                hint="fetch the file first, or use parquet",
            )
        case "ndjson":
            return _json_lines(found, data), False
        case "csv" | "tsv":
            return (
                pl.scan_csv(
                    place,
                    separator="," if kind == "csv" else "\t",
                    quote_char=None,
                    infer_schema=False,
                    encoding="utf8-lossy",
                    truncate_ragged_lines=True,
                ),
                True,
            )
        case _:
            raise RunFault.of(
                "DPQL502",
                f"the file of `{data.source}` is of no kind that can be read",
                hint="name it .parquet, .csv, .tsv, .ndjson, .arrow or .ipc",
            )


def _json_lines(places: Sequence[str], data: Data) -> pl.LazyFrame:
    """Return a text column per declared column; a missing member is a null."""
    lines = scan_lines(places)
    return lines.select(
        pl.col("line").str.json_path_match(_json_path(column.name)).alias(column.name)
        for column in data.columns
    )


def _json_path(name: str) -> str:
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'$["{quoted}"]'


def _holds(dtype: pl.DataType, column: Column) -> bool:
    words = isinstance(dtype, _WORDS)
    if isinstance(column, NumberColumn):
        return words or dtype.is_numeric()
    return words or dtype.is_integer() or dtype.is_float()


def _type_name(dtype: pl.DataType) -> str:
    """Return the name of the type without what an enum or struct holds."""
    return str(dtype.base_type())


def _kind(column: Column) -> str:
    if isinstance(column, NumberColumn):
        return "numbers"
    return "ids" if isinstance(column, IdColumn) else "categories"
