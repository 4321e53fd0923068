"""Cells of tables are canonical: the traps that databases set are closed by reading."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import replace
from typing import Any

import duckdb
import polars as pl
import pytest
import reference_engine as reference
from databases import Database
from tables import TABLE
from test_hostile import WORDS
from typed_tables import NUMBERS, TYPE_SETS, table

from dpql.curator.columns import Form, canonical_columns
from dpql.curator.engines.sql.cells import Cells, floor_divided
from dpql.model.calendar import read_date, read_time
from dpql.model.spec import (
    BooleanColumn,
    CategoryColumn,
    Column,
    Data,
    DateColumn,
    DropNulls,
    IdColumn,
    NumberColumn,
    NumberType,
    TimeColumn,
)

_DROP = DropNulls()


def declared(*columns: Column) -> Data:
    """Return the declaration of some columns."""
    return replace(TABLE, columns=columns)


def category(
    name: str, *keys: str, numeric: bool = False, others: bool = False
) -> Column:
    """Return the declaration of a category."""
    return CategoryColumn(name=name, keys=keys, numeric=numeric, others=others)


def number(name: str, kind: str, step: int | None) -> Column:
    """Return the declaration of a number."""
    return NumberColumn(
        name=name,
        type=NumberType(kind),
        lower=TABLE.number("whole").lower,
        upper=TABLE.number("whole").upper,
        step=None if step is None else TABLE.number("whole").step,
        unit=None,
        nulls=_DROP,
    )


def cells(database: Database, written: Any, data: Data) -> list[tuple[Any, ...]]:
    """Return the canonical cells of a table in some fixed order."""
    opened = database.table(written, data)
    made = Cells(data, opened)
    forms = [column.form for column in canonical_columns(data)]
    aliases = [made.cell(column.name) for column in data.columns]
    text, last = made.text()
    rows = opened.ask(f"{text}\nSELECT {', '.join(aliases)} FROM {last}")
    opened.end()
    return sorted((tuple(map(_cell, row, forms)) for row in rows), key=repr)


def _cell(cell: Any, form: Form) -> Any:
    if cell is None:
        return None
    match form:
        case Form.REAL:
            return float(cell) + 0.0
        case Form.ID:
            return str(cell)
    # Integers beyond the farthest may stay: every use of them moves them there.
    return max(min(int(cell), 1 << 62), -(1 << 62))


def expected(frame: pl.DataFrame, data: Data) -> list[tuple[Any, ...]]:
    """Return what the reference makes of a frame."""
    names = [column.name for column in data.columns]
    rows = reference.open_source(frame, data).rows
    forms = [column.form for column in canonical_columns(data)]
    return sorted(
        (
            tuple(
                str(row[name])
                if form is Form.ID and row[name] is not None
                else row[name] + 0.0
                if form is Form.REAL and row[name] is not None
                else row[name]
                for name, form in zip(names, forms, strict=True)
            )
            for row in rows
        ),
        key=repr,
    )


def agrees(database: Database, frame: pl.DataFrame, *columns: Column) -> None:
    """Assert that a table has the cells that the reference makes of its rows."""
    data = declared(*columns)
    assert expected(frame, data) == cells(database, database.write(frame), data)


@pytest.mark.parametrize("type_set", TYPE_SETS)
@pytest.mark.parametrize("kind", ["integer", "float"])
def test_numbers_are_the_nearest(kind: str, type_set: str, database: Database) -> None:
    """The nearest integer, ties up, or the nearest double, whatever the type."""
    columns = [number(name, kind, 1 if kind == "integer" else None) for name in NUMBERS]
    agrees(database, table(type_set).select(NUMBERS), *columns)


def test_integers_and_booleans_are_keys_by_their_text(database: Database) -> None:
    """7 is the key "7", true the key "true"; no other spelling of them is."""
    keys = "7", "-3", "07", "true", "false", "9223372036854775807"
    wide = pl.Series("x", [7, 7, -3, 0, 2**63 - 1, None], pl.Int64)
    agrees(database, pl.DataFrame([wide]), category("x", *keys))
    truths = pl.DataFrame({"x": [True, None, False, True]})
    agrees(database, truths, category("x", *keys))
    agrees(database, truths, category("x", "yes"))


def test_words_are_keys_by_their_bytes(database: Database) -> None:
    """Neither case nor accents nor blanks nor backslashes join two words."""
    keys = "north", "North", "north ", "é", "e\u0301", "a\\b", "o'x", ""
    words = [*keys, None, "NORTH", "a\\\\b", " ", "ab"]
    agrees(database, pl.DataFrame({"x": words}), category("x", *keys))


def test_hostile_words_are_words(database: Database) -> None:
    """Formulas, quotes, long text, marks of direction: none is another, none fails."""
    words = [word for word in WORDS if "\0" not in word]
    keys = [word for word in words if len(word) < 100][::2]
    agrees(database, pl.DataFrame({"x": words}), category("x", *keys))
    who = IdColumn(name="who")
    short = [word for word in words if len(word) < 500_000]
    agrees(database, pl.DataFrame({"who": short}), who)


def test_a_key_with_nul_is_no_word_of_postgresql(database: Database) -> None:
    """It is left out of the list there, and found elsewhere."""
    words = ["a", "b"] if database.name == "postgres" else ["a", "b", "a\0b"]
    agrees(database, pl.DataFrame({"x": words}), category("x", "a\0b", "b"))


def test_numeric_keys_are_whole_numbers_exactly(database: Database) -> None:
    """A float is a key where it is the very number, and nowhere else."""
    keys = category("x", "1", "3", "-2", str(2**53 + 1), str(2**60), numeric=True)
    floats = [1.0, 1.5, 3.0000000000000004, -2.0, float("nan"), float("inf"), None]
    agrees(database, pl.DataFrame({"x": [*floats, 2.0**53, 2.0**60]}), keys)
    agrees(database, pl.DataFrame({"x": [1, 3, 3, 7, None, 2**53 + 1, 2**60]}), keys)


def test_truths_are_read_from_booleans_and_integers(database: Database) -> None:
    """1 is true, 0 is false, whatever else is neither."""
    truth = BooleanColumn(name="x", nulls=_DROP)
    agrees(database, pl.DataFrame({"x": [True, False, None, True]}), truth)
    agrees(database, pl.DataFrame({"x": [1, 0, 2, -1, None, 1, 2**63 - 1]}), truth)


def _second(text: str) -> int:
    found = read_time(text)
    assert found is not None
    return found


_DAY = DateColumn(name="day", first=read_date("1969-12-01") or 0, last=100, nulls=_DROP)
_AT = TimeColumn(
    name="at", first=0, last=_second("1970-02-10"), step=60, zone=60, nulls=_DROP
)
_moment = dt.datetime.fromisoformat
_MOMENTS = [
    _moment("1969-12-31 23:59:59.999999"),
    _moment("1970-01-01"),
    _moment("1970-01-01 00:00:00.000001"),
    _moment("1969-12-31 22:59:59.999999"),
    None,
    _moment("2262-01-01 00:00:00.999999"),
    _moment("0001-01-02"),
    _moment("9999-12-30 23:59:59"),
]


def test_dates_and_times_are_days_and_seconds(database: Database) -> None:
    """Days before 1970 and fractions of seconds are floored; a date is its midnight."""
    days = [None if one is None else one.date() for one in _MOMENTS]
    moments = pl.Series(_MOMENTS, dtype=pl.Datetime("us"))
    agrees(database, pl.DataFrame({"day": days, "at": moments}), _DAY, _AT)
    agrees(database, pl.DataFrame({"day": moments, "at": days}), _DAY, _AT)


def test_instants_are_read_on_the_clock_of_the_column(database: Database) -> None:
    """A timestamp with a zone is moved to the zone that the column declares."""
    moments = pl.Series(_MOMENTS, dtype=pl.Datetime("us"))
    stored = pl.DataFrame({"at": moments.dt.replace_time_zone("UTC")})
    moved = pl.DataFrame({"at": moments + dt.timedelta(hours=1)})
    found = cells(database, database.write(stored), declared(_AT))
    assert expected(moved, declared(_AT)) == found


def test_ids_are_told_apart_by_their_bytes(database: Database) -> None:
    """Neither case nor blanks join two ids; an empty one is nobody's."""
    who = IdColumn(name="who")
    words = ["p", "P", "p ", "é", "e\u0301", "", None, "p", "\\"]
    agrees(database, pl.DataFrame({"who": words}), who)
    wide = pl.Series("who", [1, 2**63 - 1, -(2**63), None, 0], pl.Int64)
    agrees(database, pl.DataFrame([wide]), who)


def test_quotients_are_floors() -> None:
    """Also of negative numbers, which databases cut off towards 0."""
    for by in (1, 2, 7, 86_400):
        text = floor_divided("x", by, "//")
        query = f"SELECT x, {text} FROM range(-200000, 200000, 997) r(x)"
        rows = duckdb.sql(query).fetchall()
        assert [] == [(x, found) for x, found in rows if x // by != found]


def test_others_are_all_that_is_no_key(database: Database) -> None:
    """In every type that SQL reads keys of; null stays null, and so does NaN."""
    frame = pl.DataFrame(
        {
            "word": ["a", "b", "", "A", None],
            "whole": [1, 2, 3, -(2**63), None],
            "real": [1.0, 2.5, math.nan, math.inf, None],
            "flag": [True, False, True, None, None],
        }
    )
    data = declared(
        category("word", "a", "b", "others", others=True),
        category("whole", "1", "2", "others", numeric=True, others=True),
        category("real", "1", "2", "others", numeric=True, others=True),
        category("flag", "true", "others", others=True),
    )
    found = cells(database, database.write(frame), data)
    expected = [
        (0, 0, 0, 0),
        (1, 1, 2, 1),
        (2, 2, None, 0),
        (2, 2, 2, None),
        (None, None, None, None),
    ]
    assert sorted(expected, key=repr) == found
