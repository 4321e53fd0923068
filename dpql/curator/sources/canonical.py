"""Stored cells in canonical form, null where they have none.

    WHOLE, REAL   numbers; a text counts as the number that it spells, true as 1
    CODE          words by their bytes; a number counts as its text, 3.0 as 3. Where
                  keys are numbers: the number that a cell is exactly. With `others` all
                  other cells have a code, too, but for nulls and NaN
    ID            integers of 64 bits, or bytes: those of a text, the digits of a
                  number; an empty id is null

Booleans, dates and times are WHOLE; `truths` and `instants` read them.

No cell can raise, and none changes what another becomes or how it is computed. polars
trusts Arrow text to be UTF-8 and crashes where it is not, so Arrow text is taken as
bytes. pyarrow is imported only where its arrays come in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import polars as pl

from dpql.curator.columns import CanonicalColumn, Content
from dpql.curator.sources.instants import (
    PER_SECOND,
    days,
    stored_seconds,
    wall_seconds,
)
from dpql.curator.sources.key_codes import key_codes
from dpql.curator.sources.numbers import doubles, integers, number_expression
from dpql.curator.sources.numeric_keys import NumericKeys
from dpql.curator.sources.source import Request
from dpql.curator.sources.stored import is_whole_id
from dpql.curator.sources.truths import truths

_DENSE_KEYS = 1 << 20
"""Whole keys no farther apart than this are looked up in a table."""

_CHECKED_CELLS = 1 << 12
"""Cells that are decoded together, and one by one if one of them is not UTF-8."""

_INSTANTS = (Content.DATE, Content.TIME)

_TEXT_AS_BYTES = {
    "string": "binary",
    "large_string": "large_binary",
    "string_view": "binary_view",
}


class FrameCanonicaliser:
    """Makes rows of the requested columns canonical; threads may share it."""

    def __init__(self, request: Request) -> None:
        self.names = [column.name for column in request.columns]
        self._columns = {
            column.name: Canonicaliser(column, request.types[column.name])
            for column in request.columns
        }

    def __call__(
        self,
        cells: Mapping[str, Any],
        rows: int,
        values: Mapping[str, bytes | None] = MappingProxyType({}),
    ) -> pl.DataFrame:
        """Return so many rows; ``values`` are texts that all of them have."""
        found = self._numbers(cells)
        for name, column in self._columns.items():
            if name in values:
                found[name] = column.constant(values[name], rows)
            elif name not in found:
                found[name] = column(cells[name])
        return pl.DataFrame({name: found[name] for name in self.names})

    def _numbers(self, cells: Mapping[str, Any]) -> dict[str, pl.Series]:
        """Return what polars makes of the columns of numbers, all at once."""
        held, made = {}, {}
        for index, (name, column) in enumerate(self._columns.items()):
            cell = cells.get(name)
            if isinstance(cell, pl.Series):
                # polars takes some names for patterns.
                safe = f"c{index}"
                expression = column.number(safe, cell.dtype)
                if expression is not None:
                    held[safe], made[name] = cell, expression
        frame = (
            pl.DataFrame(held).select_seq(*made.values()) if made else pl.DataFrame()
        )
        return dict(zip(made, frame.get_columns(), strict=True))


class Canonicaliser:
    """Makes the cells of one column canonical; threads may share it.

    Attributes:
        type: the polars type of the canonical cells.
    """

    def __init__(self, column: CanonicalColumn, dtype: pl.DataType) -> None:
        self.type = dtype
        self._content = column.content
        self._others = column.codes - 1 if column.others else None
        self._zone = column.zone
        if column.content is Content.CODE:
            self._codes = _Codes(column.keys)
        elif column.content is not Content.ID:
            self._read = _reader(column)

    def __call__(self, cells: Any) -> pl.Series:
        """Return a polars series, or an array of pyarrow, in canonical form.

        Its type must be one that `stored_type` and `check_types` let pass; bytes of
        polars count as text.
        """
        series = isinstance(cells, pl.Series)
        # By its own name polars would take some columns for patterns.
        found = self._series(cells.alias("cell")) if series else self._arrow(cells)
        return found if found.dtype == self.type else found.cast(self.type)

    def number(self, name: str, dtype: pl.DataType) -> pl.Expr | None:
        """Return how a column of that name becomes canonical, if it holds numbers."""
        if self._content not in (Content.WHOLE, Content.REAL):
            return None
        return number_expression(name, dtype, whole=self._content is Content.WHOLE)

    def constant(self, text: bytes | None, rows: int) -> pl.Series:
        """Return one text in canonical form, for so many rows."""
        cell = self(pl.Series([text], dtype=pl.Binary))
        return cell.new_from_index(0, rows)

    def _series(self, cells: pl.Series) -> pl.Series:
        dtype = cells.dtype
        if isinstance(dtype, pl.Enum):
            return self._series(dtype.categories).gather(cells.to_physical())
        if isinstance(dtype, pl.Categorical):
            cells = cells.cast(pl.String)
        match self._content:
            case Content.CODE:
                codes = self._codes(cells)
            case Content.ID:
                whole = is_whole_id(cells.dtype) and self.type == pl.Int64
                return cells if whole else _id_bytes(cells)
            case _:
                codes = self._read(decoded(cells))
        return codes if self._others is None else _others(codes, cells, self._others)

    def _arrow(self, cells: Any) -> pl.Series:
        """Return an array, chunked or not; each word of a dictionary is read once."""
        import pyarrow as pa

        parts = []
        words = known = None
        for chunk in cells.chunks if isinstance(cells, pa.ChunkedArray) else [cells]:
            if not isinstance(chunk.type, pa.DictionaryType):
                parts.append(self._plain(chunk).cast(self.type))
                continue
            if known is None or not chunk.dictionary.equals(words):
                words = chunk.dictionary
                known = self._plain(words).cast(self.type)
            parts.append(known.gather(_as_series(chunk.indices)))
        if not parts:
            return pl.Series(dtype=self.type)
        return parts[0] if len(parts) == 1 else pl.concat(parts, rechunk=False)

    def _plain(self, cells: Any) -> pl.Series:
        if self._content not in _INSTANTS or not _is_temporal(cells.type):
            return self._series(_as_series(cells))
        seconds = _stored_instants(cells, self._zone)
        return days(seconds) if self._content is Content.DATE else seconds


def _others(codes: pl.Series, cells: pl.Series, others: int) -> pl.Series:
    """Return the codes, and one for every other cell that is not null."""
    there = cells.is_not_null()
    if cells.dtype.is_float():
        there &= cells.is_not_nan()
    frame = pl.DataFrame({"code": codes.cast(pl.UInt32), "there": there})
    other = pl.when("there").then(pl.lit(others, pl.UInt32))
    return frame.select(pl.coalesce("code", other)).to_series()


def _reader(column: CanonicalColumn) -> Callable[[pl.Series], pl.Series]:
    """Return what makes cells canonical, of which bytes are decoded already."""
    zone = column.zone
    readers: Mapping[Content, Callable[[pl.Series], pl.Series]] = {
        Content.WHOLE: integers,
        Content.REAL: doubles,
        Content.TRUTH: truths,
        Content.DATE: lambda cells: days(wall_seconds(cells, zone)),
        Content.TIME: lambda cells: wall_seconds(cells, zone),
    }
    return readers.get(column.content) or NumericKeys(column.keys)


class _Codes:
    """The codes of declared keys, found in a way that is fast for each type."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        self._keys = keys
        self._texts = key_codes(keys)

    def __call__(self, cells: pl.Series) -> pl.Series:
        """Return the codes of words, and of numbers by their texts."""
        whole = is_whole_id(cells.dtype)
        if whole and (by_integer := _integer_codes(self._keys)) is not None:
            lowest, codes = by_integer
            cell = pl.col("cell")
            inside = cell.is_between(lowest, lowest + len(codes) - 1)
            row = pl.when(inside).then(cell - lowest)
            frame = cells.cast(pl.Int64).to_frame("cell")
            return codes.gather(frame.select(row).to_series())
        if cells.dtype.is_float():
            cells = float_texts(cells)
        if cells.dtype == pl.Binary:
            return self._texts.of_cells(cells)
        return self._texts.of_cells(cells.cast(pl.String).cast(pl.Binary))


@lru_cache(maxsize=32)
def _integer_codes(keys: tuple[str, ...]) -> tuple[int, pl.Series] | None:
    """Return the lowest of the keys that are integers, and the codes from there on.

    None if they are too far apart for a table.
    """
    whole = {int(key): code for code, key in enumerate(keys) if _is_whole(key)}
    lowest, highest = min(whole, default=0), max(whole, default=0)
    if highest - lowest >= _DENSE_KEYS:
        return None
    codes = [whole.get(integer) for integer in range(lowest, highest + 1)]
    return lowest, pl.Series(codes, dtype=pl.UInt32)


@lru_cache(maxsize=256)
def stored_type(dtype: Any, content: Content) -> Any:  # noqa: PLR0911  one per kind
    """Return the polars type that stands for an Arrow type, to be checked.

    It is the name of the Arrow type where such cells cannot be read from it.
    """
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(dtype):
        dtype = dtype.value_type
    if str(dtype) in _TEXT_AS_BYTES:
        return pl.String()
    if types.is_decimal(dtype):
        wide = content is Content.ID and not _is_polars_decimal(dtype)
        if content is Content.CODE or wide:
            return str(dtype)
        return pl.Decimal(38, max(min(dtype.scale, 38), 0))
    if _is_bytes(dtype):
        return pl.Binary() if content is Content.ID else str(dtype)
    if content in _INSTANTS and _is_temporal(dtype):
        return pl.Date() if types.is_date32(dtype) else pl.Datetime()
    ours = types.is_integer, types.is_floating, types.is_boolean, types.is_null
    if any(test(dtype) for test in ours):
        return _as_series(pa.nulls(0, dtype)).dtype
    return str(dtype)


def decoded(cells: pl.Series) -> pl.Series:
    """Return bytes as text, null where they are not UTF-8; other cells as they are.

    A broken cell costs the time of its neighbours, not that of the whole column.
    """
    if cells.dtype != pl.Binary:
        return cells
    try:
        return cells.cast(pl.String)
    except pl.exceptions.PolarsError:
        if len(cells) > _CHECKED_CELLS:
            starts = range(0, len(cells), _CHECKED_CELLS)
            return pl.concat(decoded(cells.slice(at, _CHECKED_CELLS)) for at in starts)
    return pl.Series(cells.name, [text(cell) for cell in cells], dtype=pl.String)


def text(cell: bytes | None) -> str | None:
    """Return bytes as text; None where they are not UTF-8."""
    try:
        return None if cell is None else cell.decode()
    except UnicodeDecodeError:
        return None


def float_texts(cells: pl.Series) -> pl.Series:
    """Return floats as texts: whole ones as integers, NaN as null.

    The others have the shortest text that is nearest to them, so no two are alike.
    """
    cell, dtype = pl.col("cell"), cells.dtype
    whole = cell.cast(pl.Int128, strict=False)
    digits = pl.when(whole.cast(dtype) == cell).then(whole.cast(pl.String))
    found = digits.otherwise(cell.fill_nan(None).cast(pl.String))
    return cells.to_frame("cell").select(found).to_series()


def _id_bytes(cells: pl.Series) -> pl.Series:
    """Return ids as bytes."""
    dtype = cells.dtype
    if dtype in (pl.Binary, pl.String):
        cell = pl.col("cell")
        held = pl.when(cell.bin.size() > 0).then(cell)
        return cells.cast(pl.Binary).to_frame("cell").select(held).to_series()
    if dtype.is_float():
        cells = float_texts(cells)
    elif isinstance(dtype, pl.Decimal) and dtype.scale:
        digits = cells.cast(pl.String).str
        cells = digits.strip_chars_end("0").str.strip_chars_end(".")
    return cells.cast(pl.String).cast(pl.Binary)


def _is_temporal(dtype: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_date(dtype) or pa.types.is_timestamp(dtype))


def _stored_instants(cells: Any, zone: int) -> pl.Series:
    """Return the seconds of Arrow dates and timestamps.

    They are taken as integers: polars multiplies what is counted in seconds.
    """
    import pyarrow as pa

    dtype = cells.type
    if pa.types.is_date32(dtype):
        return stored_seconds(_as_series(cells.view(pa.int32())), of_days=True)
    counts = _as_series(cells.view(pa.int64()))
    if pa.types.is_date64(dtype):
        return stored_seconds(counts, PER_SECOND["ms"])
    units = PER_SECOND[dtype.unit]
    return stored_seconds(counts, units, aware=dtype.tz is not None, zone=zone)


class _Exported:
    """An Arrow array behind its C interface.

    Given the array itself, polars would import all of pyarrow's compute functions.
    """

    def __init__(self, cells: Any) -> None:
        self.__arrow_c_array__ = cells.__arrow_c_array__


def _as_series(cells: Any) -> pl.Series:
    return pl.Series(values=_Exported(_bytes_of_text(cells)))


def _bytes_of_text(cells: Any) -> Any:
    """Return Arrow text as bytes, none beyond the end of their buffers.

    Decimals that polars does not have become text, other bytes those that it has.
    """
    import pyarrow as pa

    dtype = cells.type
    if pa.types.is_decimal(dtype) and not _is_polars_decimal(dtype):
        return cells.cast(pa.string())
    as_bytes = _TEXT_AS_BYTES.get(str(dtype))
    if as_bytes is not None:
        cells = cells.view(getattr(pa, as_bytes)())
    elif not _is_bytes(dtype):
        return cells
    cells.validate(full=True)
    return (
        cells.cast(pa.large_binary()) if pa.types.is_fixed_size_binary(dtype) else cells
    )


def _is_polars_decimal(dtype: Any) -> bool:
    return bool(dtype.bit_width <= 128 and 0 <= dtype.scale <= dtype.precision)  # noqa: PLR2004


def _is_bytes(dtype: Any) -> bool:
    import pyarrow as pa

    return dtype in _bytes_types() or pa.types.is_fixed_size_binary(dtype)


def _bytes_types() -> tuple[Any, ...]:
    import pyarrow as pa

    return pa.binary(), pa.large_binary(), pa.binary_view()


def _is_whole(key: str) -> bool:
    """Tell whether a key is the text of an integer of 64 bits."""
    if not key.removeprefix("-").isdecimal() or len(key) > len(str(-(1 << 63))):
        return False
    return str(int(key)) == key and -(1 << 63) <= int(key) < 1 << 63
