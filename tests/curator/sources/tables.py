"""Tables as every kind of data that a source reads, and their rows in canonical form.

A further kind of source is a line in `KINDS`: every test over them then reads it, too.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb
import numpy as np
import oracle
import oracle_cells
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from spec_text import make_spec

from dpql.curator.columns import CanonicalColumn, Content, Form, canonical_columns
from dpql.curator.sources import open_source
from dpql.curator.sources.source import BATCH_ROWS
from dpql.model.spec import (
    BooleanColumn,
    CategoryColumn,
    Data,
    DateColumn,
    DropNulls,
    NumberColumn,
    TimeColumn,
)

FEW = settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
"""Few examples: each of them writes files."""

WHOLE = "{type: integer, bounds: [-4, 100], nulls: {as: 0}}"
REAL = "{type: float, bounds: [-4, 100], nulls: {as: 0}}"
ID = "{type: id}"


def declare(**columns: str) -> Data:
    """Return the declaration of a table of these columns."""
    count = {"n": {"count": "rows", "spend": "{share: 1}"}}
    named = {_quoted(name): column for name, column in columns.items()}
    return make_spec(named, count).data


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def category(*keys: str) -> str:
    """Return the declaration of a category."""
    return f"{{type: category, keys: [{', '.join(map(_quoted, keys))}]}}"


Rows = list[tuple[Any, ...]]


def rows(frame: object, data: Data) -> Rows:
    """Return the canonical rows in some fixed order: keys by name, ids as bytes."""
    source = open_source(frame, data)
    columns = canonical_columns(data)
    names = [column.name for column in columns]

    def checked(batch: pl.DataFrame) -> Rows:
        assert {name: source.schema[name] for name in names} == dict(batch.schema)
        assert 0 <= batch.height <= 2 * BATCH_ROWS
        cells = [_readable(batch[c.name].to_list(), c) for c in columns]
        return list(zip(*cells, strict=True))

    found = [row for some in source.batches(names, checked) for row in some]
    return ordered(found)


def ordered(found: Rows) -> Rows:
    """Return rows in an order that their cells alone decide."""
    return sorted(found, key=repr)


def _readable(cells: Sequence[Any], column: CanonicalColumn) -> list[Any]:
    match column.form:
        case Form.CODE:
            return [None if cell is None else column.keys[cell] for cell in cells]
        case Form.ID:
            return [b"%d" % cell if isinstance(cell, int) else cell for cell in cells]
        case Form.REAL:
            assert not any(map(math.isnan, filter(None, cells))), "NaN is no number"
            return [None if cell is None else cell + 0.0 for cell in cells]
    return list(cells)


def expected(frame: pl.DataFrame, data: Data) -> Rows:
    """Return the canonical rows of a frame of polars, by docs/reference/data.md."""
    cells = [
        [_meaning(cell, frame[c.name].dtype, c, data) for cell in frame[c.name]]
        for c in canonical_columns(data)
    ]
    return ordered(list(zip(*cells, strict=True)))


def _meaning(  # noqa: PLR0911  one per content
    cell: Any, dtype: pl.DataType, column: CanonicalColumn, data: Data
) -> Any:
    match column.content:
        case Content.TRUTH:
            return oracle_cells.truth(cell)
        case Content.DATE:
            return oracle_cells.day(cell)
        case Content.TIME:
            return oracle_cells.second(cell, column.zone)
        case Content.NUMERIC_CODE:
            key = str(oracle_cells.whole(cell))
            return key if key in column.keys else None
    if column.is_number:
        declared = data.column(column.name)
        assert isinstance(declared, NumberColumn)
        return oracle.number(declared, cell)
    raw = cell if isinstance(cell, bytes) else _text(cell, dtype)
    if column.form is Form.ID:
        return raw or None
    keys = {key.encode(): key for key in column.keys}
    return None if raw is None else keys.get(raw)


def _text(cell: Any, dtype: pl.DataType) -> bytes | None:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    match cell:
        case bool():
            return b"true" if cell else b"false"
        case float() if cell.is_integer() and abs(cell) < 2**127:
            return b"%d" % int(cell)
        case float():
            return str(pl.Series([cell], dtype=dtype).cast(pl.String)[0]).encode()
        case Decimal():
            found = format(cell, "f")
            shorter = found.rstrip("0").rstrip(".") if "." in found else found
            return shorter.encode()
    return str(cell).encode()


# Kinds of data.


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How a table is stored; ``stored`` is the table whose cells mean the same.

    ``raw`` kinds hold text that is not UTF-8: columns of bytes are stored as text.
    """

    make: Callable[[pl.DataFrame, Path], Any]
    stored: Callable[[pl.DataFrame], pl.DataFrame] = lambda frame: frame
    raw: bool = False


def _as_text(frame: pl.DataFrame) -> pl.DataFrame:
    numbers = pl.selectors.exclude(pl.Binary)
    return frame.with_columns(numbers.cast(pl.String))


def _as_json(frame: pl.DataFrame) -> pl.DataFrame:
    """Return fractions as they are written; those of keys count as doubles."""
    frame = _written_times(_as_doubles(frame))
    frame = frame.with_columns(pl.selectors.decimal().cast(pl.String))
    words = {"NaN": None, "Infinity": "inf", "-Infinity": "-inf"}
    for series in frame.select(
        pl.selectors.float() - pl.selectors.by_name("word", require_all=False)
    ):
        texts = [None if cell is None else json.dumps(cell) for cell in series]
        written = [words.get(text or "", text) for text in texts]
        frame = frame.with_columns(pl.Series(series.name, written, pl.String))
    return frame


def _written_times(frame: pl.DataFrame) -> pl.DataFrame:
    """Return dates and timestamps as JSON has them: as text."""
    return frame.with_columns(pl.selectors.temporal().cast(pl.String))


def _as_doubles(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col(pl.Float32).cast(pl.Float64))


def arrow(frame: pl.DataFrame, text: str = "string") -> pa.Table:
    """Return an Arrow table in which bytes are text."""
    return pa.table(
        {
            series.name: raw_text(series.to_list(), text)
            if series.dtype == pl.Binary
            else series.to_arrow()
            for series in frame
        }
    )


_RAW = {
    "string": "binary",
    "large_string": "large_binary",
    "string_view": "binary_view",
}


def raw_text(cells: Sequence[bytes | None], text: str = "string") -> Any:
    """Return Arrow text, or a dictionary of it, that holds any bytes."""
    if text == "dictionary":
        known = list(dict.fromkeys(cell for cell in cells if cell is not None))
        index = {cell: at for at, cell in enumerate(known)}
        indices = [None if cell is None else index[cell] for cell in cells]
        return pa.DictionaryArray.from_arrays(
            pa.array(indices, pa.int32()), raw_text(known)
        )
    cells = list(cells)
    return pa.array(cells, getattr(pa, _RAW[text])()).view(getattr(pa, text)())


def write_parquet(table: pa.Table, folder: Path, **options: Any) -> Path:
    """Write a Parquet file."""
    pq.write_table(table, folder / "rows.parquet", **options)
    return folder / "rows.parquet"


def write_ipc(table: pa.Table, path: Path, **options: Any) -> Path:
    """Write an Arrow file."""
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table, **options)
    return path


def duckdb_parquet(frame: pl.DataFrame, path: Path, version: str = "V2") -> Path:
    """Write a Parquet file by DuckDB."""
    with duckdb.connect() as connection:
        connection.register("given", frame.to_arrow())
        options = f"(FORMAT parquet, PARQUET_VERSION {version})"
        connection.execute(f"COPY given TO '{path}' {options}")
    return path


def duckdb_file(frame: pl.DataFrame, folder: Path) -> str:
    """Write the table `rows` of a new database, and return its location."""
    path = folder / f"{uuid4()}.duckdb"
    with duckdb.connect(path) as connection:
        connection.register("given", frame.to_arrow())
        connection.execute("CREATE TABLE rows AS FROM given")
    return f"duckdb:{path}#rows"


def write_lines(frame: pl.DataFrame, path: Path, separator: str) -> Path:
    """Write each cell in a pair of quotes, its own doubled, unless it is null."""
    mark = separator.encode()
    columns = [[_quoted_cell(cell) for cell in c] for c in _as_text(frame)]
    header = mark.join(name.encode() for name in frame.columns)
    lines = [mark.join(line) for line in zip(*columns, strict=True)]
    path.write_bytes(b"".join(line + b"\n" for line in [header, *lines]))
    return path


def _quoted_cell(cell: str | bytes | None) -> bytes:
    if cell is None:
        return b""
    held = cell if isinstance(cell, bytes) else cell.encode()
    return b'"%s"' % held.replace(b'"', b'""')


def write_json(frame: pl.DataFrame, path: Path) -> Path:
    """Write lines of JSON with any bytes in their strings."""
    written = _written_times(_as_doubles(frame))
    members = [[_member(s.name, cell) for cell in s] for s in written]
    lines = [b"{%s}\n" % b", ".join(line) for line in zip(*members, strict=True)]
    path.write_bytes(b"".join(lines))
    return path


_CONTROLS = {byte: b"\\u%04x" % byte for byte in (*range(32), 34, 92)}


def _member(name: str, cell: Any) -> bytes:
    if isinstance(cell, bytes):
        value = b'"%s"' % b"".join(_CONTROLS.get(b, bytes([b])) for b in cell)
    else:
        value = (str(cell) if isinstance(cell, Decimal) else json.dumps(cell)).encode()
    return json.dumps(name, ensure_ascii=False).encode() + b": " + value


def _objects(frame: pl.DataFrame) -> dict[str, Any]:
    arrays = {}
    for series in frame:
        arrays[series.name] = np.empty(len(series), object)
        arrays[series.name][:] = series.to_list()
    return arrays


def _polars_file(frame: pl.DataFrame, path: Path) -> Path:
    write = frame.write_parquet if path.suffix == ".parquet" else frame.write_ipc
    write(path)
    return path


def _connected(frame: pl.DataFrame, _: Path) -> tuple[Any, str]:
    connection = duckdb.connect()
    connection.register("given", frame.to_arrow())
    connection.execute("CREATE SCHEMA s; CREATE TABLE s.rows AS FROM given")
    return connection, "s.rows"


KINDS: Mapping[str, Kind] = {
    "polars": Kind(make=lambda frame, _: frame),
    "polars lazy": Kind(make=lambda frame, _: frame.lazy()),
    "pandas objects": Kind(
        make=lambda frame, _: pd.DataFrame(_objects(frame), dtype=object),
        stored=_as_doubles,
    ),
    "pandas arrow": Kind(
        make=lambda frame, _: arrow(frame).to_pandas(types_mapper=pd.ArrowDtype),
        raw=True,
    ),
    "arrow table": Kind(make=lambda frame, _: arrow(frame), raw=True),
    "arrow views": Kind(make=lambda frame, _: arrow(frame, "string_view"), raw=True),
    "arrow words": Kind(make=lambda frame, _: arrow(frame, "dictionary"), raw=True),
    "arrow stream": Kind(make=lambda frame, _: arrow(frame).to_reader(), raw=True),
    "mapping": Kind(
        make=lambda frame, _: frame.to_dict(as_series=False), stored=_as_doubles
    ),
    "numpy": Kind(make=lambda frame, _: _objects(frame), stored=_as_doubles),
    "parquet": Kind(make=lambda frame, to: write_parquet(arrow(frame), to), raw=True),
    "parquet plain": Kind(
        make=lambda frame, to: write_parquet(
            arrow(frame, "large_string"), to, use_dictionary=False, row_group_size=3
        ),
        raw=True,
    ),
    "parquet by polars": Kind(
        make=lambda frame, to: _polars_file(frame, to / "a.parquet")
    ),
    "parquet by DuckDB": Kind(
        make=lambda frame, to: duckdb_parquet(frame, to / "b.parquet")
    ),
    "ipc": Kind(
        make=lambda frame, to: write_ipc(arrow(frame), to / "a.arrow"), raw=True
    ),
    "ipc by polars": Kind(make=lambda frame, to: _polars_file(frame, to / "b.arrow")),
    "csv": Kind(
        make=lambda frame, to: write_lines(frame, to / "a.csv", ","),
        stored=_as_text,
        raw=True,
    ),
    "tsv": Kind(
        make=lambda frame, to: write_lines(frame, to / "a.tsv", "\t"),
        stored=_as_text,
        raw=True,
    ),
    "ndjson": Kind(
        make=lambda frame, to: write_json(frame, to / "a.ndjson"),
        stored=_as_json,
        raw=True,
    ),
    "DuckDB file": Kind(make=duckdb_file),
    "DuckDB table": Kind(make=_connected),
    "DuckDB relation": Kind(
        make=lambda frame, _: duckdb.from_arrow(
            frame.to_arrow(), connection=duckdb.connect()
        )
    ),
}
"""Every kind of data; a further source is one line."""

FILES: Mapping[str, Callable[[pl.DataFrame, Path], Any]] = {
    "parquet": lambda frame, path: frame.write_parquet(path),
    "arrow": lambda frame, path: frame.write_ipc(path),
    "csv": lambda frame, path: frame.write_csv(path),
    "tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "ndjson": lambda frame, path: frame.write_ndjson(path),
}
"""Suffix -> how polars writes such a file."""


# Tables full of what real columns hold and nobody expects.

_FLOATS = st.one_of(
    st.sampled_from([0.0, -0.0, 0.1, 0.5, 1.5, 2.5, 17.5, 18.0, 1e16, 1e22, 1e300]),
    st.sampled_from([5e-324, 1e308, -1e308, math.nan, math.inf, -math.inf]),
    st.floats(),
    st.floats(-60, 160),
)
_INTEGERS = st.one_of(
    st.sampled_from([-(2**63), 2**63 - 1, 0, 1, -1, 17, 2**53 + 1, 2**62, -(2**62)]),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-5, 120),
)
_WORDS = ["", "a", "b", "A", "1", "17", "17.5", "true", "élan", "日本", "inf", "-1"]
_TEXTS = st.one_of(
    st.sampled_from([*_WORDS, "0", "+3", ".5", "5.", "1e3", "1E-3", "1e400", "nan"]),
    st.sampled_from([" 1", "1 ", "1_000", "0x10", "n/a", "-Infinity", "9" * 20, "e"]),
    st.integers(-(10**30), 10**30).map(str),
    st.floats(allow_nan=False).map(repr),
    st.text(
        st.characters(exclude_characters="\n,\t", exclude_categories=["Cs"]),
        max_size=5,
    ),
)
_DECIMALS = st.decimals(-(10**20), 10**20, places=3)
_TYPES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (pl.Float64, _FLOATS),
    (pl.Float32, st.floats(width=32)),
    (pl.Int64, _INTEGERS),
    (pl.Int8, st.integers(-128, 127)),
    (pl.UInt64, st.integers(0, 2**64 - 1)),
    (pl.String, _TEXTS),
    (pl.Categorical, st.sampled_from(_WORDS)),
    (pl.Boolean, st.booleans()),
    (pl.Null, st.none()),
]
TABLE = declare(whole=WHOLE, real=REAL, word=category(*_WORDS[1:]), person=ID)


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    """Draw a frame of the columns of `TABLE`, of any types that may hold them."""
    count = draw(st.integers(0, 9))
    columns = []
    for name in ("whole", "real", "word", "person"):
        types = [*_TYPES, (pl.Decimal(38, 3), _DECIMALS)]
        dtype, cells = draw(st.sampled_from(_TYPES if name == "word" else types))
        held = st.lists(st.none() | cells, min_size=count, max_size=count)
        columns.append(pl.Series(name, draw(held), dtype))
    return pl.DataFrame(columns)


_DATES = st.one_of(
    st.dates(),
    st.sampled_from([dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1969, 12, 31)]),
)
_AT = dt.datetime.fromisoformat
_CLOCKS = st.datetimes(_AT("0001-01-02"), _AT("9999-12-30"))
_NEAR = st.datetimes(_AT("1700-01-01"), _AT("2200-01-01"))
_WRITTEN = st.one_of(
    st.sampled_from(["2023-02-29", "2024-02-29", "2024-06-01T24:00:00", "0000-12-31"]),
    st.sampled_from(
        ["2024-02-29T23:59:60Z", "2024-03-10 02:30", "2013-1-1", "10000-01-01"]
    ),
    st.sampled_from(
        ["9999-12-31T23:30:00-05:00", "0000-12-31 23:30-01", "2013-01-01Z"]
    ),
    st.builds(
        "{}{}{}{}".format,
        st.dates().map(str),
        st.sampled_from(["T", " ", "t", "  ", ""]),
        st.sampled_from(["05:15", "05:15:09", "23:59:60", "24:00", "05:60", "5:15"]),
        st.sampled_from(
            ["", "Z", ".5", ".123456789", "+01:00", "-0530", "+24:00", "z"]
        ),
    ),
    st.dates().map(str),
)
_TIME_TYPES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (pl.Date, _DATES),
    (pl.Datetime("ms"), _CLOCKS),
    (pl.Datetime("us"), _CLOCKS),
    (pl.Datetime("ns"), _NEAR),
    (pl.Datetime("us", "UTC"), _CLOCKS.map(lambda x: x.replace(tzinfo=dt.UTC))),
    (pl.String, _WRITTEN),
    (pl.Categorical, _WRITTEN),
    (pl.Null, st.none()),
]
_TRUTHS = ["true", "TRUE", "f", "yes", "0", "1.0", "01", "0e0", "1e-400", " 1", "2"]
_SMALL: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (pl.String, st.sampled_from(_TRUTHS) | _TEXTS),
    (pl.Int64, st.integers(-2, 13) | _INTEGERS),
    (pl.Float64, st.sampled_from([0.0, -0.0, 1.0, 1.5, 12.0]) | _FLOATS),
    (pl.Decimal(38, 3), st.sampled_from([Decimal(1), Decimal("1.001")]) | _DECIMALS),
    (pl.UInt64, st.integers(0, 2**64 - 1)),
    (pl.Boolean, st.booleans()),
    (pl.Null, st.none()),
]
_WHOLE_KEYS = tuple(map(str, range(-1, 13)))
NEW_TABLE = replace(
    TABLE,
    columns=(
        BooleanColumn(name="flag", nulls=DropNulls()),
        CategoryColumn(name="number", keys=_WHOLE_KEYS, numeric=True),
        DateColumn(name="day", first=0, last=9, nulls=DropNulls()),
        TimeColumn(name="utc", first=0, last=9, step=1, zone=0, nulls=DropNulls()),
        TimeColumn(name="west", first=0, last=9, step=60, zone=-90, nulls=DropNulls()),
    ),
)
"""Booleans, numeric keys, dates and times."""


@st.composite
def new_tables(draw: st.DrawFn) -> pl.DataFrame:
    """Draw a frame of the columns of `NEW_TABLE`, of any types that may hold them."""
    count = draw(st.integers(0, 9))
    columns = []
    for column in NEW_TABLE.columns:
        few = column.name in ("flag", "number")
        dtype, cells = draw(st.sampled_from(_SMALL if few else _TIME_TYPES))
        held = st.lists(st.none() | cells, min_size=count, max_size=count)
        columns.append(pl.Series(column.name, draw(held), dtype))
    return pl.DataFrame(columns)
