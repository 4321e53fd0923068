"""How well the cells of each column fit its declaration: canonical and as stored.

A column is read as if it were an id, which keeps the text of every cell, and made
canonical beside it by the code of a run. Columns of stored dates have no such text;
they are read as a run reads them, and only nulls and bounds are counted.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

import polars as pl

from dpql.curator.columns import Content, canonical_column
from dpql.curator.grid import double, is_whole
from dpql.curator.preflight.notations import Notation, notation_of
from dpql.curator.sources import open_source
from dpql.curator.sources.canonical import Canonicaliser
from dpql.curator.sources.source import canonical_type
from dpql.errors import RunFault
from dpql.model.plan import Plan
from dpql.model.spec import (
    Column,
    Data,
    DateColumn,
    IdColumn,
    NumberColumn,
    TimeColumn,
)

_MOST_TEXTS = 100_000
"""Different texts that are remembered of a column."""

_LISTED = 1_000
"""Different texts that one batch adds."""

_SHOWN = 8

_RAW, _CELL = "raw", "cell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """A text that does not fit a column, how often, and why it may be there."""

    text: str
    count: int
    notation: Notation | None


@dataclass(slots=True, kw_only=True)
class ColumnFit:
    """Exact counts of the cells of a column."""

    name: str
    rows: int = 0
    empty: int = 0
    misfit: int = 0
    below: int = 0
    above: int = 0
    converted: Counter[Notation] = field(default_factory=Counter)
    texts: Counter[str] = field(default_factory=Counter, repr=False)
    misfits: tuple[Misfit, ...] = ()
    different: int = 0
    """How many different texts do not fit."""
    booleans: bool = False
    """Whether true and false are stored, and count as 1 and 0."""


def column_fits(plan: Plan, frame: object) -> tuple[ColumnFit, ...]:
    """Return how well each column of a plan fits."""
    data = plan.spec.data
    found = {column.name: ColumnFit(name=column.name) for column in data.columns}
    types = open_source(frame, data)
    for column in data.columns:
        if isinstance(column, NumberColumn):
            # Their texts are no numbers, and yet they count as 1 and 0.
            stored_types = types.stored_types(column.name)
            found[column.name].booleans = pl.Boolean() in stored_types
    raw = [each for each in _readable(frame, data) if not found[each.name].booleans]
    lock = threading.Lock()
    if raw:
        as_ids = replace(data, columns=tuple(IdColumn(name=each.name) for each in raw))
        whole = open_source(frame, as_ids).schema
        canonical = {each.name: _canonicaliser(each, whole[each.name]) for each in raw}

        def take(batch: pl.DataFrame) -> None:
            for column in raw:
                cells = batch.get_column(column.name)
                one = _of_raw(column, cells, canonical[column.name](cells))
                with lock:
                    _add(found[column.name], one)

        _read(frame, as_ids, [each.name for each in raw], take)
    stored = [column for column in data.columns if column not in raw]
    if stored:

        def take_stored(batch: pl.DataFrame) -> None:
            for column in stored:
                one = ColumnFit(name=column.name)
                _count(column, batch.get_column(column.name), one)
                one.empty = batch.get_column(column.name).null_count()
                with lock:
                    _add(found[column.name], one)

        _read(frame, data, [each.name for each in stored], take_stored)
    for column in data.columns:
        _finish(column, found[column.name])
    return tuple(found.values())


def _readable(frame: object, data: Data) -> list[Column]:
    """Return the columns whose stored cells have a text."""

    def opens(columns: Sequence[Column]) -> bool:
        ids = tuple(IdColumn(name=column.name) for column in columns)
        try:
            open_source(frame, replace(data, columns=ids))
        except RunFault:
            return False
        return True

    if opens(data.columns):
        return list(data.columns)
    return [column for column in data.columns if opens([column])]


def _read(
    frame: object,
    data: Data,
    names: Sequence[str],
    take: Callable[[pl.DataFrame], None],
) -> None:
    """Hand every batch of the named columns to a function."""
    with closing(open_source(frame, data).batches(names, take)) as batches:
        for _ in batches:
            pass


def _canonicaliser(column: Column, stored: pl.DataType) -> Canonicaliser:
    canonical = canonical_column(column)
    return Canonicaliser(
        canonical, canonical_type(canonical, whole_ids=stored == pl.Int64)
    )


def _of_raw(column: Column, raw: pl.Series, cells: pl.Series) -> ColumnFit:
    """Return the counts of a batch, given its texts and its canonical cells."""
    one = ColumnFit(name=column.name)
    _count(column, cells, one)
    one.empty = raw.null_count()
    pair = pl.DataFrame({_RAW: raw, _CELL: cells})
    misfits = pair.filter(pl.col(_CELL).is_null() & pl.col(_RAW).is_not_null())
    one.misfit = misfits.height
    one.texts.update(_texts(misfits.get_column(_RAW)))
    if raw.dtype == pl.Binary and not isinstance(column, IdColumn):
        fits = pair.filter(pl.col(_CELL).is_not_null()).get_column(_RAW)
        one.converted.update(_converted(column, fits))
    return one


def _count(column: Column, cells: pl.Series, one: ColumnFit) -> None:
    """Count rows, and numbers outside the bounds."""
    one.rows = len(cells)
    ends: tuple[object, object]
    match column:
        case NumberColumn(lower=lower, upper=upper):
            whole = is_whole(column)
            ends = (int(lower), int(upper)) if whole else (double(lower), double(upper))
        case DateColumn(first=first, last=last) | TimeColumn(first=first, last=last):
            ends = (first, last)
        case _:
            return
    one.below = int((cells < ends[0]).sum() or 0)
    one.above = int((cells > ends[1]).sum() or 0)


def _texts(raw: pl.Series) -> Counter[str]:
    """Return the commonest texts of a batch, decoded as far as they can be."""
    counted = raw.value_counts(sort=True).head(_LISTED)
    found: Counter[str] = Counter()
    for cell, count in counted.iter_rows():
        found[_decoded(cell)] += count
    return found


def _decoded(cell: object) -> str:
    return (
        cell.decode("utf-8", "backslashreplace") if type(cell) is bytes else f"{cell}"
    )


_NUMERIC = (Content.WHOLE, Content.NUMERIC_CODE)


def _converted(column: Column, raw: pl.Series) -> dict[Notation, int]:
    """Count cells that fit though they are written as something else."""
    content = canonical_column(column).content
    found: dict[Notation, int] = {}
    if content not in (*_NUMERIC, Content.REAL, Content.TRUTH):
        return found
    texts = raw.cast(pl.String, strict=False)
    tests = {Notation.BLANKS: texts != texts.str.strip_chars()}
    lowered = texts.str.to_lowercase().str.strip_chars()
    if content in _NUMERIC:
        tests[Notation.DECIMALS] = texts.str.contains(".", literal=True)
    if content is not Content.TRUTH:
        tests[Notation.BOOLEAN] = lowered.is_in(["true", "false"])
    for notation, test in tests.items():
        count = int(test.sum() or 0)
        if count:
            found[notation] = count
    return found


def _add(total: ColumnFit, one: ColumnFit) -> None:
    for name in ("rows", "empty", "misfit", "below", "above"):
        setattr(total, name, getattr(total, name) + getattr(one, name))
    total.converted.update(one.converted)
    total.texts.update(one.texts)
    if len(total.texts) > _MOST_TEXTS:
        total.texts = Counter(dict(total.texts.most_common(_MOST_TEXTS // 2)))


def _finish(column: Column, one: ColumnFit) -> None:
    """Name the commonest misfits, and forget the others."""
    one.different = len(one.texts)
    one.misfits = tuple(
        Misfit(text=text, count=count, notation=notation_of(text, column))
        for text, count in one.texts.most_common(_SHOWN)
    )
    one.texts = Counter()
